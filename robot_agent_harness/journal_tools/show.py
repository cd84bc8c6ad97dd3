# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""`journal show`: what led to what, as a tree."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TYPE_CHECKING

from robot_agent_harness.journal_tools.arguments import add_journal, add_json, add_page, add_span
from robot_agent_harness.journal_tools.subcommand import Subcommand

if TYPE_CHECKING:
    from robot_agent_harness.journal.reader import JournalReader

_ONE = ('mission', 'call', 'action')
"""The options that ask for one thing."""
LIMIT = 10
"""Missions and calls outside missions that are shown, where no --limit says otherwise."""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_journal(parser)
    one = parser.add_mutually_exclusive_group()
    one.add_argument('--mission', metavar='ID', help='only this mission')
    one.add_argument('--call', metavar='ID', help='only this tool call')
    one.add_argument('--action', metavar='ID', help='only the call that started this action')
    add_span(parser)
    add_page(parser, LIMIT)
    add_json(parser, 'a JSON object a line, of kind mission, turn, call, event or end')


def _run(arguments: argparse.Namespace) -> int:
    from robot_agent_harness.journal_tools.screen import print_json, remark, Screen
    from robot_agent_harness.journal_tools.tree import TreeMaker

    screen, maker, shown = Screen(wide=True), TreeMaker(), False
    for reader, nodes in _nodes(arguments):
        file = {'file': reader.path.name} if arguments.all else {}
        for node in nodes:
            shown = True
            if arguments.json:
                print_json(node | file)
            else:
                screen.tree(maker.tree(node))
    if not shown and not arguments.json:
        remark('nothing matches')
    return 0


def _nodes(
    arguments: argparse.Namespace,
) -> Iterator[tuple[JournalReader, Iterator[dict[str, Any]]]]:
    """Yield a reader of each file with what is to be shown of it."""
    from robot_agent_harness.events import EventType, RecordedEvent
    from robot_agent_harness.journal.selection import Selection
    from robot_agent_harness.journal_tools import causes
    from robot_agent_harness.journal_tools.listing import pages, records

    if any(getattr(arguments, name) is not None for name in _ONE):
        yield from _one(arguments)
        return

    def nodes(reader: JournalReader, events: Iterator[RecordedEvent]) -> Iterator[dict[str, Any]]:
        for event in events:
            if event.type == EventType.MISSION_STARTED and event.mission_id is not None:
                yield from causes.mission_nodes(reader, event.mission_id)
            else:
                yield from causes.outside_node(reader, event)

    begins = (Selection(types=(EventType.MISSION_STARTED.value,)), *causes.OUTSIDE)
    span = {'since_ns': arguments.since, 'until_ns': arguments.until}
    listing = records(*(replace(begin, **span) for begin in begins))
    for reader, events in pages(arguments, listing):
        yield reader, nodes(reader, events)


def _one(
    arguments: argparse.Namespace,
) -> Iterator[tuple[JournalReader, Iterator[dict[str, Any]]]]:
    """Yield the nodes of the one mission, call or action that was asked for, which is in one file.

    :raises ConfigurationError: it is not there.
    """
    from robot_agent_harness.journal_tools.files import readers, remark_on_chain
    from robot_agent_harness.journal_tools.ids import nowhere, refuse

    not_here = ''
    for number, reader in enumerate(readers(arguments)):
        nodes = _of_one(reader, arguments)
        if nodes is not None:
            yield reader, nodes
        if number == 0:
            not_here = nowhere(reader, arguments)
            remark_on_chain(reader)
        if nodes is not None:
            return
    asked = {name: getattr(arguments, name) for name in _ONE}
    refuse({name: typed for name, typed in asked.items() if typed is not None}, not_here)


def _of_one(
    reader: JournalReader, arguments: argparse.Namespace
) -> Iterator[dict[str, Any]] | None:
    """Return the nodes of what was asked for; None where the file has nothing of it."""
    from robot_agent_harness.journal.selection import Selection
    from robot_agent_harness.journal_tools import causes

    if arguments.mission is not None:
        known = reader.count(Selection(mission_id=arguments.mission))
        return causes.mission_nodes(reader, arguments.mission) if known else None
    call_id = arguments.call
    if arguments.action is not None:
        begun = next(reader.events(action_id=arguments.action), None)
        call_id = None if begun is None else begun.tool_call_id
    nodes = [] if call_id is None else list(causes.call_nodes(reader, call_id))
    return iter(nodes) if nodes else None


SUBCOMMAND = Subcommand(
    'show what led to what',
    'Show missions, and calls outside missions, as trees: turn, snapshot, decision, checks, call,'
    ' states of the action, evidence, outcome. Without --after, the newest ones, in their order.',
    _add_arguments,
    _run,
)
