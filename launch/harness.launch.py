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

PACKAGE = 'robot_agent_harness'
DEFAULTS = str(Path(get_package_share_directory(PACKAGE)) / 'config' / 'harness.yaml')

# Launch argument: (parameter of the node, what it is for). Empty means: as in params_file.
OVERRIDES = {
    'autostart': ('autostart', 'Configure and activate the node at start'),
    'use_sim_time': ('use_sim_time', 'Take the time from /clock'),
    'robot_id': ('robot_id', 'Name of the robot in snapshots and in the journal'),
    'journal_path': ('journal.path', 'The journal, one SQLite file; one harness for each'),
    'places_file': ('places_file', 'YAML with named places'),
    'skills_file': ('skills_file', 'YAML with skill metadata'),
    'mcp_enabled': ('mcp.enabled', 'Serve MCP over HTTP'),
    'mcp_host': ('mcp.host', 'Address to serve MCP on; one that others reach needs a token'),
    'mcp_port': ('mcp.port', 'Port to serve MCP on; 0 = any free port, logged'),
    'mcp_token_file': ('mcp.token_file', 'File with the bearer token of MCP clients'),
    'model_provider': ('model.provider', 'Who decides in missions'),
    'model_name': ('model.name', "The provider's name of the model"),
    'model_script_file': ('model.script_file', 'YAML with the answers of the scripted provider'),
}
CHOICES = {
    'autostart': ['', 'true', 'false'],
    'use_sim_time': ['', 'true', 'false'],
    'mcp_enabled': ['', 'true', 'false'],
    'model_provider': ['', 'none', 'scripted', 'anthropic', 'openai'],
}
NOT_TEXT = {'autostart', 'use_sim_time', 'mcp_enabled', 'mcp_port'}


def start(context: LaunchContext) -> list[LifecycleNode]:
    """Return the node, with those parameters that were given as arguments."""
    given = {
        argument: value
        for argument in OVERRIDES
        if (value := LaunchConfiguration(argument).perform(context))
    }
    overrides = {
        OVERRIDES[argument][0]: yaml.safe_load(value) if argument in NOT_TEXT else value
        for argument, value in given.items()
    }
    return [
        LifecycleNode(
            package=PACKAGE,
            executable='harness',
            name=PACKAGE,
            namespace=LaunchConfiguration('namespace'),
            parameters=[LaunchConfiguration('params_file'), overrides],
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
                'log_level', default_value='info', description='debug, info, warn, error or fatal'
            ),
            DeclareLaunchArgument(
                'respawn',
                default_value='false',
                choices=['true', 'false'],
                description='Start the node again when it dies; it moves nothing by itself then',
            ),
            *(
                DeclareLaunchArgument(
                    argument,
                    default_value='',
                    choices=CHOICES.get(argument),
                    description=f'{description} (parameter {parameter}; empty: as in params_file)',
                )
                for argument, (parameter, description) in OVERRIDES.items()
            ),
            OpaqueFunction(function=start),
        ]
    )
