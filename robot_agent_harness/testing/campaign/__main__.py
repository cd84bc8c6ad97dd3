# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Command line of the campaign: exit code 1 on a false success or a broken invariant."""

from __future__ import annotations

import argparse
import sys

from robot_agent_harness.testing.campaign.report import MissionVerdict
from robot_agent_harness.testing.campaign.running import run_campaign, run_one


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
    report = run_campaign(options.seed, options.missions, progress=_tell)
    print(report.table())
    return 0 if report.ok else 1


def _tell(verdict: MissionVerdict) -> None:
    """Show a failing mission as soon as it is known."""
    if not verdict.ok:
        print(verdict.describe(), file=sys.stderr, flush=True)


if __name__ == '__main__':
    sys.exit(main())
