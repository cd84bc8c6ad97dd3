# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Puts on record what the harness was configured with and what it is ready for.

Together with the inputs that are recorded where they arrive, this lets a run be replayed from its
journal alone: the same code on the same parameters and files, at the same times.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import yaml

from robot_agent_harness import __version__
from robot_agent_harness.clock import Clock
from robot_agent_harness.events import Correlation, HarnessStateChanged
from robot_agent_harness.jsonable import jsonable
from robot_agent_harness.key_order import key_order
from robot_agent_harness.redaction import RedactedJournal

State = Literal['reconfigured', 'adopted', 'recovering', 'active', 'inactive']


class StateRecorder:
    """Records states of the harness, in their order; nobody waits for the disk."""

    def __init__(self, *, journal: RedactedJournal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock
        self._closing = False

    def configured(
        self,
        *,
        parameters: Mapping[str, Any],
        skills: Path,
        places: Path,
        reachable: Mapping[str, bool],
        services: bool,
        use_sim_time: bool,
    ) -> None:
        """Record what runs: parameters name secrets by file at most, never by value.

        :param services: whether services can be called.
        """
        configuration = {
            'version': __version__,
            'parameters': dict(parameters),
            'skills': jsonable(contents(skills)),
            # The order of tools and of their fields is that of the file.
            'skills_order': key_order(contents(skills)),
            'places': jsonable(contents(places)),
            'reachable': dict(reachable),
            'services': services,
            'use_sim_time': use_sim_time,
        }
        self._note(
            HarnessStateChanged(
                state='configured',
                monotonic_ns=self._clock.monotonic_ns(),
                configuration=configuration,
            )
        )

    def changed(self, state: State, **changed: Any) -> None:
        """Record a change, and what else is new with it."""
        now_ns = self._clock.monotonic_ns()
        self._note(
            HarnessStateChanged(state=state, monotonic_ns=now_ns, configuration=jsonable(changed))
        )

    def closing(self, *, cancel_running: bool) -> None:
        """Record that everything is about to end; once, however often it is said."""
        if self._closing:
            return
        self._closing = True
        self._note(
            HarnessStateChanged(
                state='closing',
                monotonic_ns=self._clock.monotonic_ns(),
                cancel_running=cancel_running,
            )
        )

    def _note(self, event: HarnessStateChanged) -> None:
        self._journal.defer((event, Correlation()))


def contents(path: Path) -> Any:
    """Return what a YAML file holds that could be read a moment ago."""
    return yaml.safe_load(path.read_text(encoding='utf-8'))
