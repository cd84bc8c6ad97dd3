# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""
Where the files that the package ships lie.

The configuration stands in the top-level `config/` folder, as in every ROS package. A source tree
has it beside the modules, a ROS installation in its share folder, `pip install .` in the package.
"""

from pathlib import Path

PACKAGE = 'robot_agent_harness'


def config_path(name: str) -> Path:
    """
    Return the path of a shipped configuration file.

    :param name: path relative to `config/`, for instance `harness.yaml`.
    :raises FileNotFoundError: naming the file and the folders that were tried.
    """
    modules = Path(__file__).parent
    folders = [modules / '_config']
    if (modules.parent / 'package.xml').is_file():
        folders.insert(0, modules.parent / 'config')
    # <prefix>/lib/python3.x/site-packages/robot_agent_harness, or deeper as Debian lays it out.
    folders += [prefix / 'share' / PACKAGE / 'config' for prefix in modules.parents]
    for folder in folders:
        if (folder / name).is_file():
            return folder / name
    tried = ', '.join(str(folder) for folder in folders if folder.is_dir()) or 'no such folder'
    raise FileNotFoundError(f'{PACKAGE} ships no configuration file {name!r} (looked in: {tried})')
