# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The subcommand `replay`: what it prints, and its exit code."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict
import json
import sys
import time
from typing import Any

import yaml

from robot_agent_harness.errors import ConfigurationError, HarnessError
from robot_agent_harness.journal_tools.progress import Progress
from robot_agent_harness.journal_tools.screen import remark, visible
from robot_agent_harness.replay.comparison import Difference, OF_THE_MACHINE
from robot_agent_harness.replay.replaying import JournalReplay, replay_journal, RunReplay
from robot_agent_harness.replay.what_if import compare, WhatIf

IDENTICAL, DIFFERENT, UNUSABLE = 0, 1, 2
SHOWN_CHARS = 2000
"""How much of one side of a difference is printed; `--json` has all of it."""
DAMAGED = (
    '{program} replay: journal {path} is damaged: {damage}; what was replayed and compared is what'
    ' it holds now'
)


def run(arguments: argparse.Namespace, program: str) -> int:
    """Replay and tell; return 0 if all is as it was, 1 if not, 2 if that is unknown: the journal
    is damaged, or cannot be replayed.
    """
    try:
        begun = time.perf_counter()
        changed = _parameters(arguments.what_if)
        replay = replay_journal(
            arguments.journal,
            mission_id=arguments.mission,
            what_if=changed,
            told=Progress('replayed'),
        )
        took_s = time.perf_counter() - begun
    except HarnessError as error:
        print(f'{program} replay: {" ".join(visible(str(error)).split())}', file=sys.stderr)
        return UNUSABLE
    if changed:
        told = [compare(one) for one in replay.runs]
        same = not any(what_if.changes for what_if in told)
        lines = _what_if_lines(replay, told, changed)
        plain = _what_if_json(replay, told, changed)
    else:
        same = replay.identical
        lines = _lines(replay, took_s)
        plain = _json(replay)
    if arguments.json:
        print(json.dumps(plain, indent=2))
    else:
        for line in lines:
            print(visible(line))
    if replay.damage is not None:
        remark(DAMAGED.format(program=program, path=replay.path, damage=replay.damage))
        return UNUSABLE
    return IDENTICAL if same else DIFFERENT


def _parameters(given: Sequence[str]) -> dict[str, Any]:
    changed = {}
    for text in given:
        name, equals, value = text.partition('=')
        if not equals:
            raise ConfigurationError(f'--what-if {text}: give it as NAME=VALUE')
        try:
            changed[name.strip()] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise ConfigurationError(f'--what-if {text}: not a value: {error}') from error
    return changed


def _lines(replay: JournalReplay, took_s: float) -> Iterator[str]:
    for number, run_ in enumerate(replay.runs, 1):
        yield f'run {number} of {len(replay.runs)}: {_about(run_)}'
        places = f', {run_.reordered} of them in another place' if run_.reordered else ''
        if run_.identical:
            yield f'  identical: {run_.same} records{places}'
            yield from _left_out_lines(run_)
            continue
        yield f'  {len(run_.differences)} records differ, {run_.same} are the same{places}'
        yield from _left_out_lines(run_)
        yield from _difference_lines(run_.differences[0])
    duration_s = sum(run_.duration_s for run_ in replay.runs)
    yield f'replayed {duration_s:.1f} s in {took_s:.2f} s'


def _left_out_lines(run_: RunReplay) -> Iterator[str]:
    if run_.of_the_machine:
        yield f'  not compared: {run_.of_the_machine} {OF_THE_MACHINE} (how long the disk took)'
    if run_.left_at_the_end:
        yield f'  not compared: the last {run_.left_at_the_end}, whose cause is not on record'
    if run_.identical and not run_.whole:
        yield '  the recording ends here, in the middle of the run'


def _about(run_: RunReplay) -> str:
    missions = f', missions {", ".join(run_.missions)}' if run_.missions else ''
    return (
        f'records {run_.first_seq} to {run_.last_seq}, {run_.duration_s:.1f} s,'
        f' release {run_.version}{missions}'
    )


def _difference_lines(difference: Difference) -> Iterator[str]:
    kind = {
        'payload': 'is another',
        'missing': 'was not made again',
        'unexpected': 'was not recorded, and is made before it',
    }[difference.kind]
    yield f'  first difference: record {difference.seq} {kind}'
    yield from (f'    after  {line}' for line in difference.before)
    recorded, replayed = difference.recorded, difference.replayed
    if recorded is not None and replayed is not None:
        yield f'    {recorded["type"]}'
        for path in difference.keys:
            yield f'    {path}'
            yield f'      recorded {_shown(_at(recorded["payload"], path))}'
            yield f'      replayed {_shown(_at(replayed["payload"], path))}'
    else:
        yield f'    recorded {_shown(recorded)}'
        yield f'    replayed {_shown(replayed)}'


def _at(payload: Any, path: str) -> Any:
    for part in path.split('.'):
        if isinstance(payload, list):
            payload = payload[int(part)]
        elif isinstance(payload, dict) and part in payload:
            payload = payload[part]
        else:
            return None
    return payload


def _shown(value: Any) -> str:
    text = 'nothing' if value is None else json.dumps(value, sort_keys=True)
    return text if len(text) <= SHOWN_CHARS else f'{text[:SHOWN_CHARS]} ...'


def _json(replay: JournalReplay) -> dict[str, Any]:
    return {
        'journal': str(replay.path),
        'damage': replay.damage,
        'identical': replay.identical,
        'runs': [
            {
                **_run_json(run_),
                'identical': run_.identical,
                'whole': run_.whole,
                'same': run_.same,
                'reordered': run_.reordered,
                'of_the_machine': run_.of_the_machine,
                'left_at_the_end': run_.left_at_the_end,
                'differences': [asdict(difference) for difference in run_.differences],
            }
            for run_ in replay.runs
        ],
    }


def _run_json(run_: RunReplay) -> dict[str, Any]:
    return {
        'first_seq': run_.first_seq,
        'last_seq': run_.last_seq,
        'missions': list(run_.missions),
        'version': run_.version,
        'duration_s': run_.duration_s,
    }


def _what_if_lines(
    replay: JournalReplay, told: list[WhatIf], changed: dict[str, Any]
) -> Iterator[str]:
    yield 'with ' + ', '.join(f'{name} = {value}' for name, value in changed.items())
    for number, (run_, what_if) in enumerate(zip(replay.runs, told, strict=True), 1):
        yield f'run {number} of {len(replay.runs)}: {_about(run_)}'
        if not what_if.changes:
            yield '  no check, result or outcome would be another'
        answered = True
        for change in what_if.changes:
            if answered and not change.answered:
                answered = False
                yield (
                    f'  from {what_if.known_until_s:.1f} s on the recording does not answer this:'
                    ' robot and model might have gone on otherwise. If not:'
                )
            yield f'  {change.at_s:8.1f} s  {change.what} of {change.name} ({change.about}):'
            yield f'              {change.recorded} -> {change.now}'
            if change.why:
                yield f'              {change.why}'


def _what_if_json(
    replay: JournalReplay, told: list[WhatIf], changed: dict[str, Any]
) -> dict[str, Any]:
    return {
        'journal': str(replay.path),
        'damage': replay.damage,
        'what_if': changed,
        'runs': [
            {**_run_json(run_), **asdict(what_if)}
            for run_, what_if in zip(replay.runs, told, strict=True)
        ],
    }
