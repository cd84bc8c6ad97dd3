// SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
// SPDX-License-Identifier: Apache-2.0
// Records of the journal in a list: a line each, which opens to all that the record holds.

import { ask } from './ask.js';
import { el, moment } from './dom.js';

const inFile = (file) => (file === null ? '' : `/in/${encodeURIComponent(file)}`);

/** The hash of a mission's view; of the journal itself where no earlier file is named. */
export const missionHash = (id, file = null) => `#/mission/${encodeURIComponent(id)}${inFile(file)}`;

/** The same of the calls outside missions. */
export const outsideHash = (file = null) => `#/outside${inFile(file)}`;

/** The type of a record, in words. */
export const worded = (type) => type.replaceAll('_', ' ').toLowerCase();

/** The list item of a record. */
export function item(line, file = null) {
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
    if (details.open && whole.childNodes.length === 0) open(line, whole, file);
  });
  return el('li', { class: line.look || null, 'data-seq': line.seq }, details);
}

async function open(line, into, file) {
  const link = line.mission_id === null ? 'outside missions' : el('a', { href: missionHash(line.mission_id, file) }, line.mission);
  const shown = el('pre', { tabindex: '0' }, '…');
  into.replaceChildren(el('p', {}, `Record ${line.seq}, ${moment(line.at_ns)} UTC, of `, link), shown);
  try {
    const { record } = await (await ask('record', { seq: line.seq, file })).json();
    shown.textContent = record;
  } catch (error) {
    shown.textContent = error.message;
  }
}
