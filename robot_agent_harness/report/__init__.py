# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A mission explained to people who would rather look than read, from its journal alone."""

from robot_agent_harness.report.report import outside_missions, report_page, write_report

__all__ = ['outside_missions', 'report_page', 'write_report']
