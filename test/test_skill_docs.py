# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What docs/writing_a_skill.md shows is what the tests run."""

from __future__ import annotations

from pathlib import Path
import re

from robot_agent_harness.actions.verification.kinds import GOAL_KEYS
from robot_agent_harness.skills.mapped import Argument, MappedAction, MappedService, MappedTool

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / 'docs/writing_a_skill.md').read_text(encoding='utf-8')
PACKAGE = ROOT / 'test/skill_package'


def _blocks() -> list[tuple[str, str]]:
    return re.findall(r'^```(python|toml|yaml)\n(.*?)^```$', PAGE, re.DOTALL | re.MULTILINE)


def test_every_example_of_the_page_is_part_of_the_tested_package() -> None:
    files = [*PACKAGE.glob('my_robot_skills/*.py'), *PACKAGE.glob('*.toml')]
    files += PACKAGE.glob('*.yaml')
    texts = [file.read_text(encoding='utf-8') for file in files]
    blocks = _blocks()
    assert len(blocks) == 7
    for _, block in blocks:
        shown = block.removeprefix('skills:\n')
        assert any(shown in text for text in texts), block


def test_the_page_names_every_verifier_and_what_it_reads() -> None:
    for kind, keys in GOAL_KEYS.items():
        (row,) = re.findall(rf'^\| `{kind}` \|.*$', PAGE, re.MULTILINE)
        reads = row.split('|')[3]
        assert set(re.findall(r'`(\w+)`', reads)) == keys


def test_the_page_names_every_key_of_a_mapped_tool() -> None:
    for model in (Argument, MappedAction, MappedService, MappedTool):
        for key in model.model_fields:
            assert re.search(rf'`([a-z]+\.)?{key}`', PAGE), key
