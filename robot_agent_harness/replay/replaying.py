# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Replays the runs of a journal, one after the other, each on a loop and a core of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
import contextlib
from dataclasses import dataclass
import logging
from pathlib import Path
import tempfile
from typing import Any

import yaml

from robot_agent_harness.assembly import assemble
from robot_agent_harness.errors import ConfigurationError, HarnessError
from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.journal.reader import JournalReader, Told, unheard
from robot_agent_harness.journal.records import Row
from robot_agent_harness.key_order import in_order
from robot_agent_harness.parameters import check_parameters, PARAMETERS
from robot_agent_harness.replay.clock import call_under_way, RecordedIds, ReplayClock
from robot_agent_harness.replay.comparison import Comparison, Difference
from robot_agent_harness.replay.errors import ReplayError, ReplayFailedError
from robot_agent_harness.replay.inputs import Inputs
from robot_agent_harness.replay.journal import replay_journal_of
from robot_agent_harness.replay.loop import ReplayLoop
from robot_agent_harness.replay.outside import RecordedController, RecordedModel, RecordedServices
from robot_agent_harness.replay.parameters import check_what_if
from robot_agent_harness.replay.recording import Recording, runs_of
from robot_agent_harness.replay.world import ReplayedObserver
from robot_agent_harness.virtual_time import run_on

MEMORY = Path('/dev/shm')
"""What a replay needs on disk is put here where it exists; it is gone afterwards."""

logger = logging.getLogger(__name__)

_FILES = frozenset({'skills_file', 'places_file'})


@dataclass(frozen=True, slots=True)
class RunReplay:
    """What came of replaying one run."""

    first_seq: int
    last_seq: int
    missions: tuple[str, ...]
    version: str
    """The release that was recorded."""
    duration_s: float
    """How long it took then."""
    same: int
    """Records that are what they were."""
    reordered: int
    """Of those: how many changed places within `REORDER_S`."""
    of_the_machine: int
    """Records that were not compared: they tell of the machine alone."""
    left_at_the_end: int
    """The last records of a run that is cut off, which were not held against the replay."""
    differences: tuple[Difference, ...]
    recording: Recording
    made: tuple[tuple[int, Row], ...]
    """Every record of the replay, with its steady time."""
    unanswered_ns: int | None
    """Since when something was looked at that the recording does not show."""

    @property
    def identical(self) -> bool:
        """Whether every record is what it was."""
        return not self.differences

    @property
    def whole(self) -> bool:
        """Whether it is on record to its end; else it was killed, or goes on."""
        return self.recording.is_whole


@dataclass(frozen=True, slots=True)
class JournalReplay:
    """What came of replaying a journal."""

    path: Path
    runs: tuple[RunReplay, ...]
    damage: str | None
    """What shows that records were altered or lost; then no comparison is an answer."""

    @property
    def identical(self) -> bool:
        """Whether every record of every run is what it was."""
        return all(run.identical for run in self.runs)


def replay_journal(
    path: Path | str,
    *,
    mission_id: str | None = None,
    what_if: Mapping[str, Any] | None = None,
    told: Told = unheard,
) -> JournalReplay:
    """Replay every run of a journal, or the one in which a mission was.

    :param what_if: parameters that are to be other than they were.
    :param told: of each record that has been made again, or was not to be.
    :raises ReplayError: the journal does not hold what a replay needs.
    :raises JournalError: it cannot be read.
    :raises ConfigurationError: a parameter is unknown, out of range, or plays no part.
    """
    check_what_if(what_if or {})
    with JournalReader(path) as reader:
        records = list(reader.events())
        where, damage = reader.path, reader.damage()
    if not records:
        raise ReplayError(f'journal {where} is empty')
    try:
        runs = list(runs_of(records))
        if mission_id is not None:
            runs = [run for run in runs if mission_id in run.missions]
            if not runs:
                raise ReplayError(f'it holds no mission {mission_id!r}')
        begin = records[0].seq
        replayed = []
        for run in runs:
            earlier = records[: run.first_seq - begin]
            with _quiet():
                replayed.append(replay_run(run, earlier, what_if=what_if, told=told))
    except ReplayError as error:
        logger.debug('journal %s cannot be replayed', where, exc_info=True)
        damaged = '' if damage is None else f' is damaged ({damage}), and'
        raise type(error)(f'journal {where}{damaged} cannot be replayed: {error}') from error
    return JournalReplay(where, tuple(replayed), damage)


def replay_run(
    recording: Recording,
    earlier: list[RecordedEvent],
    *,
    what_if: Mapping[str, Any] | None = None,
    told: Told = unheard,
) -> RunReplay:
    """Replay one run.

    :param earlier: the records before it.
    :param what_if: parameters that are to be other than they were.
    :param told: of each record that has been made again, or was not to be.
    :raises ReplayError: the recording lacks something.
    :raises ReplayFailedError: the replay itself has a fault.
    :raises ConfigurationError: a parameter is unknown or out of range.
    """
    loop = ReplayLoop()
    home = MEMORY if MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(prefix='replay-', dir=home) as folder:
        run = _Run(recording, earlier, Path(folder), loop, what_if or {}, told)
        try:
            return run_on(loop, run.play())
        except ConfigurationError as error:
            if _FILES & (what_if or {}).keys():
                raise  # it is about the file that is tried out
            raise ReplayError(
                f'record {recording.first_seq}: what the harness ran on is refused: {error}'
            ) from error
        except HarnessError:
            raise
        except Exception as error:
            # Whatever it is, the records were checked: nobody who gave a file is to blame.
            raise ReplayFailedError(
                f'the replay itself failed before record {run.next_seq}: {error!r}; the records'
                ' are as they should be, so this is a fault of robot_agent_harness: please report'
                ' it with the traceback, which is logged at level debug'
            ) from error


class _Run:
    """The parts of one replay."""

    def __init__(
        self,
        recording: Recording,
        earlier: list[RecordedEvent],
        folder: Path,
        loop: ReplayLoop,
        what_if: Mapping[str, Any],
        told: Told,
    ) -> None:
        self._recording = recording
        self._loop = loop
        self._clock = ReplayClock(recording, loop)
        self._comparison = Comparison(
            recording,
            self._clock.monotonic_ns,
            lambda seq: told(seq, recording.last_seq),
        )
        self._earlier = earlier
        self._folder = folder
        self._what_if = what_if

    @property
    def next_seq(self) -> int:
        """Return the number of the first record that has not been made again."""
        return self._comparison.next_seq

    async def play(self) -> RunReplay:
        """Play the run to its end and return what came of it."""
        recording, comparison = self._recording, self._comparison
        recorded = recording.configuration
        journal = replay_journal_of(
            self._folder / 'journal.db',
            self._earlier,
            clock=self._clock,
            take=comparison.take,
        )
        controllers = {
            name: RecordedController(bool(there), self._loop.answer)
            for name, there in recorded['reachable'].items()
        }
        started = next(recording.of(EventType.MISSION_STARTED), None)
        model = RecordedModel(recording, started) if started else None
        # A release that did not record them says nothing of services.
        services = (
            RecordedServices(recording, call_under_way) if recorded.get('services') else None
        )
        observers: list[ReplayedObserver] = []

        def observer(**parts: Any) -> ReplayedObserver:
            observers.append(ReplayedObserver(recording=recording, clock=self._clock, **parts))
            return observers[0]

        parameters = self._parameters(recorded['parameters'])
        core = assemble(
            parameters,
            clock=self._clock,
            ids=RecordedIds(recording),
            journal=journal,
            controllers=controllers,
            services=services,
            model=model,
            use_sim_time=bool(recorded['use_sim_time']),
            make_observer=observer,
        )
        inputs = Inputs(
            recording,
            core=core,
            journal=journal,
            controllers=controllers,
            services=services,
            model=model,
            places_file=self._folder / 'places.yaml',
            parameters=parameters,
            pinned=self._what_if.keys(),
        )
        self._loop.play(inputs.script(), comparison)
        await inputs.over
        comparison.finish()
        return RunReplay(
            first_seq=recording.first_seq,
            last_seq=recording.last_seq,
            missions=recording.missions,
            version=str(recorded['version']),
            duration_s=recording.duration_s,
            same=comparison.same,
            reordered=comparison.reordered,
            of_the_machine=comparison.of_the_machine,
            left_at_the_end=comparison.left_at_the_end,
            differences=tuple(comparison.differences),
            recording=recording,
            made=tuple(comparison.made),
            unanswered_ns=observers[0].unanswered_ns,
        )

    def _parameters(self, recorded: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters of then, with the files of then and what is tried out."""
        known = {parameter.name for parameter in PARAMETERS}
        given = {name: value for name, value in recorded.items() if name in known}
        for name in ('skills', 'places'):
            file = self._folder / f'{name}.yaml'
            file.write_text(self._contents(name), encoding='utf-8')
            given[f'{name}_file'] = str(file)
        return check_parameters({**given, **self._what_if})

    def _contents(self, name: str) -> str:
        """Return what a file held, in its order where that is on record."""
        configuration = self._recording.configuration
        held = in_order(configuration[name], configuration.get(f'{name}_order'))
        return yaml.safe_dump(held, sort_keys=False)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep the log clear of what happened then."""
    level = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(level)
