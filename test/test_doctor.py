# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the doctor says of the journal, the model, the MCP port, and of facts about a robot."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
import contextlib
import http.server
import json
import os
from pathlib import Path
import shutil
import socket
import sqlite3
import threading
from typing import Any

from journal_rig import alter
import pytest

from robot_agent_harness.clock import SystemClock
from robot_agent_harness.doctor import journal as journals
from robot_agent_harness.doctor.finding import Finding, Level, ok, problem, warning
from robot_agent_harness.doctor.journal import check_journal
from robot_agent_harness.doctor.mcp import check_mcp
from robot_agent_harness.doctor.model import check_model
from robot_agent_harness.doctor.output import show, show_json
from robot_agent_harness.events import Correlation, SalientEvent
from robot_agent_harness.journal import MissionJournal
from robot_agent_harness.journal.lock import holder_of, JournalLock
from robot_agent_harness.parameters import check_parameters

SECRET = 'sk-ant-0123456789abcdef'


def of(found: list[Finding], area: str) -> Finding:
    (one,) = [finding for finding in found if finding.area == area]
    return one


async def written(path: Path, records: int = 3) -> None:
    journal = MissionJournal.open(path, clock=SystemClock())
    for number in range(records):
        event = SalientEvent(kind='human_message', message=f'number {number}', details={})
        await journal.append((event, Correlation()))
    await journal.close()


def look(path: Path, *, running: bool = False) -> list[Finding]:
    return check_journal(str(path), running=running)


def test_a_journal_that_is_not_there_yet_will_be_made(tmp_path):
    found = of(look(tmp_path / 'new' / 'deep' / 'j.db'), 'journal')
    assert (found.level, 'will be made' in found.message) == (Level.OK, True)
    assert list(tmp_path.iterdir()) == []


def test_a_sound_journal_is_told_with_its_length_and_left_as_it_is(tmp_path):
    path = tmp_path / 'j.db'
    asyncio.run(written(path))
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    found = of(look(path), 'journal')
    assert (found.level, found.details['last_seq']) == (Level.OK, 3)
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize('name', ['x' * 300, 'circle', '~nobody-of-that-name/j.db'])
def test_a_path_that_no_journal_can_have_is_a_problem(tmp_path, name):
    (tmp_path / 'circle').symlink_to('circle')
    (found,) = check_journal(name if name.startswith('~') else str(tmp_path / name), running=False)
    assert (found.level, found.advice) == (Level.PROBLEM, 'correct journal.path')
    assert name in found.message


def test_only_a_damaged_journal_is_to_be_kept_for_the_record(tmp_path):
    path = tmp_path / 'j.db'
    asyncio.run(written(path))
    with contextlib.closing(sqlite3.connect(path)) as other, other:
        other.execute('PRAGMA user_version = 99')
    assert of(look(path), 'journal').advice.startswith('upgrade')
    os.truncate(path, 5000)
    assert 'keep the file' in of(look(path), 'journal').advice
    pipe = tmp_path / 'pipe'
    os.mkfifo(pipe)
    assert (
        of(look(pipe), 'journal').advice == 'put that right, or set journal.path to another file'
    )


def test_a_lock_file_that_is_a_pipe_keeps_nobody_waiting(tmp_path):
    path = tmp_path / 'j.db'
    asyncio.run(written(path))
    path.with_name('j.db.lock').unlink()
    os.mkfifo(path.with_name('j.db.lock'))
    assert of(look(path), 'journal').level == Level.OK


def test_a_record_that_was_altered_is_a_problem(tmp_path):
    path = tmp_path / 'j.db'
    asyncio.run(written(path))
    alter(path, "UPDATE events SET payload = '{}' WHERE seq = 2")
    found = of(look(path), 'journal')
    assert found.level is Level.PROBLEM
    assert 'record 2 does not follow' in found.message
    assert 'journal verify' in found.advice


def test_a_file_that_is_no_journal_is_a_problem(tmp_path):
    (tmp_path / 'j.db').write_text('Dear operator, ' * 100)
    assert of(look(tmp_path / 'j.db'), 'journal').level is Level.PROBLEM


def test_a_folder_that_cannot_be_written_is_a_problem(tmp_path):
    (tmp_path / 'file').touch()
    found = of(look(tmp_path / 'file' / 'j.db'), 'journal')
    assert (found.level, 'journal.path' in found.advice) == (Level.PROBLEM, True)


def test_a_journal_that_others_may_read_is_a_warning(tmp_path):
    path = tmp_path / 'j.db'
    asyncio.run(written(path))
    path.chmod(0o644)
    found = of(look(path), 'journal')
    assert (found.level, '0644' in found.message) == (Level.WARNING, True)


def test_who_holds_a_journal_is_told_without_touching_its_lock(tmp_path):
    path = (tmp_path / 'j.db').resolve()
    asyncio.run(written(path))
    assert holder_of(path) is None
    lock = JournalLock(path)
    try:
        found = of(look(path), 'journal lock')
        assert found.level is Level.PROBLEM
        assert f'process {found.details["process"]}' in found.message
        assert of(look(path, running=True), 'journal lock').level is Level.OK
        lock.ensure()  # it is still ours
    finally:
        lock.release()
    assert not [finding for finding in look(path) if finding.area == 'journal lock']


@pytest.mark.parametrize(
    ('free', 'level'),
    [(10_000_000, Level.PROBLEM), (100_000_000, Level.WARNING), (10**10, Level.OK)],
)
def test_a_disk_that_is_nearly_full_is_told(tmp_path, monkeypatch, free, level):
    usage = shutil.disk_usage(tmp_path)._replace(free=free)
    monkeypatch.setattr(shutil, 'disk_usage', lambda _: usage)
    found = of(look(tmp_path / 'j.db'), 'disk')
    assert (found.level, found.details['free_mb']) == (level, free // journals.MB)


class Answering(http.server.BaseHTTPRequestHandler):
    """Answers every request with what the server holds."""

    def _answer(self) -> None:
        length = int(self.headers.get('Content-Length', 0))
        self.server.asked.append((dict(self.headers), self.rfile.read(length)))  # type: ignore[attr-defined]
        status, body = self.server.answer  # type: ignore[attr-defined]
        self.send_response(status)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = _answer

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextlib.contextmanager
def answering(status: int, body: bytes = b'') -> Iterator[Any]:
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Answering)
    server.asked, server.answer = [], (status, body)  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def model(environ: dict[str, str], **given: Any) -> Finding:
    named = {name.replace('__', '.'): value for name, value in given.items()}
    (found,) = check_model(check_parameters(named), environ, 2.0)
    return found


def test_without_a_model_there_is_nothing_to_check():
    assert model({}).level is Level.OK


def test_a_key_that_is_missing_is_named_by_its_variable():
    found = model({}, model__provider='anthropic')
    assert found.level is Level.PROBLEM
    assert 'ANTHROPIC_API_KEY' in found.message


@pytest.mark.parametrize('status', [200, 401, 404, 503])
def test_an_endpoint_that_answers_anything_is_reached_and_no_key_is_sent_or_shown(status):
    pytest.importorskip('anthropic', reason='pip install anthropic')
    with answering(status) as server:
        url = f'http://name:password@127.0.0.1:{server.server_port}/v1'
        environ = {'ANTHROPIC_API_KEY': SECRET}
        found = model(environ, model__provider='anthropic', model__base_url=url)
    assert found.level is Level.OK, found
    told = json.dumps([found.to_dict(), [str(headers) for headers, _ in server.asked]])
    assert SECRET not in told
    assert 'password' not in told
    assert len(server.asked) == 1


def test_an_endpoint_that_nobody_serves_is_a_problem():
    pytest.importorskip('openai', reason='pip install openai')
    with socket.create_server(('127.0.0.1', 0)) as gone:
        url = f'http://127.0.0.1:{gone.getsockname()[1]}/v1'
    found = model({}, model__provider='openai', model__name='m', model__base_url=url)
    assert found.level is Level.PROBLEM
    assert url.removesuffix('/v1') in found.message
    assert 'refused' in found.message


def test_an_endpoint_that_never_answers_is_waited_for_no_longer_than_a_moment():
    pytest.importorskip('openai', reason='pip install openai')
    with socket.create_server(('127.0.0.1', 0)) as silent:
        url = f'http://127.0.0.1:{silent.getsockname()[1]}/v1'
        parameters = check_parameters(
            {'model.provider': 'openai', 'model.name': 'm', 'model.base_url': url}
        )
        (found,) = check_model(parameters, {}, 0.2)
    assert (found.level, 'no answer within 0.2 s' in found.message) == (Level.PROBLEM, True)


def test_a_script_that_cannot_be_read_is_a_problem(tmp_path):
    found = model({}, model__provider='scripted', model__script_file='/nowhere.yaml')
    assert (found.level, '/nowhere.yaml' in found.message) == (Level.PROBLEM, True)


def mcp(**given: Any) -> Finding:
    named = {f'mcp.{name}': value for name, value in given.items()}
    (found,) = check_mcp(check_parameters(named), {}, 2.0)
    return found


def test_a_port_that_is_free_is_left_free():
    with socket.create_server(('127.0.0.1', 0)) as free:
        port = free.getsockname()[1]
    assert mcp(port=port).level is Level.OK
    with socket.create_server(('127.0.0.1', port)):
        pass


INITIALIZED = {'jsonrpc': '2.0', 'id': 1, 'result': {'serverInfo': {'name': 'other'}}}
OURS = {'jsonrpc': '2.0', 'id': 1, 'result': {'serverInfo': {'name': 'robot_agent_harness'}}}


@pytest.mark.parametrize(
    ('status', 'body', 'level', 'told'),
    [
        (200, json.dumps(OURS).encode(), Level.OK, 'a harness answers'),
        (200, b'event: message\ndata: ' + json.dumps(OURS).encode(), Level.OK, 'a harness'),
        (200, json.dumps(INITIALIZED).encode(), Level.PROBLEM, 'something else (other)'),
        (200, b'<html>', Level.PROBLEM, 'it speaks HTTP, but not MCP'),
        (404, b'', Level.PROBLEM, 'it answers HTTP 404'),
        (401, b'', Level.WARNING, 'asks for a token'),
    ],
)
def test_whoever_is_at_the_port_is_asked_who_it_is(status, body, level, told):
    with answering(status, body) as server:
        found = mcp(port=server.server_port)
    assert (found.level, told in found.message) == (level, True), found


def test_a_port_where_something_else_listens_is_a_problem():
    with socket.create_server(('127.0.0.1', 0)) as taken:
        port = taken.getsockname()[1]
        (found,) = check_mcp(check_parameters({'mcp.port': port}), {}, 0.2)
    assert (found.level, 'mcp.port' in found.advice) == (Level.PROBLEM, True)


def test_an_address_that_is_not_ours_is_a_problem(tmp_path):
    token = tmp_path / 'token'
    token.write_text('t' * 40)
    token.chmod(0o600)
    found = mcp(host='192.0.2.1', port=0, token_file=str(token))
    assert (found.level, 'mcp.host' in found.advice) == (Level.PROBLEM, True)


def test_serving_others_without_a_token_is_a_problem():
    found = mcp(host='0.0.0.0', port=0)
    assert (found.level, 'mcp.token_file' in found.message) == (Level.PROBLEM, True)


FOUND = [
    ok('odom', 'all is well', rate_hz=50.0),
    warning('nav2', 'a name \x1b[31mwith a colour [bold]', 'look at it'),
    problem('mcp', 'taken', 'free it'),
]


def test_plain_text_has_a_line_each_and_what_to_do_and_nothing_that_a_terminal_obeys(capsys):
    show(FOUND)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == 'ok       odom: all is well'
    assert '\x1b' not in ''.join(lines)
    assert '[bold]' in lines[1]
    assert lines[2].strip() == '-> look at it'
    assert lines[-1] == '3 checks: 1 problems, 1 warnings'


def test_json_has_everything_for_programs(capsys):
    show_json(FOUND)
    told = json.loads(capsys.readouterr().out)
    assert (told['problems'], told['warnings']) == (1, 1)
    assert told['findings'][0] == {
        'area': 'odom',
        'level': 'ok',
        'message': 'all is well',
        'advice': '',
        'details': {'rate_hz': 50.0},
    }
