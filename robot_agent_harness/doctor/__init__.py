# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""`robot-agent-harness doctor`: what stands in the way of a mission, found without a harness."""
