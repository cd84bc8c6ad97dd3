# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The report of a mission, from a journal that the whole core wrote in virtual time."""

from __future__ import annotations

import asyncio
import base64
from dataclasses import replace
import gzip
import hashlib
from html.parser import HTMLParser
from itertools import pairwise
import math
import os
from pathlib import Path
import re
import sqlite3
import stat
from typing import Any
from xml.etree import ElementTree

from journal_rig import alter
import pytest
from report_rig import HOSTILE, hostile, mission

from robot_agent_harness.cli import main
from robot_agent_harness.clock import SystemClock
from robot_agent_harness.errors import (
    ConfigurationError,
    JournalCorruptError,
    JournalTooNewError,
    JournalUnavailableError,
)
from robot_agent_harness.events import (
    Correlation,
    Event,
    HarnessStateChanged,
    MissionStarted,
    ModelResponseRecorded,
    RobotActionOutcome,
    RobotActionStarted,
    ToolCallRecorded,
    WorldSnapshotCaptured,
)
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.journal.rotation import rotate
from robot_agent_harness.journal.store import MissionJournal
from robot_agent_harness.report import write_report
from robot_agent_harness.report.map_chart import draw_map, MapChart, nice_step
from robot_agent_harness.report.page import render, Source
from robot_agent_harness.report.settings import with_settings
from robot_agent_harness.report.story import Story, tell
from robot_agent_harness.report.values import counted, plain, printable, seconds
from robot_agent_harness.testing.virtual_time import run_virtual

VOID = {'meta', 'br', 'img', 'link', 'hr', 'input'}


class Page(HTMLParser):
    """A page read strictly: every tag closed in its order, and what it would load."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    @property
    def text(self) -> str:
        return ' '.join(' '.join(self.words).split())

    def attributes(self, name: str) -> list[str | None]:
        return [given[name] for _, given in self.tags if name in given]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        assert len(dict(attrs)) == len(attrs), f'an attribute twice in {tag}'
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f'</{tag}> closes nothing'
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if 'style' not in self.open:
            self.words.append(data)


@pytest.fixture(scope='module')
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp('report') / 'journal.db'
    run_virtual(mission(path))
    return path


@pytest.fixture(scope='module')
def html(journal: Path) -> str:
    return write_report(journal, journal.with_name('report.html')).read_text(encoding='utf-8')


@pytest.fixture(scope='module')
def page(html: str) -> Page:
    return Page(html)


@pytest.fixture(scope='module')
def story(journal: Path) -> Story:
    with JournalReader(journal) as reader:
        return tell('mission-parcel', reader.events(mission_id='mission-parcel'))


def test_the_story_tells_each_decision_with_what_came_of_it(story: Story) -> None:
    assert [call.status for call in story.calls] == [
        'accepted',
        'precondition_changed',
        'accepted',
        'accepted',
        'completed',
    ]
    assert [(a.state, a.reason) for a in story.actions] == [
        ('SUCCEEDED', 'verified'),
        ('FAILED', 'verification_disproved'),
        ('SUCCEEDED', 'verified'),
    ]
    assert all(action.claimed for action in story.actions)
    assert [state for state, _ in story.actions[0].states] == [
        'REQUESTED',
        'ACCEPTED',
        'RUNNING',
        'VERIFYING',
        'SUCCEEDED',
    ]
    assert story.thinking_s == pytest.approx(2.0)
    assert story.turns[0].trigger == 'mission_started'
    assert story.calls[0].purpose == 'fetch the parcel'


def test_a_robot_that_was_pushed_has_a_path_with_a_gap(story: Story) -> None:
    (stopped,) = story.stopped

    assert stopped.moved is not None
    assert math.dist(*stopped.moved) == pytest.approx(0.8)
    assert [path[0] for path in story.paths] == [(0.0, 0.0), stopped.moved[1]]


def test_the_page_says_in_words_what_was_claimed_and_what_is_true(page: Page) -> None:
    for told in (
        'The model claims “achieved”, and verified outcomes support it.',
        '2 actions verified',
        'False success caught: the controller reported that action 2 (navigate_to_pose',
        'navigate_to_pose was stopped before anything was sent to the robot:'
        ' moved since the decision 0.8 m (at most 0.5 m).',
    ):
        assert told in page.text


def test_the_decision_table_has_everything_that_the_journal_knows_of_a_decision(
    page: Page,
) -> None:
    for told in (
        'because: mission started',
        'because: precondition changed',
        'Something moved me. The loading bay is still right.',
        'fetch the parcel',
        'the robot stands at 6.0, 1.0',
        '{"x": 6.0, "y": 1.0}',
        'Moved since the decision: 0.8 m , at most 0.5 m',
        'Age of the map pose:',
        'precondition changed',
        'verification disproved',
        'Controller said SUCCEEDED (result)',
        'At rest, and not at the goal.',
        'At rest yes (by odometry)',
        'Let me see.',
    ):
        assert told in page.text


def test_the_cost_is_the_one_that_the_journal_counts(
    tmp_path: Path, story: Story, page: Page
) -> None:
    assert story.usage.model_calls == 5
    assert story.acting_s == pytest.approx(19.5, abs=0.2)
    assert 'Model asked 5 times' in page.text
    assert 'Waiting for the model 2.0 s' in page.text
    asyncio.run(_costly(tmp_path / 'journal.db'))

    with JournalReader(tmp_path / 'journal.db') as reader:
        told = tell('m', reader.events(mission_id='m'))
        assert told.usage == reader.usage()['m']
    shown = Page(write_report(tmp_path / 'journal.db', tmp_path / 'r.html').read_text()).text

    assert 'Model asked 3 times, 1 failed' in shown
    assert 'Tokens in 1,300' in shown
    assert 'Read from the cache 4,000' in shown
    assert 'Written to the cache' not in shown
    assert '1,300 tokens in, 70 out, 5.0 s' in shown


async def _costly(path: Path) -> None:
    journal = MissionJournal.open(path, clock=SystemClock(), inline=True)
    own = Correlation(mission_id='m', turn_id='t')
    for usage, error in (
        ({'input_tokens': 1000, 'output_tokens': 50, 'cache_read_input_tokens': 4000}, None),
        ({}, 'no route to host'),
        ({'input_tokens': 300, 'output_tokens': 20}, None),
    ):
        answer = ModelResponseRecorded(
            rationale=None,
            thinking=None,
            tool_calls=[],
            usage=usage,
            stop_reason=None,
            provider='p',
            model='m',
            error=error,
            duration_s=2.5 if error is None else None,
        )
        await journal.append((answer, own))
    await journal.close()


def test_the_timeline_says_how_long_states_lasted_and_how_old_the_knowledge_was(
    page: Page, story: Story
) -> None:
    assert '1. navigate_to_pose (3.00, 4.00) RUNNING 0.25 s 10.0 s' in page.text
    looked = [look.reason for look in story.looks]
    assert looked.count('verification') == 3
    (battery,) = (fact for fact in story.looks[0].facts if fact.name == 'battery')
    assert (battery.availability, battery.age_s) == ('available', pytest.approx(1.0))
    safety = story.looks[0].facts[-1]
    assert (safety.name, safety.availability, safety.age_s) == ('safety', 'missing', None)
    assert re.search(r'verification at 10\.[3-6] s: map pose 0\.0\d s, odometry', page.text)


def test_an_archive_is_reported_like_the_journal_that_it_was(journal: Path, html: str) -> None:
    archive = journal.with_name('journal.db.gz')
    archive.write_bytes(gzip.compress(journal.read_bytes()))

    report = write_report(archive, journal.with_name('archived.html')).read_text()

    assert report == html.replace(str(journal), str(archive))


def test_the_page_asks_nobody_for_anything_and_runs_nothing(html: str, page: Page) -> None:
    assert 'http://' not in html
    assert 'https://' not in html
    assert {tag for tag, _ in page.tags} & {'script', 'link', 'img', 'iframe', 'object'} == set()
    assert page.attributes('src') == []
    assert all(str(link).startswith('#') for link in page.attributes('href'))
    assert 'url(' not in html
    assert '@import' not in html
    (policy,) = [given['content'] for tag, given in page.tags if 'http-equiv' in given]
    assert str(policy).startswith("default-src 'none'")
    assert 'unsafe' not in str(policy)
    assert page.attributes('style') == []
    (sheet,) = re.findall(r'<style>(.*?)</style>', html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}';" in str(policy)


def test_the_page_can_be_read_by_everybody(page: Page) -> None:
    assert page.tags[0] == ('html', {'lang': 'en'})
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch('h[1-6]', tag)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    ids = page.attributes('id')
    assert len(ids) == len(set(ids))
    for names in page.attributes('aria-labelledby'):
        assert set(str(names).split()) <= set(ids)
    assert 'viewport' in page.attributes('name')
    tables = [given for tag, given in page.tags if tag == 'table']
    assert tables
    # Cards on a phone are no table any more to a screen reader, unless it is told.
    assert all(given.get('role') == 'table' for given in tables)
    assert all('scope' in given for tag, given in page.tags if tag == 'th')


@pytest.mark.parametrize('mode', ['light', 'dark'])
def test_text_stands_out_from_its_ground_in_both_colour_schemes(html: str, mode: str) -> None:
    light, dark = re.findall(r':root \{(.*?)\}', html, re.DOTALL)[:2]
    colours = dict(re.findall(r'--([a-z-]+): (#[0-9a-f]{6})', light))
    if mode == 'dark':
        colours |= dict(re.findall(r'--([a-z-]+): (#[0-9a-f]{6})', dark))

    pairs = [('ink', 'card'), ('ink', 'ground'), ('soft', 'card'), ('soft', 'ground')]
    pairs += [('path', 'card'), ('bad', 'card'), ('ink', 'grid')]
    for kind in ('good', 'bad', 'unsure', 'stopped'):
        pairs += [(kind, f'{kind}-ground'), ('ink', f'{kind}-ground'), ('card', kind)]
    for front, back in pairs:
        assert _contrast(colours[front], colours[back]) >= 4.5, (front, back)


def _contrast(one: str, other: str) -> float:
    light = sorted((_luminance(one), _luminance(other)))
    return (light[1] + 0.05) / (light[0] + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_the_map_is_well_formed_and_shows_goals_and_positions(html: str, story: Story) -> None:
    found = re.search(r'<svg viewBox="0 0 7.*?</svg>', html, re.DOTALL)
    assert found is not None
    root = ElementTree.fromstring(found.group())
    chart = draw_map(story)
    assert chart is not None

    kinds = [element.get('class') for element in root.iter()]
    assert kinds.count('tolerance') == 2
    assert kinds.count('path') == 2
    assert kinds.count('moved') == 1
    assert kinds.count('claim') == 1
    assert [goal.label for goal in chart.goals] == ['1', '2, 3']
    assert [seen.state for seen in chart.seen] == ['SUCCEEDED', 'FAILED', 'SUCCEEDED']
    for element in root.iter():
        for name in ('cx', 'x', 'x1', 'x2'):
            if name in element.attrib:
                assert 0 <= float(element.attrib[name]) <= chart.width
        for name in ('cy', 'y', 'y1', 'y2'):
            if name in element.attrib:
                assert 0 <= float(element.attrib[name]) <= chart.height
    # Both axes have one scale: 4 m up are drawn as long as 4 m to the right.
    across = [tick.at for tick in chart.x_ticks]
    upright = [tick.at for tick in chart.y_ticks]
    assert across[1] - across[0] == pytest.approx(upright[0] - upright[1])


def test_nothing_from_outside_becomes_markup(tmp_path: Path) -> None:
    asyncio.run(hostile(tmp_path / 'journal.db'))

    html = write_report(tmp_path / 'journal.db', tmp_path / 'report.html').read_text()
    page = Page(html)

    assert {tag for tag, _ in page.tags} & {'script', 'img'} == set()
    assert all(not name.startswith('on') for _, given in page.tags for name in given)
    assert html.count('<style>') == html.count('</style>') == 1
    assert HOSTILE in page.text
    assert '{{ 7*7 }}' in page.text
    for char in '\x00\x1b\u202e\u2066\u2028':
        assert char not in html
    assert 'a\\x00b\\x1b[31mc\\u202ed\\u2066e\\u2028f' in page.text


def test_coordinates_that_no_robot_has_do_not_spoil_the_map(story: Story, journal: Path) -> None:
    with JournalReader(journal) as reader:
        events = list(reader.events(mission_id='mission-parcel'))
    wild = {'skill': 'navigate_to_pose', 'goal': {'x': 1e308, 'y': -1e308}}
    started = next(event for event in events if event.type == 'ROBOT_ACTION_STARTED')

    chart = draw_map(tell('mission', [*events, replace(started, action_id='x', payload=wild)]))

    assert chart == draw_map(story)


@pytest.mark.parametrize('value', [None, 7, True, 'text', [], [None], {}, {'x': 'y'}, 10**400])
def test_payloads_of_unexpected_shapes_are_shown_as_far_as_they_go(
    journal: Path, value: Any
) -> None:
    with JournalReader(journal) as reader:
        events = list(reader.events())
    changed = [
        replace(event, payload={key: value for key in event.payload}) for event in events
    ] + [replace(event, payload={}) for event in events]

    Page(render([tell('mission', changed)], Source('journal.db', 1, 0)))


def _about(chart: MapChart | None) -> list[float | None]:
    assert chart is not None
    return [goal.radius for goal in chart.goals]


async def _under_way(path: Path, *changes: Event) -> None:
    """Record a start, changes of the configuration, and a mission whose actions have no end."""
    journal = MissionJournal.open(path, clock=SystemClock(), inline=True)
    at_home = {'value': {'x': 0.0, 'y': 0.0}, 'availability': 'available'}
    seen = WorldSnapshotCaptured(reason='requested', snapshot={'map_pose': at_home})
    started = MissionStarted(instruction='Go.', robot_id='r', provider='p', max_steps=1)
    configured = {'parameters': {'navigation.xy_tolerance_m': 0.35}}
    own = Correlation(mission_id='m')
    await journal.append(
        *((state, Correlation()) for state in (_state('configured', configured), *changes)),
        (started, own),
        (seen, own),
    )
    for number, (skill, driven) in enumerate(
        (
            ('navigate_to_pose', None),
            ('bring', {'name': 'bring', 'type': 'nav2_msgs/NavigateToPose', 'verifier': 'none'}),
            ('patrol', {'name': 'go', 'type': 'my_msgs/Go', 'verifier': 'navigation'}),
        )
    ):
        action = RobotActionStarted(skill=skill, goal={'x': number, 'y': 1.0}, driven=driven)
        await journal.append((action, replace(own, action_id=f'a-{number}')))
    await journal.close()


def _state(state: Any, configuration: dict[str, Any]) -> HarnessStateChanged:
    return HarnessStateChanged(state=state, monotonic_ns=1, configuration=configuration)


def _story_of(path: Path) -> Story:
    with JournalReader(path) as reader:
        return tell('m', with_settings(reader, reader.events(mission_id='m')))


@pytest.mark.parametrize('changed', [None, 0.7])
def test_the_circle_that_counts_as_there_is_drawn_before_the_action_has_ended(
    tmp_path: Path, changed: float | None
) -> None:
    path = tmp_path / 'journal.db'
    changes = [_state('active', {})]
    if changed is not None:
        told = {'parameters': {'navigation.xy_tolerance_m': changed}}
        changes.append(_state('reconfigured', told))
    asyncio.run(_under_way(path, *changes))

    story = _story_of(path)

    assert [action.tolerance_m for action in story.actions] == [
        changed or 0.35,
        None,  # nobody goes by that distance there
        changed or 0.35,
    ]
    first, second, third = _about(draw_map(story))
    assert (first, second) == (third, None)
    assert first is not None
    assert first > 20


def test_the_circle_of_a_file_that_a_rotation_began_is_that_of_the_file_before(
    tmp_path: Path,
) -> None:
    path = tmp_path / 'journal.db'

    async def scenario() -> None:
        configured = {'parameters': {'navigation.xy_tolerance_m': 0.5}}
        journal = MissionJournal.open(path, clock=SystemClock(), inline=True)
        await journal.append((_state('configured', configured), Correlation()))
        await journal.close()
        assert rotate(path, clock=SystemClock()) is not None
        journal = MissionJournal.open(path, clock=SystemClock(), inline=True)
        started = MissionStarted(instruction='Go.', robot_id='r', provider='p', max_steps=1)
        action = RobotActionStarted(skill='navigate_to_pose', goal={'x': 1.0, 'y': 1.0})
        for event in (started, action):
            await journal.append((event, Correlation(mission_id='m', action_id='a')))
        await journal.close()

    asyncio.run(scenario())

    assert [action.tolerance_m for action in _story_of(path).actions] == [0.5]


def test_after_a_rotation_the_report_says_which_file_has_what_was_before(
    tmp_path: Path,
) -> None:
    path = tmp_path / 'journal.db'
    run_virtual(mission(path))
    rotated = rotate(path, clock=SystemClock())
    assert rotated is not None

    page = Page(write_report(path, tmp_path / 'report.html').read_text())

    assert f'What was before is in {rotated.archive.name}' in page.text
    assert 'This file holds no mission and no call yet' in page.text
    with pytest.raises(
        ConfigurationError, match=f'what was before it is in {rotated.archive.name}'
    ):
        write_report(path, tmp_path / 'report.html', 'mission-parcel')
    before = Page(write_report(rotated.archive, tmp_path / 'report.html').read_text())
    assert 'Fetch the parcel.' in before.text


def test_one_of_a_thing_is_no_plural(tmp_path: Path) -> None:
    asyncio.run(_many(tmp_path / 'journal.db', 21))
    page = Page(write_report(tmp_path / 'journal.db', tmp_path / 'report.html').read_text())
    assert '22 records.' in page.text
    assert 'Not shown: 1 older mission;' in page.text
    asyncio.run(hostile(tmp_path / 'one.db'))
    page = Page(write_report(tmp_path / 'one.db', tmp_path / 'report.html').read_text())
    assert 'how old it was: 1 snapshot ' in page.text
    assert 'Model asked 1 time, 1 failed' in page.text
    assert 'with 0 goals and 0 positions at which' in page.text
    assert counted(1, 'record') == '1 record'
    assert counted(12_345, 'record') == '12,345 records'


def test_an_instruction_of_many_words_opens_below_a_heading(tmp_path: Path) -> None:
    words = 'Look at every shelf. ' * 40
    run_virtual(mission(tmp_path / 'journal.db', instruction=words))

    html = write_report(tmp_path / 'journal.db', tmp_path / 'report.html').read_text()

    (heading,) = re.findall(r'<h2 .*?>(.*?)</h2>', html, re.DOTALL)
    assert heading == f'{words[:300]}…'
    assert words in re.sub(r'<h2 .*?</h2>', '', html, flags=re.DOTALL)


async def _busy(path: Path, count: int) -> None:
    """Record a mission of so many actions to one place, of which every tenth fails."""
    journal = MissionJournal.open(path, clock=SystemClock(), inline=True)
    own = Correlation(mission_id='m')
    started = MissionStarted(instruction='Go round.', robot_id='r', provider='p', max_steps=1)
    entries: list[tuple[Event, Correlation]] = [(started, own)]
    for number in range(1, count + 1):
        action = replace(own, action_id=f'a-{number}')
        failed = number % 10 == 0
        ended = RobotActionOutcome(
            state='FAILED' if failed else 'SUCCEEDED',
            reason='aborted' if failed else 'verified',
            evidence={'observed_pose': {'x': 1.0, 'y': 1.1}, 'position_tolerance_m': 0.35},
            verification_snapshot_id='s',
        )
        goal = RobotActionStarted(skill='navigate_to_pose', goal={'x': 1.0, 'y': 1.0})
        entries += [(goal, action), (ended, action)]
        seen = {'map_pose': {'value': {'x': 1.0, 'y': 1.1}, 'availability': 'available'}}
        entries.append((WorldSnapshotCaptured(reason='requested', snapshot=seen), own))
    await journal.append(*entries)
    await journal.close()


def test_a_mission_of_very_many_actions_is_a_page_that_can_still_be_read(tmp_path: Path) -> None:
    asyncio.run(_busy(tmp_path / 'journal.db', 350))

    html = write_report(tmp_path / 'journal.db', tmp_path / 'report.html').read_text()
    page = Page(html)

    assert 'The first 250 actions not shown here and in the drawings' in page.text
    assert '315 actions verified' in page.text
    assert '25 more findings like the next one, earlier on.' in page.text
    assert page.text.count(' failed: aborted.') == 10
    assert 'Action 350 (navigate_to_pose) failed: aborted.' in page.text
    assert html.count('class="lane"') == 101  # with the snapshots
    assert re.findall(r'<text class="goal".*?>(.*?)</text>', html) == ['251, 252, 253 … 350']
    assert len(html) < 500_000


def test_a_page_about_calls_that_moved_nothing_says_so(tmp_path: Path) -> None:
    asyncio.run(_many(tmp_path / 'journal.db', 0))
    page = Page(write_report(tmp_path / 'journal.db', tmp_path / 'report.html').read_text())
    assert 'No goal was sent to the robot.' in page.text


async def _many(path: Path, count: int) -> None:
    journal = MissionJournal.open(path, clock=SystemClock(), inline=True)
    for index in range(count):
        started = MissionStarted(
            instruction=f'No. {index}', robot_id='r', provider='p', max_steps=1
        )
        await journal.append((started, Correlation(mission_id=f'm-{index}')))
    call = ToolCallRecorded(
        name='get_world_snapshot',
        arguments={},
        decision_snapshot_id=None,
        purpose=None,
        expected_outcome=None,
        client={'kind': 'mcp'},
    )
    await journal.append((call, Correlation(tool_call_id='call-1')))
    await journal.close()


def test_without_an_id_the_newest_missions_and_the_calls_outside_them_are_shown(
    tmp_path: Path,
) -> None:
    asyncio.run(_many(tmp_path / 'journal.db', 23))

    page = Page(write_report(tmp_path / 'journal.db', tmp_path / 'report.html').read_text())

    assert 'No. 22' in page.text
    assert 'No. 3' in page.text
    assert 'No. 2 ' not in page.text
    assert 'Not shown: 3 older missions;' in page.text
    assert 'Calls outside missions' in page.text
    assert 'by: mcp' in page.text
    assert 'No end recorded' in page.text


def test_each_decision_has_its_reasons_once_whichever_mission_it_is_of(tmp_path: Path) -> None:
    asyncio.run(_reasoned(tmp_path / 'journal.db'))

    page = Page(write_report(tmp_path / 'journal.db', tmp_path / 'report.html').read_text())

    for number in range(3):
        assert page.text.count(f'Reason {number}.') == 1


async def _reasoned(path: Path) -> None:
    """Record missions of one decision with two calls each."""
    journal = MissionJournal.open(path, clock=SystemClock(), inline=True)
    for number in range(3):
        own = Correlation(mission_id=f'm-{number}', turn_id=f't-{number}')
        answer = ModelResponseRecorded(
            rationale=f'Reason {number}.',
            thinking=None,
            tool_calls=[],
            usage={},
            stop_reason=None,
            provider='p',
            model='m',
        )
        await journal.append((answer, own))
        for call in range(2):
            asked = ToolCallRecorded(
                name='list_places',
                arguments={},
                decision_snapshot_id=None,
                purpose=None,
                expected_outcome=None,
            )
            await journal.append((asked, replace(own, tool_call_id=f'c-{number}-{call}')))
    await journal.close()


def test_one_mission_can_be_asked_for_and_an_unknown_one_is_named(tmp_path: Path) -> None:
    asyncio.run(_many(tmp_path / 'journal.db', 3))

    report = write_report(tmp_path / 'journal.db', tmp_path / 'r.html', mission_id='m-1')

    page = Page(report.read_text())
    assert 'No. 1' in page.text
    assert 'No. 2' not in page.text
    assert 'Calls outside missions' not in page.text
    with pytest.raises(ConfigurationError, match=r'mission m-9: not in .*: m-0, m-1, m-2'):
        write_report(tmp_path / 'journal.db', tmp_path / 'r.html', mission_id='m-9')


def test_an_empty_journal_gives_a_page_that_says_so(tmp_path: Path) -> None:
    asyncio.run(MissionJournal.open(tmp_path / 'j.db', clock=SystemClock(), inline=True).close())

    page = Page(write_report(tmp_path / 'j.db', tmp_path / 'r.html').read_text())

    assert 'holds no mission and no call yet' in page.text


def test_a_file_that_is_no_sound_journal_is_refused_by_name(journal: Path, tmp_path: Path) -> None:
    (tmp_path / 'text.db').write_text('this is no database, but it is long enough to be read')
    newer = tmp_path / 'newer.db'
    newer.write_bytes(journal.read_bytes())
    database = sqlite3.connect(newer)
    database.execute('PRAGMA user_version = 99')
    database.close()
    report = tmp_path / 'report.html'

    with pytest.raises(JournalUnavailableError, match=r'nowhere\.db'):
        write_report(tmp_path / 'nowhere.db', report)
    with pytest.raises(JournalCorruptError, match=r'text\.db'):
        write_report(tmp_path / 'text.db', report)
    with pytest.raises(JournalTooNewError, match=r'newer\.db'):
        write_report(newer, report)
    assert not report.exists()


def test_the_report_is_written_whole_or_not_at_all(journal: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r'output .*nowhere/r.html: No such file') as told:
        write_report(journal, tmp_path / 'nowhere' / 'r.html')
    assert str(told.value).endswith(f': there is no folder {tmp_path / "nowhere"}; make it')
    assert not (tmp_path / 'nowhere').exists()
    with pytest.raises(ConfigurationError, match='that is the journal itself'):
        write_report(journal, journal)
    (tmp_path / 'folder.html').mkdir()
    with pytest.raises(ConfigurationError, match=r'folder\.html: that is a folder'):
        write_report(journal, tmp_path / 'folder.html')

    report = write_report(journal, tmp_path / 'r.html')

    assert sorted(p.name for p in tmp_path.iterdir()) == ['folder.html', 'r.html']
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(report.stat().st_mode) == 0o666 & ~mask


def test_a_report_into_a_device_leaves_the_device_and_nowhere_is_named(
    journal: Path, tmp_path: Path
) -> None:
    circle = tmp_path / 'circle.html'
    circle.symlink_to(circle.name)
    with pytest.raises(ConfigurationError, match=r'output .*circle\.html: '):
        write_report(journal, circle)
    device = tmp_path / 'null.html'
    device.symlink_to('/dev/null')
    write_report(journal, device)
    assert device.is_char_device()


def test_the_report_of_a_damaged_journal_is_written_and_says_so_at_its_beginning(
    journal: Path, html: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    altered, target = tmp_path / 'altered.db', tmp_path / 'r.html'
    altered.write_bytes(journal.read_bytes())
    alter(altered, 'UPDATE events SET wall_time_ns = wall_time_ns + 1 WHERE seq = 7')

    assert main(['report', str(altered), '-o', str(target)]) == 2

    why = 'record 7 was altered, or the one before it'
    out, err = capsys.readouterr()
    assert out == ''
    assert err.splitlines() == [
        f'robot-agent-harness report: journal {altered} is damaged: {why}; the report was written'
        f' all the same, and says so: {target}'
    ]
    page = Page(target.read_text())
    assert f'This journal is damaged: {why}.' in page.text
    assert page.text.index(why) < page.text.index('Fetch the parcel.')
    assert 'This journal is damaged' not in Page(html).text


def test_long_texts_are_cut_and_say_so() -> None:
    assert printable('x' * 5000) == 'x' * 4000 + ' … (1,000 more characters in the journal)'
    assert printable('naïve 日本 👩‍🚀\n') == 'naïve 日本 👩‍🚀\n'


@pytest.mark.parametrize(
    ('value', 'told'),
    [(0.123456, '0.1235'), (True, 'yes'), (None, 'none'), ([], 'none'), ({'a': 1}, '{"a": 1}')],
)
def test_measured_values_are_told_in_short(value: Any, told: str) -> None:
    assert plain(value) == told


@pytest.mark.parametrize(
    ('value', 'told'),
    [(0.25, '0.25 s'), (12.34, '12.3 s'), (75, '1 min 15 s'), (7500, '2 h 5 min')],
)
def test_durations_are_told_in_the_unit_that_fits(value: float, told: str) -> None:
    assert seconds(value) == told


@pytest.mark.parametrize(('extent', 'step'), [(6.0, 1.0), (0.8, 0.1), (100.0, 20.0), (2.0, 0.5)])
def test_grid_lines_stand_at_round_numbers(extent: float, step: float) -> None:
    assert nice_step(extent) == pytest.approx(step)


def test_the_command_writes_the_report_and_prints_where(
    journal: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / 'mission.html'

    assert main(['report', str(journal), '-o', str(target), '--mission', 'mission-parcel']) == 0

    assert capsys.readouterr().out == f'{target}\n'
    assert 'Fetch the parcel.' in target.read_text()


@pytest.mark.parametrize(
    'arguments',
    [['nowhere.db'], ['{journal}', '--mission', 'm'], ['{journal}', '-o', '/no/r.html']],
)
def test_the_command_refuses_with_one_line_and_exit_code_2(
    journal: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(['report', *(a.format(journal=journal) for a in arguments)]) == 2

    told = capsys.readouterr()
    assert told.out == ''
    assert told.err.startswith('robot-agent-harness report: ')
    assert told.err.count('\n') == 1
