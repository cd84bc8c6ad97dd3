# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Fakes and checks for the tests of those who build on the harness, and for its own.

- :class:`Bench` with :func:`run_virtual`: the whole core in process, on virtual time;
- :class:`ScriptableNav2`: a controller that says what the test tells it to;
- :func:`scripted` with :func:`call`, :func:`response`, :func:`text`: a model written in the test;
- :class:`MessagesApi` and :class:`ChatCompletionsApi`: stand-ins for model APIs over HTTP;
- :func:`check_journal`: every violation of the contract in a journal file.
"""

from robot_agent_harness.testing.bench import Bench, BenchRobot
from robot_agent_harness.testing.chat_completions import ChatCompletionsApi
from robot_agent_harness.testing.fake_clock import FakeClock, SequentialIds
from robot_agent_harness.testing.journal_assertions import assert_journal, check_journal
from robot_agent_harness.testing.messages_api import MessagesApi
from robot_agent_harness.testing.scriptable_nav2 import ScriptableNav2
from robot_agent_harness.testing.scripted_model import call, response, scripted, text
from robot_agent_harness.testing.virtual_time import run_virtual, VirtualTimeLoop

__all__ = [
    'Bench',
    'BenchRobot',
    'ChatCompletionsApi',
    'FakeClock',
    'MessagesApi',
    'ScriptableNav2',
    'SequentialIds',
    'VirtualTimeLoop',
    'assert_journal',
    'call',
    'check_journal',
    'response',
    'run_virtual',
    'scripted',
    'text',
]
