# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether a journal keeps what DESIGN section 2 and CONTRACT ("The journal") promise.

The records are read once, in order, and each is parsed once. What has begun and not ended is kept
in memory; what has ended is judged and forgotten, and read again by its id should the file speak
of it once more. So the size of a journal does not matter, only how much is open at a time.

`file` has the promises about the file itself, `calls`, `actions` and `missions` those about what
the records say.
"""

from robot_agent_harness.journal_tools.invariants.checking import violations

__all__ = ['violations']
