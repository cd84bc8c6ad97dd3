# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Skills that put the robot on its charging dock and take it off, by Nav2's docking server."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from robot_agent_harness.actions.preconditions import PreconditionPolicy
from robot_agent_harness.actions.ros_action import RosAction
from robot_agent_harness.skills.outputs import ManagedOutput
from robot_agent_harness.skills.skill import GoalContext, ManagedAction, skill

VERIFY_S = 15.0
"""Batteries are published slowly, and a charger takes a moment."""

DOCK = RosAction(
    'dock_robot',
    'nav2_msgs/action/DockRobot',
    {
        'use_dock_id': True,
        'dock_id': '{dock_id}',
        'dock_type': '{dock_type}',
        'navigate_to_staging_pose': True,
    },
)
UNDOCK = RosAction('undock_robot', 'nav2_msgs/action/UndockRobot', {'dock_type': '{dock_type}'})

_Type = Annotated[
    str,
    Field(
        max_length=128,
        description="The kind of dock as the docking server knows it; empty: the server's only one"
        ' or the one in use.',
    ),
]


@skill(
    output=ManagedOutput,
    title='Dock to charge',
    managed=ManagedAction(
        action=DOCK,
        verifier='charging',
        # A low battery is the reason to dock.
        preconditions=PreconditionPolicy(min_battery_fraction=None),
        verify_s=VERIFY_S,
    ),
)
def dock(
    context: GoalContext,
    dock_id: Annotated[
        str,
        Field(min_length=1, max_length=128, description="A name from the docking server's list."),
    ],
    dock_type: _Type = '',
) -> dict[str, Any]:
    """Drive the robot to a charging dock and onto it. Works like navigate_to_pose: accepted is not
    docked, use wait_for_action to learn whether it charges; precondition_changed means that
    nothing was sent.
    """
    return {'dock_id': dock_id, 'dock_type': dock_type}


@skill(
    output=ManagedOutput,
    title='Leave the dock',
    managed=ManagedAction(action=UNDOCK, verifier='undocked', verify_s=VERIFY_S),
)
def undock(context: GoalContext, dock_type: _Type = '') -> dict[str, Any]:
    """Take the robot off its charging dock. Works like navigate_to_pose: accepted is not undocked,
    use wait_for_action to learn whether it came off; precondition_changed means that nothing was
    sent.
    """
    return {'dock_type': dock_type}
