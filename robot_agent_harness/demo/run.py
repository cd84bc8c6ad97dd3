# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs the demo: starts the nodes, sends the mission, shows it, and checks what was claimed.

Nothing waits without a bound, and while something is waited for, a line says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
import contextlib
from dataclasses import dataclass
import importlib.util
import os
from pathlib import Path
import signal
import sys
import time
from types import FrameType
from typing import TYPE_CHECKING

from robot_agent_harness.demo.checks import CheckResult, Evidence, MISSION_ID, run_checks, Trip
from robot_agent_harness.demo.children import Child, end_all
from robot_agent_harness.demo.director import Director
from robot_agent_harness.demo.domain import Domain, isolated
from robot_agent_harness.demo.observation import SUCCEEDED
from robot_agent_harness.demo.output import HARNESS_LOG, OutputFolder, SIM_LOG
from robot_agent_harness.demo.screen import Screen
from robot_agent_harness.demo.timeline import lines
from robot_agent_harness.errors import ConfigurationError, HarnessError, JournalError
from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.report import write_report
from robot_agent_harness.resources import config_path
from robot_agent_harness.skills.places import read_places

if TYPE_CHECKING:
    from robot_agent_harness.ros.demo_witness import Witness

INSTRUCTION = 'Make your round: kitchen, office, storage, and back to the dock.'
POLL_S = 0.03
HEARTBEAT_S = 1.5
"""Longest silence on the terminal while something is waited for."""
START_S = 30.0
"""How long a node may take to start on a busy machine."""
REFUSED_S, ANSWER_S = 0.5, 5.0
"""Pauses before the mission is offered again: after a refusal, and without an answer."""
STALL_S = 15.0
"""A mission under way writes a record a second; this long without one, something hangs."""
MISSION_S, MISSION_WORLD_S = 45.0, 300.0
"""Longest mission: what passes in real time, and what the robot's own time is divided from."""
RESULT_S = 5.0
_AWAITED: dict[str, str] = {
    EventType.MODEL_TURN_STARTED: 'the model to decide',
    EventType.ROBOT_ACTION_STARTED: 'the controller',
    EventType.ROBOT_ACTION_OUTCOME: 'the harness',
    EventType.MISSION_ENDED: 'the result',
}
"""What comes after a record."""
_SPEAKERS = (
    ('model', 'decides; here a script stands in for a language model'),
    ('harness', 'this package: between the model and the robot'),
    ('check', 'the harness compares the decision with the world before anything moves'),
    ('controller', 'the robot’s navigation: what it says about its goals'),
    ('observed', 'where the harness then sees the robot'),
    ('outcome', 'what the harness concludes, and tells the model'),
)
OK, FAILED, MISUSE, BY_SIGNAL = 0, 1, 2, 128


@dataclass(frozen=True, slots=True)
class DemoSettings:
    """What the command line says."""

    output: Path
    time_scale: float
    """How many times faster than a real robot the simulated one is."""
    color: bool


class _Trouble(HarnessError):
    """The demo cannot go on; `children` are the processes whose logs may say why."""

    def __init__(self, message: str, *children: Child) -> None:
        super().__init__(message)
        self.children = children


class _Signalled(BaseException):
    """SIGINT, SIGTERM or SIGHUP arrived; raised wherever the demo is, like KeyboardInterrupt."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def run_demo(settings: DemoSettings) -> int:
    """Run the demo and return its exit code.

    0: every claim was checked and holds; 1: one does not, or the demo could not be finished; 2: it
    could not be started as asked; 128 + n: ended by signal n.

    :raises ModuleNotFoundError: ROS is not installed, or not sourced.
    """
    if importlib.util.find_spec('rclpy') is None:
        raise ModuleNotFoundError('no module rclpy', name='rclpy')
    try:
        with _signals_raised(), contextlib.closing(OutputFolder(settings.output)) as folder:
            return _Demo(settings, folder, Screen(color=settings.color)).run()
    except ConfigurationError as error:
        print(f'robot-agent-harness demo: {" ".join(str(error).split())}', file=sys.stderr)
        return MISUSE
    except _Signalled as stopped:
        print('\nstopped; nothing is left running', file=sys.stderr)
        return BY_SIGNAL + stopped.number


@contextlib.contextmanager
def _signals_raised() -> Iterator[None]:
    """Turn the first signal that asks for an end into `_Signalled`; the clean-up is not cut
    short.
    """
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def stop(number: int, _frame: FrameType | None) -> None:
        for each in numbers:
            signal.signal(each, signal.SIG_IGN)
        raise _Signalled(number)

    former = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


class _Demo:
    def __init__(self, settings: DemoSettings, folder: OutputFolder, screen: Screen) -> None:
        self._settings = settings
        self._folder = folder
        self._screen = screen
        self._children: list[Child] = []
        self._reader: JournalReader | None = None
        self._seen_seq = 0
        self._director: Director | None = None
        self._mission_over = False
        self._awaited = 'the mission to begin'

    def run(self) -> int:
        self._introduce()
        avoid = os.environ.get('ROS_DOMAIN_ID', '')
        with contextlib.closing(Domain([int(avoid)] if avoid.isdecimal() else [])) as domain:
            environment = isolated(os.environ, domain.number)
            os.environ.clear()
            os.environ.update(environment)
            try:
                evidence = self._play(domain.number)
            except HarnessError as error:
                self._explain(error)
                return FAILED
            except _Signalled:
                self._screen.say('demo', 'is asked to stop, and stops the two nodes')
                raise
            finally:
                self._end_children()
        return self._conclude(evidence)

    def _introduce(self) -> None:
        self._screen.title(
            'robot_agent_harness: the demo',
            'A model sends a simulated robot on a round by tool calls. On the way the demo moves',
            'the robot behind the model’s back and makes its controller lie. Watch what is',
            'believed.',
            f'Everything stays on this machine; output goes to {self._folder.path}/.',
        )
        if self._folder.kept is not None:
            self._screen.title('', f'The run before was moved to {self._folder.kept}/.')
        self._screen.title('')
        for who, what in _SPEAKERS:
            self._screen.legend(who, what)
        self._screen.chapter('0. Two ROS 2 nodes start')

    # -- the story -------------------------------------------------------------------------------

    def _play(self, domain: int) -> Evidence:
        say = self._screen.say
        say(
            'demo',
            f'starts the simulated robot and the harness (ROS domain {domain}, this machine only)',
        )
        sim = self._start('simulated robot', SIM_LOG, self._sim_arguments())
        harness = self._start('harness', HARNESS_LOG, self._harness_arguments())
        # Imported here, while the nodes start: it takes as long as they do.
        from robot_agent_harness.ros.demo_witness import Witness

        try:
            witness = Witness(domain)
        except RuntimeError as error:  # the root of rclpy's own
            raise _Trouble(f'ROS does not start here: {error}', *self._children) from error
        with witness:
            self._director = Director(self._screen, witness.faults)
            self._wait(lambda: witness.sees_robot, START_S, 'the simulated robot', sim)
            say('demo', 'sees the robot, and watches its odometry and its action on the wire')
            self._wait(lambda: witness.harness_sees_robot, START_S, 'the harness', harness)
            say('demo', 'sends the mission to the harness, as a ROS action')
            self._send(witness, harness)
            self._follow()
            self._wait(lambda: witness.mission_result is not None, RESULT_S, 'the result', harness)
            assert witness.mission_result is not None
            outcome = witness.mission_result.outcome
            observation = witness.observation()
        self._end_children()
        for child in self._children:
            if child.exit_code != 0:
                raise _Trouble(f'the {child.name} {child.how_ended} when it was to end', child)
        places = read_places(config_path('places.yaml'))
        return Evidence(self._folder.journal, observation, places, outcome)

    def _send(self, witness: Witness, harness: Child) -> None:
        due = 0.0

        def taken() -> bool:
            nonlocal due
            if witness.mission_taken is False:
                due = min(due, time.monotonic() + REFUSED_S)
            if witness.mission_taken is not True and time.monotonic() >= due:
                asked = witness.send_mission(INSTRUCTION, MISSION_ID)
                due = time.monotonic() + ANSWER_S if asked else 0.0
            return witness.mission_taken is True

        self._wait(taken, START_S, 'the harness to take the mission', harness)

    def _follow(self) -> None:
        """Show the journal as it grows, until the mission's end is recorded."""
        last_news = time.monotonic()

        def over() -> bool:
            nonlocal last_news
            if self._show_news():
                last_news = time.monotonic()
            if time.monotonic() - last_news > STALL_S:
                raise _Trouble(f'nothing was recorded for {STALL_S:g} s', *self._children)
            return self._mission_over

        at_most_s = MISSION_S + MISSION_WORLD_S / self._settings.time_scale
        self._wait(over, at_most_s, lambda: self._awaited, *self._children)

    def _show_news(self) -> bool:
        """Print new records and let the director act on them; return whether there were any."""
        news = False
        for event in self._journal_news():
            news = True
            self._seen_seq = event.seq
            assert self._director is not None
            self._director.before(event)
            for who, what, style in lines(event):
                self._screen.say(who, what, style, wall_ns=event.wall_time_ns)
            self._director.after(event)
            self._awaited = _AWAITED.get(event.type, self._awaited)
            self._mission_over |= event.type == EventType.MISSION_ENDED
        return news

    def _journal_news(self) -> Iterator[RecordedEvent]:
        try:
            if self._reader is None:
                self._reader = JournalReader(self._folder.journal)
            yield from self._reader.events(after_seq=self._seen_seq)
        except JournalError as error:
            raise _Trouble(str(error), self._children[-1]) from error

    # -- processes -------------------------------------------------------------------------------

    def _start(self, name: str, log: str, arguments: list[str]) -> Child:
        child = Child(name, arguments, log=self._folder.path / log, environment=os.environ)
        self._children.append(child)
        return child

    def _sim_arguments(self) -> list[str]:
        scale = f'time_scale:={self._settings.time_scale:.3f}'
        return ['sim-robot', '--ros-args', '-p', scale]

    def _harness_arguments(self) -> list[str]:
        parameters = {
            'robot_id': 'demo_robot',
            'journal.path': str(self._folder.journal.absolute()),
            'mcp.port': '0',
            'model.provider': 'scripted',
            'model.script_file': str(config_path('demo_mission.yaml')),
        }
        given = [part for name, value in parameters.items() for part in ('-p', f'{name}:={value}')]
        return ['run', '--ros-args', *given]

    def _end_children(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        end_all(self._children)

    def _wait(
        self,
        until: Callable[[], bool],
        at_most_s: float,
        what: str | Callable[[], str],
        *whose: Child,
    ) -> None:
        """Wait for something, showing that it is waited for.

        :raises _Trouble: a child has died, or it takes too long.
        """
        began = time.monotonic()
        while not until():
            for child in self._children:
                if child.exit_code is not None:
                    raise _Trouble(f'the {child.name} {child.how_ended}', child)
            waited = time.monotonic() - began
            told = what if isinstance(what, str) else what()
            if waited > at_most_s:
                raise _Trouble(f'waited {at_most_s:g} s for {told}', *whose)
            if time.monotonic() - self._screen.last_print > HEARTBEAT_S:
                self._screen.say('waiting', f'for {told}', 'dim')
            time.sleep(POLL_S)

    # -- the end ---------------------------------------------------------------------------------

    def _explain(self, error: HarnessError) -> None:
        self._screen.say('demo', f'cannot go on: {error}', 'bold red')
        for child in error.children if isinstance(error, _Trouble) else self._children:
            self._screen.title('', f'The end of {child.log}:')
            self._screen.lines(child.tail() or ['(empty)'], 'dim')

    def _conclude(self, evidence: Evidence) -> int:
        screen = self._screen
        screen.chapter('What was claimed, what was verified, what the demo saw itself')
        screen.table(
            ('', 'sent to', 'the controller', 'the harness', 'the demo’s own measurement'),
            [_row(trip, evidence.tolerance_m) for trip in evidence.trips],
        )
        results = run_checks(evidence)
        results.append(self._report())
        good = all(result.ok for result in results)
        for result in results:
            sign, style = ('✓', 'green') if result.ok else ('✗', 'bold red')
            detail = f': {result.detail}' if result.detail else ''
            screen.lines([f'{sign} {result.name}{detail}'], style)
        screen.chapter('Look further')
        screen.lines(
            [
                f'report   {self._folder.report}  (open it in a browser)',
                f'journal  {self._folder.journal}  (SQLite; table events, view decision_log)',
                f'logs     {self._folder.path / SIM_LOG}, {self._folder.path / HARNESS_LOG}',
                'next     . ./env.sh, then robot-agent-harness sim-robot, and beside it'
                ' robot-agent-harness run:'
                ' then connect an MCP client to http://127.0.0.1:8642/mcp',
            ]
        )
        failed = [result.name for result in results if not result.ok]
        if failed:
            screen.title('', f'{len(failed)} of {len(results)} checks failed: {"; ".join(failed)}')
        else:
            screen.title('', f'All {len(results)} checks hold.')
        return OK if good else FAILED

    def _report(self) -> CheckResult:
        name = 'the report is written'
        try:
            write_report(self._folder.journal, self._folder.report, MISSION_ID)
        except HarnessError as error:
            return CheckResult(name, False, str(error))
        return CheckResult(name, True, '')


def _row(trip: Trip, tolerance_m: float) -> list[tuple[str, str]]:
    action = trip.action
    style = {'SUCCEEDED': 'green', 'FAILED': 'red'}.get(action.state, 'yellow')
    claimed = 'says SUCCEEDED' if trip.wire_status == SUCCEEDED else f'status {trip.wire_status}'
    away = 'not seen' if trip.away_m is None else f'{trip.away_m:.2f} m from the place'
    there = trip.away_m is not None and trip.away_m <= tolerance_m
    return [
        (str(action.number), ''),
        (action.title.rpartition(' ')[2], ''),
        (claimed, ''),
        (f'{action.state}: {(action.reason or "").replace("_", " ")}', style),
        (away, 'green' if there else 'red'),
    ]
