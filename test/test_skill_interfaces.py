# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What a skills file says of ROS types is held against them at the start."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')

from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.ros.skill_interfaces import check_interfaces
from robot_agent_harness.skills.registry import load_registry

SPIN = (
    'action: {{name: spin, type: nav2_msgs/action/Spin, goal: {0}}}, managed: {{verifier: none}}'
)
TOUR = (
    'action: {{name: tour, type: nav2_msgs/action/NavigateThroughPoses, goal: {0}}},'
    ' managed: {{verifier: none}}'
)
SET = (
    'service: {{name: set, type: rcl_interfaces/srv/SetParametersAtomically,'
    ' request: {{parameters: [{0}]}}, response: {{why: result.reason}}}}'
)
OCTETS = (
    'service: {{name: set, type: rcl_interfaces/srv/SetParametersAtomically,'
    ' request: {{parameters: [{{value: {{byte_array_value: {0}}}}}]}}}}'
)
DONE = 'service: {{name: s, type: rcl_interfaces/srv/SetParametersAtomically, success: {0}}}'
GET = 'service: {{name: get, type: rcl_interfaces/srv/GetParameters, response: {{{0}}}}}'
STATE = 'service: {{name: get, type: lifecycle_msgs/srv/GetState, success: {0}}}'


def _check(tmp_path: Path, entry: str, value: str) -> None:
    file = tmp_path / 'skills.yaml'
    arguments = 'a: {type: number, description: A number}, t: {type: string, description: A text}'
    entry = entry.format(value)
    file.write_text(f'skills: {{mine: {{description: d, arguments: {{{arguments}}}, {entry}}}}}')
    check_interfaces(load_registry(file, skills=()).all)


@pytest.mark.parametrize(
    ('entry', 'value'),
    [
        (SPIN, "{target_yaw: '{a}', time_allowance: 30.0}"),
        (SPIN, "{target_yaw: 1, time_allowance: '{a}'}"),
        (SPIN, '{time_allowance: {sec: 3}}'),
        (SPIN, '{}'),
        (TOUR, "{poses: [{x: '{a}', y: 0.0, frame_id: '{t}'}, {x: 1.0, y: 2.0}]}"),
        (TOUR, "{behavior_tree: 'file {t}'}"),
        (SET, "{name: 'fault.{t}', value: {type: 3, double_value: '{a}'}}"),
        (GET, 'all: values'),
        (DONE, 'result.successful'),
        (OCTETS, '[0, 255]'),
    ],
)
def test_what_fits_its_types_is_taken(entry: str, value: str, tmp_path: Path) -> None:
    _check(tmp_path, entry, value)


@pytest.mark.parametrize(
    ('entry', 'value', 'told'),
    [
        (SPIN, '{targte_yaw: 1.0}', "Spin_Goal has no field 'targte_yaw'; it has target_yaw"),
        (SPIN, "{targte_yaw: '{a}'}", "Spin_Goal has no field 'targte_yaw'"),
        (SPIN, '{target_yaw: fast}', 'fast'),
        (SPIN, "{target_yaw: '{a} rad'}", "target_yaw (float) does not take '0.0 rad'"),
        (SPIN, "{target_yaw: '{t}'}", 'target_yaw (float) does not take'),
        (SPIN, "{target_yaw: '{ a }'}", 'target_yaw (float) does not take'),
        (SPIN, '{target_yaw: 1.0e+300}', 'target_yaw (float) does not take'),
        (SPIN, '{time_allowance: soon}', 'time_allowance (builtin_interfaces/Duration) does not'),
        (SPIN, '{time_allowance: .nan}', 'time_allowance (builtin_interfaces/Duration) does not'),
        (SPIN, '{time_allowance: 1.0e+12}', 'time_allowance (builtin_interfaces/Duration) does'),
        (TOUR, '{poses: [{x: far, y: 0.0}]}', 'poses'),
        (TOUR, '{poses: [{x: 1.0, y: .inf}]}', 'poses'),
        (TOUR, '{behavior_tree: on}', 'behavior_tree (string) does not take True'),
        (TOUR, '{behavior_tree: null}', 'behavior_tree (string) does not take None'),
        (SET, "'{t}'", 'parameters'),
        (SET, "{value: {bool_value: '{a}'}}", 'bool_value (boolean) does not take'),
        (OCTETS, '[256]', 'byte_array_value'),
        (SPIN, '{time_allowance: {secs: 3}}', "Duration has no field 'secs'"),
        (TOUR, '{behavior_tree: {x: 1}}', 'behavior_tree'),
        (SET, "{nmae: '{t}'}", "Parameter has no field 'nmae'"),
        (SET, '{value: {type: 300}}', 'type (uint8) does not take 300'),
        (SET, "{value: {string_array_value: '{t}s'}}", 'string_array_value'),
        (GET, 'all: valeus', "'valeus' leads nowhere at 'valeus'; there is values"),
        (GET, 'one: values.0', "leads nowhere at '0'; there is nothing below it"),
        (STATE, 'current_state.active', "at 'active'; there is id, label"),
        (STATE, 'current_state.id', "success: 'current_state.id' is no boolean"),
        (
            'service: {{name: s, type: no_msgs/srv/{0}}}',
            'Foo',
            "No module named 'no_msgs'",
        ),
        (
            'action: {{name: s, type: nav2_msgs/action/{0}}}, managed: {{verifier: none}}',
            'Zap',
            'package nav2_msgs has no action Zap',
        ),
    ],
)
def test_what_does_not_fit_is_refused_by_the_skill_and_the_field(
    entry: str, value: str, told: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationError, match=r'^skills\.mine: ') as refused:
        _check(tmp_path, entry, value)
    assert told in str(refused.value)


def test_shipped_skills_are_left_out_where_their_types_are_not_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interface(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr('robot_agent_harness.ros.skill_interfaces.interface', interface)
    check_interfaces(load_registry(None).all)
