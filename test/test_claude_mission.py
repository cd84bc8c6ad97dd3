# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A whole mission through the official Anthropic SDK, against a stub of the Messages API."""

from __future__ import annotations

from pathlib import Path

from arriving_nav2 import ArrivingNav2
import pytest

from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.llm.factory import make_client, ModelSettings
from robot_agent_harness.mission import MissionOutcome
from robot_agent_harness.testing import Bench, check_journal, MessagesApi
from robot_agent_harness.testing.messages_api import message, text, thinking, tool_use

KEY = 'sk-ant-a-key-that-must-not-appear'
INTENT = {'purpose': 'fetch the parcel', 'expected_outcome': 'the robot stands at x 1'}


@pytest.mark.anyio
async def test_claude_looks_acts_hears_the_outcome_and_finishes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    answers = (
        message(thinking('where am I'), tool_use('list_places')),
        message(
            text('The way is free; I go.'),
            tool_use('navigate_to_pose', {'x': 1.0, 'y': 0.0, **INTENT}),
        ),
        message(
            text('It arrived.'),
            tool_use('finish_mission', {'outcome': 'achieved', 'reason': 'seen at x 1'}),
        ),
    )
    path = tmp_path / 'journal.db'
    with MessagesApi(*answers, api_key=KEY) as api:
        settings = ModelSettings(provider='anthropic', base_url=api.base_url)
        model = make_client(settings, {'ANTHROPIC_API_KEY': KEY})
        nav2 = ArrivingNav2()
        async with Bench(path, model=model, nav2=nav2) as bench:
            nav2.bench = bench
            report = await bench.core.harness.run_mission('Bring the parcel.')
        problems = [request.broken_rules for request in api.requests if request.broken_rules]

    assert problems == []
    assert (report.outcome, report.claim_supported) == (MissionOutcome.ACHIEVED, True)
    assert check_journal(path) == []
    asked = [request.body for request in api.requests]
    tools = {tool['name']: tool['input_schema'] for tool in asked[0]['tools']}
    assert {'purpose', 'expected_outcome'} <= set(tools['navigate_to_pose']['required'])
    assert 'purpose' not in tools['list_places'].get('properties', {})
    assert 'wait_for_action' not in tools
    assert 'SUCCEEDED (verified)' in asked[2]['messages'][0]['content'][0]['text']
    with JournalReader(path) as reader:
        events = list(reader.events())
    responses = [e.payload for e in events if e.type == 'MODEL_RESPONSE_RECORDED']
    assert [r['rationale'] for r in responses] == [None, 'The way is free; I go.', 'It arrived.']
    assert responses[0]['thinking'] == 'where am I'
    assert KEY not in str(events)
    assert KEY not in caplog.text
