# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The SDK's tracing pipeline, for spans that happened long ago, with ids that the journal gives.

Needs the extra `otel`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import hashlib
import os
from typing import Any, TypeAlias

from opentelemetry.context import Context
from opentelemetry.sdk.environment_variables import (
    OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT,
    OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT,
)
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    set_span_in_context,
    Span,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
)

from robot_agent_harness import __version__
from robot_agent_harness.messages import ros_text

SERVICE = 'robot_agent_harness'
CONTENT_MAX_CHARS = 32 * 1024
"""Longest attribute, unless the environment says otherwise: collectors refuse large requests."""
NAME_MAX_CHARS = 128
"""Longest name of a span; the SDK has no limit of its own, and clients choose names of tools."""

Attributes: TypeAlias = dict[str, 'str | bool | int | float | list[str]']


def trace_id_of(root: str) -> int:
    """Return the trace of a mission, or of a call outside missions."""
    return _digest(f'trace:{root}', 16)


def span_id_of(kind: str, journal_id: str) -> int:
    """Return the span of what the journal knows by an id.

    :param kind: mission, turn, model, call or action.
    """
    return _digest(f'{kind}:{journal_id}', 8)


def _digest(text: str, size: int) -> int:
    data = hashlib.sha256(text.encode('utf-8', 'backslashreplace')).digest()
    return int.from_bytes(data[:size], 'big') or 1  # zero is no id (W3C Trace Context)


class Ended(SpanProcessor):
    """Collects the spans that have ended until somebody takes them.

    The SDK's batch processor would drop spans where they come faster than they are sent.
    """

    def __init__(self) -> None:
        self.spans: list[ReadableSpan] = []

    def on_end(self, span: ReadableSpan) -> None:
        """Keep a span."""
        self.spans.append(span)

    def take(self) -> list[ReadableSpan]:
        """Return what was collected, and begin anew."""
        taken, self.spans = self.spans, []
        return taken


@dataclass(frozen=True, slots=True)
class Place:
    """Where a span belongs: all of it made from the journal's ids."""

    trace_id: int
    span_id: int
    parent_id: int | None
    """None: it is the root of its trace."""

    def context(self) -> Context:
        """Return the context of the parent, which may have ended long ago."""
        if self.parent_id is None:
            return Context()
        flags = TraceFlags(TraceFlags.SAMPLED)
        parent = SpanContext(self.trace_id, self.parent_id, False, flags)
        return set_span_in_context(NonRecordingSpan(parent), Context())


class Pipeline:
    """Begins spans; the standard variables of the environment are respected.

    :param ended: is given each span that has ended.
    """

    def __init__(self, ended: SpanProcessor) -> None:
        limited = {OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT, OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT}
        longest = None if limited & os.environ.keys() else CONTENT_MAX_CHARS
        named = Resource({'service.name': SERVICE, 'service.version': __version__})
        self._ids = _NextIds()
        provider = TracerProvider(
            resource=named.merge(OTELResourceDetector().detect()),
            id_generator=self._ids,
            span_limits=SpanLimits(max_attribute_length=longest),
            shutdown_on_exit=False,
        )
        provider.add_span_processor(ended)
        self._tracer = provider.get_tracer(SERVICE, __version__)

    def begin(
        self,
        place: Place,
        name: str,
        attributes: Mapping[str, Any],
        *,
        start_ns: int,
        kind: SpanKind = SpanKind.INTERNAL,
        links: Mapping[str, SpanContext] | None = None,
    ) -> Span:
        """Begin a span.

        :param start_ns: nanoseconds since the Unix epoch.
        :param links: what it is linked to, by the attribute that says why.
        """
        self._ids.place = place
        return self._tracer.start_span(
            ros_text(name[:NAME_MAX_CHARS]),
            context=place.context(),
            kind=kind,
            attributes=clean(attributes),
            links=[
                Link(to, {'robot_agent_harness.link': why}) for why, to in (links or {}).items()
            ],
            start_time=start_ns,
        )


class _NextIds(IdGenerator):
    """Gives the span that begins next the ids that were laid out for it."""

    place = Place(1, 1, None)

    def generate_trace_id(self) -> int:
        """Return the trace that was laid out."""
        return self.place.trace_id

    def generate_span_id(self) -> int:
        """Return the span that was laid out."""
        return self.place.span_id


def judge(span: Span, error: str | None, text: str | None = None) -> None:
    """Say that it went well, or the class of the error and, if it may be said, its text."""
    if error is None:
        span.set_status(Status(StatusCode.OK))
        return
    span.set_attributes(clean({'error.type': error}))
    span.set_status(Status(StatusCode.ERROR, None if text is None else ros_text(text)))


def clean(attributes: Mapping[str, Any]) -> Attributes:
    """Return what OTLP can carry; what is absent, or of another kind, is left out."""
    kept: Attributes = {}
    for name, value in attributes.items():
        if isinstance(value, str):
            kept[name] = ros_text(value)
        elif isinstance(value, (bool, float)) or (isinstance(value, int) and abs(value) < 2**63):
            kept[name] = value
        elif isinstance(value, list):
            kept[name] = [ros_text(item) for item in value if isinstance(item, str)]
    return kept
