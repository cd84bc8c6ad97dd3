# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""docs/journal_command.md names each subcommand, option and key of the journal command."""

from __future__ import annotations

import argparse
from pathlib import Path

from journal_command_rig import command, lines, mission, write
import pytest

from robot_agent_harness.journal_tools import SUBCOMMANDS

TEXT = (Path(__file__).parents[1] / 'docs' / 'journal_command.md').read_text(encoding='utf-8')
OURS = [name for name in SUBCOMMANDS if name != 'export']
"""Exports have a page of their own."""


@pytest.mark.parametrize('name', SUBCOMMANDS)
def test_every_subcommand_is_documented(name: str) -> None:
    assert f'| `{name}` |' in TEXT


@pytest.mark.parametrize('name', OURS)
def test_every_option_is_documented(name: str) -> None:
    parser = argparse.ArgumentParser()
    SUBCOMMANDS[name].add_arguments(parser)
    for action in parser._actions:
        for option in action.option_strings:
            if option.startswith('--') and option not in ('--help', '--follow', '--lines'):
                assert f'`{option}' in TEXT, option


@pytest.mark.parametrize('name', ['missions', 'actions', 'decisions'])
def test_every_key_is_documented(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / 'journal.db', mission('m', ('SUCCEEDED', 'verified')))
    [row] = lines(command(capsys, name, path, '--json')[1])
    journal = (Path(__file__).parents[1] / 'docs' / 'journal.md').read_text(encoding='utf-8')
    for key in row:
        assert f'`{key}`' in TEXT + journal, key
