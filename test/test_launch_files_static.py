# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Launch files name only what there is, and start what they say; shown without `launch`."""

from __future__ import annotations

import os
from pathlib import Path
import re
from typing import Any

from launch_stand_in import Launcher, Started
import pytest
import yaml

from robot_agent_harness.parameters import PARAMETERS
from robot_agent_harness.skills.places import read_places

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted((ROOT / 'launch').glob('*.launch.py'))
NAMES = [path.name for path in FILES]
PAGE = (ROOT / 'docs/ros_interface.md').read_text(encoding='utf-8')
CMAKE = (ROOT / 'CMakeLists.txt').read_text(encoding='utf-8')
OURS = 'robot_agent_harness'

NAV2 = {
    'jazzy': ('tb3_loopback_simulation.launch.py', 'tb3_simulation_launch.py'),
    'kilted': ('tb3_loopback_simulation_launch.py', 'tb3_simulation_launch.py'),
    'lyrical': ('tb3_loopback_simulation_launch.py', 'tb3_simulation_launch.py'),
}
"""What nav2_bringup has in its launch folder, by distribution."""
THEIR_ARGUMENTS = {
    'loopback': {'map', 'params_file', 'autostart', 'use_composition', 'use_respawn'}
    | {'rviz_config_file', 'use_robot_state_pub', 'use_rviz', 'namespace'},
    'gazebo': {'map', 'params_file', 'autostart', 'use_composition', 'use_respawn', 'slam'}
    | {'rviz_config_file', 'use_robot_state_pub', 'use_rviz', 'namespace', 'use_sim_time'}
    | {'use_simulator', 'headless', 'world', 'robot_name', 'robot_sdf'}
    # Read, though not declared; and Jazzy's only.
    | {'x_pose', 'y_pose', 'z_pose', 'roll', 'pitch', 'yaw', 'use_namespace'},
}
"""The arguments that every distribution's file takes."""
PACKAGES = ('nav2_bringup', 'nav2_loopback_sim', 'nav2_minimal_tb3_sim')
PACKAGES += ('ros_gz_sim', 'ros_gz_bridge')


def shares(folder: Path, distribution: str) -> dict[str, Path]:
    """Return an installation of Nav2 that has the files of a distribution."""
    found = {OURS: ROOT}
    for package in PACKAGES:
        found[package] = folder / package
        (folder / package / 'launch').mkdir(parents=True)
    for name in NAV2[distribution]:
        (folder / 'nav2_bringup/launch' / name).touch()
    return found


@pytest.fixture(params=NAV2)
def distribution(request, monkeypatch) -> str:
    monkeypatch.setenv('ROS_DISTRO', request.param)
    return str(request.param)


@pytest.fixture
def launcher(distribution, monkeypatch, tmp_path) -> Launcher:
    return Launcher(monkeypatch, shares(tmp_path, distribution))


def launch(launcher: Launcher, name: str, **given: str) -> Started:
    return launcher.run(ROOT / 'launch' / name, **given)


def parameters_of(node: Any) -> dict[str, Any]:
    """Return the overrides that a node is given beside its file."""
    return {
        name: value
        for given in node.options['parameters']
        if isinstance(given, dict)
        for name, value in given.items()
    }


def test_these_are_the_launch_files_of_the_package():
    assert NAMES == [
        'harness.launch.py',
        'nav2_loopback.launch.py',
        'sim.launch.py',
        'turtlebot3_gazebo.launch.py',
    ]


@pytest.mark.parametrize('name', NAMES)
def test_every_argument_has_a_description_and_a_default_among_its_choices(launcher, name):
    for argument in launch(launcher, name).arguments.values():
        assert argument.options['description'].strip(), argument.name
        default, choices = argument.options['default_value'], argument.options.get('choices')
        assert choices is None or default in choices, argument.name


@pytest.mark.parametrize('name', NAMES)
def test_every_configuration_that_is_referred_to_is_an_argument(launcher, name):
    started = launch(launcher, name)
    assert started.configurations <= set(started.arguments)


@pytest.mark.parametrize('name', NAMES)
def test_every_argument_is_documented(launcher, name):
    cells = re.findall(r'^\| (`\w+`(?:, `\w+`)*) \|', PAGE, re.MULTILINE)
    documented = {name.strip('`') for cell in cells for name in cell.split(', ')}
    assert set(launch(launcher, name).arguments) <= documented
    assert f'`{name}`' in PAGE


@pytest.mark.parametrize('name', NAMES)
def test_every_executable_is_installed_by_the_build(launcher, name):
    started = launch(launcher, name)
    assert started.nodes
    for node in started.nodes:
        assert node.options['package'] == OURS
        executable = node.options['executable']
        assert f'install_launcher({executable} ' in CMAKE, executable


@pytest.mark.parametrize('name', NAMES)
def test_every_default_file_is_there_and_is_yaml(launcher, name):
    values = launch(launcher, name).values
    files = [value for argument, value in values.items() if argument.endswith('_file') and value]
    assert files
    for path in files:
        assert Path(path).is_relative_to(ROOT / 'config')
        assert yaml.safe_load(Path(path).read_text(encoding='utf-8'))


@pytest.mark.parametrize('name', NAMES)
def test_every_parameter_that_is_set_is_one_of_the_node(launcher, name):
    robot = yaml.safe_load((ROOT / 'config/sim_robot.yaml').read_text(encoding='utf-8'))
    known = {
        'harness': {parameter.name for parameter in PARAMETERS} | {'use_sim_time'},
        # The file holds them all, which another test shows.
        'sim_robot': set(robot['/**']['ros__parameters']),
    }
    for node in launch(launcher, name).nodes:
        assert set(parameters_of(node)) <= known[node.options['executable']]


@pytest.mark.parametrize('name', NAMES)
def test_an_argument_that_is_given_becomes_a_parameter_of_its_type(launcher, name):
    given = {
        'mcp_port': '9000',
        'mcp_enabled': 'false',
        'robot_id': '7',
        'model_provider': 'replay',
        'model_base_url': 'http://127.0.0.1:11434/v1',
        # The built-in robot has no other time.
        'use_sim_time': 'False' if name == 'sim.launch.py' else 'True',
        'skills_file': '/my/skills.yaml',
    }
    nodes = launch(launcher, name, **given).nodes
    (harness,) = [node for node in nodes if node.options['executable'] == 'harness']
    expected = {
        'mcp.port': 9000,
        'mcp.enabled': False,
        'robot_id': '7',
        'model.provider': 'replay',
        'model.base_url': 'http://127.0.0.1:11434/v1',
        'use_sim_time': name != 'sim.launch.py',
        'skills_file': '/my/skills.yaml',
    }
    own = parameters_of(harness)
    assert {key: own[key] for key in expected} == expected


def test_an_argument_that_is_left_out_leaves_the_parameters_file_alone(launcher):
    (harness,) = launch(launcher, 'harness.launch.py').nodes
    assert parameters_of(harness) == {}


def test_choices_are_those_of_the_parameters(launcher):
    arguments = launch(launcher, 'harness.launch.py').arguments
    choices = arguments['model_provider'].options['choices']
    (provider,) = [entry for entry in PARAMETERS if entry.name == 'model.provider']
    assert choices == ['', *provider.choices]
    assert arguments['mcp_enabled'].options['choices'] == ['', 'true', 'false', 'True', 'False']


@pytest.mark.parametrize(
    ('name', 'argument'),
    [*((name, 'params_file') for name in NAMES), ('sim.launch.py', 'sim_params_file')],
)
def test_a_file_of_parameters_that_is_not_there_is_refused_by_name(
    launcher, monkeypatch, tmp_path, name, argument
):
    monkeypatch.setenv('HOME', str(tmp_path))
    for given in ('/nowhere/my.yaml', '~/my.yaml'):
        path = given.replace('~', str(tmp_path))
        with pytest.raises(RuntimeError, match=f'^{argument} {path}: there is no such file$'):
            launch(launcher, name, **{argument: given})
        assert launcher.started.starts_nothing
    (tmp_path / 'my.yaml').touch()
    nodes = launch(launcher, name, **{argument: '~/my.yaml'}).nodes
    assert str(tmp_path / 'my.yaml') in [node.options['parameters'][0] for node in nodes]


@pytest.mark.parametrize(
    ('name', 'argument'),
    [('sim.launch.py', 'time_scale'), *((name, 'yaw') for name in NAMES if '_' in name)],
)
@pytest.mark.parametrize('given', ['fast', 'inf', ''])
def test_what_is_no_number_is_refused_by_name(launcher, name, argument, given):
    with pytest.raises(RuntimeError, match=f'^{argument} {given}: a number is needed$'):
        launch(launcher, name, **{argument: given})
    assert launcher.started.starts_nothing


def test_the_time_of_the_built_in_robot_is_the_systems(launcher):
    choices = launch(launcher, 'sim.launch.py').arguments['use_sim_time'].options['choices']
    assert choices == ['false', 'False']


def test_the_loopback_file_includes_the_one_that_the_distribution_has(launcher, distribution):
    started = launch(launcher, 'nav2_loopback.launch.py', map='/my/map.yaml')
    (theirs,) = started.included
    assert theirs.path.name == NAV2[distribution][0]
    assert theirs.launch_arguments == {'use_rviz': 'False', 'map': '/my/map.yaml'}
    assert set(theirs.launch_arguments) <= THEIR_ARGUMENTS['loopback']


def test_the_harness_takes_the_time_that_the_loopback_simulator_stamps_by(launcher, distribution):
    started = launch(launcher, 'nav2_loopback.launch.py')
    (harness,) = started.nodes
    assert parameters_of(harness)['use_sim_time'] is (distribution == 'lyrical')
    assert parameters_of(harness)['skills_file'] == str(ROOT / 'config/skills_loopback.yaml')


def test_a_namespace_that_the_loopback_simulator_has_not_is_refused(launcher):
    namespace = launch(launcher, 'nav2_loopback.launch.py').arguments['namespace']
    assert namespace.options['choices'] == ['']


def test_the_gazebo_file_hands_the_namespace_and_the_start_to_nav2(launcher):
    started = launch(
        launcher,
        'turtlebot3_gazebo.launch.py',
        namespace='robot1',
        x='1.8',
        headless='false',
        params_file=str(ROOT / 'config/harness.yaml'),
    )
    (theirs,) = started.included
    assert theirs.path.name == 'tb3_simulation_launch.py'
    assert set(theirs.launch_arguments) <= THEIR_ARGUMENTS['gazebo']
    assert theirs.launch_arguments['namespace'] == 'robot1'
    assert theirs.launch_arguments['x_pose'] == '1.8'
    assert theirs.launch_arguments['headless'] == 'False'  # its condition is Python's
    # Ours has the same name, and is not Nav2's.
    assert 'params_file' not in theirs.launch_arguments


@pytest.mark.parametrize(
    ('namespace', 'topic'), [('', '/initialpose'), ('/robot1', '/robot1/initialpose')]
)
def test_localisation_is_told_where_the_simulated_robot_begins(launcher, namespace, topic):
    given = {'namespace': namespace, 'x': '1.5', 'yaw': '0.00002'}
    (command,) = launch(launcher, 'turtlebot3_gazebo.launch.py', **given).processes
    assert command[:6] == ['ros2', 'topic', 'pub', '--once', '-w', '1']
    assert command[-3:-1] == [topic, 'geometry_msgs/msg/PoseWithCovarianceStamped']
    message = yaml.safe_load(command[-1])
    pose = message['pose']['pose']
    assert message['header'] == {'frame_id': 'map'}
    assert pose == {
        'position': {'x': 1.5, 'y': -0.5},
        'orientation': {'z': 0.00001, 'w': 1.0},
    }
    assert len(message['pose']['covariance']) == 36


@pytest.mark.parametrize('missing', PACKAGES)
def test_a_package_that_is_missing_is_named_with_what_to_install(monkeypatch, tmp_path, missing):
    monkeypatch.setenv('ROS_DISTRO', 'jazzy')
    there = {name: path for name, path in shares(tmp_path, 'jazzy').items() if name != missing}
    launcher = Launcher(monkeypatch, there)
    gazebo = missing.startswith('ros_gz')
    name = f'{"turtlebot3_gazebo" if gazebo else "nav2_loopback"}.launch.py'
    apt = f'sudo apt install ros-jazzy-{missing.replace("_", "-")}'
    with pytest.raises(RuntimeError, match=f'{missing} is not installed: {apt}$'):
        launch(launcher, name)
    assert launcher.started.starts_nothing


def test_a_nav2_without_the_loopback_simulation_is_told(monkeypatch, tmp_path):
    there = shares(tmp_path, 'jazzy')
    (tmp_path / 'nav2_bringup/launch' / NAV2['jazzy'][0]).unlink()
    with pytest.raises(RuntimeError, match=r'nav2_bringup has no tb3_loopback_simulation'):
        launch(Launcher(monkeypatch, there), 'nav2_loopback.launch.py')


def test_the_places_of_the_turtlebot3_world_can_be_gone_to():
    places = read_places(ROOT / 'config/places_turtlebot3.yaml')
    assert set(places) == {'start', 'north', 'east', 'south', 'centre'}
    assert {place.frame_id for place in places.values()} == {'map'}


def test_the_places_of_the_turtlebot3_world_are_free_in_its_map():
    folder = _nav2_maps()
    described = yaml.safe_load((folder / 'tb3_sandbox.yaml').read_text(encoding='utf-8'))
    free, resolution = _free_cells(folder / described['image'], described), described['resolution']
    origin = described['origin']
    reach = round(0.5 / resolution)
    for name, place in read_places(ROOT / 'config/places_turtlebot3.yaml').items():
        column = int((place.x - origin[0]) / resolution)
        row = len(free) - 1 - int((place.y - origin[1]) / resolution)
        around = [
            (row + dr, column + dc)
            for dr in range(-reach, reach + 1)
            for dc in range(-reach, reach + 1)
            if dr * dr + dc * dc < reach * reach
        ]
        assert all(free[r][c] for r, c in around), name


def _nav2_maps() -> Path:
    index = 'share/nav2_bringup/maps'
    prefixes = filter(None, os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep))
    found = [Path(prefix) / index for prefix in prefixes if (Path(prefix) / index).is_dir()]
    if not found:
        pytest.skip('nav2_bringup, which has the map, is not installed')
    return found[0]


def _free_cells(image: Path, described: dict[str, Any]) -> list[list[bool]]:
    """Return the rows of a binary PGM, from the top, as map_server reads it."""
    data = image.read_bytes()
    header = re.match(rb'P5\s+(?:#[^\n]*\n\s*)*(\d+)\s+(\d+)\s+255\s', data)
    assert header is not None
    width, height = int(header[1]), int(header[2])
    cells = data[header.end() :]
    assert len(cells) == width * height
    limit = described['free_thresh']
    return [
        [(255 - cell) / 255 < limit for cell in cells[row * width : (row + 1) * width]]
        for row in range(height)
    ]
