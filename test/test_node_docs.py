# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Configuration and pages of the node agree with the code."""

from __future__ import annotations

import math
from pathlib import Path
import re
from typing import Any

import pytest
import yaml

from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.parameters import check_parameters, Parameter, PARAMETERS
from robot_agent_harness.resources import config_path

ROOT = Path(__file__).resolve().parents[1]
PARAMETERS_PAGE = (ROOT / 'docs/parameters.md').read_text()
ROS_PAGE = (ROOT / 'docs/ros_interface.md').read_text()


def flat(tree: dict[str, Any], prefix: str = '') -> dict[str, Any]:
    leaves: dict[str, Any] = {}
    for name, value in tree.items():
        if isinstance(value, dict):
            leaves.update(flat(value, f'{prefix}{name}.'))
        else:
            leaves[prefix + name] = value
    return leaves


def rows(page: str) -> dict[str, list[str]]:
    """Return the tables' rows by the first cell, which is a name in backquotes."""
    return {
        cells[0].strip('`'): cells[1:]
        for line in page.splitlines()
        if line.startswith('| `')
        for cells in [[cell.strip() for cell in line.strip('|').split('|')]]
    }


def test_the_defaults_file_holds_every_parameter_with_its_default():
    document = yaml.safe_load(config_path('harness.yaml').read_text())
    given = flat(document['/**']['ros__parameters'])
    assert given == {parameter.name: parameter.default for parameter in PARAMETERS}
    assert check_parameters(given) == given


def test_the_shipped_files_of_parameters_can_be_loaded_while_the_node_runs():
    # Which `ros2 param load` does by the node's full name, or by this key.
    for name in ('harness.yaml', 'sim_robot.yaml'):
        assert list(yaml.safe_load(config_path(name).read_text())) == ['/**']


@pytest.mark.parametrize('parameter', PARAMETERS, ids=lambda parameter: parameter.name)
def test_no_number_is_without_end(parameter: Parameter):
    if isinstance(parameter.default, float):
        with pytest.raises(ConfigurationError, match=parameter.name):
            parameter.check(math.inf)


def test_the_page_has_one_row_for_each_parameter_in_order():
    assert list(rows(PARAMETERS_PAGE)) == [parameter.name for parameter in PARAMETERS]


@pytest.mark.parametrize('parameter', PARAMETERS, ids=lambda parameter: parameter.name)
def test_a_row_says_what_the_table_says(parameter: Parameter):
    allowed, default, meaning, change = rows(PARAMETERS_PAGE)[parameter.name]
    assert meaning == parameter.description
    told = f'counts for {parameter.live}' if parameter.live else f'refused: {parameter.fixed}'
    assert change == told
    assert default == shown(parameter.default)
    if parameter.choices:
        assert allowed == ', '.join(shown(choice) for choice in parameter.choices)
    elif isinstance(parameter.default, bool):
        assert allowed == '`true`, `false`'
    elif parameter.minimum is not None:
        numbers = re.findall(r'\bpi\b|[0-9.]+', allowed)
        limits = [math.pi if number == 'pi' else float(number) for number in numbers]
        assert limits == [x for x in (parameter.minimum, parameter.maximum) if x is not None]
    else:
        assert allowed == 'text'


def shown(value: Any) -> str:
    if value == '':
        return 'empty'
    return f'`{str(value).lower() if isinstance(value, bool) else value}`'


def test_the_page_names_every_topic_action_and_status_of_the_node():
    pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')
    sources = ''.join(path.read_text() for path in (ROOT / 'robot_agent_harness/ros').glob('*.py'))
    own = set(re.findall(r"'(~/\w+)'", sources))
    assert own == {
        '~/action_state',
        '~/human_message',
        '~/mission_event',
        '~/run_mission',
        '~/world_snapshot',
    }
    followed = {'odom', 'amcl_pose', 'battery_state', 'emergency_stop', 'navigate_to_pose'}
    assert own | followed | {'/diagnostics'} <= set(rows(ROS_PAGE.replace('`, `', '` | `')))
    diagnosed = re.findall(
        r"^            '([a-z ]+)': self\._\w+\((?:snapshot)?\),$",
        (ROOT / 'robot_agent_harness/ros/health.py').read_text(),
        re.MULTILINE,
    )
    assert len(diagnosed) == 9
    assert {'lifecycle', *diagnosed} <= set(rows(ROS_PAGE))
