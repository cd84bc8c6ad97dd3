// SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
// SPDX-License-Identifier: Apache-2.0
// The document. What comes from the harness gets in as text, or as what the report's own templates made.

/** The element with this id. */
export const at = (id) => document.getElementById(id);

/**
 * A new element. Children are nodes, or anything else as text; attributes that are null are left out.
 */
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null).map(asNode));
  return made;
}

function asNode(child) {
  return child instanceof Node ? child : document.createTextNode(String(child));
}

/** Nodes of HTML that the harness's templates have made; a document without scripts parses it. */
export function parsed(html) {
  return [...new DOMParser().parseFromString(html, 'text/html').body.childNodes];
}

/** How many there are of something that takes an s. */
export const counted = (count, noun) => `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;

/** A duration in seconds, in words, as the report has it. */
export function seconds(value) {
  if (value === null || value === undefined) return '—';
  if (value >= 3600) return `${Math.floor(value / 3600)} h ${Math.floor((value % 3600) / 60)} min`;
  if (value >= 60) return `${Math.floor(value / 60)} min ${Math.floor(value % 60)} s`;
  return value < 1 ? `${value.toFixed(2)} s` : `${value.toFixed(1)} s`;
}

/** Date and time in UTC: the reader's time zone is not the robot's. */
export function moment(ns) {
  const date = new Date(ns / 1e6);
  return Number.isNaN(date.getTime()) ? 'at an impossible time' : date.toISOString().slice(0, 19).replace('T', ' ');
}

const LOOKS = { achieved: 'good', SUCCEEDED: 'good', not_achieved: 'bad', FAILED: 'bad' };

/** How an outcome or a state is shown, a word in a coloured field. */
export function tag(word) {
  return el('span', { class: `tag ${LOOKS[word] ?? 'unsure'}` }, word.replaceAll('_', ' '));
}
