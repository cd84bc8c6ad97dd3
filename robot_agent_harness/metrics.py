# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Counters and histograms for Prometheus, from the journal's records as they reach the disk.

There is no bookkeeping beside the journal's: what is counted is what was recorded. Labels have few
values: names of tools and skills are those that the robot has, everything else that a client or
model chose is `(other)`. Needs the extra `prometheus`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import choose_encoder

from robot_agent_harness.clock import Clock, NS_PER_S
from robot_agent_harness.events import (
    ActionPreconditionChecked,
    Correlation,
    Event,
    MissionEnded,
    ModelResponseRecorded,
    RobotActionOutcome,
    RobotActionProgress,
    RobotActionStarted,
    SalientEvent,
    ToolCallRecorded,
    ToolResultRecorded,
)
from robot_agent_harness.journal.store import MissionJournal
from robot_agent_harness.messages import ros_text

PREFIX = 'robot_agent_harness'
OTHER = '(other)'
LABEL_VALUES_MAX = 50
"""Values of one label that are not known beforehand; further ones are counted together."""

APPEND_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0)
CALL_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0)
MODEL_S = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0, 120.0)
ACTION_S = (1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 640.0)
VERIFICATION_S = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Upper bounds of the buckets, in seconds; an append fails after 2 s."""

TOKENS = {
    'input': 'input_tokens',
    'output': 'output_tokens',
    'cache_read': 'cache_read_input_tokens',
    'cache_creation': 'cache_creation_input_tokens',
}
"""Kind of token -> key of `usage`."""


class Metrics:
    """Listens to a journal, and renders what it has heard.

    :param tools: the tools and skills that may be named in a label.
    """

    def __init__(self, journal: MissionJournal, *, clock: Clock, tools: Iterable[str]) -> None:
        self._clock = clock
        self._tools = frozenset(tools)
        self._few: dict[str, set[str]] = {}
        self._calls: dict[str, tuple[str, int]] = {}
        self._actions: dict[str, _Action] = {}
        self._registry = CollectorRegistry()
        self._events = self._counter('events', 'Records of the journal.', 'type')
        self._results = self._counter('tool_calls', 'Results of tool calls.', 'tool', 'status')
        self._call_s = self._histogram(
            'tool_call_seconds', 'From the record of a call to that of its result.', CALL_S, 'tool'
        )
        self._failed_checks = self._counter(
            'precondition_failures', 'Checks that did not hold.', 'check'
        )
        self._outcomes = self._counter(
            'action_outcomes', 'Ends of physical actions.', 'skill', 'state', 'reason'
        )
        self._action_s = self._histogram(
            'action_seconds', 'From the request of an action to its outcome.', ACTION_S, 'skill'
        )
        self._verification_s = self._histogram(
            'verification_seconds',
            "From the controller's end of an action to its outcome.",
            VERIFICATION_S,
            'skill',
        )
        self._active = self._gauge('active_actions', 'Physical actions without an outcome.')
        self._model_calls = self._counter(
            'model_calls', 'Attempts at an answer of the model.', 'provider', 'result'
        )
        self._model_s = self._histogram(
            'model_call_seconds',
            'From the question to the answer or failure.',
            MODEL_S,
            'provider',
        )
        self._tokens = self._counter('model_tokens', 'Tokens that the provider counted.', 'kind')
        self._missions = self._counter('missions', 'Missions that ended.', 'outcome')
        self._salient = self._counter(
            'salient_events', 'What the model was to know of before it decided again.', 'kind'
        )
        self._append_s = self._histogram(
            'journal_append_seconds', 'From the call to the record on disk.', APPEND_S
        )
        for name, about, read in (
            (
                'journal_healthy',
                '1 while the journal can be written, else 0.',
                lambda: journal.healthy,
            ),
            (
                'journal_pending_records',
                'Records that wait for the disk.',
                lambda: journal.pending,
            ),
            ('journal_last_seq', 'Number of the newest record on disk.', lambda: journal.last_seq),
        ):
            self._gauge(name, about).set_function(read)
        journal.add_event_listener(self._hear)
        journal.add_latency_listener(self._append_s.observe)

    def render(self, accept: str) -> tuple[bytes, str]:
        """Return the metrics and their media type.

        :param accept: the Accept header, which says whether OpenMetrics is understood.
        """
        encode, media_type = choose_encoder(accept)
        return encode(self._registry), media_type

    # -- records ---------------------------------------------------------------------------------

    def _hear(self, _seq: int, event: Event, ids: Correlation) -> None:
        self._events.labels(event.type.value).inc()
        handle = _HANDLERS.get(type(event))
        if handle is not None:
            handle(self, event, ids)

    def _called(self, event: ToolCallRecorded, ids: Correlation) -> None:
        if ids.tool_call_id is not None:
            self._calls[ids.tool_call_id] = self._known(event.name), self._clock.monotonic_ns()

    def _resulted(self, event: ToolResultRecorded, ids: Correlation) -> None:
        # One that an earlier run left open has its call in that run.
        call = self._calls.pop(ids.tool_call_id or '', None)
        tool = OTHER if call is None else call[0]
        self._results.labels(tool, self._bounded('status', event.status)).inc()
        if call is not None:
            self._call_s.labels(tool).observe(self._since(call[1]))

    def _checked(self, event: ActionPreconditionChecked, _: Correlation) -> None:
        for check in event.checks:
            if not check['ok']:
                self._failed_checks.labels(self._bounded('check', check['name'])).inc()

    def _started(self, event: RobotActionStarted, ids: Correlation) -> None:
        if ids.action_id is not None:
            now_ns = self._clock.monotonic_ns()
            self._actions[ids.action_id] = _Action(self._known(event.skill), now_ns)
        self._active.set(len(self._actions))

    def _progressed(self, event: RobotActionProgress, ids: Correlation) -> None:
        action = self._actions.get(ids.action_id or '')
        if action is not None and action.verifying_ns is None and event.state == 'VERIFYING':
            action.verifying_ns = self._clock.monotonic_ns()

    def _ended(self, event: RobotActionOutcome, ids: Correlation) -> None:
        action = self._actions.pop(ids.action_id or '', None)
        self._active.set(len(self._actions))
        skill = OTHER if action is None else action.skill
        reason = self._bounded('reason', event.reason)
        self._outcomes.labels(skill, self._bounded('state', event.state), reason).inc()
        if action is not None:
            self._action_s.labels(skill).observe(self._since(action.started_ns))
            if action.verifying_ns is not None:
                self._verification_s.labels(skill).observe(self._since(action.verifying_ns))

    def _answered(self, event: ModelResponseRecorded, _: Correlation) -> None:
        provider = self._bounded('provider', event.provider)
        self._model_calls.labels(provider, 'ok' if event.error is None else 'error').inc()
        if event.duration_s is not None:
            self._model_s.labels(provider).observe(max(event.duration_s, 0.0))
        for kind, key in TOKENS.items():
            count = event.usage.get(key)
            if isinstance(count, int) and count > 0:
                self._tokens.labels(kind).inc(count)

    def _mission_ended(self, event: MissionEnded, _: Correlation) -> None:
        self._missions.labels(event.outcome).inc()

    def _noticed(self, event: SalientEvent, _: Correlation) -> None:
        self._salient.labels(self._bounded('kind', event.kind)).inc()

    # -- parts -----------------------------------------------------------------------------------

    def _counter(self, name: str, about: str, *labels: str) -> Counter:
        return Counter(f'{PREFIX}_{name}', about, labels, registry=self._registry)

    def _gauge(self, name: str, about: str) -> Gauge:
        return Gauge(f'{PREFIX}_{name}', about, registry=self._registry)

    def _histogram(
        self, name: str, about: str, buckets: tuple[float, ...], *labels: str
    ) -> Histogram:
        return Histogram(
            f'{PREFIX}_{name}', about, labels, buckets=buckets, registry=self._registry
        )

    def _since(self, then_ns: int) -> float:
        return (self._clock.monotonic_ns() - then_ns) / NS_PER_S

    def _known(self, tool: str) -> str:
        return tool if tool in self._tools else OTHER

    def _bounded(self, label: str, value: str) -> str:
        """Return the value, or OTHER once the label has as many as it may have."""
        seen = self._few.setdefault(label, set())
        value = ros_text(value)
        if value not in seen:
            if len(seen) >= LABEL_VALUES_MAX:
                return OTHER
            seen.add(value)
        return value


class _Action:
    """An action without an outcome; times on the steady clock."""

    __slots__ = ('skill', 'started_ns', 'verifying_ns')

    def __init__(self, skill: str, started_ns: int) -> None:
        self.skill = skill
        self.started_ns = started_ns
        self.verifying_ns: int | None = None


_HANDLERS: dict[type[Event], Callable[[Metrics, Any, Correlation], None]] = {
    ToolCallRecorded: Metrics._called,
    ToolResultRecorded: Metrics._resulted,
    ActionPreconditionChecked: Metrics._checked,
    RobotActionStarted: Metrics._started,
    RobotActionProgress: Metrics._progressed,
    RobotActionOutcome: Metrics._ended,
    ModelResponseRecorded: Metrics._answered,
    MissionEnded: Metrics._mission_ended,
    SalientEvent: Metrics._noticed,
}
