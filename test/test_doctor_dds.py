# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""`robot-agent-harness doctor` on a healthy robot and on broken ones, over DDS."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
import json
import os
from pathlib import Path
import socket
import subprocess
import sys
import time
from typing import Any

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')

from action_msgs.msg import GoalStatusArray
from asking import action_client, by_spinner
from geometry_msgs.msg import PoseWithCovarianceStamped
from lifecycle_msgs.msg import State
from lifecycle_msgs.srv import GetState
from nav2_msgs.action import NavigateToPose, Spin
from nav_msgs.msg import Odometry
from node_rig import (
    DOMAIN,
    FakeNav2,
    FakeRobot,
    harness,
    LATCHED,
    NAMESPACE,
    NODE,
    Probe,
)
from rclpy.action import ActionServer
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import BatteryState
from std_msgs.msg import Bool

from robot_agent_harness.cli import main
from robot_agent_harness.clock import SystemClock
from robot_agent_harness.journal import MissionJournal
from robot_agent_harness.journal.lock import JournalLock
from robot_agent_harness.resources import config_path

Findings = dict[str, list[dict[str, Any]]]
NOBODY_S = 0.5
"""How long to listen where there is nothing to hear."""


class Doctor:
    """Asks the doctor as a user does, with a journal and a port of its own."""

    def __init__(self, tmp_path: Path, capsys: Any) -> None:
        self.journal = tmp_path / 'j.db'
        self._capsys = capsys

    def ask(
        self, *arguments: str, namespace: str = NAMESPACE, listen_s: float = 2.5
    ) -> tuple[int, Findings]:
        given = ['-p', 'mcp.port:=0', '-p', f'journal.path:={self.journal}', *arguments]
        listen = ['doctor', '--json', '--timeout', str(listen_s)]
        code = main([*listen, '--ros-args', '-r', f'__ns:={namespace}', *given])
        out, err = self._capsys.readouterr()
        assert code in (0, 1), err
        told: Findings = {}
        for finding in json.loads(out)['findings']:
            told.setdefault(finding['area'], []).append(finding)
        return code, told


def problems(told: Findings) -> set[str]:
    return {f['area'] for found in told.values() for f in found if f['level'] == 'problem'}


def said(told: Findings, area: str, level: str) -> str:
    """Return the one message of an area and level, with what to do."""
    (found,) = [finding for finding in told[area] if finding['level'] == level]
    return f'{found["message"]} -> {found["advice"]}'


@pytest.fixture(autouse=True)
def domain(monkeypatch):
    monkeypatch.setenv('ROS_DOMAIN_ID', str(DOMAIN))


@pytest.fixture
def probe() -> Iterator[Probe]:
    made = Probe()
    yield made
    made.close()


@pytest.fixture
def doctor(tmp_path, capsys) -> Doctor:
    return Doctor(tmp_path, capsys)


def publish(probe: Probe, topic: str, make: Callable[[], Any], qos: Any = 5) -> None:
    publisher = probe.node.create_publisher(type(make()), topic, qos)
    probe.node.create_timer(0.05, lambda: publisher.publish(make()))


def stamped(probe: Probe, kind: Any, frame: str, offset_s: float = 0.0) -> Any:
    message = kind()
    stamp_ns = probe.node.get_clock().now().nanoseconds + round(offset_s * 1e9)
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp_ns, 10**9)
    message.header.frame_id = frame
    message.pose.pose.orientation.w = 1.0
    return message


def test_a_healthy_robot_has_no_problems_and_shows_rates_ages_and_qos(probe, doctor):
    FakeRobot(probe)
    FakeNav2(probe)
    code, told = doctor.ask()
    assert (code, problems(told)) == (0, set()), told
    (odom,) = told['odom']
    assert odom['level'] == 'ok'
    assert 5 < odom['details']['rate_hz'] < 25
    assert odom['details']['age_s'] < 1.0
    (publisher,) = odom['details']['publishers']
    assert publisher['qos'] == 'reliable, volatile'
    assert told['amcl_pose'][0]['details']['publishers'][0]['qos'] == 'reliable, transient local'
    assert told['navigate_to_pose'][0]['level'] == 'ok'
    assert not doctor.journal.exists()


def test_without_a_robot_each_thing_that_is_missing_is_named(doctor):
    nowhere = f'{NAMESPACE}_empty'
    code, told = doctor.ask(namespace=nowhere, listen_s=NOBODY_S)
    assert code == 1
    assert problems(told) >= {'odom', 'amcl_pose', 'navigate_to_pose'}
    assert f'nobody publishes {nowhere}/odom' in said(told, 'odom', 'problem')
    assert told['battery_state'][0]['level'] == 'ok'  # a robot may lack it


def test_a_topic_of_another_name_is_found_by_its_type(probe, doctor):
    publish(probe, 'wheel/odometry', lambda: stamped(probe, Odometry, 'odom'))
    _, told = doctor.ask()
    assert f'remap: -r odom:={NAMESPACE}/wheel/odometry' in said(told, 'odom', 'problem')
    _, told = doctor.ask('-r', 'odom:=wheel/odometry')
    assert told['odom'][0]['level'] == 'ok'


def test_a_topic_that_is_published_and_not_heard_is_a_problem_with_the_publisher(probe, doctor):
    # Apart from the other tests: DDS tells for a while of a publisher that has gone.
    namespace = f'{NAMESPACE}_mute'
    probe.node.create_publisher(Odometry, f'{namespace}/odom', 5)
    _, told = doctor.ask(namespace=namespace, listen_s=NOBODY_S)
    problem = said(told, 'odom', 'problem')
    assert 'probe publishes' in problem
    assert 'nothing was heard' in problem
    assert 'if a process was killed, start the publisher again' in problem


def test_an_action_of_another_name_is_found_by_its_type(probe, doctor):
    FakeNav2(probe)
    _, told = doctor.ask('-r', 'navigate_to_pose:=drive_to')
    assert f'remap: -r navigate_to_pose:={NAMESPACE}/navigate_to_pose' in said(
        told, 'navigate_to_pose', 'problem'
    )


def test_an_action_of_another_type_is_a_problem_with_both_types(probe, doctor):
    # Apart from the other tests: DDS tells for a while of a server that has gone.
    namespace = f'{NAMESPACE}_typed'
    name = f'{namespace}/navigate_to_pose'
    again = Probe()  # beside the fixture's, as a node that was killed and started again
    by_spinner(again.node, ActionServer, again.node, Spin, name, lambda _handle: Spin.Result())
    client = Probe('client')  # such as a harness, of the right type
    action_client(client.node, NavigateToPose, name)
    _, told = doctor.ask(namespace=namespace)
    client.close()
    again.close()
    assert said(told, 'navigate_to_pose', 'problem') == (
        f'{name} is served as nav2_msgs/action/Spin; nav2_msgs/action/NavigateToPose is needed'
        ' -> serve that type, or remap to another action'
    )


def test_places_in_another_frame_are_a_warning_with_the_frame_to_give(doctor):
    _, told = doctor.ask('-p', 'global_frame:=robot1/map', listen_s=NOBODY_S)
    warned = said(told, 'places_file', 'warning')
    assert 'dock, hall, kitchen, office: not in robot1/map (global_frame)' in warned
    assert 'give each place frame_id: robot1/map' in warned


def test_a_pose_in_another_frame_is_a_problem_with_the_frame_to_configure(probe, doctor):
    FakeRobot(probe)
    FakeNav2(probe)
    code, told = doctor.ask('-p', 'global_frame:=world')
    assert (code, problems(told)) == (1, {'amcl_pose'})
    assert 'set global_frame to map' in said(told, 'amcl_pose', 'problem')


def test_a_base_of_another_name_is_a_warning(probe, doctor):
    def odometry() -> Odometry:
        message = stamped(probe, Odometry, 'odom')
        message.child_frame_id = 'base_footprint'
        return message

    publish(probe, 'odom', odometry)
    _, told = doctor.ask()
    assert 'base_footprint' in said(told, 'base_frame', 'warning')


@pytest.mark.parametrize(
    ('offset_s', 'level', 'words'),
    [
        (5.0, 'problem', ('in the future', 'synchronise the clocks')),
        (-0.6, 'warning', ('after its stamp', 'synchronise the clocks')),
        (-1e9, 'problem', ('stale', 'another clock')),
    ],
)
def test_clocks_that_differ_are_told_from_the_stamps(probe, doctor, offset_s, level, words):
    publish(probe, 'odom', lambda: stamped(probe, Odometry, 'odom', offset_s))
    _, told = doctor.ask()
    told_of = said(told, 'odom', level)
    assert all(word in told_of for word in words), told_of


def test_a_source_without_stamps_is_a_problem_that_names_the_parameter(probe, doctor):
    def odometry() -> Odometry:
        message = stamped(probe, Odometry, 'odom')
        message.header.stamp.sec = message.header.stamp.nanosec = 0
        return message

    publish(probe, 'odom', odometry)
    _, told = doctor.ask()
    assert 'snapshot.accept_unstamped' in said(told, 'odom', 'problem')


def test_simulated_time_without_a_clock_is_a_problem(doctor):
    _, told = doctor.ask(
        '-p', 'use_sim_time:=true', namespace=f'{NAMESPACE}_sim', listen_s=NOBODY_S
    )
    assert 'nothing is heard on /clock' in said(told, 'clock', 'problem')


def test_a_topic_of_another_type_is_a_problem_with_both_types(probe, doctor):
    publish(probe, 'odom', BatteryState)
    _, told = doctor.ask()
    told_of = said(told, 'odom', 'problem')
    assert 'sensor_msgs/msg/BatteryState' in told_of
    assert 'nav_msgs/msg/Odometry' in told_of


def test_qos_that_does_not_go_together_is_told_by_topic_and_policy(probe, doctor):
    best_effort = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
    publish(probe, 'navigate_to_pose/_action/status', GoalStatusArray, best_effort)
    _, told = doctor.ask()
    told_of = said(told, 'qos', 'warning')
    assert 'navigate_to_pose/_action/status' in told_of
    assert 'reliability best_effort where reliable is asked for' in told_of


def test_a_localisation_that_is_not_sure_is_a_problem_with_the_variance(probe, doctor):
    def pose() -> PoseWithCovarianceStamped:
        message = stamped(probe, PoseWithCovarianceStamped, 'map')
        message.pose.covariance[0] = message.pose.covariance[7] = 2.0
        return message

    publish(probe, 'odom', lambda: stamped(probe, Odometry, 'odom'))
    publish(probe, 'amcl_pose', pose, LATCHED)
    _, told = doctor.ask()
    assert 'variance is 2 m^2, and at most 0.25' in said(told, 'localization', 'problem')


@pytest.mark.parametrize(
    ('charge', 'stamp_ns', 'level', 'words'),
    [
        (0.05, None, 'problem', 'the battery is at 5%, and at least 20% is asked for: calls will'),
        (0.25, None, 'warning', 'the battery is at 25% -> charge it'),
        (0.5, 0, 'problem', 'the source does not stamp its messages'),
        (50.0, None, 'problem', 'percentage 50 is outside 0 to 1'),
    ],
)
def test_a_battery_for_which_calls_are_refused_is_a_problem(
    probe, doctor, charge, stamp_ns, level, words
):
    def battery() -> BatteryState:
        message = BatteryState(percentage=charge)
        now_ns = probe.node.get_clock().now().nanoseconds if stamp_ns is None else stamp_ns
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(now_ns, 10**9)
        return message

    publish(probe, 'battery_state', battery)
    low = ['-p', 'battery.low_fraction:=0.3']
    _, told = doctor.ask(*low)
    assert words in said(told, 'battery_state', level)


def test_a_stop_that_is_engaged_is_a_problem(probe, doctor):
    publish(probe, 'emergency_stop', lambda: Bool(data=True), LATCHED)
    _, told = doctor.ask()
    assert said(told, 'emergency_stop', 'problem').startswith('the emergency stop is engaged')


def test_metrics_that_cannot_be_served_are_a_problem(doctor, monkeypatch):
    metrics = ['-p', 'metrics.enabled:=true']
    _, told = doctor.ask(*metrics, '-p', 'mcp.enabled:=false', listen_s=NOBODY_S)
    assert 'parameter metrics.enabled: /metrics is served beside' in said(told, 'mcp', 'problem')
    monkeypatch.setitem(sys.modules, 'prometheus_client', None)
    _, told = doctor.ask(*metrics, listen_s=NOBODY_S)
    assert "pip install 'prometheus-client>=" in said(told, 'mcp', 'problem')


def test_odometry_that_navigation_needs_not_fresh_is_no_problem(doctor):
    skills = config_path('skills_loopback.yaml')
    _, told = doctor.ask(
        '-p', f'skills_file:={skills}', namespace=f'{NAMESPACE}_silent', listen_s=NOBODY_S
    )
    assert 'odom' not in problems(told)
    assert 'nobody publishes' in told['odom'][0]['message']


def test_two_robots_on_one_topic_are_a_warning(probe, doctor):
    for _ in range(2):
        publish(probe, 'odom', lambda: stamped(probe, Odometry, 'odom'))
    _, told = doctor.ask()
    assert 'has 2 publishers' in said(told, 'odom', 'warning')


def answering(label: str) -> Callable[..., Any]:
    def answer(_request: Any, response: Any) -> Any:
        response.current_state = State(label=label)
        return response

    return answer


def test_nav2_nodes_that_are_not_active_are_problems(probe, doctor):
    for name, label in (('bt_navigator', 'inactive'), ('planner_server', 'active')):
        probe.node.create_service(GetState, f'{name}/get_state', answering(label))
    _, told = doctor.ask()
    assert f'{NAMESPACE}/bt_navigator is inactive' in said(told, 'nav2', 'problem')
    assert f'{NAMESPACE}/planner_server is active' in said(told, 'nav2', 'ok')


async def make_journal(path: Path) -> None:
    await MissionJournal.open(path, clock=SystemClock()).close()


def test_a_damaged_journal_and_one_that_is_held_are_problems(doctor):
    doctor.journal.write_bytes(b'SQLite format 3\0' + b'\0' * 500)
    _, told = doctor.ask(listen_s=NOBODY_S)
    assert told['journal'][0]['level'] == 'problem'
    doctor.journal.unlink()

    asyncio.run(make_journal(doctor.journal))
    lock = JournalLock(doctor.journal.resolve())
    try:
        _, told = doctor.ask(listen_s=NOBODY_S)
        assert 'another one would be refused' in said(told, 'journal lock', 'problem')
    finally:
        lock.release()


def test_a_harness_that_writes_its_journal_is_waited_for_until_dds_tells_of_it(probe, doctor):
    asyncio.run(make_journal(doctor.journal))
    lock = JournalLock(doctor.journal.resolve())

    def appear() -> None:
        late.cancel()
        probe.node.create_service(GetState, f'{NODE}/get_state', answering('active'))

    late = probe.node.create_timer(NOBODY_S + 1.5, appear)
    try:
        _, told = doctor.ask(listen_s=NOBODY_S)
        assert 'the harness that runs' in said(told, 'journal lock', 'ok')
        assert 'the harness is active' in said(told, 'graph', 'ok')
    finally:
        lock.release()


def test_a_port_that_something_else_has_is_a_problem(doctor):
    with socket.create_server(('127.0.0.1', 0)) as taken:
        _, told = doctor.ask('-p', f'mcp.port:={taken.getsockname()[1]}', listen_s=NOBODY_S)
    assert 'in use by something else' in said(told, 'mcp', 'problem')


def test_a_key_that_is_missing_is_a_problem(doctor, monkeypatch):
    monkeypatch.delenv('ANTHROPIC_API_KEY', raising=False)
    _, told = doctor.ask('-p', 'model.provider:=anthropic', listen_s=NOBODY_S)
    assert 'ANTHROPIC_API_KEY' in said(told, 'model', 'problem')


def test_files_that_cannot_be_used_are_problems(doctor, tmp_path):
    (tmp_path / 'p.yaml').write_text('places: {dock: {x: here, y: 0}}')
    _, told = doctor.ask(
        '-p', f'places_file:={tmp_path}/p.yaml', '-p', 'skills_file:=/no.yaml', listen_s=NOBODY_S
    )
    places, skills = (said(told, f'{name}_file', 'problem') for name in ('places', 'skills'))
    assert 'places.dock.x' in places
    assert places.endswith(' -> correct the file')
    assert '/no.yaml' in skills
    assert skills.endswith(' -> let skills_file name a file that this user can read')


def test_a_harness_that_runs_is_seen_and_stands_in_nobodys_way(probe, doctor):
    FakeRobot(probe)
    FakeNav2(probe)
    with harness(doctor.journal) as node:
        port = node.says(r'ready: MCP at http://127\.0\.0\.1:(\d+)/mcp').group(1)
        code, told = doctor.ask('-p', f'mcp.port:={port}')
        assert (code, problems(told)) == (0, set()), told
        assert 'the harness is active' in said(told, 'graph', 'ok')
        assert 'a harness answers' in said(told, 'mcp', 'ok')
        assert told['journal lock'][0]['details']['process'] == str(node.process.pid)


@pytest.mark.parametrize(
    ('arguments', 'named'),
    [
        (['-p', 'mcp.prot:=1'], 'parameter mcp.prot: there is no such parameter'),
        (['-p', 'mcp.port:=70000'], 'parameter mcp.port: must be from 0 to 65535'),
        (['-p', 'use_sim_time:="maybe"'], 'parameter use_sim_time: must be true or false'),
        (['--params-file', '/nowhere.yaml'], '/nowhere.yaml'),
    ],
)
def test_arguments_that_cannot_be_used_are_named_with_code_2(capsys, arguments, named):
    assert main(['doctor', '--ros-args', *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ''
    assert named in err
    assert err.splitlines()[-1].startswith('robot-agent-harness doctor: ')


def test_a_parameters_file_counts_as_for_the_harness(doctor, tmp_path):
    path = tmp_path / 'p.yaml'
    path.write_text('/**/robot_agent_harness:\n  ros__parameters:\n    mcp: {enabled: false}\n')
    _, told = doctor.ask('--params-file', str(path), listen_s=NOBODY_S)
    assert 'not served' in said(told, 'mcp', 'ok')


def test_the_command_ends_soon_and_prints_plain_lines_into_a_pipe(tmp_path):
    begun = time.monotonic()
    program = [sys.executable, '-m', 'robot_agent_harness.cli', 'doctor', '--timeout', '0.5']
    ros = ['-r', f'__ns:={NAMESPACE}_pipe', '-p', f'journal.path:={tmp_path}/j.db']
    done = subprocess.run(
        [*program, '--ros-args', *ros],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, 'ROS_DOMAIN_ID': str(DOMAIN)},
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, '')
    lines = done.stdout.splitlines()
    assert any(line.startswith('problem  odom: nobody publishes') for line in lines)
    assert lines[-1].endswith('warnings')
    assert '\x1b' not in done.stdout
    assert time.monotonic() - begun < 30  # a laden machine; 2 s on an idle one
