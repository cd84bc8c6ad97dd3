# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Every parameter of the harness node: name, default, range, unit and meaning, in one table.

The node declares them from here, the command line checks them against it, and the documentation is
tested against it. Keys are no parameters: every node on the graph could read them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import math
from typing import Any

from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.nearest import meant

Value = bool | int | float | str


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter; its type is its default's."""

    name: str
    default: Value
    description: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[Value, ...] = ()

    @property
    def live(self) -> str:
        """From when on a change while the node runs counts; empty: it cannot be changed then."""
        return _LIVE.get(self.name, '')

    @property
    def fixed(self) -> str:
        """Why it cannot be changed while the node runs; empty where it can."""
        if self.live:
            return ''
        group = self.name.partition('.')[0]
        return _FIXED.get(self.name) or _FIXED.get(group) or 'it is read at the configuration'

    @property
    def allowed(self) -> str:
        """The values that it takes, in words."""
        if self.choices:
            return f'one of {", ".join(str(choice) or "empty" for choice in self.choices)}'
        if self.minimum is None and self.maximum is None:
            return _KIND[type(self.default)]
        low = -math.inf if self.minimum is None else self.minimum
        if self.maximum is None:
            return f'{low:g} or more'
        return f'from {low:g} to {self.maximum:g}'

    def check(self, value: Any) -> Value:
        """Return the value, an integer widened where a float is meant.

        :raises ConfigurationError: wrong type, out of range, or not one of the choices.
        """
        wanted = type(self.default)
        if wanted is float and type(value) is int:
            value = float(value)
        if type(value) is not wanted:
            got = type(value).__name__
            raise ConfigurationError(
                f'parameter {self.name}: must be {_KIND[wanted]}, got {value!r} ({got})'
            )
        if value == '' and self.default and not self.choices:
            raise ConfigurationError(f'parameter {self.name}: must not be empty')
        if not self._takes(value):
            raise ConfigurationError(
                f'parameter {self.name}: must be {self.allowed}, got {value!r}'
            )
        return value

    def _takes(self, value: Any) -> bool:
        if self.choices:
            return value in self.choices
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return True
        low = -math.inf if self.minimum is None else self.minimum
        high = math.inf if self.maximum is None else self.maximum
        return math.isfinite(value) and low <= value <= high


_KIND = {bool: 'true or false', int: 'an integer', float: 'a number', str: 'text'}
_P = Parameter

_MISSION = 'the next mission'
_ACTION = 'actions that start from then on'
_LIVE = {
    'mission.max_steps': _MISSION,
    'mission.max_tokens': _MISSION,
    'mission.max_wall_time_s': _MISSION,
    'world_model.enabled': _MISSION,
    'world_model.history_size': _MISSION,
    'snapshot.max_bytes': 'the next call, and the next mission',
    'battery.low_fraction': 'what is noticed from then on',
    'navigation.accept_timeout_s': _ACTION,
    'navigation.execution_timeout_s': _ACTION,
    'navigation.verify_timeout_s': _ACTION,
    'navigation.xy_tolerance_m': _ACTION,
    'navigation.yaw_tolerance_rad': _ACTION,
    'navigation.cancel_on_timeout': _ACTION,
    'verification.turn_tolerance_rad': _ACTION,
    'verification.distance_tolerance_m': _ACTION,
    'verification.heading_tolerance_rad': _ACTION,
    'verification.waypoint_radius_m': _ACTION,
    'verification.max_position_variance_m2': _ACTION,
    'verification.battery_max_age_s': _ACTION,
    'verification.full_battery_fraction': _ACTION,
    'verification.undocked_distance_m': _ACTION,
}
"""What may change while the node runs, and what the new value counts for."""
_FIXED = {
    'autostart': 'it decides what happens at the start',
    'robot_id': 'the records of one run are about one robot',
    'journal': 'the journal was opened with it',
    'skills_file': 'clients and models know the skills that it named',
    'places_file': 'edit the file: it is read again when it changes',
    'mcp': 'the MCP server was made with it',
    'dashboard': 'the MCP server was made with it',
    'metrics': 'the MCP server was made with it',
    'model': "the model's client was made with it",
    'snapshot': 'what has been heard was judged by it',
    'battery': 'what has been heard was judged by it',
}
"""Why others may not, by parameter or group; what is not named here is read only once."""

PARAMETERS: tuple[Parameter, ...] = (
    _P('autostart', True, 'Configure and activate the lifecycle node at start.'),
    _P('robot_id', 'robot', 'Name of the robot in snapshots and in the journal.'),
    _P('base_frame', 'base_link', 'Frame of the robot (REP 105).'),
    _P('global_frame', 'map', 'Frame of goals and of the map pose (REP 105).'),
    _P('journal.path', '~/.ros/robot_agent_harness/journal.db', 'The journal, one SQLite file.'),
    _P(
        'journal.synchronous',
        'full',
        'What a commit waits for: full = the disk, normal = may be lost on power failure.',
        choices=('full', 'normal'),
    ),
    _P(
        'journal.rotate_mib',
        0,
        'Size in MiB at which the journal is closed between missions and a new one begun;'
        ' 0 = never.',
        0,
        1_000_000,
    ),
    _P(
        'journal.rotate_days',
        0.0,
        'Age in days at which the journal is closed between missions and a new one begun;'
        ' 0 = never.',
        0.0,
        36_500.0,
    ),
    _P('skills_file', '', 'YAML with skill metadata; empty = the shipped config/skills.yaml.'),
    _P('places_file', '', 'YAML with named places; empty = the shipped config/places.yaml.'),
    _P('mcp.enabled', True, 'Serve MCP over streamable HTTP.'),
    _P('mcp.host', '127.0.0.1', 'Address to serve on; one that others reach needs a token.'),
    _P('mcp.port', 8642, 'Port to serve on; 0 = any free port, logged.', 0, 65535),
    _P('mcp.token_file', '', 'File with the bearer tokens that clients must send; empty = none.'),
    _P(
        'mcp.max_requests_per_s',
        200.0,
        'Requests a second that one MCP client may go on sending; twice as many at once.',
        1.0,
        100_000.0,
    ),
    _P('dashboard.enabled', True, 'Serve the dashboard at /, beside MCP over HTTP.'),
    _P('metrics.enabled', False, 'Serve Prometheus metrics at /metrics, beside MCP over HTTP.'),
    _P(
        'model.provider',
        'none',
        'Who decides in missions; none = only MCP clients do.',
        choices=('none', 'scripted', 'anthropic', 'openai', 'replay'),
    ),
    _P('model.name', '', "The provider's name of the model."),
    _P('model.base_url', '', "Where the provider's API is; empty = the provider's own."),
    _P('model.script_file', '', 'YAML with the answers of the scripted provider.'),
    _P(
        'model.replay_journal',
        '',
        'Journal whose answers the replay provider gives again; another file than journal.path.',
    ),
    _P('model.replay_mission', '', 'The mission of that journal; empty = its last one.'),
    _P(
        'model.thinking_budget_tokens',
        0,
        'Tokens for thinking; 0 = off. Models with adaptive thinking only see that it is on.',
        0,
        1_000_000,
    ),
    _P(
        'model.effort',
        '',
        'Effort, where the model has it; empty = its default.',
        choices=('', 'low', 'medium', 'high', 'xhigh', 'max'),
    ),
    _P('model.max_tokens', 4096, 'Most tokens of one answer.', 1, 1_000_000),
    _P('model.timeout_s', 60.0, 'Seconds for one attempt at an answer.', 1.0, 3600.0),
    _P('mission.max_steps', 50, 'Decisions after which a mission ends.', 1, 100_000),
    _P('mission.max_tokens', 0, 'Tokens after which a mission ends; 0 = no limit.', 0),
    _P(
        'mission.max_wall_time_s',
        0.0,
        'Seconds after which a mission ends, its action cancelled; 0 = no limit.',
        0.0,
        31_536_000.0,
    ),
    _P('world_model.enabled', True, 'Let a mission remember places, activity and decisions.'),
    _P('world_model.history_size', 10, 'How many earlier decisions it remembers.', 1, 100),
    _P('snapshot.max_bytes', 2048, 'Most bytes of a snapshot as the model sees it.', 512, 65536),
    _P(
        'snapshot.stale_after_s.map_pose', 1.0, 'Age in seconds of a stale map pose.', 0.01, 3600.0
    ),
    _P('snapshot.stale_after_s.odometry', 1.0, 'Age in seconds of stale odometry.', 0.01, 3600.0),
    _P(
        'snapshot.stale_after_s.battery', 30.0, 'Age in seconds of a stale battery.', 0.01, 86400.0
    ),
    _P(
        'snapshot.accept_unstamped',
        '',
        'Fields, separated by commas, whose source writes no stamp and is believed all the same,'
        ' aged from reception: map_pose, odometry, battery.',
    ),
    _P('battery.low_fraction', 0.2, 'State of charge below which the model is told.', 0.0, 1.0),
    _P(
        'battery.percentage_scale',
        1.0,
        'What a full battery reports: 1 as sensor_msgs/BatteryState says, or 100.',
        choices=(1.0, 100.0),
    ),
    _P('navigation.accept_timeout_s', 5.0, 'Seconds for the answer to a goal.', 0.1, 60.0),
    _P('navigation.execution_timeout_s', 300.0, 'Seconds for a goal to end.', 1.0, 86400.0),
    _P('navigation.verify_timeout_s', 5.0, 'Seconds for the robot to settle.', 0.1, 120.0),
    _P('navigation.xy_tolerance_m', 0.35, 'Metres from the goal that count as there.', 0.01, 10.0),
    _P('navigation.yaw_tolerance_rad', 0.35, 'Radians off that count as there.', 0.01, math.pi),
    _P(
        'navigation.cancel_on_timeout',
        True,
        'Ask the controller to cancel an own goal that nobody can vouch for any more.',
    ),
    _P(
        'verification.turn_tolerance_rad',
        0.3,
        'Radians by which a turn may be off, and 5 % of it on top; at most half of it missing.',
        0.01,
        math.pi,
    ),
    _P(
        'verification.distance_tolerance_m',
        0.1,
        'Metres by which a straight move may be off, and 15 % of it; at most half of it missing.',
        0.01,
        10.0,
    ),
    _P(
        'verification.heading_tolerance_rad',
        0.35,
        'Radians by which a straight move may turn the robot.',
        0.01,
        math.pi,
    ),
    _P(
        'verification.waypoint_radius_m',
        0.9,
        'Metres from a waypoint that count as come by; Nav2 takes 0.7 and a pose may be late.',
        0.05,
        10.0,
    ),
    _P(
        'verification.max_position_variance_m2',
        0.25,
        'Square metres of position variance up to which the localisation is judged by.',
        0.0001,
        100.0,
    ),
    _P(
        'verification.battery_max_age_s',
        10.0,
        'Age in seconds of the oldest battery reading that tells whether the robot charges.',
        0.1,
        3600.0,
    ),
    _P(
        'verification.full_battery_fraction',
        0.95,
        'State of charge from which a battery may rightly take no charge on a dock.',
        0.0,
        1.0,
    ),
    _P(
        'verification.undocked_distance_m',
        0.1,
        'Metres that a robot has to move to have come off its dock.',
        0.01,
        10.0,
    ),
)
"""The table, in the order of the contract."""

_BY_NAME = {parameter.name: parameter for parameter in PARAMETERS}


def change_parameters(values: Mapping[str, Value], given: Mapping[str, Any]) -> dict[str, Value]:
    """Return every parameter's value after a change while the node runs.

    :param values: all of them before.
    :param given: those to change; one that may not change may be given the value that it has.
    :raises ConfigurationError: a name is unknown, a value is not allowed, or may not change now;
        names the parameter, and what is allowed or why it may not.
    """
    changed = check_parameters({**values, **given})
    for name, parameter in _BY_NAME.items():
        if parameter.fixed and changed[name] != values[name]:
            raise ConfigurationError(
                f'parameter {name}: it cannot be changed while the node runs: {parameter.fixed}'
            )
    return changed


def check_parameters(given: Mapping[str, Any]) -> dict[str, Value]:
    """Return every parameter's value, defaults filled in.

    :raises ConfigurationError: a name is unknown or a value is not allowed; names the parameter.
    """
    for name in given:
        if name not in _BY_NAME:
            raise ConfigurationError(
                f'parameter {name}: there is no such parameter{meant(name, _BY_NAME)}'
            )
    return {
        name: parameter.check(given.get(name, parameter.default))
        for name, parameter in _BY_NAME.items()
    }
