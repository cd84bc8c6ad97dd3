// SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
// SPDX-License-Identifier: Apache-2.0
// Records of the journal in a list: a line each, which opens to all that the record holds.

import { ask } from './ask.js';
import { el, moment } from './dom.js';

/** The hash of a mission's view. */
export const missionHash = (id) => `#/mission/${encodeURIComponent(id)}`;

/** The type of a record, in words. */
export const worded = (type) => type.replaceAll('_', ' ').toLowerCase();

/** The list item of a record. */
export function item(line) {
  const whole = el('div');
  const details = el(
    'details',
    {},
    el(
      'summary',
      {},
      el('span', { class: 'at' }, moment(line.at_ns).slice(11)),
      el('span', { class: 'type' }, worded(line.type)),
      el('span', { class: 'about' }, line.about),
    ),
    whole,
  );
  details.addEventListener('toggle', () => {
    if (details.open && whole.childNodes.length === 0) open(line, whole);
  });
  return el('li', { class: line.look || null, 'data-seq': line.seq }, details);
}

async function open(line, into) {
  const link = line.mission_id === null ? 'outside missions' : el('a', { href: missionHash(line.mission_id) }, line.mission);
  const shown = el('pre', { tabindex: '0' }, '…');
  into.replaceChildren(el('p', {}, `Record ${line.seq}, ${moment(line.at_ns)} UTC, of `, link), shown);
  try {
    const { record } = await (await ask('record', { seq: line.seq })).json();
    shown.textContent = JSON.stringify(record, null, 2);
  } catch (error) {
    shown.textContent = error.message;
  }
}
