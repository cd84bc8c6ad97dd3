# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The only room that imports rclpy and message packages: nodes, conversions, sim-robot."""
