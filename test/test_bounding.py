# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Results of any size (K28): the bytes go aside, a reference stays, and nothing overflows."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from hashlib import sha256
import os
from pathlib import Path
import stat
from typing import Any
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel
import pytest

from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.jsonable import canonical_json
from robot_agent_harness.redaction import Redactor
from robot_agent_harness.skills import registry
from robot_agent_harness.skills.bounding import RESULT_MAX_BYTES, ResultBounds
from robot_agent_harness.skills.outputs import CallOutput
from robot_agent_harness.skills.registry import BUILT_IN
from robot_agent_harness.skills.result import ResultStatus, ToolResult
from robot_agent_harness.skills.skill import skill, SkillContext
from robot_agent_harness.testing import Bench, check_journal, run_virtual
from robot_agent_harness.texts import compact
from robot_agent_harness.world.artifacts import ArtifactStore

MODEL_FACING_MAX_BYTES = 64 * 1024
PICTURE = b'\x89PNG\r\n\x1a\n' + bytes(range(256)) * 12_288
BASE64 = base64.b64encode(PICTURE).decode()


class Picture(CallOutput):
    """Declares its picture as text."""

    picture: str | None = None


@skill(output=CallOutput)
async def look(context: SkillContext) -> ToolResult:
    """Return what a camera saw, as the MCP content block that many camera tools return."""
    block = {'type': 'image', 'mimeType': 'image/png', 'data': BASE64}
    return ToolResult(ResultStatus.COMPLETED, 'one picture', {'content': [block], 'width': 640})


def _fit(
    tmp_path: Path,
    data: dict[str, Any],
    *,
    message: str = 'done',
    output: type[BaseModel] = CallOutput,
    redactor: Redactor | None = None,
) -> ToolResult:
    bounds = ResultBounds(ArtifactStore(tmp_path / 'artifacts'), redactor or Redactor())
    result = ToolResult(ResultStatus.COMPLETED, message, data)
    return asyncio.run(bounds.fit(result, output=output, scope='call-1'))


def _stored(reference: dict[str, Any]) -> bytes:
    data = Path(unquote(urlsplit(reference['uri']).path)).read_bytes()
    assert len(data) == reference['size_bytes']
    assert sha256(data).hexdigest() == reference['sha256']
    return data


def test_a_picture_of_four_megabytes_leaves_a_reference_and_no_base64(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry.load_registry, '__kwdefaults__', {'skills': (*BUILT_IN, look)})
    path = tmp_path / 'j.db'

    async def scenario() -> ToolResult:
        async with Bench(path) as bench:
            return await bench.call('look', {})

    result = run_virtual(scenario())
    (block,) = result.data['content']
    assert block['data']['media_type'] == 'image/png'
    assert result.data['width'] == 640
    assert _stored(block['data']) == PICTURE
    assert len(compact(result.structured).encode()) < MODEL_FACING_MAX_BYTES
    with JournalReader(path) as reader:
        rows = [event.payload for event in reader.events()]
    assert all(len(canonical_json(row)) < MODEL_FACING_MAX_BYTES for row in rows)
    assert BASE64[1000:1100] not in str(rows)
    assert check_journal(path) == []
    (file,) = (tmp_path / 'j.db.artifacts').iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_result_that_fits_is_the_same_object(tmp_path: Path) -> None:
    result = ToolResult(ResultStatus.COMPLETED, 'done', {'x': ['ü😀\x00', 1.5, None]})
    bounds = ResultBounds(ArtifactStore(tmp_path / 'artifacts'), Redactor())
    assert asyncio.run(bounds.fit(result, output=CallOutput, scope=None)) is result
    assert not (tmp_path / 'artifacts').exists()


@pytest.mark.parametrize(
    'data',
    [
        {'text': 'z' * 3_000_000},
        {'rows': [{'x': n, 'y': 'v' * 50} for n in range(5000)]},
        {f'key{n}': 'v' * 30 for n in range(5000)},
        {f'k{n}': 'w' * 16_000 for n in range(40)},
        {'k' * 100_000: 1, 'x': 2},
        {'u': 'ü\udc80\x00' * 100_000},
        {'b': os.urandom(300_000), 'c': [bytearray(5), memoryview(b'x')]},
        {'a': {'b': {'c': [BASE64, BASE64]}}},
        {'x': 10**4000, 'state': 'RUNNING', 'many': list(range(100_000))},
    ],
    ids=['text', 'rows', 'members', 'texts', 'key', 'unicode', 'bytes', 'nested', 'numbers'],
)
def test_any_result_ends_up_small_and_is_json(data: dict[str, Any], tmp_path: Path) -> None:
    result = _fit(tmp_path, data, message='m' * 100_000)
    assert len(canonical_json(result.structured)) <= RESULT_MAX_BYTES + 1024
    assert len(compact(result.structured).encode()) < MODEL_FACING_MAX_BYTES
    assert result.data.get('state') == data.get('state')
    assert (tmp_path / 'artifacts').is_dir()


def test_a_reference_where_the_schema_says_text_is_put_beside_it(tmp_path: Path) -> None:
    result = _fit(tmp_path, {'picture': f'data:image/jpeg;base64,{BASE64}'}, output=Picture)
    Picture.model_validate(result.structured)
    assert 'picture' not in result.data
    (reference,) = result.data['artifacts']['picture']
    assert reference['media_type'] == 'image/jpeg'
    assert _stored(reference) == PICTURE


def test_what_only_looks_like_base64_is_kept_as_the_text_it_is(tmp_path: Path) -> None:
    text = 'abcd' * 25_000
    result = _fit(tmp_path, {'log': text})
    assert result.data['log']['media_type'].startswith('text/plain')
    assert _stored(result.data['log']).decode() == text


def test_an_artifact_holds_no_secret(tmp_path: Path) -> None:
    redactor = Redactor()
    redactor.learn('call-1', {'password': 'hunter2-geheim'})
    line = 'said hunter2-geheim with {"token": "t0k-1"}\n'
    result = _fit(
        tmp_path,
        {
            'log': line * 2000,
            'rows': [{'a': line, 'password': 'p1'}] * 2000,
            'body': line.encode(),
            'page': f'data:text/plain;base64,{base64.b64encode((line * 2000).encode()).decode()}',
        },
        message=line * 1000, redactor=redactor,
    )  # fmt: skip
    whole = [result.data[name] for name in ('log', 'rows', 'body', 'page')]
    references = (*whole, *result.data['artifacts']['message'])
    kept = [str(result.structured), *(_stored(reference).decode() for reference in references)]
    for text in kept:
        assert 'redacted' in text
        for secret in ('hunter2', 't0k-1', '"p1"'):
            assert secret not in text


def _unwritable(folder: Path) -> None:
    (folder / 'artifacts').write_text('in the way', encoding='utf-8')


@pytest.mark.parametrize('harm', [_unwritable])
def test_without_room_for_an_artifact_the_result_still_stands(
    harm: Callable[[Path], None], tmp_path: Path
) -> None:
    harm(tmp_path)
    result = _fit(tmp_path, {'text': 'z' * 100_000})
    assert result.status is ResultStatus.COMPLETED
    reference = result.data['text']
    assert (reference['uri'], reference['size_bytes']) == (None, 100_000)
    assert reference['sha256'] == sha256(b'z' * 100_000).hexdigest()
