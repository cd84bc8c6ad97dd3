# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether the model could be asked: its settings, its key, its SDK, its endpoint. No token is
spent, and no key is sent or shown.
"""

from __future__ import annotations

from collections.abc import Mapping
import importlib.util
import urllib.error
import urllib.parse
import urllib.request

from robot_agent_harness.doctor.finding import Finding, ok, problem
from robot_agent_harness.errors import HarnessError
from robot_agent_harness.llm.factory import api_url, make_client, ModelSettings
from robot_agent_harness.parameters import Value

AREA = 'model'


def check_model(
    parameters: Mapping[str, Value], environ: Mapping[str, str], timeout_s: float
) -> list[Finding]:
    """Look at what the parameters `model.*` ask for.

    :param timeout_s: how long the endpoint may take to answer, in seconds.
    """
    settings = ModelSettings.from_parameters(parameters)
    if settings.provider == 'none':
        return [ok(AREA, 'none: MCP clients decide')]
    try:
        url = api_url(settings, environ)
        if url is None:
            make_client(settings, environ, own_journal=str(parameters['journal.path']))
    except HarnessError as error:
        advice = 'correct the parameter, or set the variable where the harness is started'
        return [problem(AREA, str(error), advice)]
    told = f'{settings.provider} {settings.name}'.strip()
    if url is None:
        return [ok(AREA, f'{told}: what it answers with can be read')]
    if importlib.util.find_spec(settings.provider) is None:
        advice = f'pip install robot_agent_harness[{settings.provider}]'
        return [problem(AREA, f'the package {settings.provider} is not installed', advice)]
    # The SDKs leave its form to the settings alone.
    where = _origin(url)
    trouble = _unreachable(where, timeout_s)
    if trouble is not None:
        return [
            problem(
                AREA,
                f'{told}: {where} cannot be reached: {trouble}',
                'connect this machine to it (network, DNS, proxy variables), or correct'
                ' model.base_url',
            )
        ]
    return [ok(AREA, f'{told}: a key or none as it needs, and {where} answers', url=where)]


def _origin(url: str) -> str:
    """Return scheme, host and port alone: a URL may hold a password."""
    parts = urllib.parse.urlsplit(url)
    return f'{parts.scheme}://{parts.netloc.rpartition("@")[2]}'


def _unreachable(url: str, timeout_s: float) -> str | None:
    """Return why nothing answers there; any HTTP answer is one."""
    try:
        with urllib.request.urlopen(f'{url}/', timeout=timeout_s):
            return None
    except urllib.error.HTTPError:
        return None
    except (OSError, ValueError) as error:
        reason = getattr(error, 'reason', error)
        return (
            f'no answer within {timeout_s:g} s'
            if isinstance(reason, TimeoutError)
            else str(reason)
        )
