// SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
// SPDX-License-Identifier: Apache-2.0
// The present: facts with their ages, the map, the timeline, the journal's health.

import { at, counted, el, moment, parsed, seconds, tag } from './dom.js';
import { item, missionHash } from './records.js';

/** Lines kept in the page; the journal has the rest. */
const LINES_MAX = 500;

export class LiveView {
  #lines = [];
  #handlers = {
    begin: () => this.#begin(),
    record: (line) => this.#record(line),
    present: (told) => this.#present(told),
    map: ({ html }) => at('map').replaceChildren(...this.#mapOf(html)),
    trouble: ({ message }) => at('timeline-more').replaceChildren(`The journal cannot be read: ${message}`),
  };

  constructor() {
    const filter = at('filter');
    filter.addEventListener('input', () => this.#redraw());
    filter.addEventListener('submit', (event) => event.preventDefault());
  }

  /** Take a message of the stream. */
  message(event, data) {
    this.#handlers[event]?.(data);
  }

  #begin() {
    this.#lines = [];
    at('timeline').replaceChildren();
  }

  #record(line) {
    this.#lines.push(line);
    const list = at('timeline');
    if (this.#lines.length > LINES_MAX) {
      const gone = this.#lines.shift();
      list.querySelector(`:scope > [data-seq="${gone.seq}"]`)?.remove();
    }
    if (this.#wanted(line)) list.prepend(item(line));
    this.#count();
  }

  #wanted(line) {
    const { kind, words } = at('filter').elements;
    const kinds = kind.value === '' ? line.kind !== 'detail' : kind.value === 'all' || line.kind === kind.value;
    const text = `${line.type} ${line.about} ${line.mission ?? ''}`.toLowerCase().replaceAll('_', ' ');
    return kinds && words.value.toLowerCase().split(/\s+/).every((word) => text.includes(word.replaceAll('_', ' ')));
  }

  #redraw() {
    at('timeline').replaceChildren(...this.#lines.filter((line) => this.#wanted(line)).map((line) => item(line)).reverse());
    this.#count();
  }

  #count() {
    const shown = at('timeline').childElementCount;
    at('timeline-more').textContent = `${shown} of the newest ${counted(this.#lines.length, 'record')}; older ones are with their missions.`;
  }

  #mapOf(html) {
    return html === '' ? [el('p', { class: 'none' }, 'No position is known yet.')] : parsed(html);
  }

  #present(told) {
    at('robot').textContent = told.robot_id;
    at('as-of').textContent = `As of ${moment(told.at_ns)} UTC`;
    at('doing').replaceChildren(...this.#doing(told));
    at('facts').replaceChildren(...told.facts.map((fact) => this.#fact(fact)));
    const { journal } = told;
    const facts = [
      ['State', journal.healthy ? 'written without trouble' : `cannot be written: ${journal.error}`],
      ['Records', journal.last_seq.toLocaleString('en')],
      ['Waiting to be written', journal.pending],
      ['Size', journal.bytes === null ? 'unknown' : `${(journal.bytes / 1e6).toFixed(1)} MB`],
      ['File', journal.path],
      ['Viewers', told.viewers],
    ];
    at('journal').replaceChildren(...facts.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value))));
    at('journal').classList.toggle('error', !journal.healthy);
  }

  #doing({ mission, action }) {
    const parts = [];
    if (mission.mission_id !== null) {
      parts.push('Mission ', el('a', { href: missionHash(mission.mission_id) }, mission.mission_id), `, step ${mission.step}. `);
    } else {
      parts.push('No mission is under way. ');
    }
    if (action !== null) {
      const age = action.age_s === null ? '' : ` for ${seconds(action.age_s)}`;
      parts.push(`${action.age_s === null ? 'Last action' : 'Action'} ${action.skill} ${action.goal}: `, tag(action.state));
      parts.push(action.reason === null ? age : ` ${action.reason.replaceAll('_', ' ')}`);
    } else {
      parts.push('No action.');
    }
    return parts;
  }

  #fact(fact) {
    const cell = (label, attributes, ...children) => el('td', { role: 'cell', 'data-label': label, ...attributes }, el('span', {}, ...children));
    return el(
      'tr',
      { role: 'row' },
      el('th', { role: 'rowheader', scope: 'row' }, fact.name),
      cell('Value', {}, fact.value || '—'),
      cell('Availability', {}, el('span', { class: `availability ${fact.availability}` }, fact.availability),
        fact.reason ? el('span', { class: 'why' }, ` ${fact.reason}`) : ''),
      cell('Age', { class: 'num' }, seconds(fact.age_s)),
      cell('Source', {}, el('code', {}, fact.source)),
    );
  }
}
