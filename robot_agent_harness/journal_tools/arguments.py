# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Arguments that several subcommands share. Imports nothing heavy: every start builds them."""

from __future__ import annotations

import argparse
from datetime import datetime, timedelta, timezone
from enum import Enum
import re
import time

DEFAULT_JOURNAL = '~/.ros/robot_agent_harness/journal.db'
"""Where a harness writes that was not told otherwise (`journal.path`)."""
DEFAULT_LIMIT = 100
NS_PER_S = 1_000_000_000

_INT64 = 2**63
"""Where the journal's times end, in the years 1677 and 2262."""
_RELATIVE = re.compile(r'(\d+(?:\.\d+)?)(s|m|h|d|w)')
_UNITS = {'s': 'seconds', 'm': 'minutes', 'h': 'hours', 'd': 'days', 'w': 'weeks'}


def add_journal(parser: argparse.ArgumentParser) -> None:
    """Take the journal's file."""
    parser.add_argument(
        'journal',
        metavar='JOURNAL',
        nargs='?',
        default=DEFAULT_JOURNAL,
        help=f'the journal file, or an archive (.db.gz) of one; default: {DEFAULT_JOURNAL}',
    )


def add_json(parser: argparse.ArgumentParser, what: str) -> None:
    """Take --json.

    :param what: what comes out then.
    """
    parser.add_argument('--json', action='store_true', help=f'for programs: {what}')


def add_span(parser: argparse.ArgumentParser) -> None:
    """Take --since and --until."""
    for name, which in (('--since', 'at or after'), ('--until', 'at or before')):
        parser.add_argument(
            name,
            metavar='TIME',
            type=wall_ns,
            help=f'only {which} this time: ISO 8601 (local unless it says otherwise), or how long'
            ' ago: 90s, 15m, 2h, 3d, 1w',
        )


def add_page(parser: argparse.ArgumentParser, limit: int = DEFAULT_LIMIT) -> None:
    """Take --limit, --after and --all.

    :param limit: without --limit.
    """
    parser.add_argument(
        '--limit',
        metavar='N',
        type=count,
        default=limit,
        help=f'at most so many; 0 = all; default: {limit}',
    )
    parser.add_argument(
        '--after',
        metavar='SEQ',
        type=count,
        help='the first ones after this record, 0 = from the beginning; without it: the newest',
    )
    parser.add_argument(
        '--all',
        action='store_true',
        help='go on in the files before this one, which rotation closed; each row then has `file`',
    )


def wall_ns(value: str) -> int:
    """Return nanoseconds since the epoch of a time that somebody typed; they fit 64 bits."""
    try:
        wall = _typed_ns(value.strip())
    except (ValueError, OverflowError, OSError):
        raise argparse.ArgumentTypeError(
            f'{value!r} is no time: write 2026-11-30T10:30, or 2h for two hours ago'
        ) from None
    if not -_INT64 <= wall < _INT64:
        raise argparse.ArgumentTypeError(
            f'{value!r} is no time that a journal can have: those are of 1678 to 2261'
        )
    return wall


def _typed_ns(value: str) -> int:
    relative = _RELATIVE.fullmatch(value)
    if relative:
        ago = timedelta(**{_UNITS[relative[2]]: float(relative[1])})
        return time.time_ns() - int(ago.total_seconds() * NS_PER_S)
    then = datetime.fromisoformat(re.sub(r'[zZ]$', '+00:00', value))
    return _ns(then if then.tzinfo else then.astimezone())


def _ns(then: datetime) -> int:
    # In integers: a float of so many seconds is only good to 0.2 microseconds.
    since = then - datetime(1970, 1, 1, tzinfo=timezone.utc)
    return ((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds) * 1_000


def count(value: str) -> int:
    """Return a whole number that somebody typed."""
    if not re.fullmatch(r'\d{1,18}', value):
        raise argparse.ArgumentTypeError(f'{value!r} is no whole number from 0 on')
    return int(value)


def event_type(value: str) -> str:
    """Return the type of event that somebody typed, in whatever case."""
    from robot_agent_harness.events import EventType

    return _one_of(value, value.upper(), EventType, 'type of event')


def result_status(value: str) -> str:
    """Return the status of a call's result that somebody typed, in whatever case."""
    from robot_agent_harness.skills.result import ResultStatus

    return _one_of(value, value.lower(), ResultStatus, 'status of a result')


def _one_of(value: str, name: str, known: type[Enum], what: str) -> str:
    names = sorted(member.value for member in known)
    if name not in names:
        raise argparse.ArgumentTypeError(f'{value!r} is no {what}; there are: {", ".join(names)}')
    return name
