# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Skills that move the robot by so much: a turn on the spot, a straight stretch.

Nav2's behaviour server carries them out, from where the robot stands, without a map. It checks for
collisions on its local costmap; whatever else is in the way is the robot's own safety's business.
"""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic import Field

from robot_agent_harness.actions.preconditions import PreconditionPolicy
from robot_agent_harness.actions.ros_action import RosAction
from robot_agent_harness.skills.outputs import ManagedOutput
from robot_agent_harness.skills.skill import GoalContext, ManagedAction, skill

TURN_MAX_RAD = 4 * math.pi
"""Two full turns; more is no turn any more."""
STRETCH_MIN_M, STRETCH_MAX_M = 0.05, 2.0
"""Shorter is less than can be verified; longer is navigation's business."""
SPEED_MIN_M_S, SPEED_MAX_M_S = 0.05, 0.3
ALLOWANCE_MIN_S = 10.0
"""Least time that the behaviour server is given."""
TURN_RATE_RAD_S = 0.3
"""Slowest turn to expect; Nav2's default is between 0.4 and 1.0 rad/s."""

AS_IT_FACED = PreconditionPolicy(max_turn_rad=0.35)
"""Whoever decides to drive on or to turn has seen the robot face somewhere: had it been turned
since, it would go where nobody meant it to. As much as a straight move may turn it."""

SPIN = RosAction(
    'spin',
    'nav2_msgs/action/Spin',
    {'target_yaw': '{angle_rad}', 'time_allowance': '{time_allowance_s}'},
    alone=True,
)
_STRAIGHT = {
    'target': {'x': '{forward_m}'},
    'speed': '{speed_m_s}',
    'time_allowance': '{time_allowance_s}',
}
BACK_UP = RosAction('backup', 'nav2_msgs/action/BackUp', _STRAIGHT, alone=True)
DRIVE_ON_HEADING = RosAction(
    'drive_on_heading', 'nav2_msgs/action/DriveOnHeading', _STRAIGHT, alone=True
)

_Distance = Annotated[
    float, Field(ge=STRETCH_MIN_M, le=STRETCH_MAX_M, description='Metres, not negative.')
]
_Speed = Annotated[
    float, Field(ge=SPEED_MIN_M_S, le=SPEED_MAX_M_S, description='Metres a second.')
]


@skill(
    output=ManagedOutput,
    title='Turn on the spot',
    managed=ManagedAction(action=SPIN, verifier='turn', preconditions=AS_IT_FACED),
)
def spin(
    context: GoalContext,
    angle: Annotated[
        float,
        Field(
            ge=-TURN_MAX_RAD,
            le=TURN_MAX_RAD,
            description='Radians, counter-clockwise; negative: clockwise. More than 2 pi goes'
            ' round more than once.',
        ),
    ],
) -> dict[str, Any]:
    """Turn the robot on the spot by an angle from where it faces now. Works like navigate_to_pose:
    accepted is not done, use wait_for_action to learn whether it turned; precondition_changed
    means that nothing was sent.
    """
    allowance_s = max(ALLOWANCE_MIN_S, abs(angle) / TURN_RATE_RAD_S)
    return {'angle_rad': float(angle), 'time_allowance_s': round(allowance_s, 1)}


@skill(
    output=ManagedOutput,
    title='Back up',
    managed=ManagedAction(action=BACK_UP, verifier='displacement', preconditions=AS_IT_FACED),
)
def back_up(context: GoalContext, distance: _Distance, speed: _Speed = 0.1) -> dict[str, Any]:
    """Drive the robot straight backwards by a distance, without planning: to get clear of
    something. Works like navigate_to_pose: accepted is not done, use wait_for_action to learn
    whether it moved; precondition_changed means that nothing was sent.
    """
    return _straight(-distance, -speed)


@skill(
    output=ManagedOutput,
    title='Drive straight on',
    managed=ManagedAction(
        action=DRIVE_ON_HEADING, verifier='displacement', preconditions=AS_IT_FACED
    ),
)
def drive_on_heading(
    context: GoalContext, distance: _Distance, speed: _Speed = 0.1
) -> dict[str, Any]:
    """Drive the robot straight ahead by a distance, the way it faces now, without planning. Works
    like navigate_to_pose: accepted is not done, use wait_for_action to learn whether it moved;
    precondition_changed means that nothing was sent.
    """
    return _straight(distance, speed)


def _straight(forward_m: float, speed_m_s: float) -> dict[str, Any]:
    # Nav2's default deceleration makes the last centimetres slow.
    allowance_s = max(ALLOWANCE_MIN_S, 3.0 * abs(forward_m / speed_m_s))
    return {
        'forward_m': float(forward_m),
        'speed_m_s': float(speed_m_s),
        'time_allowance_s': round(allowance_s, 1),
    }
