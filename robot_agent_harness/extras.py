# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Libraries beside ROS and Python, and what to say where they are not installed."""

from __future__ import annotations

import importlib.util
import sys

from robot_agent_harness.errors import ConfigurationError

LIBRARIES = {
    'mcap': ('mcap>=1.2,<2', 'mcap-ros2-support>=0.5.5,<1'),
    'otel': ('opentelemetry-exporter-otlp-proto-http>=1.30,<2', 'opentelemetry-sdk>=1.30,<2'),
    'prometheus': ('prometheus-client>=0.20,<1',),
}
"""Extra -> its requirements, as in setup.cfg: the package may have come without an index."""

NEEDED = ('jinja2', 'mcp', 'orjson', 'pydantic', 'yaml', 'rich', 'sqlite_utils')
"""What everybody needs, by the name that is imported; setup.cfg has the versions."""


def missing_library(error: ImportError) -> ConfigurationError | None:
    """Return what to tell of an import that failed; None where it is about none of `NEEDED`."""
    name = (error.name or '').partition('.')[0]
    if name not in NEEDED:
        return None
    return ConfigurationError(
        f'the Python package {name} is needed, and {sys.executable} has it not, or too old a one'
        f' ({error}): install requirements.in with pip into a virtual environment, and build and'
        ' run in that one'
    )


def check_metrics(*, served: bool) -> None:
    """Refuse /metrics where it cannot be served.

    :param served: whether MCP is served over HTTP, beside which it is.
    :raises ConfigurationError: it is not, or a library is missing.
    """
    if not served:
        raise ConfigurationError(
            'parameter metrics.enabled: /metrics is served beside MCP over HTTP, and this run'
            ' serves none (mcp.enabled is false, or it was started with --mcp-stdio)'
        )
    if importlib.util.find_spec('prometheus_client') is None:
        raise missing_extra('parameter metrics.enabled', 'prometheus')


def missing_extra(what: str, extra: str) -> ConfigurationError:
    """Return the error of who asks for something whose libraries are not installed."""
    wanted = ' '.join(f"'{library}'" for library in LIBRARIES[extra])
    return ConfigurationError(
        f'{what} needs libraries that are not installed (extra {extra}): pip install {wanted}'
    )
