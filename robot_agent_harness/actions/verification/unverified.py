# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""For actions whose outcome nothing here can see."""

from __future__ import annotations

from typing import Any

from robot_agent_harness.actions.verification.judgement import Judgement, Terminal, Verdict
from robot_agent_harness.world.snapshot import WorldSnapshot


class NobodyVerifies:
    """Leaves every claimed success UNKNOWN: a controller's word alone is no evidence."""

    def judge(
        self,
        *,
        goal: dict[str, Any],
        before: WorldSnapshot,
        terminal: Terminal,
        now: WorldSnapshot,
    ) -> Judgement:
        """Say that nobody looked."""
        why = 'the controller said success, and no verifier looks at what came of it'
        return Judgement(Verdict.INCONCLUSIVE, True, {'why': why})
