# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What a campaign says: one mission's verdict, and the figures over all of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
import re
from typing import get_args

from robot_agent_harness.testing.campaign.faults import Fault
from robot_agent_harness.testing.campaign.verdicts import ActionVerdict, Finding, Kind


@dataclass(frozen=True, slots=True)
class MissionVerdict:
    """One mission, judged."""

    seed: int
    faults: tuple[Fault, ...]
    actions: tuple[ActionVerdict, ...]
    findings: tuple[Finding, ...]
    results: tuple[str, ...]
    """The status of each tool call's one result."""

    def found(self, kind: str) -> tuple[str, ...]:
        """Return the findings of one kind."""
        return tuple(finding.what for finding in self.findings if finding.kind == kind)

    @property
    def ok(self) -> bool:
        """Whether it has neither a false success nor a broken invariant."""
        return not any(self.found(kind) for kind in ('false_success', 'unsupported', 'broken'))

    def describe(self) -> str:
        """Return the mission in a few lines."""
        lines = [f'seed {self.seed}: faults: {", ".join(map(str, self.faults)) or "none"}']
        lines += [f'  results: {", ".join(self.results) or "none"}']
        for action in self.actions:
            lines.append(
                f'  action {action.action_id[-4:]}: {action.state} ({action.reason}), truly '
                f'{action.off_m:.2f} m, {action.off_rad:.2f} rad off, {action.speed_m_s:.2f} m/s'
                f': {action.why}'
            )
        lines += [f'  {finding.kind}: {finding.what}' for finding in self.findings]
        return '\n'.join(lines)


@dataclass(frozen=True, slots=True)
class CampaignReport:
    """The figures of a campaign."""

    seed: int
    missions: int
    calls: int
    actions: int
    states: dict[str, int]
    """How many actions ended in each state."""
    unknown: dict[str, int]
    """UNKNOWN outcomes by reason."""
    truly_there: int
    """Actions whose robot was truly there and at rest when they ended."""
    wrong_successes: int
    """SUCCEEDED but truly elsewhere or moving, whatever the harness could know."""
    false_successes: int
    """Those of them that the harness could have known."""
    unsupported: int
    """Right by luck: SUCCEEDED and truly there, on evidence that was missing."""
    missed: int
    undecidable: int
    """Truly there as well, and not SUCCEEDED, but too little was told to know it."""
    running: int
    """Actions with an outcome whose controller still drove to the goal 3 s later."""
    broken: int
    deceptions: dict[str, int]
    """Why the other wrong successes could not be known."""
    failures: tuple[tuple[int, str], ...]
    """Seed and reason of each false success, unsupported success and broken invariant."""
    missed_seeds: tuple[tuple[int, str], ...]

    @property
    def ok(self) -> bool:
        """Whether there was neither a false success nor a broken invariant."""
        return not self.failures

    def table(self) -> str:
        """Return the figures as text."""
        rows: list[tuple[str, str]] = [
            (
                'missions',
                f'{self.missions} (seeds {self.seed} to {self.seed + self.missions - 1})',
            ),
            ('calls', str(self.calls)),
            ('actions', str(self.actions)),
        ]
        rows += [(f'  {state}', self._share(n)) for state, n in sorted(self.states.items())]
        rows += [(f'    UNKNOWN: {why}', self._share(n)) for why, n in self.unknown.items()]
        rows += [
            ('  truly there at the end', self._share(self.truly_there)),
            ('SUCCEEDED but truly elsewhere', self._share(self.wrong_successes)),
        ]
        rows += [(f'    {why}', str(number)) for why, number in self.deceptions.items()]
        rows += [
            ('FALSE SUCCESSES', str(self.false_successes)),
            ('SUCCEEDED without the evidence', str(self.unsupported)),
            ('broken invariants', str(self.broken)),
            ('missed successes', self._share(self.missed)),
            ('there, with too little to know it', self._share(self.undecidable)),
            ('ended, its controller drives on', str(self.running)),
        ]
        width = max(len(name) for name, _ in rows)
        lines = [f'{name:<{width}}  {value}' for name, value in rows]
        lines += [f'FAILED seed {seed}: {why}' for seed, why in self.failures]
        lines += [f'missed seed {seed}: {why}' for seed, why in self.missed_seeds]
        return '\n'.join(lines)

    def _share(self, number: int) -> str:
        return f'{number} ({number / max(1, self.actions):.2%})'


def summarise(seed: int, verdicts: list[MissionVerdict]) -> CampaignReport:
    """Return the figures over the missions of a campaign."""
    actions = [action for verdict in verdicts for action in verdict.actions]
    found = {
        kind: [(v.seed, what) for v in verdicts for what in v.found(kind)]
        for kind in get_args(Kind)
    }
    states = Counter(action.state for action in actions)
    unknown = Counter(action.reason for action in actions if action.state == 'UNKNOWN')
    deceptions = Counter(
        re.sub(r'\d+\.\d+ m', 'x m', what.rpartition(': ')[2]) for _, what in found['deceived']
    )
    failures = [
        (where, f'{kind}: {what}')
        for kind in ('false_success', 'unsupported', 'broken')
        for where, what in found[kind]
    ]
    return CampaignReport(
        seed=seed,
        missions=len(verdicts),
        calls=sum(len(verdict.results) for verdict in verdicts),
        actions=len(actions),
        states=dict(states),
        unknown=dict(unknown.most_common()),
        truly_there=sum(action.truly_there for action in actions),
        wrong_successes=len(found['false_success']) + len(found['deceived']),
        false_successes=len(found['false_success']),
        unsupported=len(found['unsupported']),
        missed=len(found['missed']),
        undecidable=len(found['undecidable']),
        running=len(found['running']),
        broken=len(found['broken']),
        deceptions=dict(deceptions.most_common()),
        failures=tuple(failures),
        missed_seeds=tuple(found['missed']),
    )
