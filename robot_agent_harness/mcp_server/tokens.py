# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Access tokens, and what the holder of each may do.

A file holds either one token, alone on its first line, which may do everything, and below it what
is no token; or one token a line, as `NAME SCOPES TOKEN`, beside empty lines and lines that begin
with #.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
import logging
from pathlib import Path
import stat

from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.paths import expanded
from robot_agent_harness.written_files import read_text

logger = logging.getLogger(__name__)

OBSERVE, ACT = 'observe', 'act'
"""Scopes: to look and to wait; and to start or end what moves the robot."""
ALL_SCOPES = (OBSERVE, ACT)
ENVIRONMENT_KEY = 'ROBOT_AGENT_HARNESS_MCP_TOKEN'
FILE_PARAMETER = 'mcp.token_file'
NAME_MAX = 64
"""Longest name of a token, in characters."""
SECRET_MIN = 6
"""Shortest token, in characters: a shorter one could not be told from other text where secrets are
replaced, so that it would reach the journal."""
SECRET_GOOD = 16
"""One of fewer characters may be guessed; the log says so."""
_FORM = 'a line is NAME SCOPES TOKEN, with SCOPES observe or observe,act'


@dataclass(frozen=True, slots=True)
class Token:
    """One secret, and what its holder may do."""

    name: str
    """What journal and log call the holder."""
    scopes: tuple[str, ...]
    secret: str

    def __repr__(self) -> str:
        """Leave the secret out: it must not get into a traceback or a log."""
        return f'Token({self.name!r}, {self.scopes!r})'


def read_tokens(file: Path | None, environ: Mapping[str, str]) -> tuple[Token, ...]:
    """Return the tokens of the file, or the one of the environment; none where there is neither.

    :raises ConfigurationError: they cannot be used; the text never holds a token.
    """
    given = environ.get(ENVIRONMENT_KEY, '').strip()
    if file is None:
        if not given:
            return ()
        return (_token(ENVIRONMENT_KEY, ALL_SCOPES, given, f'{ENVIRONMENT_KEY}: the'),)
    if given:
        raise ConfigurationError(
            f'{FILE_PARAMETER} and {ENVIRONMENT_KEY} are both set; which of them counts must not'
            ' be a guess: take one away'
        )
    return _of_file(file)


def _of_file(path: Path) -> tuple[Token, ...]:
    named = f'{FILE_PARAMETER} {path}'
    try:
        path = expanded(path)
        mode = path.stat().st_mode
    except OSError as error:
        raise ConfigurationError(f'{named}: {error.strerror}') from error
    lines = read_text(path, named).splitlines()
    if mode & (stat.S_IROTH | stat.S_IWOTH):
        does = 'read' if mode & stat.S_IROTH else 'change'
        raise ConfigurationError(
            f'{FILE_PARAMETER} {path}: everybody on this machine can {does} it; chmod 600 it'
        )
    if not lines or not lines[0].strip():
        raise ConfigurationError(f'{FILE_PARAMETER} {path}: its first line holds no token')
    if len(lines[0].split()) == 1 and not lines[0].lstrip().startswith('#'):
        where = f'{FILE_PARAMETER} {path}: the first line, a'
        token = _token(FILE_PARAMETER, ALL_SCOPES, lines[0].strip(), where)
        for number, line in _entries(lines[1:], 2):
            if len(line.split()) == 3:  # one that was meant to count
                raise ConfigurationError(
                    f'{FILE_PARAMETER} {path}: line {number}: the token alone on the first line'
                    f' may do everything, and no other counts beside it; to have several, {_FORM}'
                )
        return (token,)
    tokens: list[Token] = []
    for number, line in _entries(lines, 1):
        tokens.append(_of_line(line, f'{FILE_PARAMETER} {path}: line {number}'))
        _check_unlike(tokens, f'{FILE_PARAMETER} {path}: line {number}')
    if not tokens:
        raise ConfigurationError(f'{FILE_PARAMETER} {path}: it holds no token')
    return tuple(tokens)


def _entries(lines: Sequence[str], first: int) -> Iterator[tuple[int, str]]:
    """Yield the lines that say something, with their numbers."""
    for number, line in enumerate(lines, first):
        if line.strip() and not line.lstrip().startswith('#'):
            yield number, line


def _of_line(line: str, where: str) -> Token:
    if len(fields := line.split()) != 3:
        alone = '; a token alone is ASCII without spaces, on the first line'
        raise ConfigurationError(f'{where}: {_FORM}{alone}')
    name, listed, secret = fields
    if len(name) > NAME_MAX or not name.isprintable():
        raise ConfigurationError(f'{where}: the name is longer than {NAME_MAX} characters')
    scopes = tuple(dict.fromkeys(listed.split(',')))
    if OBSERVE not in scopes or not set(scopes) <= set(ALL_SCOPES):
        raise ConfigurationError(f'{where}: {_FORM}')
    return _token(name, scopes, secret, f'{where}: a')


def _token(name: str, scopes: tuple[str, ...], secret: str, where: str) -> Token:
    if not secret.isascii() or not secret.isprintable() or ' ' in secret:
        # RFC 6750 section 2.1; anything else cannot arrive in a header as it was written.
        raise ConfigurationError(f'{where} token is ASCII without spaces (this one is not)')
    if len(secret) < SECRET_MIN:
        raise ConfigurationError(
            f'{where} token has at least {SECRET_MIN} characters (this one has {len(secret)});'
            ' openssl rand -hex 32 makes one'
        )
    if len(secret) < SECRET_GOOD:
        logger.warning(
            '%s token of less than %d characters may be guessed; openssl rand -hex 32 makes a '
            'better one',
            where,
            SECRET_GOOD,
        )
    return Token(name, scopes, secret)


def _check_unlike(tokens: list[Token], where: str) -> None:
    """Refuse a name or a secret that is there already: nobody could tell whose call it was."""
    *others, last = tokens
    if any(last.name == other.name for other in others):
        raise ConfigurationError(f'{where}: the name {last.name} is there already')
    if any(last.secret == other.secret for other in others):
        raise ConfigurationError(f'{where}: its token is there already')
