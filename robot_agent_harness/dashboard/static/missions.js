// SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
// SPDX-License-Identifier: Apache-2.0
// The past, page by page: missions, and of one mission its story and its records.

import { ask } from './ask.js';
import { at, el, moment, parsed, seconds, tag } from './dom.js';
import { item, missionHash, worded } from './records.js';

const DAY_NS = 86400n * 1000000000n;

/** A date field's day as nanoseconds since the epoch, in UTC; a number of this size needs a BigInt. */
function dayNs(value, days) {
  const ms = Date.parse(value);
  return Number.isNaN(ms) ? null : String(BigInt(ms) * 1000000n + BigInt(days) * DAY_NS);
}

/** A list that grows by pages, of which only the answer to the newest question counts. */
class Pages {
  #asked = 0;
  #before = null;

  constructor({ list, older, none, load }) {
    Object.assign(this, { list, older, none, load });
    older.addEventListener('click', () => this.#more());
  }

  /** Begin with the newest page. */
  async show() {
    this.#before = null;
    this.list.replaceChildren();
    await this.#more();
  }

  async #more() {
    const asked = ++this.#asked;
    this.older.hidden = true;
    this.none.textContent = 'Reading…';
    try {
      const { items, next, end } = await this.load(this.#before);
      if (asked !== this.#asked) return;
      this.list.append(...items);
      this.#before = next;
      this.older.hidden = next === null;
      const nothing = this.list.childElementCount === 0 ? 'There is nothing of that kind. ' : '';
      this.none.textContent = nothing + (next === null ? (end ?? '') : '');
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
    load: async (before) => {
      const { outcome, since, until } = at('mission-filter').elements;
      const query = { outcome: outcome.value, since_ns: dayNs(since.value, 0), until_ns: dayNs(until.value, 1), before };
      const page = await (await ask('missions', query)).json();
      const file = page.earlier_file;
      const end = file === null ? '' : `What was before is in ${file}, beside the journal: robot-agent-harness report reads it.`;
      return { items: page.missions.map(row), next: page.next_before, end };
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

function row(mission) {
  const cell = (label, attributes, ...children) => el('td', { role: 'cell', 'data-label': label, ...attributes }, el('span', {}, ...children));
  return el(
    'tr',
    { role: 'row' },
    el('th', { role: 'rowheader', scope: 'row' }, el('a', { href: missionHash(mission.mission_id) }, mission.instruction || mission.mission)),
    cell('Outcome', {}, tag(mission.outcome ?? 'no end recorded'), mission.reason ? ` ${mission.reason.replaceAll('_', ' ')}` : ''),
    cell('Began (UTC)', {}, moment(mission.at_ns)),
    cell('Took', { class: 'num' }, seconds(mission.took_s)),
    cell('By', {}, mission.model ?? '—'),
  );
}

export class OneMissionView {
  #id = null;
  #pages = new Pages({
    list: at('chain'),
    older: at('chain-older'),
    none: at('chain-none'),
    load: async (before) => {
      const of = this.#id === null ? { outside: 1 } : { mission: this.#id };
      const { type } = at('chain-filter').elements;
      const page = await (await ask('records', { ...of, type: type.value, before })).json();
      if (type.options.length === 1) type.append(...page.types.map((name) => el('option', { value: name }, worded(name))));
      return { items: page.records.map(item), next: page.next_before };
    },
  });

  constructor(failed) {
    const filter = at('chain-filter');
    filter.addEventListener('input', () => this.#pages.show().catch(failed));
    filter.addEventListener('submit', (event) => event.preventDefault());
    at('download').addEventListener('click', () => this.#download().catch(failed));
  }

  /** Show a mission, or with null the calls outside missions. */
  async show(id) {
    this.#id = id;
    at('download').hidden = id === null;
    at('download-why').textContent = '';
    at('story').replaceChildren(el('p', { class: 'none', role: 'status' }, 'Reading…'));
    const records = this.#pages.show();
    try {
      const { html } = await (await ask('mission', { id })).json();
      if (this.#id === id) at('story').replaceChildren(...parsed(html));
    } catch (error) {
      at('story').replaceChildren(el('p', { class: 'error', role: 'status' }, error.message));
      throw error;
    } finally {
      await records;
    }
  }

  async #download() {
    const report = await ask('report', { id: this.#id })
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
