# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Files that parameters name: whatever is wrong with one, its name and the reason are told."""

from __future__ import annotations

from collections.abc import Callable
import os
from pathlib import Path
from typing import Any

import pytest

from robot_agent_harness.assembly import configured_file
from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.llm.factory import make_client, ModelSettings
from robot_agent_harness.llm.scripted import ScriptedClient
from robot_agent_harness.mcp_server.tokens import read_tokens
from robot_agent_harness.skills.places import PlaceBook, read_places
from robot_agent_harness.skills.registry import load_registry
from robot_agent_harness.testing.fake_clock import FakeClock

READERS: dict[str, Callable[[Path], Any]] = {
    'places': read_places,
    'skills': load_registry,
    'script': ScriptedClient.from_file,
    'tokens': lambda path: read_tokens(path, {}),
}
YAML_READERS = {name: READERS[name] for name in ('places', 'skills', 'script')}
NOBODY = '~nobody-of-that-name/x.yaml'


@pytest.mark.parametrize('read', READERS.values(), ids=READERS)
def test_a_pipe_or_a_device_is_refused_at_once(
    tmp_path: Path, read: Callable[[Path], Any]
) -> None:
    pipe = tmp_path / 'pipe'
    os.mkfifo(pipe, 0o600)
    with pytest.raises(ConfigurationError, match='pipe: it is a pipe or a device'):
        read(pipe)
    with pytest.raises(ConfigurationError, match='/dev/zero: it is a pipe or a device'):
        read(Path('/dev/zero'))


@pytest.mark.parametrize('read', READERS.values(), ids=READERS)
def test_a_file_that_is_no_text_is_refused(tmp_path: Path, read: Callable[[Path], Any]) -> None:
    path = tmp_path / 'latin'
    path.write_bytes(b'caf\xe9: 1')
    path.chmod(0o600)
    with pytest.raises(ConfigurationError, match='latin: not text: not UTF-8 from byte 3'):
        read(path)


@pytest.mark.parametrize('read', YAML_READERS.values(), ids=YAML_READERS)
@pytest.mark.parametrize(
    ('content', 'why'),
    [
        ('x: 2020-13-45', 'month must be in 1..12'),
        ('[' * 5000, 'recursion'),
        ('places: {}\nplaces: {}', "'places' is given twice"),
        ('skills: {a: {title: x, title: y}}', "'title' is given twice"),
        ('x: !!python/object/apply:os.getcwd []', 'constructor for the tag'),
        ('\0', 'special characters'),
    ],
)
def test_what_is_no_yaml_is_refused_by_name_whatever_the_parser_raises(
    tmp_path: Path, read: Callable[[Path], Any], content: str, why: str
) -> None:
    path = tmp_path / 'written.yaml'
    path.write_text(content)
    with pytest.raises(ConfigurationError, match=rf'(?s)written\.yaml: not YAML: .*{why}'):
        read(path)


def test_places_that_become_a_pipe_keep_nobody_waiting(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / 'places.yaml'
    path.write_text('places: {shelf: {x: 1.0, y: 0.0}}')
    book = PlaceBook(clock=FakeClock(), path=path)
    path.unlink()
    os.mkfifo(path)
    assert book.current()['shelf'].x == 1.0
    assert 'keeping the last good places' in caplog.text


def test_the_home_of_nobody_is_named() -> None:
    replay = ModelSettings(provider='replay', replay_journal=NOBODY)
    for read in (
        lambda: configured_file({'places_file': NOBODY}, 'places_file', 'places.yaml'),
        lambda: ScriptedClient.from_file(NOBODY),
        lambda: read_tokens(Path(NOBODY), {}),
        lambda: make_client(replay, {}, own_journal='x.db'),
    ):
        with pytest.raises(ConfigurationError, match='nobody-of-that-name.*home directory'):
            read()
