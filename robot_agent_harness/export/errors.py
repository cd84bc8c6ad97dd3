# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What can go wrong with an export beside the journal itself."""

from __future__ import annotations

from robot_agent_harness.errors import HarnessError


class ExportError(HarnessError):
    """What was exported did not arrive where it was to go; the text says why."""

    code = 'export_failed'
