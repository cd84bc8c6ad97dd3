# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Skills of somebody else's, as docs/writing_a_skill.md shows them."""
