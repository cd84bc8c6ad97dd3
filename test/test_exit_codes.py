# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""docs/exit_codes.md is the one table of exit codes, and every command keeps to it."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
import re
import subprocess
import sys

from journal_rig import BOUND_S
import pytest

from robot_agent_harness.cli import COMMANDS, INTERRUPTED, main, MISUSE, MODULE, READER_LEFT
from robot_agent_harness.journal_tools import SUBCOMMANDS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / 'docs'
RECORDED = ROOT / 'test' / 'replays' / 'verified.db.gz'
TEXT = (DOCS / 'exit_codes.md').read_text(encoding='utf-8')
ROWS = [
    (int(code), means, set(re.findall(r'`([\w-]+)`', of)) if of != 'all' else set(COMMANDS))
    for code, means, of in re.findall(r'^\| (\d+) \| (.*?) \| ([^|]*) \|$', TEXT, re.MULTILINE)
]
ANSWERS = {name for name, command in COMMANDS.items() if command.answers}
PRINTING = (
    ('journal', 'events', str(RECORDED)),
    ('journal', 'verify', str(RECORDED)),
    ('replay', str(RECORDED)),
    ('mcp-config',),
)
READING = (('report',), ('replay',), *(('journal', name) for name in SUBCOMMANDS))
"""What takes a journal."""


def of(code: int, word: str) -> set[str]:
    """Return the commands of the row of a code that has this word."""
    [names] = [names for number, means, names in ROWS if number == code and word in means]
    return names


def test_each_code_of_the_table_is_that_of_the_program_and_names_the_commands_that_have_it() -> (
    None
):
    assert [code for code, _, _ in ROWS] == [0, 1, MISUSE, MISUSE, INTERRUPTED, READER_LEFT]
    assert of(0, 'done') == of(MISUSE, 'usage') == set(COMMANDS)
    assert of(MISUSE, 'full disk') == of(INTERRUPTED, '') == of(READER_LEFT, '') == ANSWERS


def test_every_page_that_speaks_of_exit_codes_leads_to_the_table() -> None:
    for page in ('journal_command.md', 'replay.md', 'doctor.md', 'export.md', 'demo.md'):
        assert '(exit_codes.md)' in (DOCS / page).read_text(encoding='utf-8'), page
    assert '(docs/exit_codes.md)' in (ROOT / 'README.md').read_text(encoding='utf-8')


@pytest.mark.parametrize('arguments', PRINTING, ids=' '.join)
def test_a_command_whose_reader_leaves_or_whose_disk_is_full_ends_as_the_table_says(
    arguments: tuple[str, ...],
) -> None:
    command = [sys.executable, '-m', MODULE, *arguments]
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, 'wb') as closed, open('/dev/full', 'wb') as full:
        for output, code in ((closed, READER_LEFT), (full, MISUSE)):
            done = subprocess.run(
                command, stdout=output, stderr=subprocess.PIPE, timeout=BOUND_S, check=False
            )
            assert done.returncode == code, done.stderr
            assert done.stderr.count(b'\n') == (code == MISUSE)


@pytest.mark.parametrize('name', sorted(COMMANDS))
def test_wrong_usage_of_any_command_is_code_2(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([name, '--no-such-option'])
    assert ended.value.code == MISUSE
    assert capsys.readouterr().err


@pytest.mark.parametrize('name', sorted(COMMANDS))
def test_an_argument_too_many_is_refused_with_the_commands_own_usage(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    needed = {'report': ['j.db'], 'replay': ['j.db'], 'journal': ['events', 'j.db']}.get(name, [])
    with pytest.raises(SystemExit) as ended:
        main([name, *needed, 'too-many'])
    assert ended.value.code == MISUSE
    told = capsys.readouterr().err
    own = f'robot-agent-harness {name}' + (' events' if name == 'journal' else '')
    assert told.startswith(f'usage: {own} ')
    assert told.endswith(f'{own}: error: unrecognized arguments: too-many\n')


@pytest.mark.parametrize('command', READING, ids=' '.join)
def test_what_is_named_for_a_journal_and_lies_beside_one_or_around_one_leads_to_it(
    command: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = tmp_path / 'journal.db'
    journal.write_bytes(gzip.decompress(RECORDED.read_bytes()))
    log = tmp_path / 'journal.db-wal'
    log.touch()  # as SQLite leaves it when a journal was read
    for named, told in (
        (tmp_path, f'journal {tmp_path} is a folder: name {journal}'),
        (log, f'{log} is no journal but the log of journal.db: name that file, and leave this'),
    ):
        assert main([*command, str(named)]) == MISUSE
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f'robot-agent-harness {" ".join(command)}: {told}')


@pytest.mark.parametrize('option', ['report {} -o', 'journal export {} -o', 'demo --output'])
def test_a_file_where_a_folder_is_to_be_is_named_with_what_to_do(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')
    (tmp_path / 'notes').touch()
    arguments = [word.format(RECORDED) for word in option.split()]
    assert main([*arguments, str(tmp_path / 'notes' / 'new' / 'out')]) == MISUSE
    (line,) = capsys.readouterr().err.splitlines()
    assert f'output {tmp_path}/notes/new/out: {tmp_path}/notes is a file' in line
    assert line.endswith(('name another folder', 'name another one'))
