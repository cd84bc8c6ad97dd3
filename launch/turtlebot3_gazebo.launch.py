# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Start a TurtleBot3 in Gazebo with Nav2, and the harness on it.

Robot, world and Nav2 come up as Nav2's own tb3_simulation_launch.py has them. Every argument of
harness.launch.py may be given here as well:
ros2 launch robot_agent_harness turtlebot3_gazebo.launch.py --show-args
"""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration

from robot_agent_harness.ros.launch_arguments import BOOLEANS, checking, number
from robot_agent_harness.ros.nav2_launch import bringup, initial_pose

SHARE = Path(get_package_share_directory('robot_agent_harness'))


def start_nav2(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return Gazebo with the robot, Nav2, and what tells it where the robot stands."""

    def given(argument: str) -> str:
        return str(LaunchConfiguration(argument).perform(context))

    arguments = {
        'headless': given('headless').capitalize(),
        'use_rviz': given('use_rviz').capitalize(),
        'x_pose': given('x'),
        'y_pose': given('y'),
        'yaw': given('yaw'),
    }
    if given('namespace'):
        # Jazzy wants to be told twice.
        arguments |= {'namespace': given('namespace'), 'use_namespace': 'True'}
    if given('nav2_params_file'):
        arguments['params_file'] = given('nav2_params_file')
    return [
        bringup(
            ['tb3_simulation_launch.py'],
            ['nav2_minimal_tb3_sim', 'ros_gz_sim', 'ros_gz_bridge'],
            arguments,
        ),
        initial_pose(given('namespace'), *(number(context, name) for name in ('x', 'y', 'yaw'))),
    ]


def generate_launch_description() -> LaunchDescription:
    """Describe the simulation, and include the harness."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                'headless',
                default_value='True',
                choices=BOOLEANS,
                description="Do without Gazebo's window",
            ),
            DeclareLaunchArgument(
                'use_rviz',
                default_value='False',
                choices=BOOLEANS,
                description='Start RViz as well',
            ),
            DeclareLaunchArgument(
                'nav2_params_file',
                default_value='',
                description="YAML with Nav2's own parameters; empty: the shipped ones",
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
                'namespace', default_value='', description='Namespace of the robot'
            ),
            DeclareLaunchArgument(
                'use_sim_time',
                default_value='true',
                choices=BOOLEANS,
                description="Take the time from /clock: Gazebo's",
            ),
            DeclareLaunchArgument(
                'places_file',
                default_value=str(SHARE / 'config' / 'places_turtlebot3.yaml'),
                description='YAML with named places of the TurtleBot3 world',
            ),
            # Nothing is started where a package is missing, or an argument is wrong.
            OpaqueFunction(function=checking(start_nav2)),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(str(SHARE / 'launch' / 'harness.launch.py'))
            ),
            OpaqueFunction(function=start_nav2),
        ]
    )
