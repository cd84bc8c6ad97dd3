# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Run the benchmarks: `python bench/run.py [--quick] [--json FILE] [NAME ...]`.

Each benchmark is a module beside this one with `run() -> list[Row]`, which may take `quick` and
`say`; it runs in a process of its own. A table goes to standard output, progress to standard
error, and the rows with the machine's data into a JSON file.

Exit code: 0 within every limit, 1 a limit was missed, 2 a benchmark could not be run.
"""

from __future__ import annotations

import argparse
from datetime import datetime, timezone
import importlib
import inspect
import json
import math
import multiprocessing
import os
from pathlib import Path
import signal
import sys
import time
import traceback
from typing import Any

from machine import commit, machine
import psutil
from rows import missed, Row
from table import table

BENCHMARKS = (
    'managed_call',
    'outcome',
    'start',
    'rates',
    'clients',
    'dashboard',
    'journal',
    'memory',
    'reader',
    'replay',
    'export',
    'world',
    'prompt',
)
"""`bench_<name>.py`, in the order of the table."""
SILENCE_S, POLL_S = 1.5, 0.1
"""A line of progress comes at least this often."""
BUSY_PERCENT = 10.0
"""Share of the machine that others may use before a run is called disturbed."""
DISTURBED = 'Repeat it when nothing else runs; until then believe the ratios more than the times.'
OK, MISSED, FAILED = 0, 1, 2
INTERRUPTED = 128 + signal.SIGINT


class Load:
    """What other programs used of this machine's processors while we ran."""

    def __init__(self) -> None:
        self._all, self._own = self._busy_s()
        self._begun = time.monotonic()

    def others_percent(self) -> float:
        """Return their share of all processors; our children count once they have ended."""
        all_s, own_s = self._busy_s()
        used = (all_s - self._all) - (own_s - self._own)
        passed = (time.monotonic() - self._begun) * (os.cpu_count() or 1)
        return max(0.0, used / passed * 100.0)

    def _busy_s(self) -> tuple[float, float]:
        times = psutil.cpu_times()
        return sum(times) - times.idle - getattr(times, 'iowait', 0.0), sum(os.times()[:4])


def main() -> int:
    """Measure, print, write; see the module."""
    arguments = _arguments()
    load, begun = Load(), time.monotonic()
    rows: list[Row] = []
    failures: list[str] = []
    for name in arguments.names or BENCHMARKS:
        try:
            rows += _measured(f'bench_{name}', arguments.quick, begun)
        except RuntimeError as error:
            failures.append(name)
            print(error, file=sys.stderr, flush=True)
    beyond = [made['figure'] for made in missed(rows)]
    others = load.others_percent()
    facts = {
        'date': datetime.now(timezone.utc).isoformat(timespec='seconds'),
        **commit(),
        'machine': machine(),
        'others_percent': round(others, 1),
        'quick': arguments.quick,
        'whole': not arguments.names,
        'duration_s': round(time.monotonic() - begun, 1),
        'missed': beyond,
        'failed': failures,
        'rows': rows,
    }
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(facts, indent=2) + '\n')
    if rows:
        print(table(rows))
    print(f'\n{facts["duration_s"]} s; also in {arguments.json}')
    print(f'Other programs used {others:.0f} % of the machine meanwhile.', end=' ')
    print(DISTURBED if others > BUSY_PERCENT else '')
    for made in rows:
        if 'in_the_way' in made:
            print(f'NOT REACHED: {made["figure"]}: {made["in_the_way"]}')
    for figure in beyond:
        print(f'LIMIT MISSED: {figure}')
    return FAILED if failures else MISSED if beyond else OK


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description='Measure the harness against bare references.')
    parser.add_argument('names', nargs='*', metavar='NAME', help=', '.join(BENCHMARKS))
    parser.add_argument('--quick', action='store_true', help='fewer repeats')
    parser.add_argument(
        '--json', metavar='FILE', type=Path, default=Path('.ros/bench.json'), help='%(default)s'
    )
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(BENCHMARKS)
    if unknown:
        parser.error(f'there is no benchmark {", ".join(unknown)}; there are {BENCHMARKS}')
    return arguments


def _measured(module: str, quick: bool, begun: float) -> list[Row]:
    """Run one benchmark in a process of its own and return its rows.

    :raises RuntimeError: it failed, with the reason.
    """
    # Not forked: a benchmark must find a fresh interpreter.
    context = multiprocessing.get_context('spawn')
    told: Any = context.SimpleQueue()
    process = context.Process(target=_work, args=(module, quick, told))
    process.start()
    rows: list[Row] | None = None
    spoken = -math.inf
    while process.is_alive() or not told.empty():
        kind, content = 'said', None
        if not told.empty():
            kind, content = told.get()
        elif time.monotonic() - spoken >= SILENCE_S:
            content = '...'
        if kind == 'failed':
            process.join()
            raise RuntimeError(f'{module} failed: {content}')
        if kind == 'rows':
            rows = content
        elif content is not None:
            spoken = time.monotonic()
            print(f'{spoken - begun:6.1f} s  {module}: {content}', file=sys.stderr, flush=True)
        else:
            process.join(POLL_S)
    if rows is None:
        raise RuntimeError(f'{module} ended with exit code {process.exitcode}')
    return rows


def _work(module: str, quick: bool, told: Any) -> None:
    """Measure; in the benchmark's own process."""
    offered = {'quick': quick, 'say': lambda line: told.put(('said', line))}
    try:
        run = importlib.import_module(module).run
        taken = inspect.signature(run).parameters
        told.put(('rows', run(**{name: offered[name] for name in offered if name in taken})))
    except ModuleNotFoundError as error:
        told.put(('failed', f'{error}; run it as make bench, or first: . ./env.sh'))
    except BaseException as error:
        told.put(('failed', ''.join(traceback.format_exception(_innermost(error)))))


def _innermost(error: BaseException) -> BaseException:
    """Return what happened, without the groups that task groups wrap around it."""
    while inner := getattr(error, 'exceptions', None):
        error = inner[0]
    return error


if __name__ == '__main__':
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
