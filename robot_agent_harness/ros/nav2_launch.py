# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What our launch files share that start somebody else's Nav2 under the harness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math
import os
from pathlib import Path

from ament_index_python.packages import get_package_share_directory, PackageNotFoundError
from launch.actions import (
    ExecuteProcess,
    GroupAction,
    IncludeLaunchDescription,
    ResetLaunchConfigurations,
)
from launch.launch_description_sources import PythonLaunchDescriptionSource

POSITION_VARIANCE_M2, YAW_VARIANCE_RAD2 = 0.25, 0.07
"""What RViz says of a pose that a person points at."""
STAY_S = '10'
"""How long the publisher stays: on a machine that starts a simulation, a listener may take a
while to find it, and what is gone by then is never sent again."""


def share_of(package: str) -> Path:
    """Return the share folder of a package that is not ours.

    :raises RuntimeError: it is not installed; names the Debian package.
    """
    try:
        return Path(get_package_share_directory(package))
    except PackageNotFoundError:
        distribution = os.environ.get('ROS_DISTRO', '$ROS_DISTRO')
        name = f'ros-{distribution}-{package.replace("_", "-")}'
        raise RuntimeError(
            f'the package {package} is not installed: sudo apt install {name}'
        ) from None


def bringup(
    file_names: Sequence[str], packages: Sequence[str], arguments: Mapping[str, str]
) -> GroupAction:
    """Include a launch file of nav2_bringup, apart from the arguments of ours.

    Theirs have the same names and other meanings: their `params_file` is Nav2's.

    :param file_names: the names that it has in different distributions.
    :param packages: what else it starts from.
    :raises RuntimeError: a package is not installed, or is of a distribution without that file.
    """
    for package in packages:
        share_of(package)
    folder = share_of('nav2_bringup') / 'launch'
    found = [folder / name for name in file_names if (folder / name).exists()]
    if not found:
        raise RuntimeError(f'nav2_bringup has no {" or ".join(file_names)} in {folder}')
    include = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(found[0])), launch_arguments=list(arguments.items())
    )
    # The environment goes on to them: somebody's own launch file may have set it.
    return GroupAction([ResetLaunchConfigurations(), include])


def initial_pose(namespace: str, x: float, y: float, yaw: float) -> ExecuteProcess:
    """Tell the localisation once where the robot stands, as a person does in RViz.

    It waits for a listener. Only for simulations: there it is known where the robot begins.
    """
    half = yaw / 2.0
    # Fixed notation: YAML takes 1e-05 for text.
    pose = (
        f'{{position: {{x: {x:.6f}, y: {y:.6f}}}, '
        f'orientation: {{z: {math.sin(half):.6f}, w: {math.cos(half):.6f}}}}}'
    )
    variances = [0.0] * 36
    variances[0] = variances[7] = POSITION_VARIANCE_M2
    variances[35] = YAW_VARIANCE_RAD2
    message = f'{{header: {{frame_id: map}}, pose: {{pose: {pose}, covariance: {variances}}}}}'
    topic = '/'.join(['', *filter(None, [namespace.strip('/'), 'initialpose'])])
    kind = 'geometry_msgs/msg/PoseWithCovarianceStamped'
    return ExecuteProcess(
        cmd=[
            'ros2',
            'topic',
            'pub',
            '--once',
            '-w',
            '1',
            '--keep-alive',
            STAY_S,
            topic,
            kind,
            message,
        ],
        name='initial_pose',
        output='log',
    )
