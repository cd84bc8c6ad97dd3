# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Named places, from a YAML file that may be edited while the harness runs.

The book remembers for a while what it said before, so that a decision made from old coordinates
can be told from one made from the present ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
import logging
import math
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from robot_agent_harness.clock import Clock
from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.validation import explain
from robot_agent_harness.yaml_files import read_yaml

logger = logging.getLogger(__name__)

EDITIONS_KEPT = 16
"""How many earlier readings of the file are remembered."""
COORDINATE_LIMIT_M = 10_000.0
"""No map is larger; a coordinate beyond it is a slip, and planners misbehave on it."""
COORDINATE = Field(ge=-COORDINATE_LIMIT_M, le=COORDINATE_LIMIT_M)
YAW = Field(ge=-2 * math.pi, le=2 * math.pi)


class Place(BaseModel):
    """Where a name points to: metres and radians in a fixed frame (REP 105)."""

    model_config = ConfigDict(frozen=True, extra='forbid', strict=True, allow_inf_nan=False)

    x: Annotated[float, COORDINATE]
    y: Annotated[float, COORDINATE]
    yaw: Annotated[float, YAW] = 0.0
    frame_id: str = 'map'
    description: str = ''


class _PlacesFile(BaseModel):
    model_config = ConfigDict(frozen=True, extra='forbid')

    places: dict[str, Place] = Field(default_factory=dict)


def read_places(path: Path) -> Mapping[str, Place]:
    """Read a places file.

    :raises ConfigurationError: it is missing or not as it should be; names file and key.
    """
    _, raw = read_yaml(path, called='places_file')
    try:
        return MappingProxyType(_PlacesFile.model_validate({} if raw is None else raw).places)
    except ValidationError as error:
        raise ConfigurationError(
            f"places_file {path}: {explain(error)}; places stand under the key 'places'"
        ) from error


class PlaceBook:
    """The places as they are now, and as they were at a decision."""

    def __init__(self, *, clock: Clock, path: Path | None) -> None:
        """Read the file.

        :raises ConfigurationError: see :func:`read_places`.
        """
        self._clock = clock
        self._path = path
        self._on_edition: Callable[[Mapping[str, Place]], None] = lambda places: None
        self._stamp = self._version()
        places = read_places(path) if path else MappingProxyType({})
        self._editions: list[tuple[int, Mapping[str, Place]]] = [(clock.monotonic_ns(), places)]

    def on_edition(self, listener: Callable[[Mapping[str, Place]], None]) -> None:
        """Call `listener` with the places whenever the file was found to have changed."""
        self._on_edition = listener

    def current(self) -> Mapping[str, Place]:
        """Return the places now, reading the file again if it has changed.

        A file that cannot be read any more changes nothing: the last good places stand, and the
        log says why.
        """
        stamp = self._version()
        if self._path is not None and stamp != self._stamp:
            self._stamp = stamp
            try:
                self._editions.append((self._clock.monotonic_ns(), read_places(self._path)))
                del self._editions[:-EDITIONS_KEPT]
                self._on_edition(self._editions[-1][1])
            except ConfigurationError as error:
                logger.error('keeping the last good places: %s', error)
        return self._editions[-1][1]

    def at(self, monotonic_ns: int) -> Mapping[str, Place] | None:
        """Return the places as they were known at a steady time; None where that is forgotten."""
        for since, places in reversed(self._editions):
            if since <= monotonic_ns:
                return places
        return None

    def _version(self) -> tuple[int, ...] | None:
        """Return what changes whenever the file is written or replaced; None without one.

        Taken before the file is read: an edit in between is then found by the next look.
        """
        if self._path is None:
            return None
        try:
            stat = self._path.stat()
        except (OSError, ValueError):
            return None
        return stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino
