# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The one way in which a file of the user's in YAML is read: skills, places, scripts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.written_files import read_text


def read_yaml(path: Path, *, called: str) -> tuple[str, Any]:
    """Return what a file says, as it is written and as plain values.

    :param called: what the file is, for the error: the parameter that names it.
    :raises ConfigurationError: it cannot be read, is not YAML, or says one key twice; names the
        file.
    """
    text = read_text(path, f'{called} {path}')
    try:
        return text, yaml.load(text, _UniqueKeyLoader)
    except Exception as error:
        # PyYAML lets whatever its constructors stumble over escape: ValueError for a date that
        # cannot be, RecursionError for endless nesting, and more.
        raise ConfigurationError(
            f'{called} {path}: not YAML: {str(error) or type(error).__name__}'
        ) from error


class _UniqueKeyLoader(yaml.SafeLoader):
    """A safe loader that refuses a key given twice, of which YAML would drop the first: a place
    or a skill would silently be another one.
    """

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        seen = set()
        for key, _ in node.value:
            said = (key.tag, str(key.value))
            if said in seen:
                raise yaml.MarkedYAMLError(
                    problem=f'the key {key.value!r} is given twice', problem_mark=key.start_mark
                )
            seen.add(said)
        return node
