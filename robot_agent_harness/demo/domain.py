# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A ROS domain of the demo's own: it must not meet a robot, a simulation or another demo.

DDS derives its UDP ports from the domain (DDSI-RTPS 2.2, section 9.6.1.1), so a domain in use on
this machine shows by its ports, whatever it is that uses it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
import errno
import random
import socket

from robot_agent_harness.errors import ConfigurationError

DOMAINS = range(90, 102)
"""Above those that people choose by hand, and with ports below Linux's ephemeral ones."""
_PORT_BASE, _DOMAIN_GAIN = 7400, 250
_RESERVED = 5
"""Offset of a port that DDS leaves unused; holding it keeps other demos away."""
_UNICAST, _PARTICIPANT_GAIN = 10, 2
_PARTICIPANTS_SEEN = 12
"""Participants take the first free number, so that one of the first is there if any is."""

_MISLEADING = (
    'CYCLONEDDS_URI',
    'FASTDDS_DEFAULT_PROFILES_FILE',
    'FASTRTPS_DEFAULT_PROFILES_FILE',
    'ROS_DISCOVERY_SERVER',
    'ROS_STATIC_PEERS',
    'ROS_SUPER_CLIENT',
)
"""What could lead a participant off this machine in spite of the settings below."""


class Domain:
    """A domain that nobody on this machine used when it was taken.

    :param avoid: domains not to take, such as the one of the user's robot.
    :param among: those to choose from.
    :raises ConfigurationError: there is none left.
    """

    def __init__(self, avoid: Iterable[int] = (), *, among: Iterable[int] = DOMAINS) -> None:
        # In no order: two demos that start together should look in different places.
        candidates = sorted(set(among) - set(avoid), key=lambda _: random.random())
        for candidate in candidates:
            held = _bound(_port(candidate, _RESERVED))
            if held is None:
                continue
            if _unused(candidate):
                self.number, self._held = candidate, held
                return
            held.close()
        raise ConfigurationError('no ROS domain is free on this machine: end some ROS programs')

    def close(self) -> None:
        """Let other demos have it."""
        self._held.close()


def isolated(environment: Mapping[str, str], domain: int) -> dict[str, str]:
    """Return an environment in which ROS stays on this machine and in this domain."""
    own = {name: value for name, value in environment.items() if name not in _MISLEADING}
    own['ROS_DOMAIN_ID'] = str(domain)
    # The older variable is all that Humble knows; where both are known it only adds a warning.
    if own.get('ROS_DISTRO') == 'humble':
        own['ROS_LOCALHOST_ONLY'] = '1'
    else:
        own.pop('ROS_LOCALHOST_ONLY', None)
        own['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    return own


def _unused(domain: int) -> bool:
    offsets = [0, *(_UNICAST + _PARTICIPANT_GAIN * i for i in range(_PARTICIPANTS_SEEN))]
    for offset in offsets:
        probe = _bound(_port(domain, offset))
        if probe is None:
            return False
        probe.close()
    return True


def _port(domain: int, offset: int) -> int:
    return _PORT_BASE + _DOMAIN_GAIN * domain + offset


def _bound(port: int) -> socket.socket | None:
    """Return a socket on the port, or None if somebody has it."""
    probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        probe.bind(('', port))
    except OSError as error:
        probe.close()
        if error.errno in (errno.EADDRINUSE, errno.EACCES):
            return None
        raise ConfigurationError(f'cannot look for a free ROS domain: {error.strerror}') from error
    return probe
