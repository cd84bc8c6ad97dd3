// SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
// SPDX-License-Identifier: Apache-2.0
// Which view is shown, whether the harness is reached, and the token.

import { token, TokenNeeded } from './ask.js';
import { at } from './dom.js';
import { LiveView } from './live.js';
import { MissionsView, OneMissionView } from './missions.js';
import { Stream } from './stream.js';

function linked(kind, text) {
  at('link').className = `link ${kind}`;
  at('link').textContent = text;
  document.body.classList.toggle('gone', kind !== 'good');
}

const failed = (error) => {
  if (error instanceof TokenNeeded) wantToken(error.message);
};
const live = new LiveView();
const missions = new MissionsView(failed);
const one = new OneMissionView(failed);
let wanted = false;
let goneSince = null;

const stream = new Stream('live', {
  message: (event, data) => live.message(event, data),
  up: () => {
    goneSince = null;
    linked('good', 'Live');
  },
  down: (why) => {
    goneSince ??= new Date().toISOString().slice(11, 19);
    linked('bad', `Not connected since ${goneSince} UTC: ${why}. Trying again.`);
  },
  tokenNeeded: wantToken,
});

function wantToken(why) {
  wanted = true;
  stream.close();
  linked('', 'A token is needed');
  at('entry-why').textContent = why;
  show();
  at('token').focus();
}

function current(link, so) {
  if (so) link.setAttribute('aria-current', 'page');
  else link.removeAttribute('aria-current');
}

/** The mission that an address names (null: the calls outside missions), and in which file; null where it names none. */
function oneOf(hash) {
  const found = /^#\/(?:mission\/([^/]+)|outside)(?:\/in\/([^/]+))?$/.exec(hash);
  try {
    return found && { id: found[1] === undefined ? null : decodeURIComponent(found[1]), file: found[2] === undefined ? null : decodeURIComponent(found[2]) };
  } catch {
    return null; // not written by this page
  }
}

/** Show the view that the address names. */
function show() {
  const { hash } = location;
  const asked = oneOf(hash);
  const views = { live: false, missions: hash === '#/missions', one: asked !== null };
  views.live = !views.missions && !views.one;
  at('entry').hidden = !wanted;
  for (const [id, on] of Object.entries(views)) at(id).hidden = wanted || !on;
  document.title = `${views.live ? 'Live' : views.missions ? 'Missions' : 'Mission'} · Robot agent harness`;
  current(at('nav-live'), views.live);
  current(at('nav-missions'), !views.live);
  at('forget').hidden = token.get() === null;
  if (wanted) return;
  if (views.missions) missions.show().catch(failed);
  if (views.one) one.show(asked.id, asked.file).catch(failed);
  look();
}

/** Be told of the present while it can be seen; a hidden page costs the robot nothing. */
function look() {
  if (document.hidden || wanted) stream.close();
  else stream.open();
}

at('entry-form').addEventListener('submit', (event) => {
  event.preventDefault();
  token.set(at('token').value.trim());
  at('token').value = '';
  wanted = false;
  linked('', 'Connecting…');
  show();
});
at('forget').addEventListener('click', () => {
  token.forget();
  location.reload();
});
window.addEventListener('hashchange', () => {
  if (location.hash !== '#main') show();
  at('main').focus(); // what was clicked may be out of sight now
});
document.addEventListener('visibilitychange', look);
show();
