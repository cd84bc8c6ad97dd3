# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What led to what, as trees on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rich.text import Text
from rich.tree import Tree

from robot_agent_harness.events import RecordedEvent
from robot_agent_harness.journal_tools.causes import Node
from robot_agent_harness.journal_tools.records import as_json
from robot_agent_harness.journal_tools.screen import brief, clock, STYLES, visible
from robot_agent_harness.journal_tools.summary import about
from robot_agent_harness.report.findings import evidence_lines, measured
from robot_agent_harness.report.story import Action, Check
from robot_agent_harness.report.values import items, mapping, text

NS_PER_S = 1_000_000_000


class TreeMaker:
    """Makes trees; times of a mission count from its beginning."""

    def __init__(self) -> None:
        self._begun_ns: int | None = None

    def tree(self, node: Node) -> Text | Tree:
        """Return what to print for a node."""
        return _MAKERS[node['kind']](self, node)

    def _mission(self, node: Node) -> Text:
        self._begun_ns = node['at_ns']
        line = _line(('mission ', 'bold'), (brief(node['mission_id']), 'bold cyan'))
        line.append(f'  {clock(node["at_ns"])} UTC', 'dim')
        who = ' / '.join(part for part in (text(node, 'provider'), text(node, 'model')) if part)
        line.append(f'  {brief(who)}' if who else '', 'dim')
        return line.append(f'\n  “{_said(node.get("instruction"))}”')

    def _end(self, node: Node) -> Text:
        outcome = brief(node.get('outcome') or 'unknown')
        line = _line(('mission ended ', 'bold'), (outcome, f'bold {STYLES.get(outcome, "")}'))
        line.append(f': {brief(node.get("reason"))}', '').append(self._at(node), 'dim')
        if (summary := text(node, 'summary')) is not None:
            line.append(f'\n  {_said(summary)}')
        if (claim := text(node, 'claim')) is not None:
            support = 'support' if node.get('claim_supported') is True else 'do not support'
            line.append(f'\n  the model claims {brief(claim)}: verified outcomes {support} it')
        self._begun_ns = None
        return line

    def _event(self, node: Node) -> Text:
        line = _line((brief(node['type']), 'magenta'), (self._at(node), 'dim'))
        return line.append(f'  {_said(about(node))}')

    def _turn(self, node: Node) -> Tree:
        step = node['step']
        name = 'turn' if step is None else f'turn {brief(step)}'
        line = _line((name, 'bold'), (f'  {brief(node["trigger"] or "")}', ''))
        tree = Tree(line.append(self._at(node), 'dim'), guide_style='dim')
        if node['snapshot_id'] is not None:
            tree.add(_line(('snapshot ', 'blue'), (brief(node['snapshot_id']), '')))
        for decision in node['decisions']:
            self._decision(tree, decision)
        return tree

    def _decision(self, tree: Tree, node: Node) -> None:
        if node['seq'] is None:
            for call in node['calls']:
                self._add_call(tree, call)
            return
        if (error := text(node, 'error')) is not None:
            told = _line(('no answer ', 'red'), (_said(error), 'red'))
            tree.add(told.append(self._at(node), 'dim'))
            return
        branch = tree.add(_line(('decision', 'bold'), (self._at(node), 'dim')))
        for key in ('rationale', 'thinking'):
            if (said := text(node, key)) is not None:
                branch.add(_line((f'{key}: ', 'cyan'), (_said(said), '')))
        for call in node['calls']:
            self._add_call(branch, call)

    def _lone_call(self, node: Node) -> Tree:
        begun, self._begun_ns = self._begun_ns, self._begun_ns or node['at_ns']
        tree = Tree(_line((self._caller(node), 'bold'), (f'  {clock(node["at_ns"])} UTC', 'dim')))
        tree.guide_style = 'dim'
        self._add_call(tree, node)
        self._begun_ns = begun
        return tree

    @staticmethod
    def _caller(node: Node) -> str:
        client = mapping(node, 'client')
        return f'call of {brief(text(client, "kind") or "an unknown caller")}'

    def _add_call(self, tree: Tree, node: Node) -> None:
        arguments = node.get('arguments')
        told = brief(arguments) if arguments else ''
        line = _line(('call ', 'bold'), (brief(node.get('name')), 'bold cyan'), (f' {told}', ''))
        branch = tree.add(line.append(self._at(node), 'dim'))
        for key, name in (('purpose', 'purpose'), ('expected_outcome', 'expects')):
            if (said := text(node, key)) is not None:
                branch.add(_line((f'{name}: ', 'cyan'), (_said(said), '')))
        if (before := text(node, 'repeat_of')) is not None:
            branch.add(_line(('repeats ', ''), (brief(before), '')))
        if node['check'] is not None:
            self._add_check(branch, node['check'])
        if node['action'] is not None:
            self._add_action(branch, node['action'])
        if node['result'] is None:
            branch.add(Text('no result is recorded', 'yellow'))
        else:
            self._add_result(branch, node['result'])

    def _add_check(self, tree: Tree, node: Node) -> None:
        ok = node.get('ok') is True
        head = 'checked: the decision still holds' if ok else 'checked: NOT what was decided upon'
        branch = tree.add(_line((head, 'green' if ok else 'bold red'), (self._at(node), 'dim')))
        for entry in items(node, 'checks'):
            if not isinstance(entry, dict):
                continue
            told = measured(
                Check(
                    text(entry, 'name') or 'a check without a name',
                    entry.get('ok') is True,
                    entry.get('measured'),
                    entry.get('limit'),
                    text(entry, 'detail'),
                )
            )
            style = 'green' if told.ok else 'bold red'
            line = _line(('ok  ' if told.ok else 'NOT ', style), (brief(told.label), ''))
            line.append(f': {brief(told.value)}')
            line.append(f' ({brief(told.limit)})' if told.limit else '', 'dim')
            branch.add(line.append(f' {_said(told.detail)}' if told.detail else '', 'dim'))

    def _add_result(self, tree: Tree, node: Node) -> None:
        error = node.get('is_error') is True
        line = _line(('result ', ''), (brief(node.get('status')), 'red' if error else 'green'))
        line.append(self._at(node), 'dim')
        if (message := text(mapping(node, 'structured'), 'message')) is not None:
            line.append(f': {_said(message)}')
        tree.add(line)

    def _add_action(self, tree: Tree, node: Node) -> None:
        line = _line(('action ', 'bold'), (brief(node['action_id']), ''))
        branch = tree.add(line.append(f'  goal {brief(node["goal"])}', 'dim'))
        states = Text()
        for number, entered in enumerate(node['states']):
            state = brief(entered['state'])
            states.append(' > ' if number else '').append(state, STYLES.get(state, 'blue'))
            states.append(self._at(entered), 'dim')
        branch.add(states)
        if (outcome := node['outcome']) is not None:
            self._add_outcome(branch, node, outcome)
        for late in node['late']:
            line = _line(('heard later: ', 'magenta'), (_said(late['note'] or ''), ''))
            branch.add(line.append(self._at(late), 'dim'))

    def _add_outcome(self, tree: Tree, action: Node, outcome: Node) -> None:
        state = brief(outcome.get('state'))
        line = _line((state, f'bold {STYLES.get(state, "")}'))
        branch = tree.add(line.append(f': {brief(outcome.get("reason"))}'))
        evidence = mapping(outcome, 'evidence')
        if (why := text(evidence, 'why')) is not None:
            branch.add(Text(_said(why)))
        for name, value in evidence_lines(_action(action, evidence)):
            branch.add(_line((f'{name}: ', 'blue'), (_said(value), '')))
        if (seen := text(outcome, 'verification_snapshot_id')) is not None:
            branch.add(_line(('verified on snapshot ', 'blue'), (brief(seen), '')))

    def _at(self, node: Mapping[str, Any]) -> str:
        """Return when, counted from the mission's beginning."""
        at_ns = node.get('at_ns') or node.get('wall_time_ns')
        if at_ns is None:
            return ''
        if self._begun_ns is None:
            return f'  {clock(at_ns)} UTC'
        return f'  +{(at_ns - self._begun_ns) / NS_PER_S:.1f} s'


def line(event: RecordedEvent) -> Text:
    """Return a record on one line."""
    told = _line((clock(event.wall_time_ns), 'dim'), (f'  {brief(event.type):<27}', 'magenta'))
    return told.append(f'  {brief(event.mission_id or "-")}', 'dim').append(
        f'  {_said(about(as_json(event)))}'
    )


def _action(node: Node, evidence: Mapping[str, Any]) -> Action:
    return Action(
        number=1,
        action_id='',
        skill='',
        goal=mapping(node, 'goal'),
        title='',
        states=[],
        state='',
        evidence=evidence,
    )


def _line(*parts: tuple[str, str]) -> Text:
    return Text.assemble(*parts)


def _said(value: Any) -> str:
    """Return a text on one line, so that nothing in it passes for a line of the tree."""
    return visible(' '.join(str(value).split()))


_MAKERS: dict[str, Callable[[TreeMaker, Node], Text | Tree]] = {
    'mission': TreeMaker._mission,
    'turn': TreeMaker._turn,
    'call': TreeMaker._lone_call,
    'event': TreeMaker._event,
    'end': TreeMaker._end,
}
