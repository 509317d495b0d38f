// What happens on the server while one looks on. Fetched by hand instead of by an EventSource, which can send no key.
// A tab that nobody sees lets go of its stream: browsers allow six to a server, and a seventh tab would wait for ever.

import { request } from "/page/api.js";

const WAIT_MS = [500, 1_000, 2_000, 5_000, 10_000];

/**
 * Look on at a user's memory until `close` is called.
 * `happened(event)` is told what happens, and `{kind: "missed"}` when it may have missed something;
 * `state(name)` is told `live`, `waiting` (asked again soon), `paused` or `off` (refused).
 */
export function lookOn(owner, happened, state) {
  let stop = new AbortController();
  let closed = false;
  let failures = 0;
  let begun = false;
  let timer = 0;

  async function run() {
    const mine = stop;
    try {
      const response = await request("GET", "/api/events", owner, undefined, mine.signal);
      state("live");
      failures = 0;
      if (begun) happened({ kind: "missed", ids: [], session_id: "" });
      begun = true;
      for await (const event of events(response.body)) happened(event);
    } catch (error) {
      // Refused, and asking again will not change it; however else the stream ended, it is asked for again.
      closed ||= error.status >= 400 && error.status < 429;
    }
    if (mine.signal.aborted) return;
    if (closed) {
      state("off");
      return;
    }
    state("waiting");
    timer = setTimeout(run, WAIT_MS[Math.min(failures++, WAIT_MS.length - 1)]);
  }

  function seen() {
    clearTimeout(timer);
    stop.abort();
    if (closed) return;
    if (document.hidden) {
      state("paused");
      return;
    }
    stop = new AbortController();
    run();
  }

  document.addEventListener("visibilitychange", seen);
  seen();
  return {
    close() {
      closed = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", seen);
      stop.abort();
    },
  };
}

/** The events of a stream: blocks of lines with an empty line after each; only `data:` is of use here. */
async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const data = block.split("\n").filter((line) => line.startsWith("data: "));
      if (data.length) yield JSON.parse(data.map((line) => line.slice(6)).join("\n"));
    }
  }
}
