# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""`journal show`: what led to what, as a tree."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from robot_agent_harness.journal_tools.arguments import add_journal, add_json, add_page, add_span
from robot_agent_harness.journal_tools.subcommand import Subcommand

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
    from robot_agent_harness.journal.reader import JournalReader
    from robot_agent_harness.journal_tools.screen import print_json, remark, Screen
    from robot_agent_harness.journal_tools.tree import TreeMaker

    with JournalReader(arguments.journal) as reader:
        nodes = _nodes(reader, arguments)
        if arguments.json:
            for node in nodes:
                print_json(node)
            return 0
        screen, maker, shown = Screen(wide=True), TreeMaker(), False
        for node in nodes:
            shown = True
            screen.tree(maker.tree(node))
        if not shown:
            remark('nothing matches')
    return 0


def _nodes(reader: Any, arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    from robot_agent_harness.errors import ConfigurationError
    from robot_agent_harness.events import EventType
    from robot_agent_harness.journal.elsewhere import not_in
    from robot_agent_harness.journal.selection import Selection
    from robot_agent_harness.journal_tools import causes
    from robot_agent_harness.journal_tools.listing import page

    if arguments.mission is not None:
        if not reader.count(Selection(mission_id=arguments.mission)):
            raise ConfigurationError(f'mission {arguments.mission}: {not_in(reader)}')
        yield from causes.mission_nodes(reader, arguments.mission)
        return
    call_id = arguments.call
    if arguments.action is not None:
        begun = next(reader.events(action_id=arguments.action), None)
        if begun is None or begun.tool_call_id is None:
            raise ConfigurationError(f'action {arguments.action}: {not_in(reader)}')
        call_id = begun.tool_call_id
    if call_id is not None:
        nodes = list(causes.call_nodes(reader, call_id))
        if not nodes:
            raise ConfigurationError(f'call {call_id}: {not_in(reader)}')
        yield from nodes
        return
    begins = (Selection(types=(EventType.MISSION_STARTED.value,)), *causes.OUTSIDE)
    span = {'since_ns': arguments.since, 'until_ns': arguments.until}
    for event in page(reader, arguments, *(replace(begin, **span) for begin in begins)):
        if event.type == EventType.MISSION_STARTED and event.mission_id is not None:
            yield from causes.mission_nodes(reader, event.mission_id)
        else:
            yield from causes.outside_node(reader, event)


SUBCOMMAND = Subcommand(
    'show what led to what',
    'Show missions, and calls outside missions, as trees: turn, snapshot, decision, checks, call,'
    ' states of the action, evidence, outcome. Without --after, the newest ones, in their order.',
    _add_arguments,
    _run,
)
