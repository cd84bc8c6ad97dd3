# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What a model family takes and refuses."""

from __future__ import annotations

CUT_STOP_REASONS = frozenset({'max_tokens', 'model_context_window_exceeded'})
"""After these the answer ends in the middle: a tool call in it may lack arguments."""
