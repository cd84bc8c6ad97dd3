# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The guides for users: what they tell to type is there, and what they show runs."""

from __future__ import annotations

import asyncio
import contextlib
import os
from pathlib import Path
import re
import sys

from launch_stand_in import Launcher
import pytest
import yaml

from robot_agent_harness.cli import COMMANDS
from robot_agent_harness.parameters import check_parameters, PARAMETERS
from robot_agent_harness.skills.places import read_places

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / 'docs'
GUIDES = ('tutorial_simulation', 'on_a_turtlebot3', 'on_your_robot', 'safety')
PAGES = {name: (DOCS / f'{name}.md').read_text(encoding='utf-8') for name in GUIDES}
KNOWN = {parameter.name for parameter in PARAMETERS}
SIM = yaml.safe_load((ROOT / 'config/sim_robot.yaml').read_text(encoding='utf-8'))


def anchor(heading: str) -> str:
    return re.sub(r'[^\w -]', '', heading).lower().strip().replace(' ', '-')


@pytest.mark.parametrize('name', GUIDES)
def test_every_link_of_a_guide_leads_somewhere(name):
    links = re.findall(r'\]\(([^)]+)\)', PAGES[name])
    assert links
    for link in links:
        page, _, part = link.partition('#')
        path = DOCS / page if page else DOCS / f'{name}.md'
        assert path.exists(), link
        if part:
            text = path.read_text(encoding='utf-8')
            assert part in {anchor(found) for found in re.findall(r'^#+ (.*)$', text, re.M)}, link


def test_the_readme_links_every_guide():
    readme = (ROOT / 'README.md').read_text(encoding='utf-8')
    assert all(f'(docs/{name}.md)' in readme for name in GUIDES)


def test_the_readme_links_every_page_and_the_architecture_names_modules_that_are_there():
    readme = (ROOT / 'README.md').read_text(encoding='utf-8')
    assert {page.name for page in DOCS.glob('*.md')} == set(
        re.findall(r'\(docs/(\w+\.md)\)', readme)
    )
    package, rooms = ROOT / 'robot_agent_harness', set()
    for row in re.findall(r'^\| `.*$', (DOCS / 'architecture.md').read_text('utf-8'), re.M):
        named = [re.findall(r'`([\w/]+(?:/|\.py))`', cell) for cell in row.split(' | ')]
        rooms.update(named[0])
        for module in [*named[0], *named[1]]:
            places = [package, *(package / room for room in named[0] if room.endswith('/'))]
            assert any((place / module).exists() for place in places), module
    there = {f'{path.parent.name}/' for path in package.glob('*/__init__.py')}
    assert there <= rooms


@pytest.mark.parametrize('name', GUIDES)
def test_every_command_of_a_guide_is_one_of_the_program(name):
    for command in re.findall(r'robot-agent-harness ([a-z][a-z-]*)', PAGES[name]):
        assert command in COMMANDS, command


@pytest.mark.parametrize('name', GUIDES)
def test_every_parameter_of_a_guide_is_one_of_the_nodes(name):
    robot = set(SIM['/**']['ros__parameters']['fault'])
    settings = [*re.findall(r'-p ([\w.]+):=', PAGES[name])]
    settings += re.findall(r'/sim_robot ([\w.]+) ', PAGES[name])
    settings += re.findall(
        r'`((?:navigation|battery|snapshot|journal|mcp|model)\.\w+)', PAGES[name]
    )
    for setting in settings:
        fault = setting.removeprefix('fault.')
        assert setting in KNOWN or (fault != setting and fault in robot), setting


@pytest.mark.parametrize('name', GUIDES)
def test_every_launch_command_of_a_guide_names_a_file_and_arguments_of_it(name, monkeypatch):
    launcher = Launcher(monkeypatch, {'robot_agent_harness': ROOT})
    harness = set(launcher.run(ROOT / 'launch/harness.launch.py').arguments)
    for line in re.findall(r'ros2 launch robot_agent_harness ([^`\n]*)', PAGES[name]):
        file, *given = line.split()
        source = (ROOT / 'launch' / file).read_text(encoding='utf-8')
        for setting in given:
            argument, _, value = setting.partition(':=')
            if value:
                assert argument in harness or f"'{argument}'" in source, setting


@pytest.mark.parametrize('name', GUIDES)
def test_every_file_of_the_package_that_a_guide_names_is_there(name):
    for path in re.findall(r'\bconfig/[\w.]+', PAGES[name]):
        assert (ROOT / path).exists(), path


def test_what_the_tutorial_has_its_reader_make_goes_where_git_leaves_it_alone():
    named = re.findall(r'[\w./]+\.(?:db|html|py)\b', PAGES['tutorial_simulation'])
    made = {path for path in named if not path.endswith('.launch.py')}
    assert {'tutorial/drive.py', 'tutorial/journal.db', 'tutorial/report.html'} <= made
    ignored = (ROOT / '.gitignore').read_text(encoding='utf-8').splitlines()
    assert {f'/{path.partition("/")[0]}/' for path in made} <= set(ignored)


def test_the_places_of_the_guide_can_be_read(tmp_path):
    (block,) = re.findall(r'```yaml\n(.*?)```', PAGES['on_a_turtlebot3'], re.DOTALL)
    file = tmp_path / 'places.yaml'
    file.write_text(block, encoding='utf-8')
    assert list(read_places(file)) == ['desk']


def test_the_settings_of_the_table_of_robots_are_allowed():
    assert check_parameters({'battery.percentage_scale': 100.0})
    assert '`battery.percentage_scale: 100.0`' in PAGES['on_your_robot']


@pytest.mark.anyio
async def test_the_client_of_the_tutorial_drives_the_simulated_robot(tmp_path):
    pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')
    from live_robot import live_robot

    async with live_robot(tmp_path / 'journal.db') as live:
        program = _program(tmp_path, 0, 'http://127.0.0.1:8642/mcp', live.url)
        lines = (await _printed(program, 60.0)).splitlines()
    assert lines[0].startswith('accepted ')
    assert lines[1:] == ['SUCCEEDED verified']


FINISH = """\
responses:
  - repeat: true
    call: {name: finish_mission, arguments: {outcome: not_achieved, reason: there is nobody}}
"""


@pytest.mark.anyio
async def test_the_program_of_the_tutorial_sends_a_mission(tmp_path):
    pytest.importorskip('rclpy', reason='needs ROS 2: . ./env.sh')
    from live_robot import DOMAIN, live_robot

    script = tmp_path / 'script.yaml'
    script.write_text(FINISH, encoding='utf-8')
    given = {'model.provider': 'scripted', 'model.script_file': str(script)}
    async with live_robot(tmp_path / 'journal.db', harness=given) as live:
        name = '/robot_agent_harness/run_mission'
        program = _program(tmp_path, 1, name, f'{live.namespace}{name}')
        told = ''
        for _ in range(3):  # as `asking.py` says, discovery may lose it an answer
            with contextlib.suppress(asyncio.TimeoutError):
                told = await _printed(program, 20.0, ROS_DOMAIN_ID=str(DOMAIN))
                break
    assert told.startswith('not_achieved 0 actions ended')
    assert 'there is nobody' in told


def _program(folder, number, named, instead):
    """Write a program of the tutorial, for another address than the one that it names."""
    text = re.findall(r'```python\n(.*?)```', PAGES['tutorial_simulation'], re.DOTALL)[number]
    assert text.count(named) == 1
    file = folder / 'program.py'
    file.write_text(text.replace(named, instead), encoding='utf-8')
    return file


async def _printed(program, within_s, **environment):
    """Run a program and return what it printed.

    :raises asyncio.TimeoutError: it did not end in time, and was killed.
    """
    run = await asyncio.create_subprocess_exec(
        sys.executable,
        str(program),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, **environment},
    )
    try:
        told, _ = await asyncio.wait_for(run.communicate(), within_s)
    except asyncio.TimeoutError:
        run.kill()
        await run.wait()
        raise
    return told.decode()
