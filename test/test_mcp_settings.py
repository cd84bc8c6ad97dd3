# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The server's settings, and the file that holds the token."""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.mcp_server import McpSettings


def written(path: Path, text: str, mode: int = 0o600) -> Path:
    path.write_text(text)
    path.chmod(mode)
    return path


@pytest.mark.parametrize('host', ['127.0.0.1', '127.9.9.9', '::1', 'localhost'])
def test_loopback_is_recognised(host: str) -> None:
    assert McpSettings(host=host).loopback_only


@pytest.mark.parametrize('host', ['0.0.0.0', '::', '10.0.0.1', 'robot', 'localhost.evil', ''])
def test_everything_else_counts_as_reachable(host: str) -> None:
    assert not McpSettings(host=host).loopback_only


def test_the_token_is_the_first_line(tmp_path: Path) -> None:
    path = written(tmp_path / 'token', '  abc-123 \nnot this\n')
    assert McpSettings(token_file=path).read_token() == 'abc-123'
    assert McpSettings(host='0.0.0.0', token_file=path).read_token() == 'abc-123'


def test_no_file_is_no_token_on_loopback() -> None:
    assert McpSettings().read_token() is None


@pytest.mark.parametrize('text', ['', '\n', '   \nabc\n'])
def test_a_file_without_a_token_is_refused(tmp_path: Path, text: str) -> None:
    path = written(tmp_path / 'token', text)
    with pytest.raises(ConfigurationError, match=rf'mcp\.token_file {path}: .*no token'):
        McpSettings(token_file=path).read_token()


@pytest.mark.parametrize('text', ['two words\n', 'tök\n', 'a\tb\n'])
def test_a_token_that_no_header_can_carry_is_refused_without_repeating_it(
    tmp_path: Path, text: str
) -> None:
    path = written(tmp_path / 'token', text)
    with pytest.raises(ConfigurationError, match='ASCII') as caught:
        McpSettings(token_file=path).read_token()
    assert text.strip() not in str(caught.value)


@pytest.mark.parametrize('mode', [0o644, 0o604])
def test_a_file_that_everybody_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    path = written(tmp_path / 'token', 'abc\n', mode)
    with pytest.raises(ConfigurationError, match='chmod 600'):
        McpSettings(token_file=path).read_token()


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r'mcp\.token_file .*No such file'):
        McpSettings(token_file=tmp_path / 'nothing').read_token()


def test_a_folder_or_binary_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r'mcp\.token_file'):
        McpSettings(token_file=tmp_path).read_token()
    path = tmp_path / 'binary'
    path.write_bytes(b'\xff\xfe\x00')
    path.chmod(0o600)
    with pytest.raises(ConfigurationError, match='not text'):
        McpSettings(token_file=path).read_token()
