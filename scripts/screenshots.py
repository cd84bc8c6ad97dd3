# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Make the pictures of the report and the dashboard in docs/images, with Debian's chromium.

The journal is one that the whole core writes in virtual time; on the dashboard a robot drives a
second mission meanwhile. `make screenshots` runs it.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
import sys
import tempfile

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / 'test'))

from browser_rig import browser, PHONE, Watched, watched  # noqa: E402
from dashboard_rig import served  # noqa: E402
from playwright.async_api import expect  # noqa: E402
from report_rig import go, mission, MISSION_ID  # noqa: E402

from robot_agent_harness.report import write_report  # noqa: E402
from robot_agent_harness.testing.scripted_model import scripted  # noqa: E402
from robot_agent_harness.testing.virtual_time import run_virtual  # noqa: E402

IMAGES = ROOT / 'docs' / 'images'
DESK = (1000, 1400)
UNDER_WAY = 'm to go'
"""What the page says of an action while the robot drives."""


async def _take(shown: Watched, name: str) -> None:
    path = IMAGES / f'{name}.png'
    await shown.page.screenshot(path=path, animations='disabled')
    print(f'{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB')


async def _make(folder: Path) -> None:
    report = write_report(folder / 'journal.db', folder / 'report.html').as_uri()
    model = scripted(go(4.0, 3.0, 'The kitchen first.'))
    async with browser() as chromium:
        for name, size in (
            ('report', DESK),
            ('report_phone', PHONE),
        ):
            async with watched(chromium, size) as shown:
                await shown.page.goto(report)
                await _take(shown, name)
        async with served(folder, model=model) as made:
            harness = made.bench.core.harness
            running = asyncio.create_task(harness.run_mission('Bring a cup.', 'mission-cup'))
            for name, size in (('dashboard', DESK), ('dashboard_phone', PHONE)):
                async with watched(chromium, size) as shown:
                    await shown.page.goto(made.url)
                    await expect(shown.page.locator('#facts')).to_contain_text(UNDER_WAY)
                    await shown.page.locator('#map figure').wait_for()
                    await _take(shown, name)
            async with watched(chromium, DESK) as shown:
                await shown.page.goto(f'{made.url}#/mission/{MISSION_ID}')
                await shown.page.locator('#story h2').wait_for()
                await shown.page.locator('#chain > li').first.wait_for()
                await _take(shown, 'dashboard_mission')
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


def main() -> None:
    """Make all of them."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        run_virtual(mission(Path(name) / 'journal.db'))
        asyncio.run(_make(Path(name)))


if __name__ == '__main__':
    main()
