# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The simulated robot, but it forgets an ended goal after a second, not after Nav2's ten.

A status message lists every goal that is not forgotten. A benchmark sends several a second, and
would otherwise measure how long rclpy takes to convert dozens of them, on either side.
"""

from __future__ import annotations

import sys

from robot_agent_harness.ros import sim_robot_node

FORGOTTEN_AFTER_S = 1

if __name__ == '__main__':
    sim_robot_node._RESULT_TIMEOUT_S = FORGOTTEN_AFTER_S
    sys.exit(sim_robot_node.main(sys.argv[1:]))
