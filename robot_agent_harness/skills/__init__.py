# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the robot can do: skills, their metadata, and the one door through which they are
called.
"""
