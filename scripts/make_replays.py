# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Make the recorded runs in test/replays: one a way in which an action, a call or a mission ends.

Each is a whole run of the real core on virtual time, with a robot, a controller and clients that
do what its name says. Run it anew when what the harness records has changed on purpose:

    python scripts/make_replays.py
    python scripts/make_replays.py --from demo_output/journal.db demo_over_dds
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
import contextlib
import gzip
import logging
from pathlib import Path
import sqlite3
import sys
import tempfile
from typing import Any

from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.parameters import check_parameters
from robot_agent_harness.skills.call import CallContext, IdempotencyKey
from robot_agent_harness.skills.services import RosService, ServiceTimeoutError
from robot_agent_harness.testing.bench import Bench
from robot_agent_harness.testing.campaign.faults import Fault, FOREVER
from robot_agent_harness.testing.campaign.mission import CampaignMission, PARAMETERS
from robot_agent_harness.testing.campaign.plan import Plan, Step
from robot_agent_harness.testing.campaign.robot import Habits
from robot_agent_harness.testing.scriptable_nav2 import ScriptableNav2
from robot_agent_harness.testing.scripted_model import call, response, scripted
from robot_agent_harness.testing.virtual_time import run_virtual
from robot_agent_harness.world.salient import Salient

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / 'test' / 'replays'
HABITS = Habits(
    localizer='periodic',
    speed_m_s=0.8,
    pose_noise_m=0.0,
    pose_bias=(0.0, 0.0),
    odometry_scale=1.0,
    variance_m2=0.01,
    battery=True,
    emergency_stop=True,
)
GOAL = (2.0, 1.0, 0.5)
CALL = Step(2.0, 'call', GOAL)


def _fault(kind: str, at_s: float = 3.0, value: float = 0.0) -> Fault:
    return Fault(kind, at_s, FOREVER, value)


CAMPAIGN: dict[str, tuple[tuple[Fault, ...], tuple[Step, ...]]] = {
    'verified': ((), (CALL,)),
    'verified_in_a_mission': ((), (Step(2.0, 'mission', GOAL),)),
    'rejected': ((_fault('reject', 1.0),), (CALL,)),
    'aborted': ((_fault('abort', 3.0, 105.0),), (CALL,)),
    'canceled_by_a_call': ((), (CALL, Step(3.5, 'cancel'))),
    'preempted': ((_fault('preempt'),), (CALL,)),
    'verification_disproved': ((_fault('false_success'),), (CALL,)),
    'verification_inconclusive': ((_fault('pose_silent'),), (CALL,)),
    'acceptance_timeout': ((_fault('response_lost', 1.0), _fault('status_lost', 1.0),
                            _fault('feedback_lost', 1.0)), (CALL,)),
    'execution_timeout': ((_fault('never_ends'),), (CALL,)),
    'result_lost': ((_fault('result_status', 1.0, 0.0), _fault('status_lost', 1.0)), (CALL,)),
    'controller_lost': ((_fault('server_death', 3.0, FOREVER),), (CALL,)),
    'send_failed': ((_fault('send_failed', 1.0),), (CALL,)),
    'feedback_that_is_no_number': ((_fault('feedback_nan', 2.0),), (CALL, Step(4.0, 'look'))),
    'interrupted_by_a_shutdown': ((), (CALL, Step(4.0, 'shutdown'), Step(9.0, 'call', GOAL))),
    'recovered_after_a_crash': ((), (CALL, Step(4.0, 'crash'), Step(12.0, 'call', GOAL))),
    'precondition_changed': (
        (_fault('kidnap_seen', 1.6, 3.0),), (Step(2.6, 'call', GOAL, decided_before_s=1.2),)
    ),
    'withdrawn_too_late': ((), (Step(2.0, 'call', GOAL, gives_up_s=0.01),)),
    'two_clients_at_once': ((), (Step(2.0, 'call', GOAL, twice_s=0.005),)),
    'nonsense': ((), (Step(2.0, 'nonsense'), Step(3.0, 'look'))),
    'clock_jump': ((_fault('ros_clock', 3.0, -3600.0),), (CALL,)),
}  # fmt: skip
"""By name: what goes wrong, and what clients do."""

Play = Callable[[Bench], Awaitable[None]]


async def _arrive(bench: Bench, after_s: float = 2.0, share: float = 1.0) -> None:
    """Bring the robot to the newest goal, or a share of the way."""
    await asyncio.sleep(after_s)
    goal_id, fields = bench.nav2.sent[-1]
    bench.nav2.feedback(goal_id, distance_remaining=0.4)
    await asyncio.sleep(0.5)
    pose = fields
    bench.robot.place(pose['x'] * share, pose['y'] * share, pose['yaw'])
    bench.nav2.status((goal_id, GoalStatus.SUCCEEDED))
    bench.nav2.result(GoalStatus.SUCCEEDED, {'error_code': 0}, goal_id)


def _go(x: float) -> dict[str, Any]:
    return call(
        'navigate_to_pose', x=x, y=0.5, purpose='look', expected_outcome='there', say='I go.'
    )


FINISH = call('finish_mission', outcome='achieved', reason='seen to be there')


async def _model_failures(bench: Bench) -> None:
    mission = asyncio.create_task(bench.core.harness.run_mission('go, whatever the model does'))
    await asyncio.sleep(3.0)
    await _arrive(bench)
    await mission


async def _mission_canceled(bench: Bench) -> None:
    mission = asyncio.create_task(bench.core.harness.run_mission('go there'))
    await asyncio.sleep(3.0)
    bench.core.harness.cancel_mission()
    await asyncio.sleep(0.1)
    bench.nav2.result(GoalStatus.CANCELED, {})
    await mission


async def _message(bench: Bench) -> None:
    mission = asyncio.create_task(bench.core.harness.run_mission('go there'))
    await asyncio.sleep(1.5)
    bench.core.harness.notify(Salient('human_message', 'the kitchen is closed'))
    await asyncio.sleep(3.0)
    bench.robot.battery = 0.1
    await asyncio.sleep(3.0)
    await _arrive(bench)
    await mission


async def _idempotent(bench: Bench) -> None:
    key = IdempotencyKey('client', 'key-1')
    arguments = {'x': 2.0, 'y': 0.0}
    first = bench.core.dispatcher.call('navigate_to_pose', arguments, CallContext(idempotency=key))
    again = bench.core.dispatcher.call('navigate_to_pose', arguments, CallContext(idempotency=key))
    other = bench.core.dispatcher.call('list_places', {}, CallContext(idempotency=key))
    results = await asyncio.gather(first, again, other)
    waiting = asyncio.create_task(
        bench.call('wait_for_action', {'action_id': results[0].data['action_id']})
    )
    await _arrive(bench)
    await waiting


async def _withdrawn(bench: Bench) -> None:
    bench.nav2.set_reachable(False)
    waiting = asyncio.create_task(bench.call('navigate_to_pose', {'x': 1.0, 'y': 0.0}))
    await asyncio.sleep(0.4)
    waiting.cancel()
    await asyncio.sleep(1.0)
    bench.nav2.set_reachable(True)
    await asyncio.sleep(1.0)


async def _inactive(bench: Bench) -> None:
    bench.core.dispatcher.active = False
    await bench.call('navigate_to_pose', {'x': 1.0, 'y': 0.0})
    bench.core.dispatcher.active = True
    await bench.call('navigate_to_pose', {'x': 1.0, 'y': 0.0})
    await _arrive(bench, share=0.5)
    await asyncio.sleep(8.0)


BENCHES: dict[str, tuple[tuple[dict[str, Any], ...], Play]] = {
    'model_failures': (
        (
            response(error={'message': 'busy', 'retryable': True}),
            {**_go(1.0), 'delay_s': 0.4},
            response(say='I only talk.'),
            FINISH,
        ),
        _model_failures,
    ),
    'mission_canceled': ((_go(3.0),), _mission_canceled),
    'message_and_low_battery': (
        (
            call('get_world_snapshot', say='I look first.'),
            _go(2.0), response(say='I wait.'), response(say='I wait.'), FINISH,
        ),
        _message,
    ),
    'withdrawn_in_time': ((), _withdrawn),
    'repeated_under_a_key': ((), _idempotent),
    'inactive_then_short_of_the_goal': ((), _inactive),
}  # fmt: skip


BELL = """\
skills:
  toll:
    description: Toll the bell.
    arguments:
      times: {type: integer, description: How often}
    service:
      name: bell
      type: std_srvs/srv/SetBool
      request: {data: true}
      response: {note: message}
      success: success
"""


class Bell:
    """A service that tolls, refuses, or says nothing."""

    _asked = 0

    def on_presence(self, listener: Callable[[str, bool], None]) -> None:
        """Be there from the beginning."""
        asyncio.get_running_loop().call_soon(listener, 'bell', True)

    async def call(
        self, service: RosService, request: Mapping[str, Any], *, timeout_s: float
    ) -> dict[str, Any]:
        """Answer after a while; the first time well."""
        self._asked += 1
        number = self._asked
        await asyncio.sleep(0.7)
        if number == 3:
            raise ServiceTimeoutError(f'service {service.name} did not answer')
        return {'success': number == 1, 'message': f'asked {number} times'}


async def _toll(bench: Bench) -> None:
    mission = asyncio.create_task(bench.core.harness.run_mission('toll the bell'))
    await asyncio.sleep(0.2)
    await bench.call('toll', {'times': 3})
    await mission


TOLL = tuple(call('toll', times=n, say='It is noon.') for n in (1, 2))
SERVICES: dict[str, tuple[tuple[dict[str, Any], ...], Play]] = {
    'services_that_answer_and_fail': ((*TOLL, FINISH), _toll)
}
"""As BENCHES, on a robot that has a bell."""


def main() -> None:
    """Make all, or take one from elsewhere."""
    if sys.argv[1:2] == ['--from']:
        _keep(Path(sys.argv[2]), sys.argv[3])
        return
    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as folder:
        for name, (faults, steps) in CAMPAIGN.items():
            home = Path(folder) / name
            home.mkdir()
            plan = Plan(1, HABITS, faults, steps)
            mission = CampaignMission(plan, home, check_parameters(PARAMETERS))
            run_virtual(mission.run())
            _keep(mission.journal, name)
        for name, (answers, play) in BENCHES.items():
            path = Path(folder) / f'{name}.db'
            run_virtual(_bench(path, answers, play))
            _keep(path, name)
        skills = Path(folder) / 'skills.yaml'
        skills.write_text(BELL, encoding='utf-8')
        for name, (answers, play) in SERVICES.items():
            path = Path(folder) / f'{name}.db'
            run_virtual(_bench(path, answers, play, skills))
            _keep(path, name)


async def _bench(
    path: Path, answers: tuple[dict[str, Any], ...], play: Play, skills: Path | None = None
) -> None:
    model = scripted(*answers) if answers else None
    parameters = {} if skills is None else {'skills_file': str(skills)}
    services = None if skills is None else Bell()
    async with Bench(
        path, parameters=parameters, model=model, nav2=ScriptableNav2(), services=services
    ) as bench:
        await play(bench)


def _keep(journal: Path, name: str) -> None:
    """Keep a closed journal as an archive: a tenth of its size, and read like any other."""
    target = FOLDER / f'{name}.db.gz'
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / 'journal.db'
        with (
            contextlib.closing(sqlite3.connect(journal)) as source,
            contextlib.closing(sqlite3.connect(whole)) as copy,
        ):
            source.backup(copy)  # with what its log holds
        target.write_bytes(gzip.compress(whole.read_bytes(), mtime=0))
    print(f'{target.name:45} {target.stat().st_size / 1024:6.1f} KiB')


if __name__ == '__main__':
    main()
