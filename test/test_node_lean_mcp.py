# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The MCP server is imported without a library that it does not use, and nobody else notices."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import sys
from robot_agent_harness.ros.lean_mcp import without_cryptography
before = {before}
with without_cryptography():
    import robot_agent_harness.mcp_server
left_out = not any(name.partition('.')[0] == 'cryptography' for name in sys.modules)
from cryptography.hazmat.primitives.hashes import SHA256
print(left_out, SHA256().digest_size)
from mcp.server.request_state import AESGCMRequestStateCodec
try:
    AESGCMRequestStateCodec([b'k' * 32])
    print('sealed')
except RuntimeError as error:
    print(error)
"""


def run(before: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, '-c', SCRIPT.format(before=before)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout.splitlines()


def test_the_library_is_left_out_and_can_be_imported_afterwards():
    pytest.importorskip('cryptography')
    assert run('None') == [
        'True 32',
        'cryptography was left out: this server seals no requestState',
    ]


def test_a_library_that_is_there_already_is_left_alone():
    pytest.importorskip('cryptography')
    assert run("__import__('cryptography')") == ['False 32', 'sealed']
