// SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
// SPDX-License-Identifier: Apache-2.0
// Server-sent events over fetch, since an EventSource sends no header with a token. As an EventSource does, it comes
// back by itself and then says how far it had read (WHATWG HTML, section 9.2).

import { ask, TokenNeeded } from './ask.js';

const RETRY_FIRST_MS = 500;
const RETRY_MOST_MS = 8000;
/** The harness speaks every second: silence for so long is a connection that is dead. */
const SILENCE_MS = 10000;

export class Stream {
  #path;
  #told;
  #lastId = null;
  #stop = null;
  #retryMs = RETRY_FIRST_MS;
  #timer = null;

  /**
   * @param told `message(event, data)`, `up()`, `down(why)` and `tokenNeeded(why)`.
   */
  constructor(path, told) {
    this.#path = path;
    this.#told = told;
  }

  /** Connect, if that is not so already. */
  open() {
    if (this.#stop === null && this.#timer === null) this.#run();
  }

  /** Let go; `open` goes on where this stopped. */
  close() {
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#stop?.abort();
    this.#stop = null;
  }

  async #run() {
    const stop = new AbortController();
    this.#stop = stop;
    this.#timer = null;
    let why = 'the harness closed the connection';
    try {
      await this.#read(stop);
    } catch (error) {
      if (error instanceof TokenNeeded) {
        this.#stop = null;
        this.#told.tokenNeeded(error.message);
        return;
      }
      why = error instanceof TypeError ? 'the harness cannot be reached' : error.message; // as fetch says it
    }
    if (this.#stop !== stop) return; // closed on purpose
    stop.abort();
    this.#stop = null;
    this.#told.down(why);
    this.#timer = setTimeout(() => this.#run(), this.#retryMs);
    this.#retryMs = Math.min(2 * this.#retryMs, RETRY_MOST_MS);
  }

  async #read(stop) {
    const headers = { accept: 'text/event-stream', ...(this.#lastId === null ? {} : { 'last-event-id': this.#lastId }) };
    const silent = () => stop.abort(new Error(`nothing was heard for ${SILENCE_MS / 1000} s`));
    let silence = setTimeout(silent, SILENCE_MS);
    try {
      const response = await ask(this.#path, {}, { headers, signal: stop.signal });
      this.#retryMs = RETRY_FIRST_MS;
      this.#told.up();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = '';
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return; // what is left is half a message, which does not count
        clearTimeout(silence);
        silence = setTimeout(silent, SILENCE_MS);
        const blocks = (rest + value).split('\n\n');
        rest = blocks.pop();
        blocks.forEach((block) => this.#take(block));
      }
    } finally {
      clearTimeout(silence);
    }
  }

  #take(block) {
    const fields = { data: [] };
    for (const line of block.split('\n')) {
      const colon = line.indexOf(':');
      if (colon < 1) continue; // a comment
      const value = line.slice(colon + 1).replace(/^ /, '');
      if (line.slice(0, colon) === 'data') fields.data.push(value);
      else fields[line.slice(0, colon)] = value;
    }
    if (fields.data.length === 0) return;
    this.#told.message(fields.event ?? 'message', JSON.parse(fields.data.join('\n')));
    if (fields.id !== undefined) this.#lastId = fields.id;
  }
}
