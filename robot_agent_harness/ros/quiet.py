# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Event callbacks for endpoints that have nothing to say about themselves.

rclpy's executor walks through every entity of a node for each message that arrives, and by default
each publisher and subscription brings two more, which only log a mismatch of QoS or type. At 50 Hz
of odometry they were half of what an idle harness cost. `qos_watch.py` takes the events that
matter once a second, without having the executor wait for them.
"""

from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks

QUIET_SUBSCRIPTION = SubscriptionEventCallbacks(use_default_callbacks=False)
QUIET_PUBLISHER = PublisherEventCallbacks(use_default_callbacks=False)
