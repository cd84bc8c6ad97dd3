# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Replay: the real harness on the inputs that a journal recorded, compared record by record.

Whatever came from outside (snapshots, what the controller said, answers of the model, calls,
messages, times, ids) is given again at its recorded time, on virtual time; whatever the harness
then records is held against what it recorded. :func:`replay_journal` does it for a whole journal.
"""

from robot_agent_harness.replay.comparison import Difference
from robot_agent_harness.replay.errors import ReplayError, ReplayFailedError
from robot_agent_harness.replay.replaying import JournalReplay, replay_journal, RunReplay

__all__ = [
    'Difference',
    'JournalReplay',
    'ReplayError',
    'ReplayFailedError',
    'RunReplay',
    'replay_journal',
]
