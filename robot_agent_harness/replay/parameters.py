# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Which parameters can be tried out on a recording.

A replay gives again what was seen, said and answered: how snapshots are made, where the journal
lies, who serves clients and which model is asked play no part in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.parameters import check_parameters, PARAMETERS

_GROUPS = frozenset({'mission', 'navigation', 'verification'})
_SINGLE = frozenset({'global_frame', 'places_file', 'skills_file'})

TRIED_OUT = tuple(
    parameter.name
    for parameter in PARAMETERS
    if parameter.name in _SINGLE or parameter.name.partition('.')[0] in _GROUPS
)
"""The parameters by which a check, a result, an outcome or a mission may turn out otherwise."""


def check_what_if(given: Mapping[str, Any]) -> None:
    """Check parameters that are to be tried out.

    :raises ConfigurationError: one is unknown, out of range, or plays no part in a replay.
    """
    check_parameters(given)
    idle = [name for name in given if name not in TRIED_OUT]
    if idle:
        part = 'plays' if len(idle) == 1 else 'play'
        raise ConfigurationError(
            f'--what-if {", ".join(idle)}: {part} no part in a replay; these do:'
            f' {", ".join(TRIED_OUT)}'
        )
