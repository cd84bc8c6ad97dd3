# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Records as JSON."""

from __future__ import annotations

from typing import Any

from robot_agent_harness.events import RecordedEvent
from robot_agent_harness.journal.schema import COLUMNS


def as_json(event: RecordedEvent) -> dict[str, Any]:
    """Return a record as the columns of `events`, its payload as the object that it is."""
    return {column: getattr(event, column) for column in COLUMNS}
