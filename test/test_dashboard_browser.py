# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The dashboard as a browser shows it, while a simulated robot really drives its missions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from browser_rig import (
    broken_words,
    browser,
    contrasts_too_low,
    DESK,
    needs_chromium,
    PHONE,
    Watched,
    watched,
)
from dashboard_rig import Served, served
from playwright.async_api import Browser, expect
import pytest
from report_rig import go, HOSTILE, hostile, LONG_WORD, mission, MISSION_ID

from robot_agent_harness.clock import SystemClock
from robot_agent_harness.events import (
    Correlation,
    HarnessStateChanged,
    MissionStarted,
    RecordedEvent,
    SalientEvent,
)
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.journal.rotation import rotate
from robot_agent_harness.journal.store import MissionJournal
from robot_agent_harness.llm.client import ModelClient
from robot_agent_harness.testing.scripted_model import response, scripted
from robot_agent_harness.testing.virtual_time import run_virtual

pytestmark = [needs_chromium, pytest.mark.anyio]
LOOKS = 'the-one-that-looks'


@pytest.fixture(scope='module')
def anyio_backend() -> str:
    return 'asyncio'


@pytest.fixture(scope='module')
async def chromium() -> AsyncIterator[Browser]:
    async with browser() as started:
        yield started


def trip() -> ModelClient:
    return scripted(
        go(0.8, 0.4, 'The shelf first.'),
        response(
            say='It was reached.',
            call={
                'name': 'finish_mission',
                'arguments': {'outcome': 'achieved', 'reason': 'the arrival was verified'},
            },
        ),
    )


def note(number: int) -> SalientEvent:
    return SalientEvent(kind='note', message=f'note {number}')


def undisturbed(shown: Watched, made: Served) -> None:
    """No complaint, and nobody else was asked."""
    assert shown.complaints == []
    assert shown.hosts == {made.host}


async def recorded(shown: Watched) -> list[int]:
    """Return the numbers of the records in the timeline, the newest first."""
    numbers: list[int] = await shown.page.locator('#timeline > li').evaluate_all(
        'items => items.map(item => Number(item.dataset.seq))'
    )
    return numbers


async def until_recorded(shown: Watched, seq: int) -> None:
    await shown.page.locator(f'#timeline > [data-seq="{seq}"]').wait_for()


async def test_a_mission_is_seen_as_it_happens(chromium: Browser, tmp_path: Path) -> None:
    async with served(tmp_path, model=trip()) as made, watched(chromium, DESK) as shown:
        page = shown.page
        await page.goto(made.url)
        await expect(page.locator('#link')).to_have_text('Live')
        await expect(page.locator('#doing')).to_contain_text('No mission is under way')
        pose = page.get_by_role('row', name='map pose')
        await expect(pose).to_contain_text('x 0.00 m, y 0.00 m')
        await expect(pose).to_contain_text('available')
        await expect(page.get_by_role('row', name='safety')).to_contain_text('missing')

        parameters = {'navigation.xy_tolerance_m': 0.35}
        configured = HarnessStateChanged(
            state='configured', monotonic_ns=1, configuration={'parameters': parameters}
        )
        await made.record(configured, Correlation())
        harness = made.bench.core.harness
        running = asyncio.create_task(harness.run_mission('Fetch the parcel.', MISSION_ID))
        await expect(page.locator('#doing')).to_contain_text(f'Mission {MISSION_ID}, step 1')
        await expect(page.locator('#doing .tag')).to_have_text('RUNNING')
        await expect(page.locator('#map path.goal').first).to_be_visible()
        await expect(page.locator('#map circle.tolerance')).to_be_visible()
        assert await page.locator('#map g.seen').count() == 0
        robot = page.locator('#map figure > svg > path.robot')
        start = await robot.get_attribute('transform')
        await running
        await expect(page.locator('#timeline')).to_contain_text('SUCCEEDED (verified)')
        await expect(page.locator('#timeline > .good').first).to_contain_text('mission ended')
        await expect(page.locator('#map g.seen.good')).to_be_visible()
        await expect(page.locator('#map circle.tolerance')).to_be_visible()
        await expect(pose).to_contain_text('x 0.78 m, y 0.39 m')
        assert (
            await page.locator('#map figure > svg > path.robot').get_attribute('transform')
            != start
        )
        await expect(page.locator('#journal')).to_contain_text('written without trouble')
        undisturbed(shown, made)


async def test_it_comes_back_by_itself_with_nothing_lost_or_doubled(
    chromium: Browser, tmp_path: Path
) -> None:
    async with served(tmp_path) as made, watched(chromium, DESK) as shown:
        page = shown.page
        await page.goto(made.url)
        await page.get_by_label('Show').select_option('all')
        for number in range(3):
            last = await made.record(note(number), Correlation())
        await until_recorded(shown, last)

        async def meanwhile() -> None:
            await expect(page.locator('#link')).to_contain_text('Not connected')
            # What is still shown says of when it is.
            assert (await page.locator('#as-of').inner_text()).startswith('As of 2026-01-01')
            assert await page.locator('body.gone').count() == 1
            assert await contrasts_too_low(page) == []
            for number in range(130):
                await made.record(note(number), Correlation())

        await made.restart(meanwhile=meanwhile())
        await expect(page.locator('#link')).to_have_text('Live')
        last = await made.record(note(7), Correlation())
        await until_recorded(shown, last)

        assert await recorded(shown) == list(range(last, 0, -1))
        assert shown.hosts == {made.host}


async def test_one_drills_down_from_missions_to_what_a_record_holds(
    chromium: Browser, tmp_path: Path
) -> None:
    await asyncio.to_thread(run_virtual, mission(tmp_path / 'journal.db'))
    async with served(tmp_path) as made, watched(chromium, DESK) as shown:
        page = shown.page
        await page.goto(made.url)
        await page.get_by_role('link', name='Missions', exact=True).click()
        row = page.get_by_role('row', name='Fetch the parcel.')
        await expect(row).to_contain_text('achieved')
        await row.get_by_role('link').click()
        story = page.locator('#story')
        await expect(story).to_contain_text('False success caught')
        await expect(story.get_by_role('table')).to_have_count(2)
        assert await story.locator('rect.bar.running').count() == 3
        widths = await story.locator('rect.bar.running').evaluate_all(
            'bars => bars.map(bar => bar.getBoundingClientRect().width)'
        )
        assert min(widths) > 20

        await page.get_by_label('Type').select_option('ROBOT_ACTION_OUTCOME')
        await expect(page.locator('#chain > li')).to_have_count(3)
        await page.locator('#chain > .bad summary').click()
        await expect(page.locator('#chain pre')).to_contain_text('verification_disproved')
        async with page.expect_download() as download:
            await page.get_by_role('button', name='Download the report').click()
        report = await (await download.value).path()
        assert 'False success caught' in report.read_text()

        await page.go_back()
        await expect(row).to_be_visible()
        await page.locator('#mission-filter').get_by_label('Outcome').select_option('not_achieved')
        await expect(page.locator('#missions-none')).to_have_text('There is nothing of that kind.')
        undisturbed(shown, made)


async def test_older_missions_and_records_come_by_the_page(
    chromium: Browser, tmp_path: Path
) -> None:
    journal = MissionJournal.open(tmp_path / 'journal.db', clock=SystemClock(), inline=True)
    for number in range(60):
        started = MissionStarted(
            instruction=f'No. {number}.', robot_id='r', provider='p', max_steps=1
        )
        await journal.append((started, Correlation(mission_id=f'm-{number}')))
    long = Correlation(mission_id='m-0')
    await journal.append(*((note(number), long) for number in range(150)))
    await journal.close()
    async with served(tmp_path) as made, watched(chromium, DESK) as shown:
        page = shown.page
        await page.goto(f'{made.url}#/missions')
        older = page.get_by_role('button', name='Older missions')
        await expect(page.locator('#mission-rows > tr')).to_have_count(25)
        await older.click()
        await expect(page.locator('#mission-rows > tr')).to_have_count(50)
        await older.click()
        await expect(page.locator('#mission-rows > tr')).to_have_count(60)
        await expect(older).to_be_hidden()
        await page.get_by_role('link', name='No. 0.').click()
        await expect(page.locator('#chain > li')).to_have_count(100)
        await page.get_by_role('button', name='Earlier records').click()
        await expect(page.locator('#chain > li')).to_have_count(151)
        await page.locator('#chain > li summary').first.click()
        # To the nanosecond, which the numbers of a script do not hold.
        (newest,) = await asyncio.to_thread(_newest, tmp_path / 'journal.db', 'm-0')
        whole = f'"wall_time_ns": {newest.wall_time_ns},'
        await expect(page.locator('#chain pre').first).to_contain_text(whole)
        undisturbed(shown, made)


def _newest(journal: Path, mission_id: str) -> list[RecordedEvent]:
    with JournalReader(journal) as reader:
        return list(reader.events(mission_id=mission_id))[-1:]


async def test_missions_of_before_a_rotation_are_found_behind_those_of_the_journal(
    chromium: Browser, tmp_path: Path
) -> None:
    await asyncio.to_thread(run_virtual, mission(tmp_path / 'journal.db'))
    rotated = await asyncio.to_thread(rotate, tmp_path / 'journal.db', clock=SystemClock())
    assert rotated is not None
    name = rotated.archive.name
    async with served(tmp_path) as made, watched(chromium, PHONE) as shown:
        page = shown.page
        started = MissionStarted(instruction='Now.', robot_id='r', provider='p', max_steps=1)
        await made.record(started, Correlation(mission_id='m-now'))
        await page.goto(f'{made.url}#/missions')
        await expect(page.locator('#mission-rows > tr')).to_have_count(1)
        await page.get_by_role('button', name=f'Older missions, in {name}').click()
        rows = page.locator('#mission-rows > tr')
        await expect(rows).to_have_count(3)
        await expect(rows.nth(1)).to_contain_text(f'In {name}, with calls outside missions')
        assert await shown.overflow_px() <= 0
        await expect(page.locator('#missions-older')).to_be_hidden()
        await page.get_by_role('link', name='Fetch the parcel.').click()
        await expect(page.locator('#story')).to_contain_text('False success caught')
        await expect(page.locator('#file')).to_have_text(f'From {name}')
        await page.get_by_label('Type').select_option('ROBOT_ACTION_OUTCOME')
        await expect(page.locator('#chain > li')).to_have_count(3)
        await page.locator('#chain > .bad summary').click()
        await expect(page.locator('#chain pre')).to_contain_text('verification_disproved')
        async with page.expect_download() as download:
            await page.get_by_role('button', name='Download the report').click()
        report = await (await download.value).path()
        assert name in report.read_text()
        await page.reload()
        await expect(page.locator('#story')).to_contain_text('False success caught')
        await page.go_back()
        await rows.nth(0).get_by_role('link').click()
        await expect(page.locator('#story h2')).to_have_text('Now.')
        await expect(page.locator('#file')).to_have_text('')
        undisturbed(shown, made)


async def test_a_connection_on_which_nothing_is_heard_is_given_up_and_made_anew(
    chromium: Browser, tmp_path: Path
) -> None:
    async with served(tmp_path) as made, watched(chromium, DESK) as shown:
        page = shown.page
        await page.clock.install()
        await page.goto(made.url)
        await expect(page.locator('#link')).to_have_text('Live')
        await page.clock.fast_forward(11_000)
        await expect(page.locator('#link')).to_contain_text('nothing was heard for 10 s')
        await expect(page.locator('#link')).to_have_text('Live')
        assert shown.hosts == {made.host}


async def test_each_view_has_its_title_and_takes_the_focus_when_it_opens(
    chromium: Browser, tmp_path: Path
) -> None:
    async with served(tmp_path) as made, watched(chromium, DESK) as shown:
        page = shown.page
        await page.goto(made.url)
        assert await page.title() == 'Live · Robot agent harness'
        await page.get_by_role('link', name='Missions', exact=True).press('Enter')
        await expect(page).to_have_title('Missions · Robot agent harness')
        await expect(page.locator('#main')).to_be_focused()
        await page.keyboard.press('Tab')
        assert (await shown.focused()).startswith('SELECT any')
        await page.get_by_role('link', name='Calls outside missions').press('Enter')
        await expect(page).to_have_title('Mission · Robot agent harness')
        undisturbed(shown, made)


async def test_the_timeline_shows_what_is_asked_for(chromium: Browser, tmp_path: Path) -> None:
    async with served(tmp_path) as made, watched(chromium, DESK) as shown:
        page = shown.page
        await page.goto(made.url)
        action_id = await made.go(0.3, 0.0)
        await made.bench.outcome(action_id)
        await made.record(SalientEvent(kind='battery_low', message='at 18 %'), Correlation())
        lines = page.locator('#timeline > li')
        await expect(lines.filter(has_text='battery_low')).to_have_count(1)
        await expect(lines.filter(has_text='world snapshot captured')).to_have_count(0)
        await page.get_by_label('Show').select_option('salient')
        await expect(lines).to_have_count(1)
        await page.get_by_label('Show').select_option('all')
        await expect(lines.filter(has_text='world snapshot captured')).not_to_have_count(0)
        await page.get_by_label('with the words').fill('robot ACTION outcome succeeded')
        await expect(lines).to_have_count(1)
        # What comes later is filtered as well.
        await made.record(note(1), Correlation())
        last = await made.record(note(2), Correlation())
        await page.get_by_label('with the words').fill('')
        await until_recorded(shown, last)
        await page.get_by_role('link', name='Missions', exact=True).click()
        await page.get_by_role('link', name='Calls outside missions').click()
        await expect(page.locator('#story')).to_contain_text('Calls outside missions')
        undisturbed(shown, made)


VIEWS = ('#/', '#/missions', '#/outside', f'#/mission/{MISSION_ID}')


@pytest.mark.parametrize('dark', [False, True], ids=['light', 'dark'])
async def test_every_view_fits_a_phone_and_can_be_read(
    chromium: Browser, tmp_path: Path, dark: bool
) -> None:
    await asyncio.to_thread(run_virtual, mission(tmp_path / 'journal.db'))
    async with served(tmp_path) as made, watched(chromium, PHONE, dark=dark) as shown:
        page = shown.page
        await made.go(0.5, 0.0)
        for view in VIEWS:
            await page.goto(made.url + view)
            await expect(page.locator('#link')).to_have_text('Live')
            ready = {'#/': '#map svg', '#/missions': '#mission-rows tr'}.get(view, '#story h2')
            await page.locator(ready).first.wait_for()
            await page.locator('details').evaluate_all('all => all.forEach(d => d.open = true)')
            assert await shown.overflow_px() <= 0, view
            assert await contrasts_too_low(page) == [], view
        undisturbed(shown, made)


async def test_what_outsiders_said_is_text_in_every_view(
    chromium: Browser, tmp_path: Path
) -> None:
    await hostile(tmp_path / 'journal.db')
    async with served(tmp_path) as made, watched(chromium, PHONE) as shown:
        page = shown.page
        await page.goto(made.url)
        await page.get_by_label('Show').select_option('all')
        await expect(page.locator('#timeline > li')).not_to_have_count(0)
        first = page.locator('#timeline > li').filter(has_text='mission started')
        await first.locator('summary').click()
        await expect(first.locator('pre')).to_contain_text(HOSTILE.replace('"', '\\"'))
        await _harmless(shown, '#live')
        await first.get_by_role('link').click()
        await expect(page.locator('#story')).to_contain_text('{{ 7*7 }}')
        await page.locator('details').evaluate_all('all => all.forEach(d => d.open = true)')
        await expect(page.locator('#chain pre').first).to_contain_text('payload')
        await _harmless(shown, '#one')
        await page.goto(f'{made.url}#/missions')
        await expect(page.locator('#mission-rows')).to_contain_text(LONG_WORD[:50])
        await _harmless(shown, '#missions')
        await page.set_viewport_size({'width': DESK[0], 'height': DESK[1]})
        cells = '#missions thead th, #missions .began, #missions .num'
        assert await broken_words(page, cells) == []
        row = await page.locator('#mission-rows > tr').bounding_box()
        assert row is not None
        assert row['height'] < 350
        undisturbed(shown, made)


async def _harmless(shown: Watched, view: str) -> None:
    text = await shown.page.locator(view).inner_text()
    assert '<script>alert(1)</script>' in text
    assert '\\u202e' in text
    assert not set(text) & set('\x1b\u202e\u2066\u2028')
    assert await shown.page.locator(f'{view} script, {view} img, {view} iframe').count() == 0
    assert await shown.overflow_px() <= 0


async def test_a_token_is_asked_for_once_a_tab_and_is_in_no_address_or_cookie(
    chromium: Browser, tmp_path: Path
) -> None:
    tokens = f'dashboard observe {LOOKS}\n'
    async with served(tmp_path, tokens=tokens) as made, watched(chromium, DESK) as shown:
        page = shown.page
        await page.goto(made.url)
        entry = page.get_by_label('Token', exact=True)
        await expect(entry).to_be_focused()
        await expect(page.locator('#live')).to_be_hidden()
        await entry.fill('of-nobody')
        await entry.press('Enter')
        await expect(page.get_by_role('alert')).to_have_text('This token is not known here.')
        await entry.fill(LOOKS)
        await entry.press('Enter')
        await expect(page.locator('#link')).to_have_text('Live')
        await expect(page.get_by_role('row', name='map pose')).to_contain_text('available')
        await page.reload()
        await expect(page.locator('#link')).to_have_text('Live')
        await page.get_by_role('link', name='Missions', exact=True).click()
        await expect(page.locator('#missions-none')).to_have_text('No mission is recorded yet.')

        assert await page.context.cookies() == []
        assert await page.evaluate('localStorage.length') == 0
        assert not [url for url in [*shown.asked, page.url] if LOOKS in url]
        # The browser itself notes every 401, which is how the page learns that one is needed.
        assert all('401' in told for told in shown.complaints)
        assert shown.hosts == {made.host}
        await page.get_by_role('button', name='Forget the token').click()
        await expect(entry).to_be_focused()


async def test_everything_is_done_by_the_keyboard(chromium: Browser, tmp_path: Path) -> None:
    async with served(tmp_path) as made, watched(chromium, DESK) as shown:
        page = shown.page
        await made.record(note(1), Correlation())
        await page.goto(made.url)
        await expect(page.locator('#timeline > li')).to_have_count(1)
        order = []
        for _ in range(6):
            await page.keyboard.press('Tab')
            order.append((await shown.focused()).split('\n')[0])
        assert order[:3] == ['A Skip to the content', 'A Live', 'A Missions']
        assert order[3:5] == ['SELECT what matters', 'INPUT words']
        assert order[5].startswith('SUMMARY')
        outline = 'getComputedStyle(document.activeElement).outlineStyle'
        assert await page.evaluate(outline) == 'solid'
        await page.keyboard.press('Enter')
        await expect(page.locator('#timeline pre')).to_contain_text('"note 1"')
        await page.locator('.skip').focus()
        await page.keyboard.press('Enter')
        await expect(page.locator('#main')).to_be_focused()
        undisturbed(shown, made)


async def test_a_page_that_cannot_be_seen_is_told_nothing(
    chromium: Browser, tmp_path: Path
) -> None:
    async with served(tmp_path) as made, watched(chromium, DESK) as shown:
        page = shown.page
        await page.goto(made.url)
        await expect(page.locator('#facts > tr')).to_have_count(6)
        await page.evaluate(HIDE, True)
        for _ in range(200):
            if not made.dashboard.live.viewers:
                break
            await asyncio.sleep(0.05)
        assert made.dashboard.live.viewers == 0
        last = await made.record(note(1), Correlation())
        await page.evaluate(HIDE, False)
        await until_recorded(shown, last)
        undisturbed(shown, made)


HIDE = """hidden => {
  Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
  document.dispatchEvent(new Event('visibilitychange'));
}"""


async def test_a_screen_reader_is_told_what_can_be_seen(chromium: Browser, tmp_path: Path) -> None:
    async with served(tmp_path) as made, watched(chromium, DESK) as shown:
        await shown.page.goto(made.url)
        await shown.page.locator('#map svg').first.wait_for()
        tree = await shown.page.locator('body').aria_snapshot()
        for landmark in ('banner', 'navigation "Views"', 'main', 'contentinfo', 'status: Live'):
            assert landmark in tree, landmark
        assert 'img "Map of the path driven' in tree
        assert 'rowheader "map pose"' in tree
        assert 'columnheader "Availability"' in tree
        assert 'heading "Timeline" [level=2]' in tree
        with JournalReader(tmp_path / 'journal.db') as reader:
            assert reader.missions() == []  # looking leaves no trace
