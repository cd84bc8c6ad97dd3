# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The package's errors: one root, and a stable `code` on each that a caller may branch on."""

from __future__ import annotations

from typing import ClassVar


class HarnessError(Exception):
    """Root of every error raised on purpose; `code` is stable, the text is for people."""

    code: ClassVar[str] = 'harness_error'


class ConfigurationError(HarnessError):
    """A parameter, file or environment variable is wrong; the text names it and the remedy."""

    code = 'configuration_error'


class UnreadableFileError(ConfigurationError):
    """A parameter names a file that is not there or may not be read: the name is to be corrected,
    not what the file says.
    """


class IllegalTransitionError(HarnessError):
    """An action was asked to take a step that the lifecycle table does not have."""

    code = 'illegal_transition'


class JournalError(HarnessError):
    """The journal could not be opened or written."""

    code = 'journal_error'


class JournalUnavailableError(JournalError):
    """A record could not be made durable now; nothing physical may follow from it."""

    code = 'journal_unavailable'


class JournalLockedError(JournalError):
    """Another harness holds this journal."""

    code = 'journal_locked'


class JournalCorruptError(JournalError):
    """The file is not a sound journal; it is left as it is, for a person to look at."""

    code = 'journal_corrupt'


class NotAJournalError(JournalCorruptError):
    """The file never was a journal, or its very beginning is destroyed."""


class JournalTooNewError(JournalError):
    """A newer release wrote this journal, with a schema that this one does not know."""

    code = 'journal_too_new'


class ModelError(HarnessError):
    """The model could not be asked, or its answer cannot be used.

    :param message: for people and the journal; never holds a key.
    :param retryable: whether the same request may succeed later.
    :param retry_after_s: what the provider asked for, in seconds, if it did.
    """

    code = 'model_error'

    def __init__(
        self, message: str, *, retryable: bool = False, retry_after_s: float | None = None
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.retry_after_s = retry_after_s
