# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Why a journal cannot be replayed."""

from __future__ import annotations

from robot_agent_harness.errors import HarnessError


class ReplayError(HarnessError):
    """The journal does not hold what a replay needs; the text says what is missing."""

    code = 'replay_unusable'


class ReplayFailedError(ReplayError):
    """The replay itself failed, on records that are what the package writes: a fault of ours."""

    code = 'replay_failed'
