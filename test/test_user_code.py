# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Code of other packages that makes goals and judges outcomes: whatever it does, the loop goes on.

On the real loop: what blocks knows nothing of virtual time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
import subprocess
import sys
import threading
import time
from typing import Any

import pytest

from robot_agent_harness.actions import judging, tracker
from robot_agent_harness.actions.controller import GoalStatus
from robot_agent_harness.actions.verification import Judgement, Verdict
from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.guarded import in_own_thread, TookTooLongError
from robot_agent_harness.skills import starter
from robot_agent_harness.skills.outputs import CallOutput, ManagedOutput
from robot_agent_harness.skills.result import ResultStatus, ToolResult
from robot_agent_harness.skills.skill import (
    GoalContext,
    ManagedAction,
    skill,
    SkillContext,
    SkillError,
)
from robot_agent_harness.testing import Bench, check_journal

PROMPT_S = 0.2
"""How long other packages' code may take in here."""
HANGS_S = 60.0


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (starter, judging, tracker):
        monkeypatch.setattr(module, 'USER_CODE_S', PROMPT_S)


@pytest.fixture
def endless() -> Any:
    """Something that is waited for until the test ends."""
    event = threading.Event()
    yield event
    event.set()


class Beat:
    """Notices how long the loop was held up."""

    def __init__(self) -> None:
        self.longest_s = 0.0
        self._task = asyncio.create_task(self._count())

    async def _count(self) -> None:
        while True:
            before = time.monotonic()
            await asyncio.sleep(0.01)
            self.longest_s = max(self.longest_s, time.monotonic() - before)

    def stop(self) -> None:
        self._task.cancel()


def _run(
    tmp_path: Path,
    scenario: Callable[[Bench], Awaitable[Any]],
    *,
    goal: Callable[..., Any] | None = None,
    verifier: Any = None,
) -> Any:
    """Run a scenario with a skill `shove` of another package, and perhaps its verifier."""

    async def run() -> Any:
        async with Bench(tmp_path / 'j.db') as bench:
            if verifier is not None:
                bench.core.verifiers['theirs'] = verifier
            name = 'navigation' if verifier is None else 'theirs'

            def shove(context: GoalContext) -> dict[str, Any]:
                """Shove."""
                made: dict[str, Any] = {'x': 1.0, 'y': 0.0, 'yaw': 0.0, 'frame_id': 'map'}
                return made if goal is None else goal()

            made = skill(output=ManagedOutput, managed=ManagedAction(verifier=name))(shove)
            bench.core.registry._skills['shove'] = replace(made, foreign=True)
            beat = Beat()
            told = await asyncio.wait_for(scenario(bench), HANGS_S / 2)
            beat.stop()
            assert beat.longest_s < HANGS_S / 10
            return told

    told = asyncio.run(run())
    assert check_journal(tmp_path / 'j.db') == []
    return told


def test_a_goal_that_is_never_made_is_an_error_and_holds_nobody_up(
    endless: threading.Event, tmp_path: Path
) -> None:
    async def scenario(bench: Bench) -> tuple[ToolResult, ToolResult]:
        hanging = asyncio.create_task(bench.call('shove', {}))
        looked = await bench.call('get_world_snapshot', {})
        assert looked.status is ResultStatus.COMPLETED
        assert not hanging.done()
        told = await hanging
        assert bench.nav2.sent == []
        return told, await bench.call('navigate_to_pose', {'x': 1.0, 'y': 0.0})

    told, after = _run(tmp_path, scenario, goal=lambda: endless.wait(HANGS_S))
    assert told.status is ResultStatus.TOOL_ERROR
    assert told.message == (
        'shove has not made its goal: it took longer than 0.2 s; nothing was sent to the robot'
    )
    assert after.status is ResultStatus.ACCEPTED


class Stop(BaseException):
    """What passes by every `except Exception`."""


@pytest.mark.parametrize('error', [ValueError('no'), SystemExit(1), Stop(), StopIteration()])
def test_a_goal_function_that_raises_ends_its_call_and_nothing_else(
    error: BaseException, tmp_path: Path
) -> None:
    def goal() -> dict[str, Any]:
        raise error

    async def scenario(bench: Bench) -> ToolResult:
        told = await bench.call('shove', {})
        assert bench.nav2.sent == []
        assert (await bench.call('get_world_snapshot', {})).status is ResultStatus.COMPLETED
        return told

    told = _run(tmp_path, scenario, goal=goal)
    assert told.status is ResultStatus.TOOL_ERROR
    assert told.message == 'shove failed; see the log of the harness'


def test_what_a_goal_function_anticipates_is_told_to_the_caller(tmp_path: Path) -> None:
    def goal() -> dict[str, Any]:
        raise SkillError('the arm is out')

    told = _run(tmp_path, lambda bench: bench.call('shove', {}), goal=goal)
    assert (told.status, told.message) == (ResultStatus.TOOL_ERROR, 'the arm is out')


@pytest.mark.parametrize('goal', [None, [1.0], 'there'])
def test_a_goal_that_is_none_is_an_error(goal: Any, tmp_path: Path) -> None:
    told = _run(tmp_path, lambda bench: bench.call('shove', {}), goal=lambda: goal)
    assert told.status is ResultStatus.TOOL_ERROR


def test_a_managed_skill_that_is_a_coroutine_is_refused_when_it_is_made() -> None:
    async def shove(context: GoalContext) -> dict[str, Any]:
        """Shove."""
        return {}

    with pytest.raises(ConfigurationError, match='shove: a managed skill returns its goal at'):
        skill(output=ManagedOutput, managed=ManagedAction())(shove)


class Theirs:
    """A verifier with a hook for each of its methods."""

    def __init__(self, judge: Callable[[], Any], waypoints: Callable[[], Any]) -> None:
        self._judge, self._waypoints = judge, waypoints

    def judge(self, **seen: Any) -> Judgement:
        self._judge()
        return Judgement(Verdict.CONFIRMED, True, {'why': 'seen'})

    def waypoints(self, goal: dict[str, Any]) -> tuple[tuple[float, float], ...]:
        self._waypoints()
        return ()


async def _shoved(bench: Bench) -> Any:
    taken = await bench.call('shove', {})
    assert taken.status is ResultStatus.ACCEPTED, taken
    bench.nav2.result(GoalStatus.SUCCEEDED, {})
    return await bench.outcome(taken.data['action_id'])


def test_a_verifier_that_never_answers_leaves_its_action_unknown_and_holds_nobody_up(
    endless: threading.Event, tmp_path: Path
) -> None:
    theirs = Theirs(lambda: endless.wait(HANGS_S), lambda: None)
    ended = _run(tmp_path, _shoved, verifier=theirs)
    assert (ended.state.value, ended.outcome.reason.value) == (
        'UNKNOWN',
        'verification_inconclusive',
    )
    why = 'the verifier has not judged: it took longer than 0.2 s'
    assert ended.outcome.evidence['why'] == why


def test_a_verifier_that_never_names_its_waypoints_judges_without(
    endless: threading.Event, tmp_path: Path
) -> None:
    theirs = Theirs(lambda: None, lambda: endless.wait(HANGS_S))
    ended = _run(tmp_path, _shoved, verifier=theirs)
    assert (ended.state.value, ended.outcome.reason.value) == ('SUCCEEDED', 'verified')


def test_a_plain_skill_that_blocks_holds_nobody_up_however_long(tmp_path: Path) -> None:
    def listen(context: SkillContext) -> ToolResult:
        """Listen."""
        time.sleep(3 * PROMPT_S)
        return ToolResult(ResultStatus.COMPLETED, 'quiet')

    async def scenario(bench: Bench) -> ToolResult:
        bench.core.registry._skills['listen'] = skill(output=CallOutput)(listen)
        return await bench.call('listen', {})

    assert _run(tmp_path, scenario).message == 'quiet'


def test_what_hangs_keeps_no_process_alive_and_says_nothing_at_the_end() -> None:
    code = (
        'import asyncio, threading\n'
        'from robot_agent_harness.guarded import in_own_thread, TookTooLongError\n'
        'async def main():\n'
        '    try:\n'
        '        await in_own_thread(threading.Event().wait, within_s=0.1)\n'
        '    except TookTooLongError as error:\n'
        '        print(error)\n'
        'asyncio.run(main())\n'
    )
    ended = subprocess.run(
        [sys.executable, '-c', code],
        check=False,
        capture_output=True,
        text=True,
        timeout=HANGS_S,
    )
    assert (ended.returncode, ended.stdout) == (0, 'it took longer than 0.1 s\n')
    assert ended.stderr == ''


def test_what_comes_too_late_is_dropped_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    late = threading.Event()

    async def main() -> None:
        with pytest.raises(TookTooLongError):
            await in_own_thread(lambda: late.wait(HANGS_S), within_s=0.05)
        threads = [t for t in threading.enumerate() if t.daemon and t.name.endswith('(work)')]
        late.set()
        for thread in threads:
            await asyncio.to_thread(thread.join)

    asyncio.run(main())
    assert caplog.records == []
