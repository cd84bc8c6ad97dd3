# SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
# SPDX-License-Identifier: Apache-2.0
"""What the dashboard answers over HTTP: to whom, what, how often, and what it costs when not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
import contextlib
from html.parser import HTMLParser
import json
from pathlib import Path
import re
import socket
from typing import Any

import anyio
from dashboard_rig import Served, served
import httpx2
import pytest
from report_rig import HOSTILE, hostile, mission, MISSION_ID

from robot_agent_harness.clock import SystemClock
from robot_agent_harness.dashboard.history import History
from robot_agent_harness.dashboard.pages import STATIC
from robot_agent_harness.dashboard.shown import shown
from robot_agent_harness.dashboard.stream import VIEWERS_MAX
from robot_agent_harness.events import Correlation, MissionEnded, MissionStarted, SalientEvent
from robot_agent_harness.journal.reader import JournalReader
from robot_agent_harness.journal.rotation import rotate
from robot_agent_harness.journal.selection import Selection
from robot_agent_harness.journal.store import MissionJournal
from robot_agent_harness.mcp_server import McpSettings
from robot_agent_harness.testing.virtual_time import run_virtual

pytestmark = pytest.mark.anyio
BOUND_S = 20.0
"""The longest that anything is waited for."""
LOOKS = 'the-one-that-looks'
DATA = ('live', 'missions', 'mission', 'report', 'records', 'record')


def note(number: int) -> SalientEvent:
    return SalientEvent(kind='note', message=f'note {number}')


@contextlib.asynccontextmanager
async def client(made: Served, **headers: str) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=made.url, timeout=BOUND_S, headers=headers) as http:
        yield http


class Viewer:
    """One stream, read message by message."""

    def __init__(self, response: httpx2.Response) -> None:
        self._lines = response.aiter_lines()
        self.last_id: str | None = None

    @classmethod
    @contextlib.asynccontextmanager
    async def of(cls, made: Served, last_id: str | None = None) -> AsyncIterator[Viewer]:
        headers = {} if last_id is None else {'last-event-id': last_id}
        async with (
            client(made) as http,
            http.stream('GET', 'dashboard/live', headers=headers) as response,
        ):
            assert response.status_code == 200
            assert response.headers['content-type'].startswith('text/event-stream')
            yield cls(response)

    async def next(self) -> tuple[str, Any]:
        """Return the next message's name and data."""
        fields: dict[str, str] = {}
        with anyio.fail_after(BOUND_S):
            async for line in self._lines:
                if not line and 'data' in fields:
                    self.last_id = fields.get('id', self.last_id)
                    return fields['event'], json.loads(fields['data'])
                name, _, value = line.partition(': ')
                fields[name] = value
        raise AssertionError('the stream has ended')

    async def until(self, event: str) -> tuple[list[Any], Any]:
        """Return the records before a message of this name, and its data."""
        records = []
        while True:
            name, data = await self.next()
            if name == event:
                return records, data
            if name == 'record':
                records.append(data)

    async def records_to(self, seq: int) -> list[int]:
        """Return the numbers of the records up to this one, as they come."""
        seqs = []
        while not seqs or seqs[-1] != seq:
            name, data = await self.next()
            if name == 'record':
                seqs.append(data['seq'])
        return seqs


# -- who gets in ---------------------------------------------------------------------------------


async def test_the_shell_is_for_everybody_and_the_data_for_holders_of_a_token(
    tmp_path: Path,
) -> None:
    async with served(tmp_path, tokens=f'dashboard observe {LOOKS}\n') as made:
        async with client(made) as http:
            page = await http.get('/')
            assert page.status_code == 200
            for address in re.findall(r'(?:src|href)="(/[^"]+)"', page.text):
                answer = await http.get(address)
                assert answer.status_code == 200, address
                assert 'journal' not in str(answer.headers)
            for name in DATA:
                for headers in ({}, {'authorization': 'Bearer of-nobody'}):
                    refused = await http.get(f'/dashboard/{name}', headers=headers)
                    assert refused.status_code == 401, name
                # A token in the address is none.
                assert (await http.get(f'/dashboard/{name}?token={LOOKS}')).status_code == 401
        async with client(made, authorization=f'Bearer {LOOKS}') as http:
            assert (await http.get('dashboard/missions')).json()['missions'] == []


async def test_another_host_or_origin_is_refused_for_every_part(tmp_path: Path) -> None:
    async with served(tmp_path) as made, client(made) as http:
        for path in (*made.dashboard.shell, *made.dashboard.pages):
            rebound = await http.get(path, headers={'host': 'evil.example'})
            assert rebound.status_code == 421, path
            crossed = await http.get(path, headers={'origin': 'http://evil.example'})
            assert crossed.status_code == 403, path
            sent = await http.post(path, json={})
            assert sent.status_code == 405, path


async def test_no_browser_may_run_load_or_embed_anything_else(tmp_path: Path) -> None:
    async with served(tmp_path) as made, client(made) as http:
        for path in ('/', '/dashboard/app.js', '/dashboard/missions', '/dashboard/nothing'):
            answer = await http.get(path)
            policy = answer.headers['content-security-policy']
            assert "default-src 'none'" in policy
            assert "frame-ancestors 'none'" in policy
            assert 'unsafe' not in policy
            assert answer.headers['x-content-type-options'] == 'nosniff'
            assert 'no-store' in answer.headers['cache-control']
            assert 'set-cookie' not in answer.headers


# -- what is live --------------------------------------------------------------------------------


async def test_a_viewer_is_sent_every_record_once_and_the_present(tmp_path: Path) -> None:
    async with served(tmp_path) as made, Viewer.of(made) as viewer:
        name, _ = await viewer.next()
        assert name == 'begin'
        before, now = await viewer.until('present')
        assert now['journal']['healthy'] is True
        facts = {fact['name']: fact for fact in now['facts']}
        assert facts['map pose']['availability'] == 'available'
        assert 0.0 <= facts['map pose']['age_s'] < 1.0
        assert (facts['safety']['availability'], facts['safety']['age_s']) == ('missing', None)
        assert now['viewers'] == 1
        _, drawn = await viewer.until('map')
        assert 'class="robot"' in drawn['html']

        await made.go(0.5, 0.0)
        last = made.bench.core.journal.last_seq

        first = before[-1]['seq'] + 1 if before else 1
        assert await viewer.records_to(last) == list(range(first, last + 1))


async def test_a_viewer_that_comes_back_misses_nothing_and_sees_nothing_twice(
    tmp_path: Path,
) -> None:
    async with served(tmp_path) as made:
        for number in range(150):
            await made.record(note(number), Correlation())
        async with Viewer.of(made) as viewer:
            here = await viewer.records_to(made.bench.core.journal.last_seq)
        last_id = viewer.last_id

        async def meanwhile() -> None:
            for number in range(250):
                await made.record(note(number), Correlation())

        await made.restart(meanwhile=meanwhile())
        async with Viewer.of(made, last_id) as viewer:
            there = await viewer.records_to(made.bench.core.journal.last_seq)

    assert here + there == list(range(1, len(here + there) + 1))


@pytest.mark.parametrize(
    'last_id', ['', 'nonsense', '-5', '000000000000-3', '{file}-999999', '{file}-' + '9' * 30]
)
async def test_a_viewer_of_another_file_begins_anew(tmp_path: Path, last_id: str) -> None:
    async with served(tmp_path) as made:
        last = await made.record(note(1), Correlation())
        async with Viewer.of(made) as viewer:
            await viewer.records_to(last)
        assert viewer.last_id is not None
        file = viewer.last_id.partition('-')[0]

        async with Viewer.of(made, last_id.format(file=file)) as viewer:
            assert (await viewer.next())[0] == 'begin'
            assert (await viewer.records_to(last))[-1] == last


async def test_who_was_away_too_long_begins_with_the_newest(tmp_path: Path) -> None:
    path = tmp_path / 'journal.db'
    journal = MissionJournal.open(path, clock=SystemClock(), inline=True)
    await journal.append(*((note(number), Correlation()) for number in range(3000)))
    await journal.close()
    async with served(tmp_path) as made:
        async with Viewer.of(made) as viewer:
            await viewer.records_to(3000)
        file = str(viewer.last_id).partition('-')[0]

        async with Viewer.of(made, f'{file}-12') as viewer:
            assert (await viewer.next())[0] == 'begin'
            seqs = await viewer.records_to(3000)

    assert len(seqs) <= 200


async def test_so_many_may_look_and_a_place_is_free_once_one_goes(tmp_path: Path) -> None:
    async with served(tmp_path) as made, client(made) as http:
        # A stream that never begins takes no place.
        for _ in range(2 * VIEWERS_MAX):
            assert (await http.head('dashboard/live')).status_code == 200
        async with contextlib.AsyncExitStack() as stack:
            viewers = [
                await stack.enter_async_context(Viewer.of(made)) for _ in range(VIEWERS_MAX)
            ]
            for viewer in viewers:
                await viewer.until('present')
            refused = await http.get('dashboard/live')
            assert refused.status_code == 503
            assert int(refused.headers['retry-after']) > 0
            assert refused.json()['error'] == 'too_many_viewers'
        with anyio.fail_after(BOUND_S):
            while made.dashboard.live.viewers:
                await asyncio.sleep(0.01)
        async with Viewer.of(made) as viewer:
            await viewer.until('present')


async def test_a_viewer_that_does_not_read_is_let_go_and_holds_up_nobody(tmp_path: Path) -> None:
    settings = McpSettings(port=0, send_s=0.3)
    long = (SalientEvent(kind='long', message='x' * 400), Correlation())
    async with served(tmp_path, settings=settings) as made:
        http = made.server._http._uvicorn
        assert http is not None
        # What the kernel would keep for it grows to megabytes otherwise.
        http.servers[0].sockets[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        wire = socket.create_connection(('127.0.0.1', made.server.port))
        with contextlib.closing(wire):
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            wire.sendall(f'GET /dashboard/live HTTP/1.1\r\nHost: {made.host}\r\n\r\n'.encode())
            with anyio.fail_after(BOUND_S):
                while not made.dashboard.live.viewers:
                    await asyncio.sleep(0.01)
                while made.dashboard.live.viewers:
                    # They are on disk at once, whatever becomes of that viewer.
                    with anyio.fail_after(5.0):
                        await made.bench.core.journal.append(*[long] * 200)
                    await asyncio.sleep(0.01)
        async with Viewer.of(made) as viewer:
            await viewer.until('present')


async def test_nothing_happens_while_nobody_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(tmp_path) as made:
        opened = []
        looked = made.dashboard.live.__class__._present
        monkeypatch.setattr(
            made.dashboard.live.__class__,
            '_present',
            lambda live: (opened.append('present'), looked(live))[1],
        )
        reading = JournalReader.__init__
        monkeypatch.setattr(
            JournalReader,
            '__init__',
            lambda reader, path: (opened.append('journal'), reading(reader, path))[1],
        )
        for number in range(20):
            await made.record(note(number), Correlation())
        await asyncio.sleep(1.5)
        assert opened == []

        async with Viewer.of(made) as viewer:
            await viewer.until('present')
        assert {'present', 'journal'} <= set(opened)


async def test_a_journal_that_cannot_be_read_is_told_and_looked_at_again(tmp_path: Path) -> None:
    async with served(tmp_path) as made, client(made) as http, Viewer.of(made) as viewer:
        await viewer.until('present')
        history = made.dashboard.live._history
        there, history._journal = history._journal, tmp_path / 'nowhere.db'
        _, told = await viewer.until('trouble')
        assert 'nowhere.db' in told['message']
        assert (await viewer.until('present'))[1]['robot_id'] == 'robot'
        answer = await http.get('dashboard/missions')
        assert (answer.status_code, answer.json()['error']) == (503, 'journal_unavailable')
        history._journal = there
        last = await made.record(note(1), Correlation())
        assert (await viewer.records_to(last))[-1] == last


# -- the past ------------------------------------------------------------------------------------

OUTCOMES = ('achieved', 'not_achieved', 'unknown', None)


async def _past(path: Path, count: int) -> None:
    """Record so many missions, of which every fourth has no end."""
    journal = MissionJournal.open(path, clock=SystemClock(), inline=True)
    for number in range(count):
        own = Correlation(mission_id=f'm-{number}')
        started = MissionStarted(
            instruction=f'No. {number}', robot_id='r', provider='p', max_steps=1
        )
        await journal.append((started, own))
        outcome = OUTCOMES[number % len(OUTCOMES)]
        if outcome is not None:
            ended = MissionEnded(outcome=outcome, reason='finished', summary='', steps=1)
            await journal.append((ended, own))
    await journal.close()


async def _all(http: httpx2.AsyncClient, name: str, key: str, **query: Any) -> list[Any]:
    """Return what all pages hold, one after the other."""
    found: list[Any] = []
    before: int | None = None
    while True:
        given = {**query, **({} if before is None else {'before': before})}
        page = (await http.get(f'dashboard/{name}', params=given)).json()
        found += page[key]
        before = page['next_before']
        if before is None:
            return found


async def test_missions_come_page_by_page_each_once_the_newest_first(tmp_path: Path) -> None:
    await _past(tmp_path / 'journal.db', 130)
    async with served(tmp_path) as made, client(made) as http:
        first = (await http.get('dashboard/missions')).json()
        assert len(first['missions']) == 25
        assert first['missions'][1]['took_s'] >= 0.0
        found = await _all(http, 'missions', 'missions')
        assert [row['mission_id'] for row in found] == [f'm-{n}' for n in range(129, -1, -1)]
        for outcome in OUTCOMES:
            some = await _all(http, 'missions', 'missions', outcome=outcome or 'open')
            assert {row['outcome'] for row in some} == {outcome}
            assert len(some) in (32, 33)
        at_ns = found[50]['at_ns']
        later = await _all(http, 'missions', 'missions', since_ns=at_ns)
        assert [row['mission_id'] for row in later] == [f'm-{n}' for n in range(129, 78, -1)]
        earlier = await _all(http, 'missions', 'missions', until_ns=at_ns)
        assert len(earlier) + len(later) == len(found) + 1


async def test_after_a_rotation_the_page_goes_on_and_names_the_file_before(
    tmp_path: Path,
) -> None:
    path = tmp_path / 'journal.db'
    await _past(path, 3)
    history = History(path)
    seen = await history.news(None)
    assert seen.at.seq == 6
    assert (await history.news(seen.at)).lines == []

    rotated = rotate(path, clock=SystemClock())

    assert rotated is not None
    again = await history.news(seen.at)
    assert again.begins_anew
    assert again.lines[0]['type'] == 'JOURNAL_CONTINUED'
    assert again.at.file != seen.at.file
    told = await history.missions(Selection(types=('MISSION_STARTED',)))
    assert told['missions'] == []
    assert told['earlier_file'] == rotated.archive.name


async def test_a_file_of_before_a_rotation_is_read_by_its_name_and_no_other_file_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / 'journal.db'
    await asyncio.to_thread(run_virtual, mission(path))
    rotated = rotate(path, clock=SystemClock())
    assert rotated is not None
    (tmp_path / 'other.db.gz').write_bytes(rotated.archive.read_bytes())
    (tmp_path / 'journal-note.txt').write_text('no journal')
    name = rotated.archive.name
    async with served(tmp_path) as made, client(made) as http:

        async def status(page: str, **query: Any) -> int:
            return (await http.get(f'dashboard/{page}', params=query)).status_code

        (row,) = await _all(http, 'missions', 'missions', file=name)
        assert (row['mission_id'], row['outcome']) == (MISSION_ID, 'achieved')
        assert await _all(http, 'missions', 'missions') == []
        records = await _all(http, 'records', 'records', file=name, mission=MISSION_ID)
        with JournalReader(rotated.archive) as reader:
            assert len(records) == reader.count(Selection(mission_id=MISSION_ID))
        seq = records[-1]['seq']
        whole = (await http.get('dashboard/record', params={'seq': seq, 'file': name})).json()
        assert json.loads(whole['record'])['type'] == 'MISSION_STARTED'
        story = (
            await http.get('dashboard/mission', params={'id': MISSION_ID, 'file': name})
        ).json()
        assert 'False success caught' in story['html']
        assert await status('report', id=MISSION_ID, file=name) == 200
        assert await status('mission', id=MISSION_ID) == 404
        for wrong in (
            'other.db.gz',
            'journal.db',
            f'../{tmp_path.name}/{name}',
            str(rotated.archive),
            'journal-.db.gz',
            'journal-\0',
            'journal-' + 'x' * 300,
        ):
            assert await status('missions', file=wrong) == 404, wrong
        assert await status('missions', file='journal-note.txt') == 503
        monkeypatch.setattr('robot_agent_harness.dashboard.earlier.PACKED_MAX_BYTES', 100)
        assert await status('missions', file=name) == 413


async def test_a_mission_opens_to_its_story_its_records_and_its_report(tmp_path: Path) -> None:
    await asyncio.to_thread(run_virtual, mission(tmp_path / 'journal.db'))
    async with served(tmp_path) as made, client(made) as http:
        story = (await http.get('dashboard/mission', params={'id': MISSION_ID})).json()['html']
        assert 'False success caught' in story
        assert 'style=' not in story
        report = await http.get('dashboard/report', params={'id': MISSION_ID})
        assert report.headers['content-disposition'].startswith('attachment')
        assert report.text.startswith('<!DOCTYPE html>')
        with JournalReader(tmp_path / 'journal.db') as reader:
            recorded = [event.seq for event in reader.events(mission_id=MISSION_ID)][::-1]
        records = await _all(http, 'records', 'records', mission=MISSION_ID)
        assert [row['seq'] for row in records] == recorded
        ends = await _all(
            http, 'records', 'records', mission=MISSION_ID, reason='verification_disproved'
        )
        assert [(row['type'], row['look']) for row in ends] == [('ROBOT_ACTION_OUTCOME', 'bad')]
        whole = (await http.get('dashboard/record', params={'seq': ends[0]['seq']})).json()
        assert json.loads(whole['record'])['payload']['reason'] == 'verification_disproved'


async def test_a_mission_without_end_is_told_in_part_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await asyncio.to_thread(run_virtual, mission(tmp_path / 'journal.db'))
    monkeypatch.setattr('robot_agent_harness.dashboard.history.STORY_MAX', 40)
    async with served(tmp_path) as made, client(made) as http:
        story = (await http.get('dashboard/mission', params={'id': MISSION_ID})).json()['html']
        assert 'This tells of its first records only' in story
        refused = await http.get('dashboard/report', params={'id': MISSION_ID})
        assert (refused.status_code, refused.json()['error']) == (413, 'too_long')
        assert 'robot-agent-harness report' in refused.json()['message']


async def test_calls_outside_missions_have_a_story_too(tmp_path: Path) -> None:
    async with served(tmp_path) as made, client(made) as http:
        action_id = await made.go(0.3, 0.0)
        await made.bench.outcome(action_id)
        story = (await http.get('dashboard/mission')).json()['html']
        assert 'Calls outside missions' in story
        assert 'SUCCEEDED' in story
        outside = await _all(http, 'records', 'records', outside='1', type='ROBOT_ACTION_OUTCOME')
        assert len(outside) == 1


@pytest.mark.parametrize(
    ('query', 'status', 'code'),
    [
        ('missions?outcome=splendid', 400, 'bad_query'),
        ('missions?before=-1', 400, 'bad_query'),
        ('missions?before=%D9%A3', 400, 'bad_query'),
        ('missions?since_ns=1e9', 400, 'bad_query'),
        ('records?type=NONSENSE', 400, 'bad_query'),
        ('records?before=' + '9' * 200, 400, 'bad_query'),
        ('record?seq=0', 404, 'not_there'),
        ('record?seq=' + '9' * 40, 404, 'not_there'),
        ('mission?id=nobody', 404, 'not_there'),
        ('report?id=nobody', 404, 'not_there'),
        ("mission?id=' OR 1=1 --", 404, 'not_there'),
    ],
)
async def test_a_query_that_is_none_is_refused_in_words(
    tmp_path: Path, query: str, status: int, code: str
) -> None:
    async with served(tmp_path) as made, client(made) as http:
        answer = await http.get(f'dashboard/{query}')
        assert (answer.status_code, answer.json()['error']) == (status, code)


async def test_what_outsiders_said_is_sent_without_what_cannot_be_seen(tmp_path: Path) -> None:
    await hostile(tmp_path / 'journal.db')
    async with served(tmp_path) as made, client(made) as http:
        texts = [
            (await http.get('dashboard/missions')).text,
            (await http.get('dashboard/records', params={'mission': HOSTILE})).text,
            (await http.get('dashboard/mission', params={'id': HOSTILE})).text,
        ]
        for seq in range(1, 12):
            texts.append((await http.get(f'dashboard/record?seq={seq}')).text)
        async with Viewer.of(made) as viewer:
            records, now = await viewer.until('present')
        texts += [json.dumps(records), json.dumps(now)]
    for told in texts:
        # As JSON writes them; doubled, they are the visible spelling.
        assert not re.search(r'(?<!\\)\\u(0000|001b|202e|2066|2028)', told)
        assert not set(told) & set('\x00\x1b\u202e\u2066\u2028')


def test_keys_are_made_visible_like_values() -> None:
    assert shown({'a\u202eb': ['c\x1b', 1, None]}) == {'a\\u202eb': ['c\\x1b', 1, None]}


# -- the page itself -----------------------------------------------------------------------------


class _Markup(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inside: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(
            (tag, {**dict(attrs), 'in-label': 'yes' if 'label' in self.inside else None})
        )
        if tag not in ('input', 'link', 'meta'):
            self.inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.inside.pop() == tag


def test_the_page_has_landmarks_headings_and_labels() -> None:
    markup = _Markup((STATIC / 'index.html').read_text())
    names = [tag for tag, _ in markup.tags]

    assert dict(markup.tags)['html']['lang'] == 'en'
    for landmark in ('header', 'nav', 'main', 'footer', 'h1'):
        assert names.count(landmark) == 1, landmark
    ids = [given['id'] for _, given in markup.tags if given.get('id')]
    assert len(ids) == len(set(ids))
    labelled = {given.get('for') for tag, given in markup.tags if tag == 'label'}
    for tag, given in markup.tags:
        if tag in ('input', 'select'):
            assert given['in-label'] or given.get('id') in labelled, given
        if tag in ('section', 'table'):
            assert given.get('aria-labelledby') in ids, given
        if tag == 'th':
            assert given.get('scope') == 'col'
        assert not [name for name in given if name.startswith('on') or name == 'style'], given


def test_the_page_of_the_docs_names_every_path_and_shows_every_picture() -> None:
    docs = Path(__file__).parents[1] / 'docs'
    page = (docs / 'dashboard.md').read_text()
    assert re.findall(r'^\| `/dashboard/(\w+)`', page, re.MULTILINE) == list(DATA)
    assert f'At most {VIEWERS_MAX} look at once' in page
    shown_there = re.findall(r'\]\(images/(\w+\.png)\)', page + (docs / 'report.md').read_text())
    assert sorted(shown_there) == sorted(file.name for file in (docs / 'images').glob('*.png'))


FORBIDDEN = (
    'innerHTML',
    'outerHTML',
    'insertAdjacentHTML',
    'document.write',
    'document.cookie',
    'localStorage',
    'eval(',
    'new Function',
    'http://',
    'https://',
)


def test_its_scripts_put_nothing_into_the_page_but_text_and_nodes() -> None:
    for script in STATIC.glob('*.js'):
        text = script.read_text()
        for way in FORBIDDEN:
            assert way not in text, (script.name, way)


def test_its_style_has_no_colours_but_those_whose_contrast_is_checked() -> None:
    text = (STATIC / 'dashboard.css').read_text()
    assert not re.search(r'#[0-9a-fA-F]{3,8}\b(?![^{]*\{)|rgba?\(|hsla?\(', text)
    assert not re.search(r'\burl\(|@import', text)
