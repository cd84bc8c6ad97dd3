# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Redactor: what is known of secrets, and the ways in which things are freed of them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from robot_agent_harness.events import (
    ActionPreconditionChecked,
    Correlation,
    Event,
    ModelResponseRecorded,
    WorldSnapshotCaptured,
)
from robot_agent_harness.redaction.known import KnownValues
from robot_agent_harness.redaction.secrets import hinted
from robot_agent_harness.redaction.walk import any_repr, texts_in, Walk

ENVIRONMENT_KEYS = (
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_AUTH_TOKEN',
    'OPENAI_API_KEY',
    'ROBOT_AGENT_HARNESS_MCP_TOKEN',
)
"""Variables whose values must not appear anywhere."""
SCOPES_MAX = 512
"""For how many calls and turns the names of declared secrets are remembered."""
CALLS_MAX = 64
"""For how many calls and turns all that was secret in them is; they are over by then."""

_MEASURED = (WorldSnapshotCaptured, ActionPreconditionChecked)
"""What the harness saw or compared. Of what callers say it holds goals alone, whose secrets their
calls have taught; they are the largest records between a call and its dispatch."""


class Redactor:
    """Replaces secrets in values and texts. Used from any thread; taught from one at a time."""

    def __init__(self) -> None:
        self._known = KnownValues()
        self._names: OrderedDict[str | None, frozenset[str]] = OrderedDict()
        self._of_calls: OrderedDict[str | None, KnownValues] = OrderedDict()

    def know(self, value: str) -> None:
        """Take in a secret of this process; it is never forgotten."""
        self._known.keep(value)

    def know_environment(self, environ: Mapping[str, str]) -> None:
        """Take in the keys that the environment holds now."""
        for name in ENVIRONMENT_KEYS:
            self.know(environ.get(name, ''))

    def learn(
        self,
        scope: str | None,
        arguments: Any,
        names: frozenset[str] = frozenset(),
        *,
        everywhere: bool = True,
    ) -> None:
        """Take in the secrets among a call's arguments.

        :param scope: the id of the call, or of the turn, whose records are about them.
        :param names: what the skill declares as secret.
        :param everywhere: whether they are looked for in all that is recorded and shown; else in
            the records of this call alone, since whoever may only look must not be able to make
            others' data unreadable.
        """
        if not names and not hinted(any_repr(arguments)):
            return
        walk = Walk(self._known, names)
        walk.value(arguments)
        if scope is not None and (names or walk.hidden):
            # Also where all are too short to be known again: there the keys must tell.
            self._names[scope] = self.names_of(scope) | names
            while len(self._names) > SCOPES_MAX:
                self._names.popitem(last=False)
        told = [text for item in walk.hidden for text in texts_in(item)]
        if scope is not None and told:
            own = self._of_calls.setdefault(scope, KnownValues(self._known))
            own.remember(told)
            while len(self._of_calls) > CALLS_MAX:
                self._of_calls.popitem(last=False)
        if everywhere:
            self._known.remember(told)

    def _known_to(self, scope: str | None) -> KnownValues:
        return self._of_calls.get(scope, self._known)

    def names_of(self, scope: str | None) -> frozenset[str]:
        """Return which names are declared secret in that call or turn."""
        return self._names.get(scope, frozenset())

    def suspects(self, text: str) -> bool:
        """Whether a text may hold a secret; cheap, and False for nearly all."""
        return self._known.occur_in(text) or hinted(text)

    def value(self, value: Any, *, scope: str | None = None) -> Any:
        """Return a value, of any shape, without the secrets in it; the value is left alone."""
        return Walk(self._known_to(scope), self.names_of(scope)).value(value)

    def text(self, text: str) -> str:
        """Return a text without the secrets in it."""
        return Walk(self._known, frozenset()).text(text)

    def line(self, text: str) -> str:
        """Return a line of the log, which belongs to no call, without what recent calls hid."""
        for own in tuple(self._of_calls.values()):
            text = own.replace(text)
        return self.text(text)

    def event(self, event: Event, ids: Correlation, text: str | None) -> Event:
        """Return an event without the secrets in it; the same one where there are none.

        :param text: its payload as JSON; None where JSON cannot hold all of it as it is.
        """
        scope = ids.turn_id if isinstance(event, ModelResponseRecorded) else ids.tool_call_id
        if scope not in self._names and not self._suspects_event(event, text):
            return event
        walk = Walk(self._known_to(scope), self.names_of(scope))
        fields = type(event).model_fields
        clean = {name: walk.value(getattr(event, name), name, depth=1) for name in fields}
        return type(event).model_construct(**clean)

    def _suspects_event(self, event: Event, text: str | None) -> bool:
        if isinstance(event, _MEASURED) and not self._known.taught:
            return False
        return text is None or self.suspects(text)  # the walk copes with anything
