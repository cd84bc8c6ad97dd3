# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Records as OpenTelemetry spans, by the SDK's own pipeline. Needs the extra `otel`.

One trace a mission, and one a call outside missions. The names are those of the semantic
conventions for GenAI (agent, inference, tool execution) and MCP; ours begin with
`robot_agent_harness.`. Trace and span ids are digests of the journal's ids: the same journal gives
the same ids whoever exports it, and a later export of a longer journal completes the same traces.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from opentelemetry.sdk.trace import SpanProcessor
from opentelemetry.trace import Span, SpanContext, SpanKind

from robot_agent_harness.clock import NS_PER_S
from robot_agent_harness.events import EventType, RecordedEvent
from robot_agent_harness.export.conventions import (
    answered,
    asked,
    is_mcp,
    items,
    method,
    of_answer,
    of_call,
    OWN,
)
from robot_agent_harness.export.tracing import (
    clean,
    judge,
    Pipeline,
    Place,
    SERVICE,
    span_id_of,
    trace_id_of,
)
from robot_agent_harness.jsonable import canonical_json
from robot_agent_harness.messages import ros_text

YEAR_S = 365 * 24 * 3600.0
"""What took longer is no duration."""
_LAST_NS = 2**63 - 1
ID_ATTRIBUTES = ('mission_id', 'turn_id', 'tool_call_id', 'action_id', 'snapshot_id')


@dataclass(slots=True, eq=False)
class _Open:
    """A span that has begun, and what its end must know."""

    span: Span
    start_ns: int
    last_ns: int
    """The newest record that belongs to it."""
    state: str = ''
    """The newest state of an action."""
    method: str = ''
    """The first word of a call's name."""
    mcp: bool = False
    """Whether it is the call of an MCP client."""

    def end(self, end_ns: int) -> None:
        # The wall clock may have stepped back meanwhile.
        self.span.end(max(_time(end_ns), self.start_ns))


@dataclass(slots=True, eq=False)
class _Mission:
    mission: _Open
    turn: _Open | None = None
    prompt: Mapping[str, Any] | None = None
    """The turn that no answer has followed yet; kept only with content."""
    outcome: SpanContext | None = None
    """The action that ended last."""


class Spans:
    """Turns records into spans, in order; what is complete goes to the processor at once.

    :param ended: is given each span that has ended.
    :param with_content: whether prompts, answers, arguments, results, goals and evidence are in.
    """

    def __init__(self, ended: SpanProcessor, *, with_content: bool) -> None:
        self._pipeline = Pipeline(ended)
        self._with_content = with_content
        self._missions: dict[str, _Mission] = {}
        self._calls: dict[str, _Open] = {}
        self._actions: dict[str, _Open] = {}

    def hear(self, event: RecordedEvent) -> None:
        """Take the next record."""
        mission = self._missions.get(event.mission_id or '')
        if mission is not None:
            mission.mission.last_ns = event.wall_time_ns
        handle = _HANDLERS.get(event.type)
        if handle is not None:
            handle(self, event, mission)

    def finish(self) -> None:
        """End what is still open, at its last record, marked as such."""
        left = [*self._actions.values(), *self._calls.values()]
        for mission in self._missions.values():
            left += [mission.turn] if mission.turn is not None else []
            left.append(mission.mission)
        for one in left:
            one.span.set_attribute(f'{OWN}open', True)
            one.end(one.last_ns)

    # -- missions and turns ----------------------------------------------------------------------

    def _mission_started(self, event: RecordedEvent, _: _Mission | None) -> None:
        if event.mission_id is None:
            return
        payload = event.payload
        begun = self._begin(
            event,
            'mission',
            event.mission_id,
            f'invoke_agent {SERVICE}',
            {
                'gen_ai.operation.name': 'invoke_agent',
                'gen_ai.agent.name': SERVICE,
                'gen_ai.provider.name': payload.get('provider'),
                'gen_ai.request.model': payload.get('model'),
                f'{OWN}robot_id': payload.get('robot_id'),
                **self._content({f'{OWN}instruction': payload.get('instruction')}),
            },
        )
        self._missions[event.mission_id] = _Mission(begun)

    def _turn_started(self, event: RecordedEvent, mission: _Mission | None) -> None:
        if mission is None or event.turn_id is None:
            return
        self._end_turn(mission)
        payload = event.payload
        trigger = payload.get('trigger')
        caused = mission.outcome if trigger == 'action_outcome' else None
        mission.turn = self._begin(
            event,
            'turn',
            event.turn_id,
            'turn',
            {f'{OWN}step': payload.get('step'), f'{OWN}trigger': trigger},
            links={} if caused is None else {'caused_by_outcome': caused},
        )
        if self._with_content:
            mission.prompt = payload

    def _mission_ended(self, event: RecordedEvent, mission: _Mission | None) -> None:
        if mission is None or event.mission_id is None:
            return
        self._end_turn(mission)
        outcome = str(event.payload.get('outcome'))
        span = mission.mission.span
        ended = {f'{OWN}outcome': outcome, f'{OWN}reason': event.payload.get('reason')}
        span.set_attributes(clean(ended))
        judge(span, None if outcome == 'achieved' else outcome)
        mission.mission.end(event.wall_time_ns)
        del self._missions[event.mission_id]

    @staticmethod
    def _end_turn(mission: _Mission) -> None:
        if mission.turn is not None:
            mission.turn.end(mission.turn.last_ns)
        mission.turn = mission.prompt = None

    def _salient(self, event: RecordedEvent, mission: _Mission | None) -> None:
        if mission is None:
            return
        payload = event.payload
        attributes = {
            f'{OWN}kind': payload.get('kind'),
            **self._content({f'{OWN}message': payload.get('message')}),
        }
        when = _time(event.wall_time_ns)
        mission.mission.span.add_event('salient_event', clean(attributes), when)

    # -- the model -------------------------------------------------------------------------------

    def _answered(self, event: RecordedEvent, mission: _Mission | None) -> None:
        payload = event.payload
        model, took_s = payload.get('model'), payload.get('duration_s')
        turn = mission.turn if mission is not None else None
        start_ns = turn.last_ns if turn is not None else event.wall_time_ns
        if isinstance(took_s, (int, float)) and 0 <= took_s < YEAR_S:
            start_ns = event.wall_time_ns - int(took_s * NS_PER_S)
        content: dict[str, Any] = {}
        if self._with_content:
            content = answered(payload)
            if mission is not None and mission.prompt is not None:
                content |= asked(mission.prompt)
                mission.prompt = None
        call = self._begin(
            event,
            'model',
            f'{event.turn_id}:{event.seq}',
            f'chat {model}' if model else 'chat',
            {**of_answer(payload), **content},
            kind=SpanKind.CLIENT,
            start_ns=start_ns,
        )
        if payload.get('error'):
            # The text is the provider's: it may quote what was asked.
            text = str(payload['error']) if self._with_content else None
            judge(call.span, 'model_error', text)
        call.end(event.wall_time_ns)
        if turn is not None:
            turn.last_ns = event.wall_time_ns

    # -- calls -----------------------------------------------------------------------------------

    def _called(self, event: RecordedEvent, mission: _Mission | None) -> None:
        if event.tool_call_id is None:
            return
        payload = event.payload
        content = {
            'gen_ai.tool.call.arguments': payload.get('arguments'),
            f'{OWN}purpose': payload.get('purpose'),
            f'{OWN}expected_outcome': payload.get('expected_outcome'),
        }
        begun = self._begin(
            event,
            'call',
            event.tool_call_id,
            f'{method(payload)} {payload.get("name")}',
            {**of_call(payload), **self._content(content)},
            kind=SpanKind.SERVER if is_mcp(payload) else SpanKind.INTERNAL,
        )
        begun.method, begun.mcp = method(payload), is_mcp(payload)
        self._calls[event.tool_call_id] = begun
        if mission is not None and mission.turn is not None:
            mission.turn.last_ns = event.wall_time_ns

    def _checked(self, event: RecordedEvent, _: _Mission | None) -> None:
        call = self._calls.get(event.tool_call_id or '')
        if call is None:
            return
        payload = event.payload
        failed = [
            str(check.get('name')) for check in items(payload.get('checks')) if not check.get('ok')
        ]
        attributes = {
            f'{OWN}ok': payload.get('ok'),
            f'{OWN}failed_checks': failed,
            f'{OWN}decision_snapshot_id': payload.get('decision_snapshot_id'),
            f'{OWN}fresh_snapshot_id': payload.get('fresh_snapshot_id'),
        }
        call.last_ns = event.wall_time_ns
        call.span.add_event('preconditions_checked', clean(attributes), _time(event.wall_time_ns))

    def _resulted(self, event: RecordedEvent, mission: _Mission | None) -> None:
        call = self._calls.pop(event.tool_call_id or '', None)
        if call is None:
            return
        payload = event.payload
        status = payload.get('status')
        result = self._content({'gen_ai.tool.call.result': payload.get('structured')})
        ids = {f'{OWN}action_id': event.action_id}
        call.span.set_attributes(clean({f'{OWN}status': status, **ids, **result}))
        if status == 'unknown_tool':
            # Whatever a client called it: names of spans must have few values.
            call.span.update_name(call.method)
        error = 'tool_error' if call.mcp else str(status)
        judge(call.span, error if payload.get('is_error') else None)
        call.end(event.wall_time_ns)
        if mission is not None and mission.turn is not None:
            mission.turn.last_ns = event.wall_time_ns

    # -- actions ---------------------------------------------------------------------------------

    def _action_started(self, event: RecordedEvent, _: _Mission | None) -> None:
        if event.action_id is None:
            return
        payload = event.payload
        call = self._calls.get(event.tool_call_id or '')
        # It outlives the call and the turn, so that its parent is the mission.
        self._actions[event.action_id] = self._begin(
            event,
            'action',
            event.action_id,
            f'robot_action {payload.get("skill")}',
            {
                f'{OWN}skill': payload.get('skill'),
                **self._content({f'{OWN}goal': payload.get('goal')}),
            },
            links={} if call is None else {'requested_by_call': call.span.get_span_context()},
        )

    def _progressed(self, event: RecordedEvent, _: _Mission | None) -> None:
        action = self._actions.get(event.action_id or '')
        if action is None:
            return
        action.last_ns = event.wall_time_ns
        state = str(event.payload.get('state'))
        if state != action.state:
            action.span.add_event(ros_text(state), timestamp=_time(event.wall_time_ns))
        action.state = state

    def _action_ended(self, event: RecordedEvent, mission: _Mission | None) -> None:
        action = self._actions.pop(event.action_id or '', None)
        if action is None:
            return
        payload = event.payload
        state, reason = payload.get('state'), payload.get('reason')
        verified = payload.get('verification_snapshot_id')
        ended = {
            f'{OWN}state': state,
            f'{OWN}reason': reason,
            f'{OWN}verification_snapshot_id': verified,
            **self._content({f'{OWN}evidence': payload.get('evidence')}),
        }
        action.span.set_attributes(clean(ended))
        judge(action.span, None if state == 'SUCCEEDED' else str(reason))
        action.end(event.wall_time_ns)
        if mission is not None:
            mission.outcome = action.span.get_span_context()

    # -- parts -----------------------------------------------------------------------------------

    def _content(self, attributes: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return content as attributes, JSON where it is no text; nothing if it is not wanted."""
        if not self._with_content:
            return {}
        return {
            name: value if value is None or isinstance(value, str) else canonical_json(value)
            for name, value in attributes.items()
        }

    def _begin(
        self,
        event: RecordedEvent,
        thing: str,
        journal_id: str,
        name: str,
        attributes: Mapping[str, Any],
        *,
        kind: SpanKind = SpanKind.INTERNAL,
        start_ns: int | None = None,
        links: Mapping[str, SpanContext] | None = None,
    ) -> _Open:
        """Begin a span, at its record if nothing else is said, below what it belongs to."""
        start_ns = _time(event.wall_time_ns if start_ns is None else start_ns)
        trace_id = trace_id_of(event.mission_id or event.tool_call_id or journal_id)
        span = self._pipeline.begin(
            Place(trace_id, span_id_of(thing, journal_id), _parent_id(event, thing)),
            name,
            {
                'gen_ai.conversation.id': event.mission_id,
                **{f'{OWN}{column}': getattr(event, column) for column in ID_ATTRIBUTES},
                f'{OWN}seq': event.seq,
                **attributes,
            },
            start_ns=start_ns,
            kind=kind,
            links=links,
        )
        return _Open(span, start_ns, event.wall_time_ns)


def _time(ns: int) -> int:
    """Return a time that OTLP can carry."""
    return min(max(ns, 0), _LAST_NS)


def _parent_id(event: RecordedEvent, thing: str) -> int | None:
    if thing in ('model', 'call') and event.turn_id is not None:
        return span_id_of('turn', event.turn_id)
    if thing != 'mission' and event.mission_id is not None:
        return span_id_of('mission', event.mission_id)
    if thing == 'action' and event.tool_call_id is not None:
        return span_id_of('call', event.tool_call_id)
    return None


_Handler: TypeAlias = Callable[[Spans, RecordedEvent, '_Mission | None'], None]
_HANDLERS: dict[str, _Handler] = {
    EventType.MISSION_STARTED.value: Spans._mission_started,
    EventType.MODEL_TURN_STARTED.value: Spans._turn_started,
    EventType.MODEL_RESPONSE_RECORDED.value: Spans._answered,
    EventType.TOOL_CALL_RECORDED.value: Spans._called,
    EventType.ACTION_PRECONDITION_CHECKED.value: Spans._checked,
    EventType.TOOL_RESULT_RECORDED.value: Spans._resulted,
    EventType.ROBOT_ACTION_STARTED.value: Spans._action_started,
    EventType.ROBOT_ACTION_PROGRESS.value: Spans._progressed,
    EventType.ROBOT_ACTION_OUTCOME.value: Spans._action_ended,
    EventType.SALIENT_EVENT.value: Spans._salient,
    EventType.MISSION_ENDED.value: Spans._mission_ended,
}
