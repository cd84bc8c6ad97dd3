# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What an export costs a record, and whether it needs more memory for a longer journal.

Each export runs in a process of its own, which tells its processor time without that of starting,
and the most memory that it ever had. The reference is a pass over the same journal by the bare
reader, in a process of its own as well.
"""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import json
from pathlib import Path
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any

from million import make
from rows import Limit, Row, row, Say

from robot_agent_harness.export import (
    export_jsonl,
    export_mcap,
    send_spans,
    Source,
    write_spans,
)
from robot_agent_harness.journal.reader import JournalReader

SHORT, LONG = 5_000, 20_000
"""Records of the two journals; the short one fills the batches and caches of each format."""
REPEATS, QUICK_REPEATS = 2, 1
FORMATS = {
    'jsonl': 'JSON Lines',
    'mcap': 'MCAP',
    'otlp': 'OpenTelemetry spans, to a collector',
    'otlp_json': 'OpenTelemetry spans, into a file',
}
BARE = 'bare'
FLAT = Limit('ratio', 1.15)
"""Memory for four times the records, against that for one: what grew with them would show."""


def run(quick: bool = False, say: Say = print) -> list[Row]:
    """Measure and return the rows."""
    repeats = QUICK_REPEATS if quick else REPEATS
    costs: dict[str, list[float]] = {kind: [] for kind in (BARE, *FORMATS)}
    memory: dict[str, list[float]] = {kind: [] for kind in FORMATS}
    with tempfile.TemporaryDirectory(prefix='export-') as folder, _collector() as endpoint:
        short, long = (Path(folder) / f'{records}.db' for records in (SHORT, LONG))
        say(f'making journals of {SHORT:,} and {LONG:,} records')
        make(short, SHORT)
        make(long, LONG)
        for _ in range(repeats):
            for kind in costs:
                told = _measured(kind, long, endpoint)
                costs[kind].append(told['cpu_s'] / LONG * 1e6)
                if kind != BARE:
                    memory[kind].append(told['memory_mib'])
                say(f'{kind}: {costs[kind][-1]:.0f} µs a record, {told["memory_mib"]:.0f} MiB')
        first = {kind: _measured(kind, short, endpoint)['memory_mib'] for kind in FORMATS}
    rows = []
    for kind, name in FORMATS.items():
        rows.append(row(f'export as {name}: a record', 'µs', costs[kind], costs[BARE]))
        figure = f'export as {name}: memory with {LONG:,} records / with {SHORT:,}'
        rows.append(row(figure, 'MiB', memory[kind], [first[kind]] * repeats, limit=FLAT))
    return rows


def _measured(kind: str, journal: Path, endpoint: str) -> dict[str, float]:
    command = [sys.executable, str(Path(__file__).absolute()), kind, str(journal), endpoint]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    told: dict[str, float] = json.loads(done.stdout)
    return told


def _once(kind: str, journal: Path, endpoint: str) -> dict[str, float]:
    """Export once, in this process."""
    target = journal.with_suffix(f'.{kind}')
    with JournalReader(journal) as reader:
        source = Source(reader)
        begun = time.process_time()
        if kind == BARE:
            for _ in reader.events():
                pass
        elif kind == 'jsonl':
            export_jsonl(source, target)
        elif kind == 'mcap':
            export_mcap(source, target)
        elif kind == 'otlp':
            send_spans(source, endpoint)
        else:
            write_spans(source, target)
        cpu_s = time.process_time() - begun
    return {'cpu_s': cpu_s, 'memory_mib': _peak_kib() / 1024}


def _peak_kib() -> int:
    # Not of getrusage, which counts the process that started this one in.
    status = Path('/proc/self/status').read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if 'VmHWM' in line)


class _Swallow(BaseHTTPRequestHandler):
    """A collector that takes everything and keeps nothing."""

    protocol_version = 'HTTP/1.1'

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers['content-length']))
        self.send_response(200)
        self.send_header('content-length', '0')
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextlib.contextmanager
def _collector() -> Iterator[str]:
    with ThreadingHTTPServer(('127.0.0.1', 0), _Swallow) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f'http://127.0.0.1:{server.server_port}'
        finally:
            server.shutdown()
            thread.join()


if __name__ == '__main__':
    print(json.dumps(_once(sys.argv[1], Path(sys.argv[2]), sys.argv[3])))
