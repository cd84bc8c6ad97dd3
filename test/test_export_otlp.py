# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""A journal as OpenTelemetry spans: in memory, as a file, and at a collector over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
import gzip
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import json
import os
from pathlib import Path
import re
import socket
import threading
from typing import Any

from export_rig import (
    as_entry,
    events_of,
    HOSTILE,
    INSTRUCTION,
    lengthen,
    make_journal,
    MISSION,
    record,
    SAID,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv import _incubating
from opentelemetry.trace import SpanKind, StatusCode
import pytest

from robot_agent_harness import __version__
from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.events import (
    MissionStarted,
    ModelResponseRecorded,
    ModelTurnStarted,
    RobotActionStarted,
    SalientEvent,
    ToolCallRecorded,
)
from robot_agent_harness.export import ExportError, send_spans, Source, write_spans
from robot_agent_harness.export.spans import Spans
from robot_agent_harness.export.tracing import span_id_of, trace_id_of
from robot_agent_harness.journal import JournalReader
from robot_agent_harness.journal.selection import Selection

OWN = 'robot_agent_harness.'
CONTENT = (INSTRUCTION, 'fetch the parcel', 'On to', 'The shelf is near', SAID, 'position_error_m')
"""What only prompts, answers, arguments and evidence hold."""


@pytest.fixture(scope='module')
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_journal(tmp_path_factory.mktemp('otlp') / 'journal.db')


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith('OTEL_')]:
        monkeypatch.delenv(name)


def spans_of(journal: Path, *, with_content: bool = False) -> list[ReadableSpan]:
    exporter = InMemorySpanExporter()
    spans = Spans(SimpleSpanProcessor(exporter), with_content=with_content)
    for event in events_of(journal):
        spans.hear(event)
    spans.finish()
    return list(exporter.get_finished_spans())


@pytest.fixture(scope='module')
def spans(journal: Path) -> list[ReadableSpan]:
    return spans_of(journal)


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def named(spans: list[ReadableSpan], name: str) -> list[ReadableSpan]:
    return [span for span in spans if span.name == name]


def context_id(span: ReadableSpan) -> tuple[int, int]:
    assert span.context is not None
    return span.context.trace_id, span.context.span_id


def parent_of(spans: list[ReadableSpan], span: ReadableSpan) -> ReadableSpan | None:
    if span.parent is None:
        return None
    wanted = (span.parent.trace_id, span.parent.span_id)
    return next(other for other in spans if context_id(other) == wanted)


def test_mission_turns_answers_calls_and_actions_form_one_tree(
    spans: list[ReadableSpan],
) -> None:
    (mission,) = named(spans, 'invoke_agent robot_agent_harness')
    assert mission.parent is None
    assert mission.kind is SpanKind.INTERNAL
    assert attributes(mission)['gen_ai.operation.name'] == 'invoke_agent'
    assert attributes(mission)['gen_ai.conversation.id'] == MISSION
    turns = named(spans, 'turn')
    assert [parent_of(spans, turn) for turn in turns] == [mission] * 4
    for answer in named(spans, 'chat script'):
        assert answer.kind is SpanKind.CLIENT
        assert parent_of(spans, answer) in turns
    calls = [span for span in spans if span.name.startswith('execute_tool ')]
    assert [parent_of(spans, call) for call in calls] == turns
    inside = [span for span in named(spans, 'robot_action navigate_to_pose') if span.parent]
    assert [parent_of(spans, action) for action in inside[:2]] == [mission] * 2
    assert {context_id(span)[0] for span in [mission, *turns, *calls]} == {trace_id_of(MISSION)}


def test_an_action_is_linked_to_its_call_and_the_turn_after_it_to_the_action(
    spans: list[ReadableSpan],
) -> None:
    actions = named(spans, 'robot_action navigate_to_pose')
    calls = {
        attributes(span)[f'{OWN}tool_call_id']: span
        for span in spans
        if attributes(span).get('gen_ai.operation.name') == 'execute_tool'
    }
    for action in actions:
        (link,) = action.links
        assert dict(link.attributes or {}) == {f'{OWN}link': 'requested_by_call'}
        call = calls[attributes(action)[f'{OWN}tool_call_id']]
        assert (link.context.trace_id, link.context.span_id) == context_id(call)
    causes = [
        (dict(link.attributes or {})[f'{OWN}link'], link.context.span_id)
        for turn in named(spans, 'turn')
        for link in turn.links
    ]
    assert causes == [('caused_by_outcome', context_id(action)[1]) for action in actions[:2]]


def test_times_are_those_of_the_records(journal: Path, spans: list[ReadableSpan]) -> None:
    events = events_of(journal)
    for action in named(spans, 'robot_action navigate_to_pose'):
        own = [e for e in events if e.action_id == attributes(action)[f'{OWN}action_id']]
        wall = {event.type: event.wall_time_ns for event in own}
        assert action.start_time == wall['ROBOT_ACTION_STARTED']
        assert action.end_time == wall['ROBOT_ACTION_OUTCOME']
        assert [event.name for event in action.events] == ['ACCEPTED', 'RUNNING', 'VERIFYING']
    slow = named(spans, 'chat script')[1]
    assert slow.end_time is not None
    assert slow.start_time is not None
    assert slow.end_time - slow.start_time == pytest.approx(2e9, rel=0.01)


def test_what_went_wrong_is_an_error_of_a_few_known_kinds(spans: list[ReadableSpan]) -> None:
    def told(name: str) -> list[Any]:
        return [
            (span.status.status_code, attributes(span).get('error.type'))
            for span in named(spans, name)
        ]

    ok = (StatusCode.OK, None)
    assert told('robot_action navigate_to_pose') == [
        ok,
        (StatusCode.ERROR, 'verification_disproved'),
        ok,
    ]
    assert told('execute_tool navigate_to_pose') == [
        ok,
        (StatusCode.ERROR, 'precondition_changed'),
        ok,
    ]
    assert told('invoke_agent robot_agent_harness') == [(StatusCode.ERROR, 'not_achieved')]
    (overtaken,) = [
        span for span in spans if attributes(span).get('error.type') == 'precondition_changed'
    ]
    (checked,) = overtaken.events
    assert dict(checked.attributes or {})[f'{OWN}failed_checks'] == ('pose_drift',)


def test_a_call_of_an_mcp_client_is_a_trace_of_its_own_with_its_action(
    spans: list[ReadableSpan],
) -> None:
    (call,) = named(spans, 'tools/call navigate_to_pose')
    assert call.kind is SpanKind.SERVER
    assert call.parent is None
    told = attributes(call)
    assert told['mcp.method.name'] == 'tools/call'
    assert told['mcp.session.id'] == 'session-1'
    assert told['mcp.protocol.version'] == '2025-11-25'
    assert told['jsonrpc.request.id'] == '7'
    assert told['gen_ai.tool.name'] == 'navigate_to_pose'
    assert (told['network.transport'], told['network.protocol.name']) == ('tcp', 'http')
    (action,) = [span for span in spans if parent_of(spans, span) is call]
    assert attributes(action)[f'{OWN}action_id'] == told[f'{OWN}action_id']


def test_what_a_client_calls_a_tool_that_there_is_not_makes_no_name_of_a_span(
    spans: list[ReadableSpan],
) -> None:
    (call,) = named(spans, 'tools/call')
    assert attributes(call)['gen_ai.tool.name'] == HOSTILE.replace('\0', '\\x00')
    assert attributes(call)['error.type'] == 'tool_error'
    assert attributes(call)[f'{OWN}status'] == 'unknown_tool'


def test_tokens_of_the_cache_are_part_of_the_input(tmp_path: Path) -> None:
    usage = {
        'input_tokens': 10,
        'output_tokens': 5,
        'cache_read_input_tokens': 100,
        'cache_creation_input_tokens': 7,
    }
    journal = record(tmp_path / 'j.db', as_entry(answer(usage)), as_entry(answer({})))
    counted, uncounted = map(attributes, spans_of(journal))
    assert counted['gen_ai.usage.input_tokens'] == 117
    assert counted['gen_ai.usage.output_tokens'] == 5
    assert counted['gen_ai.usage.cache_read.input_tokens'] == 100
    assert counted['gen_ai.usage.cache_creation.input_tokens'] == 7
    assert 'gen_ai.usage.input_tokens' not in uncounted


def answer(usage: dict[str, Any], **fields: Any) -> ModelResponseRecorded:
    empty = {'rationale': None, 'thinking': None, 'tool_calls': [], 'stop_reason': None}
    given = {'provider': 'anthropic', 'model': None, **empty, **fields}
    return ModelResponseRecorded(usage=usage, **given)


def test_the_ids_of_the_journal_are_attributes_and_give_the_ids_of_the_spans(
    journal: Path, spans: list[ReadableSpan]
) -> None:
    known = {
        column: {getattr(event, column) for event in events_of(journal)} - {None}
        for column in ('mission_id', 'turn_id', 'tool_call_id', 'action_id', 'snapshot_id')
    }
    for span in spans:
        for column, ids in known.items():
            assert attributes(span).get(f'{OWN}{column}') in {*ids, None}
    for kind, column, name in (
        ('mission', 'mission_id', 'invoke_agent robot_agent_harness'),
        ('turn', 'turn_id', 'turn'),
        ('call', 'tool_call_id', 'tools/call navigate_to_pose'),
        ('action', 'action_id', 'robot_action navigate_to_pose'),
    ):
        for span in named(spans, name):
            assert context_id(span)[1] == span_id_of(kind, attributes(span)[f'{OWN}{column}'])
    assert len({context_id(span) for span in spans}) == len(spans)


def test_two_exports_are_the_same_spans(journal: Path, tmp_path: Path) -> None:
    assert written(journal, tmp_path / 'a') == written(journal, tmp_path / 'b')


def test_names_are_those_of_the_semantic_conventions(journal: Path) -> None:
    conventions = {
        value
        for name in ('gen_ai', 'mcp', 'jsonrpc', 'error', 'network')
        for value in vars(
            pytest.importorskip(f'{_incubating.__name__}.attributes.{name}_attributes')
        ).values()
        if isinstance(value, str)
    }
    used = {
        name
        for span in spans_of(journal, with_content=True)
        for name in attributes(span)
        if not name.startswith(OWN)
    }
    assert used <= conventions
    assert 'gen_ai.usage.input_tokens' in used


def test_content_is_left_out_unless_it_is_asked_for(journal: Path, tmp_path: Path) -> None:
    text = json.dumps(written(journal, tmp_path / 'without'))
    assert [word for word in CONTENT if word in text] == []
    with_content = json.dumps(written(journal, tmp_path / 'with', with_content=True))
    assert [word for word in CONTENT if word not in with_content] == []


def test_content_follows_the_genai_conventions(journal: Path) -> None:
    spans = spans_of(journal, with_content=True)
    answer = attributes(named(spans, 'chat script')[0])
    (said,) = json.loads(answer['gen_ai.output.messages'])
    assert said['role'] == 'assistant'
    assert [part['type'] for part in said['parts']] == ['reasoning', 'text', 'tool_call']
    assert said['parts'][2]['name'] == 'navigate_to_pose'
    assert said['parts'][2]['arguments']['y'] == 4.0
    (asked,) = json.loads(answer['gen_ai.input.messages'])
    assert asked['role'] == 'user'
    assert INSTRUCTION in asked['parts'][0]['content']
    call = attributes(named(spans, 'execute_tool navigate_to_pose')[0])
    assert json.loads(call['gen_ai.tool.call.arguments'])['x'] == 3.0
    assert json.loads(call['gen_ai.tool.call.result'])['status'] == 'accepted'


def test_what_is_not_over_is_sent_as_far_as_it_is_and_marked_open(tmp_path: Path) -> None:
    ids = {'mission_id': 'm', 'turn_id': 't', 'tool_call_id': 'c'}
    begun = MissionStarted(instruction='i', robot_id='r', provider='scripted', max_steps=1)
    turn = ModelTurnStarted(step=1, trigger='mission_started', system_prompt='', user_prompt='')
    call = ToolCallRecorded(
        name='navigate_to_pose',
        arguments={},
        decision_snapshot_id='s',
        purpose=None,
        expected_outcome=None,
    )
    journal = record(
        tmp_path / 'j.db',
        as_entry(begun, mission_id='m'),
        as_entry(turn, mission_id='m', turn_id='t'),
        as_entry(call, **ids),
        as_entry(RobotActionStarted(skill='navigate_to_pose', goal={}), **ids, action_id='a' * 32),
    )
    spans = spans_of(journal)
    assert sorted(span.name for span in spans) == [
        'execute_tool navigate_to_pose',
        'invoke_agent robot_agent_harness',
        'robot_action navigate_to_pose',
        'turn',
    ]
    assert all(attributes(span)[f'{OWN}open'] is True for span in spans)


def test_a_wall_clock_that_steps_back_makes_no_span_of_negative_length(tmp_path: Path) -> None:
    asked = answer({'input_tokens': 'many'}, error='it said: INSTRUCTION', duration_s=-5.0)
    journal = record(tmp_path / 'j.db', as_entry(asked, mission_id='m', turn_id='t'))
    (span,) = spans_of(journal)
    assert span.name == 'chat'
    assert span.start_time == span.end_time
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, None)
    assert attributes(span)['error.type'] == 'model_error'


def test_long_and_hostile_texts_are_bounded_and_carried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = MissionStarted(instruction='i' * 100_000, robot_id=HOSTILE, provider='p', max_steps=1)
    journal = record(
        tmp_path / 'j.db',
        as_entry(begun, mission_id='m'),
        as_entry(SalientEvent(kind=HOSTILE, message='m'), mission_id='m'),
    )
    (mission,) = spans_of(journal, with_content=True)
    assert len(attributes(mission)[f'{OWN}instruction']) == 32 * 1024
    assert attributes(mission)[f'{OWN}robot_id'] == HOSTILE.replace('\0', '\\x00')
    assert [event.name for event in mission.events] == ['salient_event']
    monkeypatch.setenv('OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT', '100')
    (mission,) = spans_of(journal, with_content=True)
    assert len(attributes(mission)[f'{OWN}instruction']) == 100


# -- as a file ------------------------------------------------------------------------------------


def written(journal: Path, target: Path, **options: Any) -> list[dict[str, Any]]:
    with JournalReader(journal) as reader:
        write_spans(Source(reader), target, **options)
    return [json.loads(line) for line in target.read_text(encoding='utf-8').splitlines()]


def test_the_file_is_otlp_json_as_the_collector_reads_it(
    journal: Path, spans: list[ReadableSpan], tmp_path: Path
) -> None:
    (request,) = written(journal, tmp_path / 'spans.jsonl')
    (resource,) = request['resourceSpans']
    named_as = {a['key']: a['value']['stringValue'] for a in resource['resource']['attributes']}
    assert named_as == {'service.name': 'robot_agent_harness', 'service.version': __version__}
    (scope,) = resource['scopeSpans']
    told = [(span['traceId'], span['spanId'], span['name']) for span in scope['spans']]
    ours = [(f'{t:032x}', f'{s:016x}', span.name) for span in spans for t, s in [context_id(span)]]
    assert told == ours


# -- to a collector -------------------------------------------------------------------------------


class Collector(ThreadingHTTPServer):
    """Takes OTLP over HTTP and keeps what it was sent."""

    def __init__(self) -> None:
        super().__init__(('127.0.0.1', 0), _Handler)
        self.status = 200
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.requests: list[ExportTraceServiceRequest] = []

    @property
    def url(self) -> str:
        return f'http://127.0.0.1:{self.server_port}'

    @property
    def spans(self) -> list[Any]:
        return [
            span
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers['content-length']))
        if self.headers.get('content-encoding') == 'gzip':
            body = gzip.decompress(body)
        self.server.paths.append(self.path)
        self.server.headers.append({name.lower(): self.headers[name] for name in self.headers})
        self.server.requests.append(ExportTraceServiceRequest.FromString(body))
        self.send_response(self.server.status)
        self.send_header('content-length', '0')
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={'poll_interval': 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join(10.0)


def send(journal: Path, endpoint: str | None = None, **selection: str) -> int:
    with JournalReader(journal) as reader:
        return send_spans(Source(reader, Selection(**selection)), endpoint)


@pytest.mark.parametrize('path', ['', '/', '/v1/traces'])
def test_a_collector_gets_the_spans_in_protobuf(
    path: str, journal: Path, spans: list[ReadableSpan], collector: Collector
) -> None:
    assert send(journal, collector.url + path) == len(spans)
    assert collector.paths == ['/v1/traces']
    assert collector.headers[0]['content-type'] == 'application/x-protobuf'
    got = [
        (int.from_bytes(s.trace_id, 'big'), int.from_bytes(s.span_id, 'big'))
        for s in collector.spans
    ]
    assert got == [context_id(span) for span in spans]


def test_the_standard_variables_of_the_environment_are_respected(
    journal: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (
        ('OTEL_EXPORTER_OTLP_ENDPOINT', collector.url),
        ('OTEL_EXPORTER_OTLP_HEADERS', 'x-key=hidden'),
        ('OTEL_EXPORTER_OTLP_COMPRESSION', 'gzip'),
        ('OTEL_SERVICE_NAME', 'robot-7'),
        ('OTEL_RESOURCE_ATTRIBUTES', 'deployment.environment=lab'),
    ):
        monkeypatch.setenv(name, value)
    send(journal)
    (headers,) = collector.headers
    assert (headers['x-key'], headers['content-encoding']) == ('hidden', 'gzip')
    resource = collector.requests[0].resource_spans[0].resource
    told = {attribute.key: attribute.value.string_value for attribute in resource.attributes}
    assert told['service.name'] == 'robot-7'
    assert told['deployment.environment'] == 'lab'
    assert told['service.version'] == __version__


def test_a_long_journal_goes_in_bounded_requests_and_no_span_is_lost(
    journal: Path, collector: Collector, tmp_path: Path
) -> None:
    long = tmp_path / 'long.db'
    long.write_bytes(journal.read_bytes())
    lengthen(long, 8_000)
    count = send(long, collector.url)
    assert count == len(collector.spans) > 512
    assert len(collector.requests) == -(-count // 512)
    assert len({(span.trace_id, span.span_id) for span in collector.spans}) == count


def test_one_mission_is_sent_alone(journal: Path, collector: Collector) -> None:
    send(journal, collector.url, mission_id=MISSION)
    traces = {int.from_bytes(span.trace_id, 'big') for span in collector.spans}
    assert traces == {trace_id_of(MISSION)}


def test_a_collector_that_refuses_is_an_error(journal: Path, collector: Collector) -> None:
    collector.status = 400
    with pytest.raises(ExportError, match=r'did not take the spans \(it took 0 before\)'):
        send(journal, collector.url)


@pytest.mark.parametrize('named', [True, False], ids=['named', 'of the environment'])
def test_a_collector_that_is_not_there_is_told_without_trying_again(
    journal: Path,
    named: bool,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with socket.create_server(('127.0.0.1', 0)) as taken:
        address = f'http://127.0.0.1:{taken.getsockname()[1]}'
    monkeypatch.setenv('OTEL_EXPORTER_OTLP_ENDPOINT', address)
    where = f'no collector listens at {address}/v1/traces .*refused.*-o'
    with pytest.raises(ExportError, match=where):
        send(journal, address if named else None)
    assert caplog.records == []  # of the SDK, which tells each time that it tries again


def test_behind_a_proxy_the_proxy_is_asked_for_the_collector(
    journal: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('http_proxy', collector.url)
    monkeypatch.delenv('no_proxy', raising=False)
    monkeypatch.delenv('NO_PROXY', raising=False)
    count = send(journal, 'http://collector.invalid:4318')
    assert collector.paths == ['http://collector.invalid:4318/v1/traces']
    assert len(collector.spans) == count


def test_the_address_for_traces_alone_is_taken_as_it_is(
    journal: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('OTEL_EXPORTER_OTLP_ENDPOINT', 'http://127.0.0.1:9')
    monkeypatch.setenv('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', f'{collector.url}/ours')
    send(journal)
    assert collector.paths == ['/ours']


def test_what_cannot_be_an_endpoint_is_named(
    journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for wrong in ('localhost:4318', 'http://', 'http://[::1', 'http://localhost:port', 'ftp://x'):
        with pytest.raises(ConfigurationError, match=f'--otlp-endpoint: {re.escape(repr(wrong))}'):
            send(journal, wrong)
    monkeypatch.setenv('OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318')
    with pytest.raises(ConfigurationError, match="OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318'"):
        send(journal)
    monkeypatch.setenv('OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc')
    with pytest.raises(ConfigurationError, match='OTEL_EXPORTER_OTLP_PROTOCOL: grpc is not'):
        send(journal)


def test_the_name_of_a_span_is_bounded(tmp_path: Path) -> None:
    called = ToolCallRecorded(
        name='n' * 10_000,
        arguments={},
        decision_snapshot_id=None,
        purpose=None,
        expected_outcome=None,
    )
    journal = record(tmp_path / 'j.db', as_entry(called, tool_call_id='c'))
    (span,) = spans_of(journal)
    assert len(span.name) == 128
