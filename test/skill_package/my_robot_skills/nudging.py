# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A skill that moves the robot, with a verifier of its own."""

from typing import Annotated, Any

from pydantic import Field

from robot_agent_harness.actions.preconditions import PreconditionPolicy
from robot_agent_harness.actions.ros_action import RosAction
from robot_agent_harness.actions.verification import Judgement, Terminal, Verdict
from robot_agent_harness.skills.outputs import ManagedOutput
from robot_agent_harness.skills.skill import GoalContext, ManagedAction, skill
from robot_agent_harness.world.snapshot import WorldSnapshot

DRIVE = RosAction(
    'drive_on_heading',
    'nav2_msgs/action/DriveOnHeading',
    {'target': {'x': '{forward_m}'}, 'speed': 0.1, 'time_allowance': 20.0},
)


class Nudged:
    """Confirms that odometry saw the robot get ahead at all."""

    def judge(
        self,
        *,
        goal: dict[str, Any],
        before: WorldSnapshot,
        terminal: Terminal,
        now: WorldSnapshot,
    ) -> Judgement:
        """Compare where odometry had the robot before and after."""
        then, since = before.odometry.usable, now.odometry.usable
        age_s = now.odometry.age_s
        if then is None or since is None or age_s is None:
            return Judgement(Verdict.INCONCLUSIVE, False, {'why': 'no odometry'})
        if now.captured_monotonic_ns - age_s * 1e9 < terminal.monotonic_ns:
            return Judgement(Verdict.INCONCLUSIVE, False, {'why': 'no odometry since the end'})
        moved_m = ((since.x - then.x) ** 2 + (since.y - then.y) ** 2) ** 0.5
        evidence = {'moved_m': round(moved_m, 3), 'why': f'moved {moved_m:.2f} m'}
        if moved_m >= 0.5 * goal['forward_m']:
            return Judgement(Verdict.CONFIRMED, True, evidence)
        return Judgement(Verdict.DISPROVED, False, evidence)


NUDGED = Nudged()


@skill(
    output=ManagedOutput,
    title='Nudge forward',
    managed=ManagedAction(
        action=DRIVE,
        verifier='nudged',
        preconditions=PreconditionPolicy(max_drift_m=0.2),
    ),
)
def nudge(
    context: GoalContext,
    distance: Annotated[float, Field(ge=0.05, le=0.3, description='Metres.')] = 0.1,
) -> dict[str, Any]:
    """Push gently forward, against a door for instance. accepted is not done: use wait_for_action
    to learn whether the robot got ahead.
    """
    return {'forward_m': float(distance)}
