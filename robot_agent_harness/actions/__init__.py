# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the robot is doing: the lifecycle of actions, their tracking, their checks before and
after.
"""
