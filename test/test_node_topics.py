# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the node tells and takes over ROS: topics, diagnostics, and missions by action."""

from __future__ import annotations

from collections.abc import Iterator
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')

from action_msgs.msg import GoalStatus
from asking import action_client, until_there
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from node_rig import (
    EXECUTING,
    FakeNav2,
    FakeRobot,
    harness,
    HarnessProcess,
    LATCHED,
    NODE,
    Probe,
    SUCCEEDED,
    WAIT_S,
)
from rclpy.qos import QoSProfile
from std_msgs.msg import String

from robot_agent_harness.action import RunMission
from robot_agent_harness.journal import JournalReader
from robot_agent_harness.msg import MissionEvent, RobotActionState, WorldSnapshot

ROBOT_ID = f'robot of {NODE}'
SCRIPT = """\
responses:
  - when: {step: 1}
    say: There first.
    repeat: true
    call: {name: navigate_to_pose, arguments: {x: 1.0, y: 0.0}}
    purpose: be there
    expected_outcome: the robot is there
  - when: {last_outcome: SUCCEEDED}
    repeat: true
    call: {name: finish_mission, arguments: {outcome: achieved, reason: verified}}
  - repeat: true
    call: {name: finish_mission, arguments: {outcome: not_achieved, reason: it did not get there}}
"""


SLOW_SCRIPT = """\
responses:
  - delay_s: 60
    call: {name: list_places, arguments: {}}
"""


class Live:
    """One harness for the whole module, with a robot and a mission client."""

    def __init__(self, probe: Probe, node: HarnessProcess, journal: Path) -> None:
        self.probe = probe
        self.node = node
        self.journal = journal
        self.robot = FakeRobot(probe)
        self.nav2 = FakeNav2(probe)
        self.missions = action_client(probe.node, RunMission, f'{NODE}/run_mission')
        self.feedback: list[RunMission.Feedback] = []
        until_there(self.missions, WAIT_S)
        probe.until_met()
        probe.until_known(self.nav2)

    def arrive(self, goal_id: str) -> None:
        """Treat a goal as Nav2 does that gets there at once; later ones find it there."""
        self.nav2.report(goal_id, EXECUTING)
        self.robot.x = 1.0
        self.nav2.report(goal_id, SUCCEEDED)

    def ask(self, instruction: str, mission_id: str = '') -> Any:
        """Ask for a mission and return its goal handle."""
        self.feedback.clear()
        goal = RunMission.Goal(instruction=instruction, mission_id=mission_id)
        return self.done(self.missions.send_goal_async(goal, self._take))

    def done(self, future: Any) -> Any:
        future.add_done_callback(lambda _: self.probe.notice())
        self.probe.until(future.done, self.node.lines)
        return future.result()

    def events(self, mission_id: str) -> list[str]:
        with JournalReader(self.journal) as reader:
            return [event.type for event in reader.events(mission_id=mission_id)]

    def _take(self, message: Any) -> None:
        self.feedback.append(message.feedback)
        self.probe.notice()


@pytest.mark.parametrize('script', [SCRIPT, SLOW_SCRIPT], ids=['acting', 'thinking'])
def test_a_mission_that_the_end_of_the_node_interrupts_is_ended_and_told_so(tmp_path, script):
    (tmp_path / 'script.yaml').write_text(script)
    probe = Probe()
    given = {'model__provider': 'scripted', 'model__script_file': tmp_path / 'script.yaml'}
    try:
        with harness(tmp_path / 'j.db', **given) as node:
            node.says('ready: ')
            live = Live(probe, node, tmp_path / 'j.db')
            handle = live.ask('go there', 'cut-short')
            if script == SCRIPT:
                live.nav2.goal()
            else:
                live.probe.until(lambda: live.feedback and live.feedback[-1].step == 1)
            told = handle.get_result_async()
            assert node.end() == 0
            answer = live.done(told)
        assert answer.status == GoalStatus.STATUS_ABORTED
        assert answer.result.reason == 'interrupted'
        assert live.events('cut-short')[-1] == 'MISSION_ENDED'
    finally:
        probe.close()


@pytest.fixture(scope='module')
def running(tmp_path_factory) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp('topics')
    script = folder / 'script.yaml'
    script.write_text(SCRIPT)
    probe = Probe()
    given = {'model__provider': 'scripted', 'model__script_file': script, 'mcp__enabled': False}
    try:
        with harness(folder / 'j.db', robot_id=ROBOT_ID, **given) as node:
            node.says('ready: MCP over HTTP not served, .* model scripted')
            yield Live(probe, node, folder / 'j.db')
    finally:
        probe.close()


@pytest.fixture
def live(running: Live) -> Live:
    running.nav2.on_goal = lambda goal_id: running.nav2.report(goal_id, EXECUTING)
    running.nav2.accepts = running.nav2.cancels_at_once = True
    return running


def test_the_world_is_published_to_whoever_listens(live):
    heard = live.probe.listen(WorldSnapshot, f'{NODE}/world_snapshot')
    live.probe.until(lambda: heard and heard[-1].controller_reachable)
    told = heard[-1]
    assert (told.reason, told.header.frame_id, told.pose_availability) == (
        'periodic',
        'map',
        'available',
    )
    assert (told.velocity_availability, told.linear_velocity) == ('available', 0.0)
    assert told.battery_fraction == pytest.approx(0.8)
    assert (told.emergency_stop_availability, told.emergency_stop) == ('available', False)
    assert told.header.stamp.sec > 0
    assert json.loads(told.payload_json)['robot_id'] == ROBOT_ID


def test_a_mission_runs_to_its_verified_end_and_is_told_at_every_step(live):
    states = live.probe.listen(RobotActionState, f'{NODE}/action_state', LATCHED)
    records = live.probe.listen(MissionEvent, f'{NODE}/mission_event')
    live.probe.until(lambda: live.probe.node.count_publishers(f'{NODE}/mission_event'))
    live.nav2.on_goal = live.arrive
    handle = live.ask('go there', 'there-1')
    assert handle.accepted
    answer = live.done(handle.get_result_async())
    assert (answer.status, answer.result.outcome) == (GoalStatus.STATUS_SUCCEEDED, 'achieved')
    assert (answer.result.mission_id, answer.result.reason) == ('there-1', 'finished')

    live.probe.until(lambda: records and records[-1].type == 'MISSION_ENDED')
    seqs = [record.seq for record in records]
    assert seqs == list(range(seqs[0], seqs[0] + len(seqs)))
    recorded = live.events('there-1')
    assert [r.type for r in records if r.mission_id == 'there-1'] == recorded[-len(records) :]
    assert {1, 2} <= {step.step for step in live.feedback} <= {0, 1, 2}
    assert {'deciding', 'acting', 'verifying'} <= {step.state for step in live.feedback}

    live.probe.until(lambda: states and states[-1].state == 'SUCCEEDED')
    assert (states[-1].reason, states[-1].mission_id) == ('verified', 'there-1')
    assert 'evidence' in json.loads(states[-1].payload_json)
    late = live.probe.listen(RobotActionState, f'{NODE}/action_state', LATCHED)
    live.probe.until(lambda: late)
    assert (late[0].action_id, late[0].state) == (states[-1].action_id, 'SUCCEEDED')


def test_a_mission_that_the_evidence_does_not_support_ends_aborted(live):
    live.nav2.on_goal = lambda goal_id: live.nav2.report(goal_id, GoalStatus.STATUS_ABORTED)
    answer = live.done(live.ask('go there').get_result_async())
    assert (answer.status, answer.result.outcome) == (GoalStatus.STATUS_ABORTED, 'not_achieved')
    assert answer.result.mission_id.startswith('mission-')


def test_cancelling_a_mission_cancels_its_action(live):
    cancels = len(live.nav2.cancel_requests)
    goals = len(live.nav2.goals)
    handle = live.ask('go there')
    goal_id = live.nav2.goal(goals)
    second = live.ask('and there')
    assert not second.accepted
    live.node.says('run_mission refused: mission .* is under way')
    assert len(live.done(handle.cancel_goal_async()).goals_canceling) == 1
    answer = live.done(handle.get_result_async())
    assert (answer.status, answer.result.reason) == (GoalStatus.STATUS_CANCELED, 'canceled')
    assert len(live.nav2.cancel_requests) == cancels + 1
    assert live.nav2.statuses[goal_id] == GoalStatus.STATUS_CANCELED


@pytest.mark.parametrize(
    ('instruction', 'mission_id', 'why'),
    [
        ('  ', '', 'the instruction is empty'),
        ('go', 'x' * 129, 'mission_id is longer than 128 characters'),
        ('go', 'used', 'mission_id used was used before'),
    ],
)
def test_a_mission_that_cannot_be_meant_is_refused(live, instruction, mission_id, why):
    if mission_id == 'used':
        live.nav2.on_goal = live.arrive
        live.done(live.ask('go there', 'used').get_result_async())
    assert not live.ask(instruction, mission_id).accepted
    live.node.says(f'run_mission refused: {why}')


def test_a_mission_is_refused_while_nobody_can_read_whether_its_id_was_used(live):
    path = live.journal
    path.rename(path.with_name('away.db'))
    try:
        assert not live.ask('go', 'mission-of-mine').accepted
        live.node.says('run_mission refused: nobody can say whether mission_id mission-of-mine')
    finally:
        path.with_name('away.db').rename(path)


def test_a_human_message_is_recorded_with_the_mission_under_way(live):
    goals = len(live.nav2.goals)
    handle = live.ask('go there', 'with-a-human')
    live.nav2.goal(goals)
    speak = live.probe.node.create_publisher(String, f'{NODE}/human_message', QoSProfile(depth=1))
    live.probe.until(speak.get_subscription_count)
    records = live.probe.listen(MissionEvent, f'{NODE}/mission_event')
    for text in ('   ', 'the cup is red ' * 1000):
        speak.publish(String(data=text))
    live.probe.until(lambda: [r for r in records if r.type == 'SALIENT_EVENT'])
    live.done(handle.cancel_goal_async())
    live.done(handle.get_result_async())
    with JournalReader(live.journal) as reader:
        (heard,) = reader.events(mission_id='with-a-human', type='SALIENT_EVENT')
    assert heard.payload['kind'] == 'human_message'
    assert heard.payload['message'].startswith('the cup is red the cup')
    assert heard.payload['message'].endswith('[the rest was left out]')
    assert len(heard.payload['message']) < 4100


def diagnosed(live: Live, heard: list[DiagnosticArray]) -> dict[str, DiagnosticStatus]:
    return {
        status.name.removeprefix(f'{NODE[1:]}: '): status
        for array in heard
        for status in array.status
        if status.hardware_id == ROBOT_ID
    }


def test_diagnostics_say_what_would_stand_in_the_way(live):
    heard = live.probe.listen(DiagnosticArray, '/diagnostics')
    live.probe.until(lambda: diagnosed(live, heard))
    found = diagnosed(live, heard)
    assert {name: status.level for name, status in found.items()} == {
        'lifecycle': DiagnosticStatus.OK,
        'journal': DiagnosticStatus.OK,
        'controller': DiagnosticStatus.OK,
        'localization': DiagnosticStatus.OK,
        'odometry': DiagnosticStatus.OK,
        'topics': DiagnosticStatus.OK,
        'battery': DiagnosticStatus.OK,
        'emergency stop': DiagnosticStatus.OK,
        'model': DiagnosticStatus.OK,
        'mcp': DiagnosticStatus.OK,
    }
    journal = {item.key: item.value for item in found['journal'].values}
    assert journal['path'] == str(live.journal)
    assert int(journal['free_mb']) > 0
    assert found['mcp'].message == 'not served'
    for name in ('localization', 'odometry', 'battery', 'emergency stop'):
        age_s = {item.key: float(item.value) for item in found[name].values if 'age' in item.key}
        assert age_s['age_s'] < 30.0, name


def test_diagnostics_follow_the_robot_when_it_fails(live):
    """The last test of the module: the robot does not come back."""
    heard = live.probe.listen(DiagnosticArray, '/diagnostics')
    live.nav2.withdraw()
    live.robot.halt()
    warn = DiagnosticStatus.WARN
    bad = {'controller': DiagnosticStatus.ERROR, 'localization': warn, 'odometry': warn}

    def failed() -> bool:
        found = diagnosed(live, heard[-1:])
        return all(name in found and found[name].level == level for name, level in bad.items())

    live.probe.until(failed)
    found = diagnosed(live, heard[-1:])
    assert 'no action server' in found['controller'].message
    assert 'stale' in found['localization'].message
