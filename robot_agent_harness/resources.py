# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""
Where the files that the package ships lie.

The configuration stands in the top-level `config/` folder and the message definitions in `msg/`,
as in every ROS package. A source tree has them beside the modules, a ROS installation in its share
folder, `pip install .` in the package.
"""

from pathlib import Path

PACKAGE = 'robot_agent_harness'


def config_path(name: str) -> Path:
    """
    Return the path of a shipped configuration file.

    :param name: path relative to `config/`, for instance `harness.yaml`.
    :raises FileNotFoundError: naming the file and the folders that were tried.
    """
    return _shipped('config', name, 'configuration file')


def message_path(name: str) -> Path:
    """
    Return the path of one of the package's message definitions.

    :param name: path relative to `msg/`, for instance `WorldSnapshot.msg`.
    :raises FileNotFoundError: naming the file and the folders that were tried.
    """
    return _shipped('msg', name, 'message definition')


def _shipped(kind: str, name: str, what: str) -> Path:
    modules = Path(__file__).parent
    folders = [modules / f'_{kind}']
    if (modules.parent / 'package.xml').is_file():
        folders.insert(0, modules.parent / kind)
    # <prefix>/lib/python3.x/site-packages/robot_agent_harness, or deeper as Debian lays it out.
    folders += [prefix / 'share' / PACKAGE / kind for prefix in modules.parents]
    for folder in folders:
        if (folder / name).is_file():
            return folder / name
    tried = ', '.join(str(folder) for folder in folders if folder.is_dir()) or 'no such folder'
    raise FileNotFoundError(f'{PACKAGE} ships no {what} {name!r} (looked in: {tried})')
