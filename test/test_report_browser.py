# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""The report as a browser shows it, from journals that the whole core wrote in virtual time."""

from __future__ import annotations

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
from playwright.async_api import Browser
import pytest
from report_rig import hostile, LONG_WORD, mission, MISSION_ID

from robot_agent_harness.dashboard.pages import REPORT_STYLE
from robot_agent_harness.report import write_report
from robot_agent_harness.report.page import render_map
from robot_agent_harness.report.story import Story
from robot_agent_harness.testing.virtual_time import run_virtual

pytestmark = [needs_chromium, pytest.mark.anyio]


@pytest.fixture(scope='module')
def anyio_backend() -> str:
    return 'asyncio'


@pytest.fixture(scope='module')
async def chromium() -> AsyncIterator[Browser]:
    async with browser() as started:
        yield started


@pytest.fixture(scope='module')
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp('report')
    run_virtual(mission(folder / 'journal.db'))
    return write_report(folder / 'journal.db', folder / 'report.html').as_uri()


def _undisturbed(shown: Watched, address: str) -> None:
    assert shown.complaints == []
    assert shown.asked == [address]


@pytest.mark.parametrize('dark', [False, True], ids=['light', 'dark'])
async def test_the_page_shows_its_drawings_under_its_own_policy(
    chromium: Browser, report: str, dark: bool
) -> None:
    async with watched(chromium, DESK, dark=dark) as shown:
        page = shown.page
        await page.goto(report)

        # The style sheet counts although nothing inline is allowed but this one, by its digest.
        assert await page.locator('.mission').evaluate('e => getComputedStyle(e).borderRadius')
        driven = await page.locator('polyline.path').first.bounding_box()
        assert driven is not None
        assert driven['width'] > 100
        bars = await page.locator('rect.bar.running').evaluate_all(
            'bars => bars.map(bar => bar.getBoundingClientRect().width)'
        )
        assert len(bars) == 3
        assert min(bars) > 20
        circles = page.locator('circle.tolerance')
        assert await circles.count() == 2
        fill = 'e => getComputedStyle(e).fill'
        good = await page.locator('.seen.good circle').first.evaluate(fill)
        bad = await page.locator('.seen.bad circle').first.evaluate(fill)
        assert good != bad
        assert await contrasts_too_low(page) == []
        _undisturbed(shown, report)


async def test_on_a_phone_nothing_is_wider_than_the_screen(chromium: Browser, report: str) -> None:
    async with watched(chromium, PHONE) as shown:
        await shown.page.goto(report)
        await shown.page.locator('details').evaluate_all('all => all.forEach(d => d.open = true)')

        assert await shown.overflow_px() <= 0
        narrow = await shown.page.locator('.decisions td').first.bounding_box()
        assert narrow is not None
        assert narrow['width'] <= PHONE[0]
        _undisturbed(shown, report)


async def test_everything_that_opens_is_reached_and_opened_by_the_keyboard(
    chromium: Browser, report: str
) -> None:
    async with watched(chromium, DESK) as shown:
        page = shown.page
        await page.goto(report)
        await page.keyboard.press('Tab')
        assert await shown.focused() == 'A Skip to the missions'
        wanted = await page.locator('summary').count()
        opened = 0
        for _ in range(2 * wanted):
            await page.keyboard.press('Tab')
            if (await shown.focused()).startswith('SUMMARY'):
                await page.keyboard.press('Enter')
                opened += 1
            if opened == wanted:
                break

        assert await page.locator('details:not([open])').count() == 0


async def test_what_is_said_by_outsiders_runs_nothing_and_breaks_no_layout(
    chromium: Browser, tmp_path: Path
) -> None:
    await hostile(tmp_path / 'journal.db')
    report = write_report(tmp_path / 'journal.db', tmp_path / 'report.html').as_uri()

    async with watched(chromium, PHONE) as shown:
        page = shown.page
        await page.goto(report)
        await page.locator('details').evaluate_all('all => all.forEach(d => d.open = true)')

        assert await page.locator('script, img, iframe, object, embed').count() == 0
        text = await page.locator('body').inner_text()
        assert '<script>' in text
        assert '\\u202e' in text
        assert LONG_WORD in text
        assert await shown.overflow_px() <= 0
        _undisturbed(shown, report)


async def test_a_word_of_600_letters_leaves_the_other_columns_their_room(
    chromium: Browser, tmp_path: Path
) -> None:
    await hostile(tmp_path / 'journal.db')
    report = write_report(tmp_path / 'journal.db', tmp_path / 'report.html').as_uri()

    async with watched(chromium, DESK) as shown:
        page = shown.page
        await page.goto(report)
        await page.locator('details').evaluate_all('all => all.forEach(d => d.open = true)')

        assert await broken_words(page, 'thead th, td.num') == []
        lane = await page.locator('.lane').nth(1).bounding_box()
        assert lane is not None
        assert lane['height'] < 250
        assert await shown.overflow_px() <= 0


@pytest.mark.parametrize('size', [DESK, PHONE], ids=['desk', 'phone'])
async def test_the_numbers_of_the_grid_are_seen_whole(
    chromium: Browser, tmp_path: Path, size: tuple[int, int]
) -> None:
    drawn = render_map(Story(None), here=(-20.5, -7.25, 0.0))
    style = REPORT_STYLE.read_text()

    async with watched(chromium, size) as shown:
        await shown.page.set_content(f'<style>{style}</style><main>{drawn}</main>')
        outside = await shown.page.evaluate("""() => {
          const room = document.querySelector('.map > svg').getBoundingClientRect();
          return [...document.querySelectorAll('.grid text')].filter((text) => {
            const box = text.getBoundingClientRect();
            return box.left < room.left || box.right > room.right || box.bottom > room.bottom;
          }).map((text) => text.textContent);
        }""")
        assert await shown.page.locator('.grid text').count() > 8

    assert outside == []


async def test_a_screen_reader_is_told_what_the_drawings_show(
    chromium: Browser, report: str
) -> None:
    async with watched(chromium, DESK) as shown:
        await shown.page.goto(report)
        tree = await shown.page.locator('main').aria_snapshot()

    assert 'heading "Fetch the parcel." [level=2]' in tree
    assert 'img "Map of the path driven' in tree
    assert 'rowheader "1' in tree
    assert 'columnheader "The harness concluded"' in tree
    assert 'RUNNING for' in tree
    assert MISSION_ID in tree
