# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Every tool, driven into each status that it can give: the result satisfies its output schema.

Most statuses come over HTTP, as a client gets them. Those that no client can be told of (it has
gone, or is the harness's own model) are taken from the dispatcher and put into MCP's form.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from mcp import Client
from mcp_rig import connected, ERAS, Rig, rig
import pytest

from robot_agent_harness.actions.controller import SendFailed
from robot_agent_harness.errors import JournalUnavailableError
from robot_agent_harness.mcp_server.tools import call_result
from robot_agent_harness.skills.call import CallContext
from robot_agent_harness.skills.result import ResultStatus

Step = Callable[[Rig, Client], Awaitable[Any]]
GOAL = {'x': 2.0, 'y': 0.0}
NOBODY = '0' * 32
MANAGED = {
    'navigate_to_pose': (GOAL, {'x': 0.0, 'y': 1.0}, {'x': '1,5', 'y': 0}),
    'navigate_to_place': ({'name': 'kitchen'}, {'name': 'dock'}, {'name': 'nowhere'}),
}
"""A call that can be made, another one, and one with arguments that cannot be used."""


def _call(name: str, /, **arguments: Any) -> Step:
    async def step(made: Rig, client: Client) -> Any:
        return await client.call_tool(name, arguments)

    return step


# -- managed tools -------------------------------------------------------------------------------


def _accepted(name: str) -> Step:
    return _call(name, **MANAGED[name][0])


def _rejected(name: str) -> Step:
    async def step(made: Rig, client: Client) -> Any:
        made.nav2.accept_after_s = None
        send = made.nav2.send_goal

        def refuse(goal_id: str, goal: dict[str, Any]) -> None:
            send(goal_id, goal)
            made.nav2.respond(False)

        made.nav2.send_goal = refuse  # type: ignore[method-assign]
        return await client.call_tool(name, MANAGED[name][0])

    return step


def _busy(name: str) -> Step:
    async def step(made: Rig, client: Client) -> Any:
        await client.call_tool(name, MANAGED[name][0])
        return await client.call_tool(name, MANAGED[name][1])

    return step


def _moved(name: str) -> Step:
    async def step(made: Rig, client: Client) -> Any:
        await client.call_tool('get_world_snapshot', {})
        made.robot.place(1.0, 0.0)
        made.observe()
        return await client.call_tool(name, MANAGED[name][0])

    return step


def _invalid(name: str) -> Step:
    return _call(name, **MANAGED[name][2])


def _away(name: str) -> Step:
    async def step(made: Rig, client: Client) -> Any:
        made.nav2.set_reachable(False)
        call = asyncio.ensure_future(client.call_tool(name, MANAGED[name][0]))
        while not call.done():
            # The call may give the server a moment to appear.
            made.observe(0.5)
            await asyncio.sleep(0.01)
        return call.result()

    return step


def _not_sent(name: str) -> Step:
    async def step(made: Rig, client: Client) -> Any:
        def fail(goal_id: str, goal: dict[str, Any]) -> None:
            made.nav2.say(SendFailed(goal_id, 'no middleware'))

        made.nav2.send_goal = fail  # type: ignore[method-assign]
        return await client.call_tool(name, MANAGED[name][0])

    return step


def _inactive(name: str) -> Step:
    async def step(made: Rig, client: Client) -> Any:
        made.core.dispatcher.active = False
        return await client.call_tool(name, MANAGED[name][0])

    return step


def _silent(name: str) -> Step:
    async def step(made: Rig, client: Client) -> Any:
        made.nav2.accept_after_s = None
        return await client.call_tool(name, MANAGED[name][0])

    return step


def _no_journal(name: str) -> Step:
    async def step(made: Rig, client: Client) -> Any:
        def fail(*entries: Any, **more: Any) -> asyncio.Future[list[int]]:
            raise JournalUnavailableError('the disk is full')

        made.core.starter._journal.append = fail  # type: ignore[method-assign]
        return await client.call_tool(name, MANAGED[name][0])

    return step


def _second_in_a_step(name: str) -> Step:
    async def step(made: Rig, client: Client) -> Any:
        context = CallContext(not_now='one a decision')
        result = await made.core.dispatcher.call(name, MANAGED[name][0], context)
        return call_result(result, max_text_bytes=8192)

    return step


def _withdrawn(name: str) -> Step:
    async def step(made: Rig, client: Client) -> Any:
        context = CallContext()
        context.interest.leave()
        result = await made.core.dispatcher.call(name, MANAGED[name][0], context)
        return call_result(result, max_text_bytes=8192)

    return step


# -- ordinary tools ------------------------------------------------------------------------------


def _of_an_action(name: str, *, ended: bool) -> Step:
    async def step(made: Rig, client: Client) -> Any:
        made.nav2.cancel_code = 0
        sent = (await client.call_tool('navigate_to_pose', GOAL)).structured_content
        made.nav2.feedback(distance_remaining=1.5)
        about = {'action_id': sent['action_id']}
        if ended:
            made.arrive(2.0, 0.0)
            await client.call_tool('wait_for_action', about)
        elif name == 'wait_for_action':
            about['timeout_s'] = 0.01
        return await client.call_tool(name, about)

    return step


def _stopping(name: str, arguments: dict[str, Any]) -> Step:
    async def step(made: Rig, client: Client) -> Any:
        await made.core.dispatcher.close()
        return await client.call_tool(name, arguments)

    return step


def _crashing(name: str, arguments: dict[str, Any]) -> Step:
    async def step(made: Rig, client: Client) -> Any:
        def crash(*_: Any, **__: Any) -> Any:
            raise RuntimeError('a fault')

        skills = made.core.registry._skills
        skills[name] = replace(skills[name], function=crash)
        return await client.call_tool(name, arguments)

    return step


async def _gave_up(made: Rig, client: Client) -> Any:
    sent = (await client.call_tool('navigate_to_pose', GOAL)).structured_content
    context = CallContext()
    context.interest.leave()
    wait = {'action_id': sent['action_id']}
    result = await made.core.dispatcher.call('wait_for_action', wait, context)
    return call_result(result, max_text_bytes=8192)


_ORDINARY: dict[str, dict[str, Any]] = {
    'cancel_action': {'action_id': NOBODY},
    'wait_for_action': {'action_id': NOBODY},
    'get_action': {'action_id': NOBODY},
    'get_world_snapshot': {},
    'list_places': {},
}
_EVERY = {**{name: calls[0] for name, calls in MANAGED.items()}, **_ORDINARY}
_ACTION_TOOLS = ('cancel_action', 'wait_for_action', 'get_action')

CASES: list[tuple[str, str, Step]] = [
    *(
        (name, status, make(name))
        for name in MANAGED
        for status, make in (
            ('accepted', _accepted),
            ('rejected', _rejected),
            ('precondition_changed', _busy),
            ('precondition_changed', _moved),
            ('invalid_arguments', _invalid),
            ('controller_unavailable', _away),
            ('controller_unavailable', _not_sent),
            ('harness_inactive', _inactive),
            ('acceptance_unknown', _silent),
            ('journal_unavailable', _no_journal),
            ('one_managed_action_per_step', _second_in_a_step),
            ('interrupted', _withdrawn),
        )
    ),
    *((name, 'completed', _call(name)) for name in ('get_world_snapshot', 'list_places')),
    *(
        (name, 'completed', _of_an_action(name, ended=end))
        for name in _ACTION_TOOLS
        for end in (0, 1)
    ),
    *((name, 'unknown_action', _call(name, action_id=NOBODY)) for name in _ACTION_TOOLS),
    *((name, 'invalid_arguments', _call(name, nonsense=1)) for name in _ORDINARY),
    *((name, 'interrupted', _stopping(name, asked)) for name, asked in _EVERY.items()),
    *((name, 'tool_error', _crashing(name, asked)) for name, asked in _EVERY.items()),
    ('wait_for_action', 'interrupted', _gave_up),
    ('fly', 'unknown_tool', _call('fly')),
]


def test_every_status_of_the_contract_is_among_the_cases() -> None:
    assert {status for _, status, _ in CASES} == {status.value for status in ResultStatus}
    assert {name for name, _, _ in CASES} == {*_EVERY, 'fly'}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ('tool', 'status', 'step'),
    [pytest.param(*case, id=f'{case[0]}-{case[1]}-{number}') for number, case in enumerate(CASES)],
)
async def test_what_a_call_returns_satisfies_its_output_schema(
    tmp_path: Path, tool: str, status: str, step: Step
) -> None:
    quick = {'navigation.accept_timeout_s': 0.1}
    async with rig(tmp_path, parameters=quick) as made, connected(made, ERAS[1]) as client:
        listed = {entry.name: entry for entry in (await client.list_tools()).tools}
        answer = await step(made, client)
        told = answer.structured_content
        assert told['status'] == status
        assert answer.is_error == (status not in ('completed', 'accepted'))
        if tool in listed:
            schema = listed[tool].output_schema
            Draft202012Validator(schema).validate(told)
            assert set(told) <= set(schema['properties']), 'a key that the schema does not tell of'
        # The first text says it on its own, and in few words.
        assert answer.content[0].text == told['message']
        assert 0 < len(told['message']) <= 600
        recorded = [result['structured'] for result in made.results()]
        assert told in recorded or status == 'interrupted'
