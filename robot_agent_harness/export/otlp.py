# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Spans of a journal to a collector (OTLP over HTTP), or into a file (OTLP as JSON lines).

The standard `OTEL_*` variables of the environment are the SDK's business: endpoint, headers,
certificates, timeout, compression, resource attributes, sampler, limits.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
import json
import os
from pathlib import Path
import socket
from typing import Any, TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from robot_agent_harness.errors import ConfigurationError
from robot_agent_harness.export.errors import ExportError
from robot_agent_harness.export.source import naming, Source
from robot_agent_harness.extras import missing_extra
from robot_agent_harness.output_file import output_file

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

BATCH_SPANS = 512
"""Spans in one request; the OpenTelemetry specification's default."""
TRACES_PATH = '/v1/traces'
PROTOCOL = 'http/protobuf'
_PROTOCOL_VARIABLES = ('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL')
DEFAULT_ENDPOINT = 'http://localhost:4318'
_ENDPOINT_VARIABLE = 'OTEL_EXPORTER_OTLP_ENDPOINT'
_TRACES_ENDPOINT_VARIABLE = 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'
CONNECT_S = 5.0
"""How long a collector may take to accept a connection."""
_ID_FIELDS = frozenset({'traceId', 'spanId', 'parentSpanId'})


def send_spans(source: Source, endpoint: str | None = None, *, with_content: bool = False) -> int:
    """Send the spans to a collector and return how many there were.

    :param endpoint: the collector's base URL, for instance `http://localhost:4318`; None: as the
        environment says, which without OTEL_EXPORTER_OTLP_ENDPOINT is that one.
    :param with_content: see :func:`write_spans`.
    :raises ConfigurationError: the extra `otel` is not installed, there is no such mission, or the
        environment asks for another protocol.
    :raises ExportError: there is no collector, or it did not take them; what it took before stays
        there.
    :raises JournalError: a record cannot be read.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace.export import SpanExportResult
    except ImportError as error:
        raise missing_extra('an OpenTelemetry export', 'otel') from error
    asked = next((os.environ[name] for name in _PROTOCOL_VARIABLES if os.environ.get(name)), None)
    if endpoint is None and asked not in (None, PROTOCOL):
        raise ConfigurationError(f'{_PROTOCOL_VARIABLES[1]}: {asked} is not spoken, {PROTOCOL} is')
    url = _traces_url(endpoint)
    _reach(url)
    exporter = OTLPSpanExporter(endpoint=url)
    count = 0
    try:
        for batch in _batches(source, with_content):
            if exporter.export(batch) is not SpanExportResult.SUCCESS:
                raise ExportError(
                    f'the collector at {url} did not take the spans (it took {count} before); the'
                    ' reason is in the log above'
                )
            count += len(batch)
    finally:
        exporter.shutdown()  # type: ignore[no-untyped-call]  # the SDK's
    return count


def write_spans(source: Source, target: Path | str, *, with_content: bool = False) -> int:
    """Write the spans as OTLP JSON, a request a line, and return how many there were.

    The OpenTelemetry Collector reads such files with its `otlpjsonfile` receiver.

    :param target: the file; `-` = standard output.
    :param with_content: whether prompts, answers, arguments, results, goals and evidence are in;
        without them the spans hold ids, names, states, counts and times only.
    :raises ConfigurationError: the extra `otel` is not installed, there is no such mission, or the
        file cannot be written.
    :raises JournalError: a record cannot be read.
    """
    try:
        from google.protobuf.json_format import MessageToDict  # type: ignore[import-untyped]
        from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
    except ImportError as error:
        raise missing_extra('an OpenTelemetry export', 'otel') from error
    count = 0
    with output_file(target, source.reader.path) as file:
        for batch in _batches(source, with_content):
            request = MessageToDict(encode_spans(batch), use_integers_for_enums=True)
            file.write(json.dumps(_with_hex_ids(request), separators=(',', ':')).encode() + b'\n')
            count += len(batch)
    return count


def _batches(source: Source, with_content: bool) -> Iterator[Sequence[ReadableSpan]]:
    try:
        from robot_agent_harness.export.spans import Spans
        from robot_agent_harness.export.tracing import Ended
    except ImportError as error:
        raise missing_extra('an OpenTelemetry export', 'otel') from error
    ended = Ended()
    spans = Spans(ended, with_content=with_content)
    for event in source.events():
        with naming(event):
            spans.hear(event)
        if len(ended.spans) >= BATCH_SPANS:
            yield ended.take()
    spans.finish()
    left = ended.take()
    for first in range(0, len(left), BATCH_SPANS):
        yield left[first : first + BATCH_SPANS]


def _traces_url(endpoint: str | None) -> str:
    """Return where spans are sent to: what was named, else what the environment says."""
    if endpoint is not None:
        base = _http_url('--otlp-endpoint', endpoint).rstrip('/')
        return base if base.endswith(TRACES_PATH) else base + TRACES_PATH
    if of_traces := os.environ.get(_TRACES_ENDPOINT_VARIABLE):
        return _http_url(_TRACES_ENDPOINT_VARIABLE, of_traces)  # as it is, says the specification
    base = os.environ.get(_ENDPOINT_VARIABLE) or DEFAULT_ENDPOINT
    return _http_url(_ENDPOINT_VARIABLE, base).rstrip('/') + TRACES_PATH


def _http_url(name: str, value: str) -> str:
    try:
        parts = urlsplit(value)
        usable = parts.scheme in ('http', 'https') and parts.hostname and parts.port != 0
    except ValueError:  # a port that is no number, half an IPv6 address
        usable = False
    if not usable:
        raise ConfigurationError(f'{name}: {value!r} is no http(s) URL')
    return value


def _reach(url: str) -> None:
    """Say at once where nobody listens; the SDK would try again for as long as its timeout.

    :raises ExportError: names the address and the reason.
    """
    parts = urlsplit(url)
    host, port = parts.hostname or '', parts.port or (443 if parts.scheme == 'https' else 80)
    proxies = getproxies()
    if (parts.scheme in proxies or 'all' in proxies) and not proxy_bypass(host):
        return  # the proxy knows, and the SDK asks it
    try:
        socket.create_connection((host, port), CONNECT_S).close()
    except OSError as error:
        raise ExportError(
            f'no collector listens at {url} ({error.strerror or error}): start one, name another'
            ' with --otlp-endpoint, or write the spans into a file with -o'
        ) from error


def _with_hex_ids(request: dict[str, Any]) -> dict[str, Any]:
    """Return OTLP JSON: its ids are hex (OTLP, JSON encoding), where protobuf has base64."""
    for resource in request['resourceSpans']:
        for scope in resource['scopeSpans']:
            for span in scope['spans']:
                for one in (span, *span.get('links', ())):
                    for name in _ID_FIELDS & one.keys():
                        one[name] = base64.b64decode(one[name]).hex()
    return request
