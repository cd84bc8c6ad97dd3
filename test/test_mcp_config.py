# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""`mcp-config`: what it prints can be pasted, works from an empty shell, and holds no token."""

from __future__ import annotations

from importlib import import_module
import json
import os
from pathlib import Path
import shlex
import subprocess
import sys
from typing import Any

from mcp import Client, StdioServerParameters
import pytest

from robot_agent_harness import cli
from robot_agent_harness.cli import main, make_parser
from robot_agent_harness.mcp_server.client_config import snippets
from robot_agent_harness.mcp_server.tokens import ENVIRONMENT_KEY

SECRET = 'a-token-that-nobody-guesses'
OVER_HTTP = ('claude-code', 'cursor', 'vscode', 'http')
OVER_STDIO = ('claude-desktop', 'stdio')


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT_KEY, SECRET)
    monkeypatch.setenv('ANTHROPIC_API_KEY', f'sk-{SECRET}')
    if 'AMENT_PREFIX_PATH' not in os.environ:
        monkeypatch.setenv('AMENT_PREFIX_PATH', '/opt/ros/kilted')


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(['mcp-config', *arguments]) == 0
    out, err = capsys.readouterr()
    assert err == ''
    assert SECRET not in out
    return out


def entry(config: dict[str, Any]) -> dict[str, Any]:
    """Return the one server of a configuration."""
    servers = config.get('mcpServers') or config['servers']
    assert list(servers) == ['robot']
    return dict(servers['robot'])


def test_there_is_something_to_paste_for_every_client(capsys: pytest.CaptureFixture[str]) -> None:
    told = json.loads(printed(capsys, '--json'))
    assert tuple(told) == (*OVER_HTTP, *OVER_STDIO)
    for client in OVER_HTTP:
        assert entry(told[client]['config'])['url'] == 'http://127.0.0.1:8642/mcp'
        assert 'headers' not in entry(told[client]['config'])
    everything = printed(capsys)
    for client, says in told.items():
        pasted = printed(capsys, '--client', client)
        assert pasted.splitlines()[0].endswith(says['where'])
        assert pasted.strip() in everything


@pytest.mark.parametrize('client', [*OVER_HTTP[1:], *OVER_STDIO])
def test_below_its_heading_a_file_can_be_pasted_as_it_is(
    capsys: pytest.CaptureFixture[str], client: str
) -> None:
    _, pasted = printed(capsys, '--client', client).split('\n', 1)
    (told,) = json.loads(printed(capsys, '--client', client, '--json')).values()
    assert json.loads(pasted) == told['config']


def test_the_command_for_claude_code_says_what_its_file_would(
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ['--client', 'claude-code', '--token', '--url', 'http://robot:8642/mcp']
    _, command = printed(capsys, *arguments).split('\n', 1)
    words = shlex.split(command)
    assert words[:5] == ['claude', 'mcp', 'add', '--transport', 'http']
    told = json.loads(printed(capsys, *arguments, '--json'))['claude-code']
    assert words == told['command']
    server = entry(told['config'])
    assert server['url'] in words
    # No shell may put the token in: Claude Code does, when it connects.
    assert f'Authorization: {server["headers"]["Authorization"]}' == words[-1]
    assert f"'Authorization: Bearer ${{{ENVIRONMENT_KEY}}}'" in command


def test_a_token_is_named_and_never_printed(capsys: pytest.CaptureFixture[str]) -> None:
    told = json.loads(printed(capsys, '--json', '--token'))
    named = {client: entry(told[client]['config'])['headers'] for client in OVER_HTTP}
    assert {header['Authorization'] for header in named.values()} == {
        f'Bearer ${{{ENVIRONMENT_KEY}}}',
        f'Bearer ${{env:{ENVIRONMENT_KEY}}}',
        'Bearer ${input:robot-token}',
    }
    (asked,) = told['vscode']['config']['inputs']
    assert asked['id'] == 'robot-token'
    assert asked['password'] is True


def test_an_entry_holds_what_ros_needs_and_no_other_variable() -> None:
    environ = {
        'AMENT_PREFIX_PATH': '/opt/ros',
        'ROS_DOMAIN_ID': '7',
        'CYCLONEDDS_URI': 'file:///dds.xml',
        'LANG': 'C',
        ENVIRONMENT_KEY: SECRET,
        'OPENAI_API_KEY': SECRET,
    }
    found = snippets(url='http://x/mcp', token=False, program=['/bin/rah'], environ=environ)
    for snippet in found[-2:]:
        assert entry(snippet.config) == {
            'command': '/bin/rah',
            'args': ['run', '--mcp-stdio'],
            'env': {
                'AMENT_PREFIX_PATH': '/opt/ros',
                'CYCLONEDDS_URI': 'file:///dds.xml',
                'ROS_DOMAIN_ID': '7',
            },
        }


def test_without_ros_the_clients_that_start_the_harness_are_told_what_to_source(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv('AMENT_PREFIX_PATH')
    assert tuple(json.loads(printed(capsys, '--json'))) == OVER_HTTP
    assert main(['mcp-config', '--client', 'claude-desktop']) == 2
    out, err = capsys.readouterr()
    assert out == ''
    (line,) = err.splitlines()
    assert 'claude-desktop starts the harness itself, which needs ROS 2' in line


def test_every_client_can_be_chosen_and_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    for client in (*OVER_HTTP, *OVER_STDIO):
        assert make_parser().parse_args(['mcp-config', '--client', client]).client == client
    with pytest.raises(SystemExit):
        make_parser().parse_args(['mcp-config', '--client', 'telnet'])
    assert 'telnet' in capsys.readouterr().err


@pytest.mark.parametrize(
    'url',
    [
        'javascript:x',
        'robot.local:8642',
        'file:///mcp',
        'http://',
        'http://[::1',
        '',
        'http://r:x/',
    ],
)
def test_an_address_that_no_client_can_connect_to_is_refused(
    capsys: pytest.CaptureFixture[str], url: str
) -> None:
    assert main(['mcp-config', '--url', url]) == 2
    told = capsys.readouterr()
    assert told.out == ''
    assert f'--url {url!r}' in told.err


@pytest.mark.parametrize('command', [['mcp-config', '--json'], ['mcp-config']])
def test_who_has_seen_enough_of_it_may_close_the_pipe(command: list[str]) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    try:
        done = subprocess.run(
            [sys.executable, '-m', cli.MODULE, *command],
            stdout=write_end,
            stderr=subprocess.PIPE,
            timeout=60.0,
            check=False,
        )
    finally:
        os.close(write_end)
    assert (done.returncode, done.stderr) == (141, b'')


def test_where_no_program_is_on_the_path_python_runs_the_module(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('PATH', '')
    server = entry(json.loads(printed(capsys, '--client', 'stdio', '--json'))['stdio']['config'])
    assert server['command'] == sys.executable
    assert server['args'] == ['-m', cli.MODULE, 'run', '--mcp-stdio']


@pytest.mark.anyio
async def test_the_command_it_prints_starts_from_an_empty_environment(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')
    from node_rig import DOMAIN, NAMESPACE, WAIT_S

    server = entry(json.loads(printed(capsys, '--client', 'stdio', '--json'))['stdio']['config'])
    assert Path(server['command']).is_absolute()
    parameters = ['-r', f'__ns:={NAMESPACE}', '-p', f'journal.path:={tmp_path / "j.db"}']
    node = await _answers(
        [server['command'], *server['args'], '--ros-args', *parameters],
        {**server['env'], 'ROS_DOMAIN_ID': str(DOMAIN)},
        tmp_path,
    )
    assert node['result']['serverInfo']['name'] == 'robot_agent_harness'
    # And the SDK's client, which sets a few variables of its own, works with it.
    started = StdioServerParameters(
        command=server['command'],
        args=[*server['args'], '--ros-args', *parameters],
        env={**server['env'], 'ROS_DOMAIN_ID': str(DOMAIN)},
        cwd=tmp_path,
    )
    async with Client(started, read_timeout_seconds=WAIT_S) as client:
        assert not (await client.call_tool('list_places', {})).is_error


async def _answers(command: list[str], environ: dict[str, str], folder: Path) -> Any:
    """Return what a program answers to `initialize` that starts with this environment only."""
    message = {
        'jsonrpc': '2.0',
        'id': 1,
        'method': 'initialize',
        'params': {
            'protocolVersion': '2025-11-25',
            'capabilities': {},
            'clientInfo': {'name': 'desktop', 'version': '1'},
        },
    }
    done = subprocess.run(
        command,
        input=json.dumps(message) + '\n',
        env=environ,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    return json.loads(line)


def test_the_programs_own_script_says_what_is_missing_instead_of_a_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / 'scripts')
    monkeypatch.setattr(import_module('set_up.tree'), 'VENV', tmp_path)
    (tmp_path / 'bin').mkdir()
    import_module('set_up.entry').write_launcher()
    launcher = tmp_path / 'bin' / 'robot-agent-harness'
    # Isolated, as an interpreter without the environment: it finds no module of this tree.
    done = subprocess.run(
        [sys.executable, '-I', '-S', launcher, 'run', '--mcp-stdio'],
        env={},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, '')
    (line,) = done.stderr.splitlines()
    assert '. ./env.sh' in line
