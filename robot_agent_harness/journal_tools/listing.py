# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What all listings do: choose a page, with --all of several files, and print it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
import heapq
from itertools import islice
from pathlib import Path
from typing import Any, Generic, TypeVar

from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.events import RecordedEvent
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.journal.selection import Selection
from robot_agent_harness.journal_tools.files import readers, remark_on_chain, remark_on_older
from robot_agent_harness.journal_tools.ids import nowhere, refuse, unknown
from robot_agent_harness.journal_tools.screen import print_json, remark
from robot_agent_harness.journal_tools.table import Column, TablePrinter

MORE = 'there are more: --limit 0 shows all, --after {seq} goes on'
MORE_BEFORE = 'there are earlier ones: --limit 0 shows all{how}'

Item = TypeVar('Item')


@dataclass(frozen=True, slots=True)
class Listing(Generic[Item]):
    """What is listed, of any one file."""

    newest: Callable[[JournalReader, int], Sequence[int]]
    """Returns the numbers of at most so many items, the newest first."""
    items: Callable[[JournalReader, int], Iterator[Item]]
    """Yields the items after a number, in order."""
    seq: Callable[[Item], int]
    """Returns an item's number."""


def records(*selections: Selection) -> Listing[RecordedEvent]:
    """Return the listing of all that is selected."""

    def newest(reader: JournalReader, count: int) -> Sequence[int]:
        found = [reader.newest_seqs(selection, count) for selection in selections]
        return sorted((seq for seqs in found for seq in seqs), reverse=True)[:count]

    def items(reader: JournalReader, after: int) -> Iterator[RecordedEvent]:
        found = (reader.select(selection, after_seq=after) for selection in selections)
        return heapq.merge(*found, key=lambda event: event.seq)

    return Listing(newest, items, lambda event: event.seq)


def pages(
    arguments: argparse.Namespace, listing: Listing[Item]
) -> Iterator[tuple[JournalReader, Iterator[Item]]]:
    """Yield what --limit, --after and --all ask for: a reader of each file, with its items.

    Without --after it is the newest page. Says when there is more. The items are to be taken
    before the next file is asked for.

    :raises ConfigurationError: --after does not go with --all, or an id is in no file.
    """
    if arguments.all:
        yield from _of_all_files(arguments, listing)
        return
    limit: int | None = arguments.limit or None
    with JournalReader(arguments.journal) as reader:
        refuse(unknown(reader, arguments), nowhere(reader, arguments))
        if arguments.after is None and limit is not None:
            newest = listing.newest(reader, limit + 1)
            after = newest[limit] if len(newest) > limit else 0
            found = listing.items(reader, after) if newest else iter(())
            yield reader, islice(found, limit)
            if after:
                remark(MORE_BEFORE.format(how=', --after 0 begins at the beginning'))
        else:
            after = arguments.after or 0
            yield reader, _first(listing, listing.items(reader, after), limit)
        if not after:
            remark_on_older(reader)
        remark_on_chain(reader)


def _first(listing: Listing[Item], items: Iterator[Item], limit: int | None) -> Iterator[Item]:
    """Yield so many items; say how to go on where there are more."""
    last = 0
    for number, item in enumerate(items):
        if number == limit:
            remark(MORE.format(seq=last))
            return
        last = listing.seq(item)
        yield item


def _of_all_files(
    arguments: argparse.Namespace, listing: Listing[Item]
) -> Iterator[tuple[JournalReader, Iterator[Item]]]:
    if arguments.after is not None:
        raise ConfigurationError(
            '--after counts the records of one file: name that file, without --all'
        )
    left: int | None = arguments.limit or None
    begins: list[tuple[Path, int]] = []
    earlier, not_here = False, ''
    absent: list[dict[str, str]] = []
    for reader in readers(arguments):
        if not begins:
            not_here = nowhere(reader, arguments)
            remark_on_chain(reader)
        absent.append(unknown(reader, arguments))
        newest = () if left is None else listing.newest(reader, left + 1)
        earlier = left is not None and len(newest) > left
        begins.append((reader.path, newest[left] if earlier and left is not None else 0))
        if left is not None:
            left -= len(newest)
        if earlier or left == 0:
            earlier = earlier or reader.predecessor() is not None
            break
    # A page that was full before the last file was looked at has found what bears all ids.
    in_none = (item for item in absent[0].items() if all(item in ids.items() for ids in absent))
    refuse(dict(in_none), not_here)
    for path, after in reversed(begins):
        with JournalReader(path) as reader:
            yield reader, listing.items(reader, after)
    if earlier:
        remark(MORE_BEFORE.format(how=''))


def show(
    arguments: argparse.Namespace,
    listing: Listing[Item],
    row: Callable[[JournalReader, Item], dict[str, Any]],
    columns: Sequence[Column],
    cells: Callable[[dict[str, Any]], Sequence[Any]],
) -> int:
    """Print what was chosen and return exit code 0.

    :param row: from an item to what --json shows of it, JSON-ready.
    :param cells: from that to its line of the table.
    """
    table = None if arguments.json else TablePrinter(columns)
    for reader, items in pages(arguments, listing):
        file = {'file': reader.path.name} if arguments.all else {}
        rows = (row(reader, item) | file for item in items)
        if table is None:
            for told in rows:
                print_json(told)
        else:
            table.add(map(cells, rows), title=file.get('file'))
    if table is not None:
        table.finish()
    return 0
