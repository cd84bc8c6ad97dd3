# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""`journal export`: a journal in the formats of other tools."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from robot_agent_harness.journal_tools.arguments import add_journal, add_span
from robot_agent_harness.journal_tools.subcommand import Subcommand

if TYPE_CHECKING:
    from robot_agent_harness.export.source import Source

FAILED = 1
FORMATS = ('jsonl', 'mcap', 'otlp')


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_journal(parser)
    parser.add_argument(
        '--format',
        choices=FORMATS,
        default=FORMATS[0],
        help='jsonl: a record a line; mcap: a recording of ROS messages, for Foxglove and rosbag2;'
        ' otlp: OpenTelemetry spans; default: jsonl',
    )
    parser.add_argument(
        '-o',
        '--output',
        metavar='FILE',
        help='- = standard output, which is the default of jsonl; mcap needs one; otlp without one'
        ' is sent to a collector',
    )
    parser.add_argument('--mission', metavar='ID', help='only of this mission')
    add_span(parser)
    parser.add_argument(
        '--otlp-endpoint',
        metavar='URL',
        help='base URL of the collector; default: OTEL_EXPORTER_OTLP_ENDPOINT, else'
        ' http://localhost:4318',
    )
    parser.add_argument(
        '--with-content',
        action='store_true',
        help='otlp: with prompts, answers, arguments, results, goals and evidence',
    )


def _run(arguments: argparse.Namespace) -> int:
    from robot_agent_harness.export.errors import ExportError
    from robot_agent_harness.export.source import Source
    from robot_agent_harness.journal.reader import JournalReader
    from robot_agent_harness.journal.selection import Selection
    from robot_agent_harness.journal_tools.files import remark_on_chain

    _check(arguments)
    selection = Selection(
        mission_id=arguments.mission, since_ns=arguments.since, until_ns=arguments.until
    )
    with JournalReader(arguments.journal) as reader:
        try:
            told = _export(Source(reader, selection), arguments)
        except ExportError as error:
            print(f'robot-agent-harness journal export: {error}', file=sys.stderr)
            return FAILED
        # Standard output may be the export itself.
        print(told, file=sys.stderr)
        remark_on_chain(reader)
    return 0


def _export(source: Source, arguments: argparse.Namespace) -> str:
    """Export and say what was."""
    from robot_agent_harness.export import export_jsonl, export_mcap, send_spans, write_spans
    from robot_agent_harness.report.values import counted

    output, content = arguments.output, arguments.with_content
    if arguments.format == 'jsonl':
        return f'{counted(export_jsonl(source, output or "-"), "record")} exported'
    if arguments.format == 'mcap':
        return f'{counted(export_mcap(source, output), "message")} exported'
    if output is not None:
        return f'{counted(write_spans(source, output, with_content=content), "span")} exported'
    sent = send_spans(source, arguments.otlp_endpoint, with_content=content)
    return f'{counted(sent, "span")} sent'


def _check(arguments: argparse.Namespace) -> None:
    """Refuse what does not go together.

    :raises ConfigurationError: names the option.
    """
    from robot_agent_harness.errors import ConfigurationError

    if arguments.format == 'mcap' and arguments.output is None:
        raise ConfigurationError('--format mcap needs -o FILE')
    if arguments.format != 'otlp' and (arguments.with_content or arguments.otlp_endpoint):
        raise ConfigurationError('--with-content and --otlp-endpoint go with --format otlp only')
    if arguments.otlp_endpoint and arguments.output is not None:
        raise ConfigurationError('--otlp-endpoint and -o are two places; name one')


SUBCOMMAND = Subcommand(
    'export to JSONL, MCAP or OpenTelemetry',
    'Export the records of a journal for other tools. A journal that a harness is writing is'
    ' exported as it is at the beginning; archives are read as well.',
    _add_arguments,
    _run,
)
