# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Keeps secrets out of everything that is kept or shown, and in what the tool is given.

One :class:`Redactor` knows what a secret looks like (keys, `Bearer ...`, URLs with a password),
which values are secret (those of the environment's keys, and those that calls gave under a secret
name), and replaces both. It stands at the two places where things leave memory: before the
journal (:class:`RedactedJournal`) and before the log (:class:`RedactingFilter`); the dispatcher
puts each result through it as well, since a client shows and keeps results.
"""

from robot_agent_harness.redaction.boundaries import (
    PACKAGE_LOGGER,
    RedactedJournal,
    RedactingFilter,
    shared_redactor,
)
from robot_agent_harness.redaction.known import SUBSTRING_CHARS_MIN, VALUES_MAX, WORD_CHARS_MIN
from robot_agent_harness.redaction.redactor import ENVIRONMENT_KEYS, Redactor, SCOPES_MAX
from robot_agent_harness.redaction.secrets import (
    CIPHERS,
    declared_secrets,
    is_secret_key,
    REDACTED,
    Secret,
    SECRET_ENDINGS,
    SECRET_PARAMETERS,
    SECRET_STEMS,
    SECRET_WORDS,
)
from robot_agent_harness.redaction.walk import DEPTH_MAX

__all__ = [
    'CIPHERS',
    'DEPTH_MAX',
    'ENVIRONMENT_KEYS',
    'PACKAGE_LOGGER',
    'REDACTED',
    'SCOPES_MAX',
    'SECRET_ENDINGS',
    'SECRET_PARAMETERS',
    'SECRET_STEMS',
    'SECRET_WORDS',
    'SUBSTRING_CHARS_MIN',
    'VALUES_MAX',
    'WORD_CHARS_MIN',
    'RedactedJournal',
    'RedactingFilter',
    'Redactor',
    'Secret',
    'declared_secrets',
    'is_secret_key',
    'shared_redactor',
]
