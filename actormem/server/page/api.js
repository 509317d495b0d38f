// The server's REST. The key lives in this tab's sessionStorage and nowhere else; it goes out in a header, never in an
// address.

const KEY = "actormem.key";
let held = null; // where the browser keeps nothing for us
let ask = null; // gives a key, or null where whoever is asked gives none
let asking = null; // one question at a time, however many calls were refused

/** What the server refused or could not do: its status (0: it was not reached), its one line, and its hint. */
export class Failure extends Error {
  constructor(status, message, hint = "") {
    super(message);
    this.status = status;
    this.hint = hint;
  }
}

/** Who is asked for a key: `ask(wrong)` gives a promise of it. */
export function keysFrom(asker) {
  ask = asker;
}

export const hasKey = () => keyHeld() !== null;

export function dropKey() {
  held = null;
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // Nothing was kept there.
  }
}

function keyHeld() {
  try {
    return sessionStorage.getItem(KEY) ?? held;
  } catch {
    return held;
  }
}

function hold(key) {
  held = key;
  try {
    sessionStorage.setItem(KEY, key);
  } catch {
    // It is held until the page is left.
  }
}

/** The response of a call, asked for again with a key where one is needed. */
export async function request(method, path, query = {}, body = undefined, signal = undefined) {
  for (;;) {
    const key = keyHeld();
    const response = await sent(method, path, query, body, signal, key);
    if (response.ok) return response;
    if (response.status === 401 && ask) {
      if (keyHeld() === key) await newKey(key !== null);
      continue;
    }
    throw await failureOf(response);
  }
}

/** The answer of a call. */
export async function call(method, path, query, body, signal) {
  return (await request(method, path, query, body, signal)).json();
}

async function sent(method, path, query, body, signal, key) {
  const headers = {};
  if (key) headers["X-Actormem-Key"] = key;
  if (body) headers["Content-Type"] = "application/json";
  const address = `${path}?${new URLSearchParams(query)}`;
  try {
    return await fetch(address, {
      method, headers, signal, body: body && JSON.stringify(body), cache: "no-store", credentials: "omit",
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure(0, "unreachable");
  }
}

async function newKey(wrong) {
  asking ??= ask(wrong).finally(() => {
    asking = null;
  });
  const key = await asking;
  if (!key) throw new Failure(401, "a key is needed");
  hold(key);
}

async function failureOf(response) {
  try {
    const { error } = await response.json();
    return new Failure(response.status, error.message, error.hint);
  } catch {
    return new Failure(response.status, response.statusText || String(response.status));
  }
}
