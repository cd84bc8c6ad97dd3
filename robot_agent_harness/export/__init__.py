# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A journal in the formats of other tools: JSONL, MCAP and OpenTelemetry spans. Needs no ROS.

Each export reads the records once, in order, and holds only what is open at that point (calls,
actions and missions without their end): a journal of any length needs the same memory. A journal
that a harness is writing is exported as it is at the beginning.
"""

from robot_agent_harness.export.errors import ExportError
from robot_agent_harness.export.jsonl import export_jsonl
from robot_agent_harness.export.mcap import export_mcap
from robot_agent_harness.export.otlp import send_spans, write_spans
from robot_agent_harness.export.source import Source

__all__ = [
    'ExportError',
    'Source',
    'export_jsonl',
    'export_mcap',
    'send_spans',
    'write_spans',
]
