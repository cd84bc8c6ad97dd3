# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""`robot-agent-harness doctor`: everything that a harness would need, looked at in a few seconds.

No harness is started, nothing is written, sent to the robot or asked of a model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
import os
import sys

from robot_agent_harness.actions.preconditions import PreconditionPolicy
from robot_agent_harness.actions.ros_action import NAVIGATE_TO_POSE
from robot_agent_harness.assembly import configured_file, skills_of
from robot_agent_harness.doctor.finding import Finding, Level, ok, problem, warning
from robot_agent_harness.doctor.journal import check_journal, is_written
from robot_agent_harness.doctor.mcp import check_mcp
from robot_agent_harness.doctor.model import check_model
from robot_agent_harness.doctor.output import count, show, show_json
from robot_agent_harness.doctor.robot import check_robot, Needs, SHOWN_MAX
from robot_agent_harness.errors import ConfigurationError, UnreadableFileError
from robot_agent_harness.parameters import Value
from robot_agent_harness.skills.places import read_places
from robot_agent_harness.skills.registry import SkillRegistry
from robot_agent_harness.skills.skill import Skill

MISUSE = 2
ANSWER_S = 2.0
"""How long an endpoint may take to answer."""


def run_doctor(
    program: str, ros_arguments: Sequence[str], *, seconds: float, as_json: bool
) -> int:
    """Look at everything and say what stands in the way.

    :param seconds: how long to listen to the robot.
    :return: 0 without problems, 1 with some, 2 if the arguments cannot be used.
    :raises ModuleNotFoundError: there is no ROS.
    """
    from robot_agent_harness.ros.doctor_look import RobotLook
    from robot_agent_harness.ros.skill_interfaces import check_interfaces

    try:
        with RobotLook(ros_arguments) as look, ThreadPoolExecutor() as pool:
            values = look.values
            checks: tuple[Callable[[], list[Finding]], ...] = (
                lambda: check_model(values, os.environ, ANSWER_S),
                lambda: check_mcp(values, os.environ, ANSWER_S),
            )
            elsewhere = [pool.submit(check) for check in checks]
            registry, files = _files(values, check_interfaces)
            actions = registry.actions.values() if registry else (NAVIGATE_TO_POSE,)
            journal = str(values['journal.path'])
            facts = look.listen(seconds, actions, harness_works=is_written(journal))
            findings = [
                *check_robot(facts, values, _needs(registry)),
                *files,
                *check_journal(
                    journal,
                    running=facts.harness is not None,
                    synced=values['journal.synchronous'] == 'full',
                ),
                *(finding for done in elsewhere for finding in done.result()),
            ]
    except ConfigurationError as error:
        print(f'{program} doctor: {" ".join(str(error).split())}', file=sys.stderr)
        return MISUSE
    (show_json if as_json else show)(findings)
    return 1 if count(findings, Level.PROBLEM) else 0


def _files(
    values: Mapping[str, Value], check: Callable[[tuple[Skill, ...]], None]
) -> tuple[SkillRegistry | None, list[Finding]]:
    """Read the skills and places files; without the one there is no registry."""
    found: list[Finding] = []
    registry = None
    try:
        registry = skills_of(values)
        check(registry.all)
        found.append(ok('skills_file', f'{len(registry.all)} skills'))
    except ConfigurationError as error:
        found.append(_wrong('skills_file', error))
    try:
        places = read_places(configured_file(values, 'places_file', 'places.yaml'))
        frame = str(values['global_frame']).lstrip('/')
        elsewhere = sorted(name for name, place in places.items() if place.frame_id != frame)
        if elsewhere:
            told = f'{", ".join(elsewhere[:SHOWN_MAX])}: not in {frame} (global_frame)'
            advice = f'give each place frame_id: {frame}, or no call can go there'
            found.append(warning('places_file', f'{len(places)} places; {told}', advice))
        else:
            found.append(ok('places_file', f'{len(places)} places'))
    except ConfigurationError as error:
        found.append(_wrong('places_file', error))
    return registry, found


def _wrong(parameter: str, error: ConfigurationError) -> Finding:
    """Return that a file cannot be used; what is to be corrected is its name, or what it says."""
    advice = 'correct the file'
    if isinstance(error, UnreadableFileError):
        advice = f'let {parameter} name a file that this user can read'
    return problem(parameter, str(error), advice)


def _needs(registry: SkillRegistry | None) -> Needs:
    """Return what the skills that a mission cannot do without ask of the robot; the usual where
    they cannot be read.
    """
    policies = [
        skill.managed.preconditions
        for skill in (registry.all if registry else ())
        if skill.managed is not None and skill.managed.action.expected
    ]
    return Needs.of(policies or [PreconditionPolicy()])
