# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A whole mission through the official OpenAI SDK, against a stub of Chat Completions."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from arriving_nav2 import ArrivingNav2
import pytest

from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.llm.factory import make_client, ModelSettings
from robot_agent_harness.mission import MissionOutcome
from robot_agent_harness.testing import Bench, ChatCompletionsApi, check_journal
from robot_agent_harness.testing.chat_completions import completion, tool_call

KEY = 'sk-proj-a-key-that-must-not-appear'
INTENT = {'purpose': 'fetch the parcel', 'expected_outcome': 'the robot stands at x 1'}
GO = {'x': 1.0, 'y': 0.0, **INTENT}
DONE = {'outcome': 'achieved', 'reason': 'seen at x 1'}


@pytest.mark.anyio
async def test_a_model_behind_chat_completions_carries_a_mission_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    caplog.set_level(logging.DEBUG)
    answers = (
        completion('Let me think.', message={'reasoning_content': 'where am I'}),
        completion(None, tool_call('list_places'), message={'reasoning_content': 'a map'}),
        completion('The way', tool_call('navigate_to_pose', GO), finish_reason='length'),
        completion(
            f'The way is free; I go. {KEY}',
            tool_call('navigate_to_pose', GO, id='one'),
            tool_call('navigate_to_pose', {**GO, 'x': 9.0}, id='two'),
        ),
        completion('It arrived.', tool_call('finish_mission', DONE)),
    )
    path = tmp_path / 'journal.db'
    with ChatCompletionsApi(*answers, api_key=KEY) as api:
        settings = ModelSettings(provider='openai', name='gpt-4.1', base_url=api.base_url)
        model = make_client(settings, os.environ)
        nav2 = ArrivingNav2()
        async with Bench(path, model=model, nav2=nav2) as bench:
            nav2.bench = bench
            report = await bench.core.harness.run_mission('Bring the parcel.')
        problems = [request.broken_rules for request in api.requests if request.broken_rules]

    assert problems == []
    assert (report.outcome, report.claim_supported) == (MissionOutcome.ACHIEVED, True)
    assert check_journal(path) == []
    asked = [request.body for request in api.requests]
    # Only an answer that calls nothing is followed by a request that must.
    assert [body['tool_choice'] for body in asked] == ['auto', 'required', *['auto'] * 3]
    tools = {
        tool['function']['name']: tool['function']['parameters'] for tool in asked[0]['tools']
    }
    assert {'purpose', 'expected_outcome'} <= set(tools['navigate_to_pose']['required'])
    assert 'wait_for_action' not in tools
    assert 'SUCCEEDED (verified)' in asked[4]['messages'][1]['content']
    assert 'truncated' in asked[3]['messages'][-1]['content']
    with JournalReader(path) as reader:
        events = list(reader.events())
    responses = [e.payload for e in events if e.type == 'MODEL_RESPONSE_RECORDED']
    assert [r['stop_reason'] for r in responses] == ['stop', 'tool_calls', 'length'] + [
        'tool_calls'
    ] * 2
    assert [r['thinking'] for r in responses[:3]] == ['where am I', 'a map', None]
    assert responses[-1]['rationale'] == 'It arrived.'
    assert report.usage['input_tokens'] == 500
    assert len(nav2.sent) == 1
    assert KEY not in str(events)
    assert KEY not in caplog.text
