# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The actions of a robot, each as the tracker wants to see it.

It speaks the action protocol on its own three service clients and two subscriptions, not through
rclpy's ActionClient, which registers a goal's feedback only after the request has left, loses the
rest when the goal response is lost, and shows no goals of others (DESIGN section 6). A goal is
known by the id that the harness chose, whatever was heard of it before.

Methods are called on the asyncio loop; rclpy allows to write a request from any thread. What is
heard arrives on the rclpy thread and is posted to the loop in the order in which the executor took
it.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping
import contextlib
from dataclasses import dataclass
from functools import partial
import logging
from typing import Any

from action_msgs.msg import GoalInfo, GoalStatusArray
from rclpy.clock import Clock as RclClock
from rclpy.clock_type import ClockType
from rclpy.node import Node
from rclpy.qos import qos_profile_action_status_default, QoSProfile
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription
from rclpy.task import Future
from unique_identifier_msgs.msg import UUID

from robot_agent_harness.actions.controller import (
    CancelResponse,
    ControllerEvent,
    ENDED_STATUSES,
    GoalFeedback,
    GoalResponse,
    GoalResult,
    SendFailed,
    ServerPresence,
    StatusReport,
)
from robot_agent_harness.actions.ros_action import RosAction
from robot_agent_harness.clock import Clock
from robot_agent_harness.errors import ConfigurationError
