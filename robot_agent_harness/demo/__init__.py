# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""One command that shows what the harness is for, on the simulated robot, and checks every claim.

Two child processes, the simulated robot and the harness node, talk over DDS as on a robot. The
demo sends the mission, plays the accidents, prints what the journal says as it is written, and
watches the wire with subscriptions of its own, which the harness knows nothing of.
"""

from robot_agent_harness.demo.run import DemoSettings, run_demo

__all__ = ['DemoSettings', 'run_demo']
