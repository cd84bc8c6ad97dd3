# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Tools that call services: recorded like all others, and on disk before they act."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
import sqlite3
from typing import Any

import pytest

from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.replay import replay_journal
from robot_agent_harness.skills.services import RosService, ServiceTimeoutError
from robot_agent_harness.testing import Bench, check_journal, run_virtual

SKILLS = """\
skills:
  ring:
    description: Ring the bell.
    arguments:
      loud: {type: boolean, description: Whether, default: false}
    service:
      name: bell
      type: std_srvs/srv/SetBool
      request: {data: '{loud}'}
      response: {note: message}
  hear:
    description: Say what the bell does.
    read_only: true
    service:
      name: ear
      type: std_srvs/srv/Trigger
      response: {note: message, deep: a.b}
      success: success
"""


class Services:
    """Services whose answers a test gives."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.recorded: list[int] = []
        self.answer: dict[str, Any] = {'success': True, 'message': 'ding', 'a': {'b': 4}}
        self.error: Exception | None = None
        self.told: Callable[[str, bool], None] = lambda name, there: None
        self.journal: Path | None = None

    def on_presence(self, listener: Callable[[str, bool], None]) -> None:
        self.told = listener

    async def call(
        self, service: RosService, request: Mapping[str, Any], *, timeout_s: float
    ) -> dict[str, Any]:
        self.asked.append((service.name, dict(request)))
        if self.journal is not None:
            with JournalReader(self.journal) as reader:
                calls = [e for e in reader.events() if e.type == 'TOOL_CALL_RECORDED']
                self.recorded.append(len(calls))
        if self.error is not None:
            raise self.error
        return self.answer


def _on_bench(
    tmp_path: Path,
    scenario: Callable[[Bench, Services], Coroutine[Any, Any, None]],
    *,
    replayed: bool = True,
) -> None:
    """Run a scenario, and replay it: what services did is on record.

    :param replayed: False where the journal could not be written, which no replay repeats.
    """
    file = tmp_path / 'skills.yaml'
    file.write_text(SKILLS)

    async def run() -> None:
        services = Services()
        parameters = {'skills_file': str(file)}
        async with Bench(tmp_path / 'j.db', parameters=parameters, services=services) as bench:
            services.journal = tmp_path / 'j.db'
            await scenario(bench, services)

    run_virtual(run())
    assert check_journal(tmp_path / 'j.db') == []
    if replayed:
        replay = replay_journal(tmp_path / 'j.db')
        assert replay.identical, [run.differences[:2] for run in replay.runs]


def test_a_request_is_filled_and_a_response_told_as_mapped(tmp_path: Path) -> None:
    async def scenario(bench: Bench, services: Services) -> None:
        result = await bench.call('ring', {'loud': True})
        assert (result.status.value, result.data) == ('completed', {'note': 'ding'})
        result = await bench.call('hear', {})
        assert result.data == {'note': 'ding', 'deep': 4}
        assert services.asked == [('bell', {'data': True}), ('ear', {})]

    _on_bench(tmp_path, scenario)


def test_a_service_that_says_no_or_nothing_is_an_error_of_the_tool(tmp_path: Path) -> None:
    async def scenario(bench: Bench, services: Services) -> None:
        services.answer = {'success': False, 'message': 'broken'}
        result = await bench.call('hear', {})
        assert result.status.value == 'tool_error'
        assert 'refused (note: broken, deep: None)' in result.message
        services.error = ServiceTimeoutError('no answer')
        assert (await bench.call('ring', {})).status.value == 'tool_error'

    _on_bench(tmp_path, scenario)


def test_a_call_that_acts_is_on_disk_before_the_request_leaves(tmp_path: Path) -> None:
    async def scenario(bench: Bench, services: Services) -> None:
        await bench.call('ring', {})
        assert services.recorded == [1]

    _on_bench(tmp_path, scenario)


def test_what_acts_is_not_called_while_the_journal_cannot_be_written(tmp_path: Path) -> None:
    async def scenario(bench: Bench, services: Services) -> None:
        services.journal = None
        other = sqlite3.connect(tmp_path / 'j.db', isolation_level=None)
        other.execute('BEGIN IMMEDIATE')
        refused = await bench.call('ring', {})
        looked = await bench.call('hear', {})
        other.close()
        assert refused.status.value == 'journal_unavailable'
        assert looked.status.value == 'completed'
        assert services.asked == [('ear', {})]

    _on_bench(tmp_path, scenario, replayed=False)


def test_what_acts_is_not_called_while_the_harness_is_inactive(tmp_path: Path) -> None:
    async def scenario(bench: Bench, services: Services) -> None:
        bench.core.dispatcher.active = False
        assert (await bench.call('ring', {})).status.value == 'harness_inactive'
        assert (await bench.call('hear', {})).status.value == 'completed'
        assert services.asked == [('ear', {})]

    _on_bench(tmp_path, scenario)


def test_the_tool_of_a_service_comes_and_goes_with_its_server(tmp_path: Path) -> None:
    async def scenario(bench: Bench, services: Services) -> None:
        names = lambda: bench.core.registry.names  # noqa: E731
        assert 'ring' not in names()
        services.told('bell', True)
        assert 'ring' in names()
        services.told('bell', False)
        await asyncio.sleep(3.5)
        assert 'ring' not in names()

    _on_bench(tmp_path, scenario)


@pytest.mark.parametrize('arguments', [{'loud': 1}, {'laud': True}])
def test_a_request_is_not_sent_for_arguments_that_are_none(
    tmp_path: Path, arguments: dict[str, Any]
) -> None:
    async def scenario(bench: Bench, services: Services) -> None:
        assert (await bench.call('ring', arguments)).status.value == 'invalid_arguments'
        assert services.asked == []

    _on_bench(tmp_path, scenario)
