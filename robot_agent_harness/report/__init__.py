# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A mission explained to people who would rather look than read, from its journal alone."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

if TYPE_CHECKING:
    from robot_agent_harness.report.report import write_report

__all__ = ['write_report']


def __getattr__(name: str) -> Any:
    # The page's templates take a tenth of a second to import, and others use only the words.
    if name == 'write_report':
        from robot_agent_harness.report.report import write_report

        return write_report
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
