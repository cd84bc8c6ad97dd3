# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the robot is doing and has done, for people who look: live, and back to the first record.

It reads and never acts. While nobody looks it does nothing at all, and whoever looks too slowly is
let go: neither journal nor loop ever waits for a viewer.
"""

from robot_agent_harness.dashboard.pages import Dashboard

__all__ = ['Dashboard']
