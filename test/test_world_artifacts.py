# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
from hashlib import sha256
from pathlib import Path
import stat
from urllib.parse import urlparse

import pytest

from robot_agent_harness.world.artifacts import ArtifactStore


def test_bytes_become_a_reference_to_a_private_file_that_holds_them(tmp_path):
    ref = ArtifactStore(tmp_path / 'artifacts').put(b'pixels', media_type='image/png')
    path = Path(urlparse(ref.uri).path)
    assert path.read_bytes() == b'pixels'
    assert (ref.media_type, ref.size_bytes) == ('image/png', 6)
    assert ref.sha256 == sha256(b'pixels').hexdigest() == path.name
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_the_same_bytes_are_stored_once(tmp_path):
    store = ArtifactStore(tmp_path)
    first = store.put(b'pixels', media_type='image/png')
    before = Path(urlparse(first.uri).path).stat()
    assert store.put(b'pixels', media_type='image/png') == first
    assert Path(urlparse(first.uri).path).stat().st_ino == before.st_ino
    assert len(list(tmp_path.iterdir())) == 1


def test_a_failed_write_leaves_nothing_behind(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError('no space left on device')

    monkeypatch.setattr('os.replace', fail)
    with pytest.raises(OSError, match='no space'):
        ArtifactStore(tmp_path).put(b'pixels', media_type='image/png')
    assert list(tmp_path.iterdir()) == []
