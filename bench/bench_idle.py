# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the harness costs while nothing happens, against a bare rclpy node on the same topics.

Of memory, bench_memory.py has the limit.

The simulated robot sends what a robot at rest does: 50 Hz odometry, 10 Hz map pose, 1 Hz battery.
Both nodes are watched over the same seconds, so that a busy machine disturbs them alike.
"""

from __future__ import annotations

import time

from live import HERE, live_harness, Program, ros_arguments
from rows import Limit, Row, row, Say

CPU_PERCENT = Limit('value', 20.0)
"""Of one core (the product's own limit)."""
SETTLE_S = 4.0
"""Until discovery and start-up are over."""
WINDOW_S = 10.0
REPEATS, QUICK_REPEATS = 4, 1
ODOMETRY_HZ = (45.0, 55.0)


def run(quick: bool = False, say: Say = print) -> list[Row]:
    """Measure and return the rows."""
    with live_harness(say) as live:
        bare = Program(
            str(HERE / 'bare_subscriber.py'), *ros_arguments({}), log=live.folder / 'bare.log'
        )
        try:
            bare.says('ready')
            time.sleep(SETTLE_S)
            repeats = QUICK_REPEATS if quick else REPEATS
            cpu: dict[Program, list[float]] = {live.harness: [], bare: []}
            for number in range(repeats):
                _watch(cpu)
                harness_cpu, bare_cpu = (measured[-1] for measured in cpu.values())
                said = f'harness {harness_cpu:.2f} %, bare {bare_cpu:.2f} % of a core'
                say(f'idle window {number + 1} of {repeats}: {said}')
            memory = live.harness.rss_mb(), bare.rss_mb()
        finally:
            bare.end()
        rate = float(bare.says(r'odometry: (\S+) Hz').group(1))
    if not ODOMETRY_HZ[0] <= rate <= ODOMETRY_HZ[1]:
        raise RuntimeError(f'odometry came at {rate} Hz: this machine is too busy to measure on')
    name = 'idle with 50 Hz odometry:'
    return [
        row(f'{name} CPU / bare node', '% of a core', *cpu.values(), limit=CPU_PERCENT),
        row(f'{name} memory / bare node', 'MB', *([mb] for mb in memory)),
        row('  odometry that came', 'Hz', [rate]),
    ]


def _watch(cpu: dict[Program, list[float]]) -> None:
    before = {program: program.cpu_s() for program in cpu}
    begun = time.monotonic()
    time.sleep(WINDOW_S)
    passed = time.monotonic() - begun
    for program, measured in cpu.items():
        measured.append((program.cpu_s() - before[program]) / passed * 100.0)


if __name__ == '__main__':
    for made in run():
        print(made)
