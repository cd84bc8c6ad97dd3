# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Start Nav2 with its loopback simulator, and the harness on it: no Gazebo, no hardware.

Nav2 comes up as its own tb3_loopback_simulation launch file has it, without RViz. Every argument
of harness.launch.py may be given here as well, but for the namespace, which that file has not:
ros2 launch robot_agent_harness nav2_loopback.launch.py --show-args
"""

import os
from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration

from robot_agent_harness.ros.launch_arguments import BOOLEANS, checking, number
from robot_agent_harness.ros.nav2_launch import bringup, initial_pose

SHARE = Path(get_package_share_directory('robot_agent_harness'))
# Up to Kilted the simulator runs on the system's time, and tells it as /clock ten times a second:
# by that, its own stamps would be from the future. Later ones begin at zero.
ON_SYSTEM_TIME = ('humble', 'iron', 'jazzy', 'kilted')


def start_nav2(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return Nav2 with its simulator, and what tells it where the robot stands."""

    def given(argument: str) -> str:
        return str(LaunchConfiguration(argument).perform(context))

    arguments = {'use_rviz': given('use_rviz').capitalize()}
    for theirs, ours in (('map', 'map'), ('params_file', 'nav2_params_file')):
        if given(ours):
            arguments[theirs] = given(ours)
    return [
        bringup(
            # As Jazzy has it, and as later ones have it.
            ['tb3_loopback_simulation.launch.py', 'tb3_loopback_simulation_launch.py'],
            ['nav2_loopback_sim', 'nav2_minimal_tb3_sim'],
            arguments,
        ),
        initial_pose('', *(number(context, name) for name in ('x', 'y', 'yaw'))),
    ]


def generate_launch_description() -> LaunchDescription:
    """Describe the simulation, and include the harness."""
    on_system_time = os.environ.get('ROS_DISTRO') in ON_SYSTEM_TIME
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                'map',
                default_value='',
                description="YAML of the map; empty: Nav2's TurtleBot3 one",
            ),
            DeclareLaunchArgument(
                'nav2_params_file',
                default_value='',
                description="YAML with Nav2's own parameters; empty: the shipped ones",
            ),
            DeclareLaunchArgument(
                'use_rviz',
                default_value='False',
                choices=BOOLEANS,
                description='Start RViz as well',
            ),
            DeclareLaunchArgument(
                'x', default_value='-2.0', description='Where the robot begins, m in the map'
            ),
            DeclareLaunchArgument(
                'y', default_value='-0.5', description='Where the robot begins, m in the map'
            ),
            DeclareLaunchArgument(
                'yaw', default_value='0.0', description='How it is turned there, rad'
            ),
            # Before the harness declares them: what is set once stays.
            DeclareLaunchArgument(
                'namespace',
                default_value='',
                choices=[''],
                description="None: Nav2's own launch file of this simulator knows none",
            ),
            DeclareLaunchArgument(
                'use_sim_time',
                default_value='false' if on_system_time else 'true',
                choices=BOOLEANS,
                description='Take the time from /clock; up to Kilted this simulator is on system '
                'time',
            ),
            DeclareLaunchArgument(
                'skills_file',
                default_value=str(SHARE / 'config' / 'skills_loopback.yaml'),
                description='YAML with skill metadata; the odometry is silent at rest here',
            ),
            DeclareLaunchArgument(
                'places_file',
                default_value=str(SHARE / 'config' / 'places_turtlebot3.yaml'),
                description='YAML with named places of the map',
            ),
            # Nothing is started where a package is missing, or an argument is wrong.
            OpaqueFunction(function=checking(start_nav2)),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(str(SHARE / 'launch' / 'harness.launch.py'))
            ),
            OpaqueFunction(function=start_nav2),
        ]
    )
