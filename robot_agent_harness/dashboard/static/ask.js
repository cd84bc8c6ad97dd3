// SPDX-FileCopyrightText: 2026 robot_agent_harness contributors
// SPDX-License-Identifier: Apache-2.0
// Asks the harness. The token goes along in a header, and stays in this tab.

const KEY = 'robot-agent-harness-token';

export const token = {
  get: () => sessionStorage.getItem(KEY),
  set: (value) => sessionStorage.setItem(KEY, value),
  forget: () => sessionStorage.removeItem(KEY),
};

/** The harness wants a token, or another one. */
export class TokenNeeded extends Error {}

/** A response of the harness; throws TokenNeeded, or an Error that says why there is none. */
export async function ask(path, query = {}, { headers = {}, signal } = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== '');
  const search = new URLSearchParams(given).toString();
  const held = token.get();
  const response = await fetch(`/dashboard/${path}${search ? `?${search}` : ''}`, {
    headers: held === null ? headers : { ...headers, authorization: `Bearer ${held}` },
    cache: 'no-store',
    credentials: 'omit',
    redirect: 'error',
    signal,
  });
  if (response.status === 401) throw new TokenNeeded(held === null ? '' : 'This token is not known here.');
  if (!response.ok) {
    const told = await response.json().catch(() => ({}));
    throw new Error(told.message ?? told.error_description ?? `HTTP ${response.status}`);
  }
  return response;
}
