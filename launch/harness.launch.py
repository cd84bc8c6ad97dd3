# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Start the harness node on a robot that runs Nav2.

ros2 launch robot_agent_harness harness.launch.py --show-args
"""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import LifecycleNode
import yaml

from robot_agent_harness.parameters import Parameter, PARAMETERS
from robot_agent_harness.ros.launch_arguments import BOOLEANS, existing_file

PACKAGE = 'robot_agent_harness'
DEFAULTS = str(Path(get_package_share_directory(PACKAGE)) / 'config' / 'harness.yaml')
TABLE = {parameter.name: parameter for parameter in PARAMETERS}
TABLE['use_sim_time'] = Parameter('use_sim_time', False, 'Take the time from /clock.')

# Launch argument: parameter of the node. Left empty, it is as in params_file.
OVERRIDES = {
    'autostart': 'autostart',
    'use_sim_time': 'use_sim_time',
    'robot_id': 'robot_id',
    'base_frame': 'base_frame',
    'global_frame': 'global_frame',
    'journal_path': 'journal.path',
    'places_file': 'places_file',
    'skills_file': 'skills_file',
    'mcp_enabled': 'mcp.enabled',
    'mcp_host': 'mcp.host',
    'mcp_port': 'mcp.port',
    'mcp_token_file': 'mcp.token_file',
    'model_provider': 'model.provider',
    'model_name': 'model.name',
    'model_base_url': 'model.base_url',
    'model_script_file': 'model.script_file',
    'model_replay_journal': 'model.replay_journal',
    'model_replay_mission': 'model.replay_mission',
}


def declare(argument: str, parameter: Parameter) -> DeclareLaunchArgument:
    """Declare an argument that stands for a parameter."""
    choices = list(map(str, parameter.choices))
    if isinstance(parameter.default, bool):
        choices = BOOLEANS
    return DeclareLaunchArgument(
        argument,
        default_value='',
        choices=['', *choices] if choices else None,
        description=f'{parameter.description} (parameter {parameter.name}; '
        'empty: as in params_file)',
    )


def start(context: LaunchContext) -> list[LifecycleNode]:
    """Return the node, with those parameters that were given as arguments."""
    overrides = {}
    for argument, name in OVERRIDES.items():
        value = LaunchConfiguration(argument).perform(context)
        if value:
            is_text = isinstance(TABLE[name].default, str)
            overrides[name] = value if is_text else yaml.safe_load(value)
    return [
        LifecycleNode(
            package=PACKAGE,
            executable='harness',
            name=PACKAGE,
            namespace=LaunchConfiguration('namespace'),
            parameters=[existing_file(context, 'params_file'), overrides],
            arguments=['--ros-args', '--log-level', LaunchConfiguration('log_level')],
            # As Nav2's own nodes, so that a namespaced robot has its own tree.
            remappings=[('/tf', 'tf'), ('/tf_static', 'tf_static')],
            respawn=LaunchConfiguration('respawn'),
            respawn_delay=2.0,
            output='screen',
            emulate_tty=True,
        )
    ]


def generate_launch_description() -> LaunchDescription:
    """Describe the arguments and the node."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                'namespace', default_value='', description='Namespace of the robot'
            ),
            DeclareLaunchArgument(
                'params_file',
                default_value=DEFAULTS,
                description="YAML with the node's parameters",
            ),
            DeclareLaunchArgument(
                'log_level',
                default_value='info',
                choices=['debug', 'info', 'warn', 'error', 'fatal'],
                description='What the nodes log',
            ),
            DeclareLaunchArgument(
                'respawn',
                default_value='false',
                choices=BOOLEANS,
                description='Start the node again when it dies; it moves nothing by itself then',
            ),
            *(declare(argument, TABLE[name]) for argument, name in OVERRIDES.items()),
            OpaqueFunction(function=start),
        ]
    )
