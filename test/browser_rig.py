# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""Debian's Chromium, driven by Playwright, and what a page must not do while a test looks on."""

from __future__ import annotations

from collections.abc import AsyncIterator
import contextlib
import shutil
from urllib.parse import urlsplit

from playwright.async_api import async_playwright, Browser, ConsoleMessage, Page, Request
import pytest

CHROMIUM = shutil.which('chromium')
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason='there is no chromium here: apt-get install chromium'
)
PHONE = (360, 740)
DESK = (1280, 900)
WAIT_MS = 15_000.0
"""The longest that anything is waited for; a busy machine starts a browser in seconds."""


class Watched:
    """One page, with what it complained of and whom it asked."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.asked: list[str] = []
        page.on('console', self._said)
        page.on('pageerror', lambda error: self.complaints.append(str(error)))
        page.on('request', self._requested)

    @property
    def hosts(self) -> set[str]:
        """Whom the page asked for anything."""
        return {urlsplit(url).netloc for url in self.asked if not url.startswith('data:')}

    async def overflow_px(self) -> int:
        """Return by how much the page is wider than its window."""
        width: int = await self.page.evaluate(
            'document.documentElement.scrollWidth - document.documentElement.clientWidth'
        )
        return width

    async def focused(self) -> str:
        """Return the tag and text of what the keyboard would act on."""
        told: str = await self.page.evaluate(
            '(e => `${e.tagName} ${(e.innerText || e.name || "").trim()}`)(document.activeElement)'
        )
        return told

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ('error', 'warning'):
            self.complaints.append(message.text)

    def _requested(self, request: Request) -> None:
        self.asked.append(request.url)


@contextlib.asynccontextmanager
async def browser() -> AsyncIterator[Browser]:
    """Start Chromium; it is gone when the context is left."""
    async with async_playwright() as playwright:
        started = await playwright.chromium.launch(
            executable_path=CHROMIUM, args=['--disable-gpu', '--disable-dev-shm-usage']
        )
        try:
            yield started
        finally:
            await started.close()


@contextlib.asynccontextmanager
async def watched(
    chromium: Browser, size: tuple[int, int] = DESK, *, dark: bool = False
) -> AsyncIterator[Watched]:
    """Open a page that shares nothing with any other."""
    page = await chromium.new_page(
        viewport={'width': size[0], 'height': size[1]},
        color_scheme='dark' if dark else 'light',
        reduced_motion='reduce',
    )
    page.set_default_timeout(WAIT_MS)
    try:
        yield Watched(page)
    finally:
        await page.close()


async def contrasts_too_low(page: Page) -> list[str]:
    """Return the visible texts that stand out too little from what is behind them (WCAG AA)."""
    found: list[str] = await page.evaluate(_CONTRASTS)
    return found


async def broken_words(page: Page, selector: str) -> list[str]:
    """Return the words that are broken over lines, of the elements that a selector names."""
    found: list[str] = await page.evaluate(_BROKEN_WORDS, selector)
    return found


_BROKEN_WORDS = """selector => [...document.querySelectorAll(selector)].flatMap((cell) => {
  const words = [];
  const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    for (const { 0: word, index } of walker.currentNode.data.matchAll(/\\S+/g)) {
      const range = document.createRange();
      range.setStart(walker.currentNode, index);
      range.setEnd(walker.currentNode, index + word.length);
      if (range.getClientRects().length > 1) words.push(word);
    }
  }
  return words;
})"""


_CONTRASTS = """() => {
  const rgba = (text) => {
    const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number);
    return { r, g, b, a };
  };
  const over = (top, under) => ({
    r: top.r * top.a + under.r * (1 - top.a),
    g: top.g * top.a + under.g * (1 - top.a),
    b: top.b * top.a + under.b * (1 - top.a),
    a: 1,
  });
  const ground = (element) => {
    if (element === null) return rgba(getComputedStyle(document.body).backgroundColor);
    const own = rgba(getComputedStyle(element).backgroundColor);
    return own.a === 1 ? own : over(own, ground(element.parentElement));
  };
  const opacity = (element) =>
    element === null ? 1 : getComputedStyle(element).opacity * opacity(element.parentElement);
  const light = ({ r, g, b }) => {
    const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
  };
  const low = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim();
    const element = walker.currentNode.parentElement;
    if (!text || !element.checkVisibility() || element.closest('svg, noscript')) continue;
    const style = getComputedStyle(element);
    const back = ground(element);
    const ink = rgba(style.color);
    const both = [light(over({ ...ink, a: ink.a * opacity(element) }, back)), light(back)];
    const ratio = (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
    const large = parseFloat(style.fontSize) >= (style.fontWeight >= 700 ? 18.66 : 24);
    if (ratio < (large ? 3 : 4.5)) low.push(`${ratio.toFixed(2)}: ${text.slice(0, 40)}`);
  }
  return low;
}"""
