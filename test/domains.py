# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""ROS domains for the tests: each rig of each process has one that nobody else on the machine has.

Whole-graph topics such as /clock and /tf would otherwise reach the tests of another worker.
"""

from __future__ import annotations

from robot_agent_harness.demo.domain import Domain

DOMAINS = range(20, 85)
"""Below the demo's and those of the benchmarks."""
_held: list[Domain] = []


def own_domain() -> int:
    """Return the number of a domain that this process holds until its end."""
    _held.append(Domain(among=DOMAINS))
    return _held[-1].number
