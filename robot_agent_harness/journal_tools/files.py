# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The files of one journal: the one that was named, and with --all those before it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from robot_agent_harness.journal.read_only import existing
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.journal_tools.screen import remark

OLDER = 'older records are in {name}: --all looks there as well'
NOT_BESIDE = 'older records are in {name}, which is not beside {path}'
BROKEN = "the chain is broken: {trouble}. 'robot-agent-harness journal verify' checks everything"


def readers(arguments: argparse.Namespace) -> Iterator[JournalReader]:
    """Yield a reader of the named file, and with --all of each before it, the newest first.

    A reader is closed when the next one is asked for, so that one archive at a time is unpacked.

    :raises JournalError: a file cannot be read.
    """
    path: Path | None = existing(arguments.journal)
    seen: set[Path] = set()
    while path is not None and path not in seen:
        seen.add(path)
        with JournalReader(path) as reader:
            yield reader
            before = reader.predecessor() if arguments.all else None
        path = before.path if before else None
        if before is not None and path is None:
            remark(NOT_BESIDE.format(name=before.name, path=reader.path))


def remark_on_older(reader: JournalReader) -> None:
    """Say so if this file goes on from another one."""
    before = reader.predecessor()
    if before is not None:
        told = OLDER if before.path is not None else NOT_BESIDE
        remark(told.format(name=before.name, path=reader.path))


def remark_on_chain(reader: JournalReader) -> None:
    """Say so if the newest records do not hang together; `verify` alone looks at all of them."""
    trouble = reader.break_in_tail()
    if trouble is not None:
        remark(BROKEN.format(trouble=trouble))
