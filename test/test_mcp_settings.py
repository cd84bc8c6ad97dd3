# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The server's settings, and the file that holds the token."""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.mcp_server import McpSettings
from robot_agent_harness.mcp_server.tokens import ENVIRONMENT_KEY


@pytest.fixture(autouse=True)
def no_token_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ENVIRONMENT_KEY, raising=False)


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
    path = written(tmp_path / 'token', '  abcdef-123456789 \n\n# of the lab\n')
    for host in ('127.0.0.1', '0.0.0.0'):
        (token,) = McpSettings(host=host, token_file=path).read_tokens()
        assert (token.name, token.secret) == ('mcp.token_file', 'abcdef-123456789')
        assert token.scopes == ('observe', 'act')


@pytest.mark.parametrize('line', ['dashboard observe hidden-and-long-enough', 'x act y'])
def test_nothing_else_counts_beside_a_token_alone_and_is_refused(
    tmp_path: Path, line: str
) -> None:
    path = written(tmp_path / 'tokens', f'mine-and-mine-alone\n\n# more\n{line}\n')
    with pytest.raises(ConfigurationError, match=rf'mcp\.token_file {path}: line 4: ') as caught:
        McpSettings(token_file=path).read_tokens()
    assert line not in str(caught.value)
    assert 'mine-and-mine-alone' not in str(caught.value)


@pytest.mark.parametrize('secret', ['x', 'a' * 5])
def test_a_token_that_could_be_guessed_is_refused(
    tmp_path: Path, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / 'token', f'{secret}\n')
    with pytest.raises(ConfigurationError, match='at least 6 characters .* openssl rand -hex 32'):
        McpSettings(token_file=path).read_tokens()
    monkeypatch.setenv(ENVIRONMENT_KEY, secret)
    with pytest.raises(ConfigurationError, match='at least 6 characters'):
        McpSettings().read_tokens()


def test_no_file_is_no_token_on_loopback() -> None:
    assert McpSettings().read_tokens() == ()


@pytest.mark.parametrize('text', ['', '\n', '   \nabc\n'])
def test_a_file_without_a_token_is_refused(tmp_path: Path, text: str) -> None:
    path = written(tmp_path / 'token', text)
    with pytest.raises(ConfigurationError, match=rf'mcp\.token_file {path}: .*no token'):
        McpSettings(token_file=path).read_tokens()


@pytest.mark.parametrize('text', ['two words\n', 'tök\n', 'a\tb\n'])
def test_a_token_that_no_header_can_carry_is_refused_without_repeating_it(
    tmp_path: Path, text: str
) -> None:
    path = written(tmp_path / 'token', text)
    with pytest.raises(ConfigurationError, match='ASCII') as caught:
        McpSettings(token_file=path).read_tokens()
    assert text.strip() not in str(caught.value)


@pytest.mark.parametrize('mode', [0o644, 0o604, 0o602])
def test_a_file_that_everybody_can_read_or_change_is_refused(tmp_path: Path, mode: int) -> None:
    path = written(tmp_path / 'token', 'abc\n', mode)
    with pytest.raises(ConfigurationError, match='chmod 600'):
        McpSettings(token_file=path).read_tokens()


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r'mcp\.token_file .*No such file'):
        McpSettings(token_file=tmp_path / 'nothing').read_tokens()


def test_a_folder_or_binary_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r'mcp\.token_file'):
        McpSettings(token_file=tmp_path).read_tokens()
    path = tmp_path / 'binary'
    path.write_bytes(b'\xff\xfe\x00')
    path.chmod(0o600)
    with pytest.raises(ConfigurationError, match='not text'):
        McpSettings(token_file=path).read_tokens()


def test_several_tokens_have_names_and_scopes(tmp_path: Path) -> None:
    path = written(
        tmp_path / 'tokens',
        '# who        may           with\n'
        'dashboard    observe       aaaaaaaaaaaaaaaa\n\n'
        'operator     observe,act   bbbbbbbbbbbbbbbb\n',
    )
    tokens = McpSettings(token_file=path).read_tokens()
    assert [(token.name, token.scopes, token.secret) for token in tokens] == [
        ('dashboard', ('observe',), 'a' * 16),
        ('operator', ('observe', 'act'), 'b' * 16),
    ]
    assert 'aaaa' not in repr(tokens)


@pytest.mark.parametrize(
    ('line', 'why'),
    [
        ('b observe', 'NAME SCOPES TOKEN'),
        ('b observe x hidden', 'NAME SCOPES TOKEN'),
        ('b fly hidden', 'observe,act'),
        ('b observe, hidden', 'observe,act'),
        ('b act hidden', 'observe,act'),
        ('a observe hidden-too-as-it-is', 'the name a is there already'),
        ('b observe mine-and-mine-alone', 'its token is there already'),
        (f'{"b" * 65} observe hidden', 'name is longer than 64'),
        ('b observe h\u00efdden', 'ASCII'),
        ('b observe hide', 'at least 6 characters (this one has 4)'),
    ],
)
def test_a_line_that_cannot_be_meant_is_refused_by_its_number(
    tmp_path: Path, line: str, why: str
) -> None:
    path = written(tmp_path / 'tokens', f'a observe,act mine-and-mine-alone\n{line}\n')
    with pytest.raises(ConfigurationError, match=rf'mcp\.token_file {path}: line 2: ') as caught:
        McpSettings(token_file=path).read_tokens()
    assert why in str(caught.value)
    assert 'hidden' not in str(caught.value)
    assert 'mine-and-mine-alone' not in str(caught.value)


def test_a_file_of_comments_holds_no_token(tmp_path: Path) -> None:
    path = written(tmp_path / 'tokens', '# name scopes token\n')
    with pytest.raises(ConfigurationError, match='holds no token'):
        McpSettings(host='0.0.0.0', token_file=path).read_tokens()


def test_the_environment_may_hold_the_token_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT_KEY, ' abcdef-123456789 ')
    (token,) = McpSettings(host='0.0.0.0').read_tokens()
    assert (token.name, token.secret) == (ENVIRONMENT_KEY, 'abcdef-123456789')
    assert token.scopes == ('observe', 'act')
    monkeypatch.setenv(ENVIRONMENT_KEY, 'not hidden')
    with pytest.raises(ConfigurationError, match=ENVIRONMENT_KEY) as caught:
        McpSettings().read_tokens()
    assert 'hidden' not in str(caught.value)


def test_an_empty_variable_is_no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT_KEY, '')
    assert McpSettings().read_tokens() == ()
    with pytest.raises(ConfigurationError, match=ENVIRONMENT_KEY):
        McpSettings(host='0.0.0.0').read_tokens()


def test_file_and_environment_together_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ENVIRONMENT_KEY, 'abc')
    path = written(tmp_path / 'tokens', 'def\n')
    with pytest.raises(ConfigurationError, match='both set'):
        McpSettings(token_file=path).read_tokens()
