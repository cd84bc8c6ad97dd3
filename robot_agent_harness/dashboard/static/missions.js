// SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
// SPDX-License-Identifier: Apache-2.0
// The past, page by page: missions, and of one mission its story and its records.

import { ask } from './ask.js';
import { at, el, moment, parsed, seconds, tag } from './dom.js';
import { item, missionHash, outsideHash, worded } from './records.js';

const DAY_NS = 86400n * 1000000000n;

/** A date field's day as nanoseconds since the epoch, in UTC; a number of this size needs a BigInt. */
function dayNs(value, days) {
  const ms = Date.parse(value);
  return Number.isNaN(ms) ? null : String(BigInt(ms) * 1000000n + BigInt(days) * DAY_NS);
}

/** A list that grows by pages, of which only the answer to the newest question counts. */
class Pages {
  #asked = 0;
  #from = null;

  /**
   * @param load given where a page begins (null: with the newest), promises its `items`, and `next`: where the
   *   following one begins, or null. It may say `more`, what the button to that one says, and `end`, what the last one says.
   */
  constructor({ list, older, none, load, nothing = () => 'There is nothing of that kind.' }) {
    Object.assign(this, { list, older, none, load, nothing, label: older.textContent });
    older.addEventListener('click', () => this.#more());
  }

  /** Begin with the newest page. */
  async show() {
    this.#from = null;
    this.list.replaceChildren();
    await this.#more();
  }

  async #more() {
    const asked = ++this.#asked;
    this.older.hidden = true;
    this.none.textContent = 'Reading…';
    try {
      const { items, next, more, end } = await this.load(this.#from);
      if (asked !== this.#asked) return;
      this.list.append(...items);
      this.#from = next;
      this.older.hidden = next === null;
      this.older.textContent = more ?? this.label;
      const nothing = this.list.childElementCount === 0 ? this.nothing() : '';
      this.none.textContent = [nothing, next === null ? (end ?? '') : ''].filter((told) => told !== '').join(' ');
    } catch (error) {
      if (asked === this.#asked) this.none.textContent = error.message;
      throw error;
    }
  }
}

export class MissionsView {
  #pages = new Pages({
    list: at('mission-rows'),
    older: at('missions-older'),
    none: at('missions-none'),
    load: async (from) => {
      const { file, before } = from ?? { file: null, before: null };
      const { outcome, since, until } = at('mission-filter').elements;
      const query = { outcome: outcome.value, since_ns: dayNs(since.value, 0), until_ns: dayNs(until.value, 1), before, file };
      const page = await (await ask('missions', query)).json();
      const items = page.missions.map((mission) => row(mission, file));
      if (file !== null && before === null) items.unshift(fileRow(file));
      return { items, ...following(page, file) };
    },
    nothing: () => {
      const asked = [...new FormData(at('mission-filter')).values()].some((value) => value !== '');
      return asked ? 'There is nothing of that kind.' : 'No mission is recorded yet.';
    },
  });

  constructor(failed) {
    const filter = at('mission-filter');
    filter.addEventListener('input', () => this.show().catch(failed));
    filter.addEventListener('submit', (event) => event.preventDefault());
  }

  show() {
    return this.#pages.show();
  }
}

/** Where the next page of missions begins: in the same file, or in the one before it. */
function following({ next_before: before, earlier_file: earlier, earlier_is_here: here }, file) {
  if (before !== null) return { next: { file, before } };
  if (here) return { next: { file: earlier, before: null }, more: `Older missions, in ${earlier}` };
  return { next: null, end: earlier === null ? '' : `What was before is in ${earlier}, which is not beside the journal.` };
}

/** What tells in the list that an earlier file begins. */
function fileRow(file) {
  const link = el('a', { href: outsideHash(file) }, 'calls outside missions');
  return el('tr', { role: 'row', class: 'file' }, el('td', { role: 'cell', colspan: 5 }, el('span', {}, `In ${file}, with `, link)));
}

function row(mission, file) {
  const cell = (label, attributes, ...children) => el('td', { role: 'cell', 'data-label': label, ...attributes }, el('span', {}, ...children));
  return el(
    'tr',
    { role: 'row' },
    el('th', { role: 'rowheader', scope: 'row' }, el('a', { href: missionHash(mission.mission_id, file) }, mission.instruction || mission.mission)),
    cell('Outcome', {}, tag(mission.outcome ?? 'no end recorded'), mission.reason ? ` ${mission.reason.replaceAll('_', ' ')}` : ''),
    cell('Began (UTC)', { class: 'began' }, moment(mission.at_ns)),
    cell('Took', { class: 'num' }, seconds(mission.took_s)),
    cell('By', {}, mission.model ?? '—'),
  );
}

export class OneMissionView {
  #id = null;
  #file = null;
  #pages = new Pages({
    list: at('chain'),
    older: at('chain-older'),
    none: at('chain-none'),
    load: async (before) => {
      const of = this.#id === null ? { outside: 1 } : { mission: this.#id };
      const { type } = at('chain-filter').elements;
      const page = await (await ask('records', { ...of, type: type.value, before, file: this.#file })).json();
      if (type.options.length === 1) type.append(...page.types.map((name) => el('option', { value: name }, worded(name))));
      return { items: page.records.map((line) => item(line, this.#file)), next: page.next_before };
    },
  });

  constructor(failed) {
    const filter = at('chain-filter');
    filter.addEventListener('input', () => this.#pages.show().catch(failed));
    filter.addEventListener('submit', (event) => event.preventDefault());
    at('download').addEventListener('click', () => this.#download().catch(failed));
  }

  /** Show a mission, or with null the calls outside missions, of the journal or of an earlier file. */
  async show(id, file) {
    this.#id = id;
    this.#file = file;
    at('file').textContent = file === null ? '' : `From ${file}`;
    at('download').hidden = id === null;
    at('download-why').textContent = '';
    at('story').replaceChildren(el('p', { class: 'none', role: 'status' }, 'Reading…'));
    const records = this.#pages.show();
    try {
      const { html } = await (await ask('mission', { id, file })).json();
      if (this.#id === id && this.#file === file) at('story').replaceChildren(...parsed(html));
    } catch (error) {
      at('story').replaceChildren(el('p', { class: 'error', role: 'status' }, error.message));
      throw error;
    } finally {
      await records;
    }
  }

  async #download() {
    const report = await ask('report', { id: this.#id, file: this.#file })
      .then((response) => response.blob())
      .catch((error) => {
        at('download-why').textContent = error.message;
        throw error;
      });
    const address = URL.createObjectURL(report);
    el('a', { href: address, download: 'report.html' }).click();
    URL.revokeObjectURL(address);
  }
}
