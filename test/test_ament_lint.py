# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""ament's linters over the whole package; they come with ROS 2, and are skipped without it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
import shutil
import subprocess

import pytest

ROOT = Path(__file__).resolve().parents[1]
COMES = 'comes with ROS 2, with {}; `make lint` stands for it here'
SPDX = (
    '# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors\n'
    '# SPDX-License-Identifier: Apache-2.0\n'
)
pytestmark = pytest.mark.timeout(300)


@pytest.fixture(autouse=True)
def at_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start the linters where colcon does."""
    monkeypatch.chdir(ROOT)


def sources() -> Iterator[Path]:
    """Yield what the linters look at, relative to the package's folder."""
    listed = subprocess.run(
        ['git', 'ls-files', '--cached', '--others', '--exclude-standard'],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    if listed.returncode:
        pytest.skip(f'what belongs to the package is not known: {listed.stderr.strip()}')
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file():
            yield Path(name)


def test_flake8_finds_nothing_beside_what_setup_cfg_excepts() -> None:
    pytest.importorskip('ament_flake8', reason=COMES.format('ament_flake8'))
    from ament_flake8.main import main_with_errors

    _, errors = main_with_errors(argv=['--config', str(ROOT / 'setup.cfg'), '.'])
    assert errors == []


def test_pep257_finds_nothing_beside_what_is_excepted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Except that a first sentence may take two lines (D205, D400, D415) and begins beside the
    quotes (D213), which PEP 257 leaves open. That it is imperative (D401, D402) ruff looks at,
    which knows properties.
    """
    pytest.importorskip('ament_pep257', reason=COMES.format('ament_pep257'))
    from ament_pep257.main import main

    excepted = ['D205', 'D213', 'D400', 'D401', 'D402', 'D415']
    code = main(argv=['.', '--add-ignore', *excepted])
    assert (code, capsys.readouterr().err) == (0, '')


def test_copyright_and_licence_are_found_once_the_spdx_tags_are_written_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As ament_copyright reads no SPDX tags (ament/ament_lint#462), it is given what they mean."""
    copyright_ = pytest.importorskip('ament_copyright', reason=COMES.format('ament_copyright'))
    from ament_copyright.main import main

    (header,) = copyright_.get_licenses()['apache2'].file_headers
    said = header.replace('{copyright}', 'Copyright 2026 robot_agent_harness contributors')
    written_out = ''.join(f'# {line}'.rstrip() + '\n' for line in said.splitlines())
    (tmp_path / '.git').mkdir()  # at the root of a repository it looks for two files more
    for name in sources():
        copy = tmp_path / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(name, copy)
        if name.suffix in ('.py', '.cmake'):
            text = name.read_text(encoding='utf-8')
            copy.write_text(text.replace(SPDX, written_out, 1), encoding='utf-8')
    code = main(argv=[str(tmp_path)])
    assert (code, capsys.readouterr().err) == (0, '')


def test_xmllint_finds_the_manifests_valid_by_their_schema(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip('ament_xmllint', reason=COMES.format('ament_xmllint'))
    if shutil.which('xmllint') is None:
        pytest.skip('xmllint is not installed')
    from ament_xmllint.main import main

    code = main(argv=[str(name) for name in sources() if name.suffix == '.xml'])
    told = capsys.readouterr().err
    if code and 'failed to load' in told:
        pytest.skip('the schema cannot be fetched from download.ros.org')
    assert (code, told) == (0, '')
