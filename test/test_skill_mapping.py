# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The skills file makes tools of actions and services; what is wrong in it is named."""

from __future__ import annotations

from pathlib import Path
import sys

import pytest

from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.skills.registry import load_registry, SkillRegistry
from robot_agent_harness.skills.skill import SkillError

PACKAGE = Path(__file__).parent / 'skill_package'

ACTION = """\
skills:
  turn_about:
    description: Turn about.
    arguments:
      angle: {type: number, description: How far, unit: radians, minimum: 0.0, maximum: 3.2}
    action:
      name: spin
      type: nav2_msgs/action/Spin
      goal: {target_yaw: '{angle}'}
      expect: {angle_rad: '{angle}'}
    managed:
      verifier: turn
"""
SERVICE = """\
skills:
  ring:
    description: Ring.
    arguments:
      loud: {type: boolean, description: Whether}
    service:
      name: bell
      type: std_srvs/srv/SetBool
      request: {data: '{loud}'}
      response: {note: message}
"""


def _registry(tmp_path: Path, text: str) -> SkillRegistry:
    file = tmp_path / 'skills.yaml'
    file.write_text(text, encoding='utf-8')
    return load_registry(file)


def _refusal(tmp_path: Path, text: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        _registry(tmp_path, text)
    return str(caught.value)


def test_a_mapped_action_has_the_schema_that_its_arguments_say(tmp_path: Path) -> None:
    made = _registry(tmp_path, ACTION).get('turn_about')
    assert made is not None
    assert made.input_schema['properties']['angle'] == {
        'type': 'number',
        'description': 'How far. In radians.',
        'minimum': 0.0,
        'maximum': 3.2,
    }
    assert made.input_schema['additionalProperties'] is False
    assert made.needs == 'spin'
    assert made.managed is not None
    assert made.managed.action.fields({'angle': 1.5, 'angle_rad': 1.5}) == {'target_yaw': 1.5}
    with pytest.raises(SkillError, match='angle'):
        made.parse({'angle': 4.0})


@pytest.mark.parametrize(
    ('old', 'new', 'told'),
    [
        ('goal: {', 'gaol: {', 'line 9: skills.turn_about.action.gaol: unknown key'),
        ('unit: radians', 'units: radians', 'line 5: skills.turn_about.arguments.angle.units'),
        ('verifier: turn', 'verifyer: turn', 'line 12: skills.turn_about.managed.verifyer'),
        ('type: number', 'type: angle', 'line 5: skills.turn_about.arguments.angle.type'),
        ('verifier: turn', 'verifier: seen', "no verifier 'seen'; there are: charging,"),
        ('verifier: turn', 'timeouts: {}', 'skills.turn_about.managed.verifier: missing'),
        ('    description: Turn about.\n', '', 'skills.turn_about.description: missing'),
        ("target_yaw: '{angle}'", "target_yaw: '{angel}'", '{angel} is neither'),
        ("angle_rad: '{angle}'", "angle: '{angle}'", 'the verifier turn needs angle_rad'),
        ('nav2_msgs/action/Spin', 'nav2_msgs/Spin', 'not of the form package/action/Name'),
        ('maximum: 3.2', 'maximum: 3.2, default: 9.0', '9.0 is not allowed itself'),
        ('maximum: 3.2', 'maximum: 3.2, default: much', "default: 'much' is not of type number"),
        ('maximum: 3.2', 'maximum: 3.2, default: true', 'default: True is not of type number'),
        ('maximum: 3.2', 'maximum: -1', 'angle.minimum: 0 is more than the maximum, -1'),
        ('maximum: 3.2', 'max_length: 3', 'angle.max_length: type number is not limited by it'),
        ('maximum: 3.2', 'choices: [1.0]', 'angle.minimum: the choices are not limited by it'),
        ('minimum: 0.0, maximum: 3.2', 'choices: [left]', "choices: 'left' is not of type number"),
        ('type: number', 'type: integer', 'arguments.angle: 3.2 limits no integer'),
        ('angle: {type', 'copy: {type', 'arguments.copy: an argument cannot have this name'),
        ('angle: {type', 'purpose: {type', 'argument purpose: what a model says of its decision'),
        ("angle_rad: '{angle}'", 'angle_rad: far', 'expect.angle_rad: a number is read, not'),
        ('verifier: turn', 'verifier: waypoints', 'needs poses'),
        ('turn_about:', 'finish_mission:', 'finish_mission: the name of a tool of missions'),
        ('    managed:', '    action: {}\n    managed:', "the key 'action' is given twice"),
        ('skills:', 'skills:\n  spin: 2024-13-45', 'month must be in 1..12'),
        ('turn_about:', 'spin:', 'there is such a skill'),
        ('    action:', '    action_: {}\n    action:', 'skills.turn_about.action_: unknown key'),
    ],
)
def test_a_mistake_in_a_mapped_action_is_named_with_its_key(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    assert old in ACTION
    text = ACTION.replace(old, new)
    if old == 'angle: {type':
        text = text.replace('{angle}', f'{{{new.partition(":")[0]}}}')
    refusal = _refusal(tmp_path, text)
    assert str(tmp_path / 'skills.yaml') in refusal
    assert told in refusal


@pytest.mark.parametrize(
    ('old', 'new', 'told'),
    [
        ('response: {note', 'response: {status', 'status has a meaning of its own'),
        ('std_srvs/srv/SetBool', 'std_srvs/msg/Bool', 'not of the form package/srv/Name'),
        ("data: '{loud}'", "data: '{off}'", '{off} is neither an argument nor expected'),
        ('name: bell', 'name: the bell', 'line 7: skills.ring.service.name'),
        ('    service:', '    managed: {}\n    service:', 'a service is no managed action'),
    ],
)
def test_a_mistake_in_a_mapped_service_is_named_with_its_key(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    assert old in SERVICE
    assert told in _refusal(tmp_path, SERVICE.replace(old, new))


def test_an_entry_that_makes_nothing_and_names_no_skill_is_refused(tmp_path: Path) -> None:
    assert 'there is no skill fly' in _refusal(tmp_path, 'skills:\n  fly: {}\n')
    text = 'skills:\n  fly:\n    description: Fly.\n'
    assert 'there is no skill fly' in _refusal(tmp_path, text)


@pytest.mark.parametrize(
    ('poses', 'told'),
    [
        ('here', "poses: a list of poses is read, not 'here'"),
        ('[]', 'poses: a list of poses is read, not []'),
        ('[{x: 1.0, y: 0.0, yaw: 0.0}]', 'poses: frame_id: a text is read, not None'),
        ('[{x: 1.0, y: up, yaw: 0.0, frame_id: map}]', "poses: y: a number is read, not 'up'"),
    ],
)
def test_what_a_verifier_would_not_be_able_to_read_is_named(
    tmp_path: Path, poses: str, told: str
) -> None:
    text = ACTION.replace("{angle_rad: '{angle}'}", f'{{poses: {poses}}}')
    refusal = _refusal(tmp_path, text.replace('verifier: turn', 'verifier: waypoints'))
    assert f'skills.turn_about.action.expect.{told} (verifier waypoints)' in refusal


def test_one_name_cannot_have_two_types(tmp_path: Path) -> None:
    text = ACTION.replace('nav2_msgs/action/Spin', 'my_msgs/action/Spin')
    assert 'spin: used as nav2_msgs/action/Spin and as my_msgs' in _refusal(tmp_path, text)
    other = SERVICE.replace('skills:\n', '').replace('ring:', 'hush:').replace('SetBool', 'Mute')
    refusal = _refusal(tmp_path, SERVICE + other)
    assert 'bell: used as std_srvs/srv/SetBool and as std_srvs/srv/Mute' in refusal


def test_an_argument_may_be_called_as_the_harness_calls_its_own(tmp_path: Path) -> None:
    text = ACTION.replace('angle: {type', 'context: {type').replace('{angle}', '{context}')
    made = _registry(tmp_path, text).get('turn_about')
    assert made is not None
    assert made.function(None, context=1.5) == {'context': 1.5, 'angle_rad': 1.5}


@pytest.mark.parametrize(
    ('type_', 'choices', 'wrong'),
    [('integer', '[1, 2]', True), ('number', '[1, 2.5]', True), ('string', '[a, b]', 'c')],
)
def test_choices_are_held_to_with_their_type(
    tmp_path: Path, type_: str, choices: str, wrong: object
) -> None:
    text = SERVICE.replace('{type: boolean,', f'{{type: {type_}, choices: {choices},')
    made = _registry(tmp_path, text).get('ring')
    assert made is not None
    first = {'integer': 1, 'number': 1.0, 'string': 'a'}[type_]
    assert made.parse({'loud': first}) == {'loud': first}
    with pytest.raises(SkillError, match='loud'):
        made.parse({'loud': wrong})


def test_a_mapped_action_that_is_switched_off_is_no_tool(tmp_path: Path) -> None:
    text = ACTION.replace('    description:', '    enabled: false\n    description:')
    assert _registry(tmp_path, text).get('turn_about') is None


def test_a_skill_of_another_package_is_found_by_its_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _install(tmp_path, monkeypatch, 'count_people = my_robot_skills.counting:count_people')
    found = load_registry(None).get('count_people')
    assert found is not None
    assert found.title == 'Count people'


def test_an_entry_point_that_cannot_be_loaded_is_named_and_can_be_switched_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _install(tmp_path, monkeypatch, 'broken = my_robot_skills.nowhere:broken')
    with pytest.raises(ConfigurationError, match=r'broken .*nowhere.* enabled: false for broken'):
        load_registry(None)
    assert _registry(tmp_path, 'skills:\n  broken: {enabled: false}\n').get('spin') is not None


def test_switching_off_what_is_not_there_is_told_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    _install(tmp_path, monkeypatch, 'broken = my_robot_skills.nowhere:broken')
    off = 'skills:\n  spin: {enabled: false}\n  broken: {enabled: false}\n'
    assert _registry(tmp_path, off).get('spin') is None
    assert not caplog.messages
    assert _registry(tmp_path, off.replace('spin', 'spinn')).get('spin') is not None
    assert 'spinn: nothing of that name is to switch off' in caplog.text


def test_an_entry_point_that_leads_to_no_skill_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _install(tmp_path, monkeypatch, 'people = my_robot_skills.counting:PEOPLE')
    with pytest.raises(ConfigurationError, match='people: dict is no skill'):
        load_registry(None)


def _install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str) -> None:
    metadata = tmp_path / 'my_robot_skills-0.1.0.dist-info'
    metadata.mkdir()
    (metadata / 'METADATA').write_text('Name: my-robot-skills\nVersion: 0.1.0\n')
    (metadata / 'entry_points.txt').write_text(f'[robot_agent_harness.skills]\n{entry}\n')
    monkeypatch.setattr(sys, 'path', [str(tmp_path), str(PACKAGE), *sys.path])
