# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Command line of the campaign: exit code 1 on a false success or a broken invariant.

Ctrl-C ends it with 130, and with the figures of the missions that were run.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
import sys
import time

from robot_agent_harness.testing.campaign.report import MissionVerdict, summarise
from robot_agent_harness.testing.campaign.running import run_campaign, run_one

INTERRUPTED = 130
PROGRESS_S = 2.0
"""How often somebody who waits is told how far it is, in seconds."""


def main(arguments: list[str] | None = None) -> int:
    """Run a campaign, or one mission of it, and print what came of it."""
    parser = argparse.ArgumentParser(
        prog='python -m robot_agent_harness.testing.campaign',
        description='Random missions with random failures, judged by one who knows the truth.',
    )
    parser.add_argument('--seed', type=int, default=0, help='seed of the first mission')
    parser.add_argument('--missions', type=int, default=300, help='how many')
    parser.add_argument('--only', type=int, metavar='SEED', help='run this one and tell of it')
    options = parser.parse_args(arguments)
    if options.only is not None:
        verdict = run_one(options.only)
        print(verdict.describe())
        return 0 if verdict.ok else 1
    watch = _Watch(options.missions)
    try:
        report = run_campaign(options.seed, options.missions, progress=watch)
    except KeyboardInterrupt:
        if watch.verdicts:
            print(summarise(options.seed, watch.verdicts).table())
        return INTERRUPTED
    print(report.table())
    return 0 if report.ok else 1


class _Watch:
    """Keeps the verdicts, shows a failing mission as soon as it is known, and says how far it is.

    :param now_s: the time in seconds, from any beginning.
    """

    def __init__(self, missions: int, now_s: Callable[[], float] = time.monotonic) -> None:
        self.verdicts: list[MissionVerdict] = []
        self._missions = missions
        self._now_s = now_s
        self._due_s = now_s() + PROGRESS_S

    def __call__(self, verdict: MissionVerdict) -> None:
        self.verdicts.append(verdict)
        if not verdict.ok:
            print(verdict.describe(), file=sys.stderr, flush=True)
        if self._now_s() >= self._due_s:
            self._due_s = self._now_s() + PROGRESS_S
            failed = sum(not each.ok for each in self.verdicts)
            told = f'{len(self.verdicts):,} of {self._missions:,} missions, {failed} failed'
            print(told, file=sys.stderr, flush=True)


if __name__ == '__main__':
    sys.exit(main())
