# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Start the built-in simulated robot and the harness on it: no Gazebo, no Nav2, no map.

Every argument of harness.launch.py may be given here as well:
ros2 launch robot_agent_harness sim.launch.py --show-args
"""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from robot_agent_harness.ros.launch_arguments import checking, existing_file, number

PACKAGE = 'robot_agent_harness'
SHARE = Path(get_package_share_directory(PACKAGE))


def start_robot(context: LaunchContext) -> list[Node]:
    """Return the simulated robot."""
    time_scale = number(context, 'time_scale')
    file = existing_file(context, 'sim_params_file')
    return [
        Node(
            package=PACKAGE,
            executable='sim_robot',
            name='sim_robot',
            namespace=LaunchConfiguration('namespace'),
            parameters=[file, {'time_scale': time_scale}],
            arguments=['--ros-args', '--log-level', LaunchConfiguration('log_level')],
            output='screen',
            emulate_tty=True,
        )
    ]


def generate_launch_description() -> LaunchDescription:
    """Describe the robot, and include the harness."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                'time_scale',
                default_value='1.0',
                description='How many times faster than a real robot the simulated one is',
            ),
            DeclareLaunchArgument(
                'sim_params_file',
                default_value=str(SHARE / 'config' / 'sim_robot.yaml'),
                description="YAML with the simulated robot's parameters, its faults among them",
            ),
            # Before the harness declares it: what is set once stays.
            DeclareLaunchArgument(
                'use_sim_time',
                default_value='false',
                choices=['false', 'False'],
                description="The simulated robot is on the system's time, and publishes no /clock",
            ),
            OpaqueFunction(function=checking(start_robot)),
            # Before the robot: what it declares is used there as well.
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(str(SHARE / 'launch' / 'harness.launch.py'))
            ),
            OpaqueFunction(function=start_robot),
        ]
    )
