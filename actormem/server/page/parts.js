// Small parts that every view is made of.

import { Failure } from "/page/api.js";
import { fill, h, icon } from "/page/dom.js";
import { exactly, moment, named, t } from "/page/i18n.js";

/** A button with words, and a drawing before them where one is named. */
export function button(words, onclick, { drawing, ...attributes } = {}) {
  const face = [drawing && icon(drawing), h("span", {}, words)];
  return h("button", { type: "button", class: "button", onclick, ...attributes }, face);
}

/** A button that sends its form. */
export const submit = (words, sort = "main", attributes = {}) =>
  h("button", { type: "submit", class: `button ${sort}`, ...attributes }, words);

/** What has a drawing for its only face: `tag` is `button` or `a`. */
export const drawn = (tag, drawing, words, attributes) =>
  h(tag, { class: "button quiet", "aria-label": words, title: words, ...attributes }, icon(drawing));

/** A field with its label, and an example below it. */
export function field(words, input, example = null) {
  if (example === null) return h("label", { class: "field" }, h("span", {}, words), input);
  const id = `${input.name}-example`;
  input.setAttribute("aria-describedby", id);
  return h("label", { class: "field" }, h("span", {}, words), input, h("small", { id }, example));
}

/** What opens: `part` names it, so that it stays open when what is around it is made anew. */
export const fold = (part, words, ...children) =>
  h("details", { "data-part": part }, h("summary", { "data-focus": part }, words), children);

/** Rows under headings; a row is a list of what its cells hold. */
export function table(headings, rows) {
  const head = headings.map((words) => h("th", { scope: "col" }, words));
  const lines = rows.map((cells) => h("tr", {}, cells.map((cell) => h("td", {}, cell))));
  return h("table", {}, h("thead", {}, h("tr", {}, head)), h("tbody", {}, lines));
}

/** A score, its bar, and what it is made of: pairs of an arm's name and its share. */
export function scored(score, arms, { before = null, after = null } = {}) {
  const shares = arms.map(([arm, share]) => h("li", {}, named("arm", arm), " ", h("b", {}, share)));
  return h(
    "div", { class: "score" }, before, meter(score), h("span", {}, t("score", { score: score.toFixed(2) })),
    h("ul", { class: "arms", "aria-label": t("why") }, shares), after,
  );
}

/** A small label. */
export const badge = (words, sort = "") => h("span", { class: `badge ${sort}` }, words);

/** A moment in the reader's time; the exact one is its title. */
export const time = (value) => h("time", { datetime: exactly(value), title: exactly(value) }, moment(value));

/** A bar of a share from 0 to 1. Its number is to stand beside it: the bar itself is passed over when read out. */
export const meter = (share) =>
  h("span", { class: "meter", "aria-hidden": "true" }, h("span", { share: Math.max(0, Math.min(1, share)) }));

/** Nothing is here: why, and what to do. */
export const empty = (title, about, ...more) =>
  h("div", { class: "empty" }, h("p", { class: "empty-title" }, title), about && h("p", {}, about), ...more);

/** What went wrong, in words that say what to do; `again` tries once more. */
export function problem(error, again) {
  const { told, line } = explained(error);
  return h(
    "div", { class: "problem", role: "alert" },
    icon("warning"),
    h("div", {}, h("p", { class: "empty-title" }, t("problem")), h("p", {}, told), line && h("p", { class: "quiet" }, line)),
    again && button(t("again"), again),
  );
}

/** What an error says to a person, and what the server said. */
export function explained(error) {
  if (!(error instanceof Failure)) return { told: String(error.message ?? error), line: "" };
  const line = error.status ? [error.message, error.hint].filter(Boolean).join(" · ") : "";
  const known = { 0: "problem_unreachable", 401: "problem_key", 404: "problem_gone", 429: "problem_often" }[error.status];
  if (known) return { told: t(known), line };
  return { told: line, line: error.status === 400 ? t("problem_nothing_changed") : "" };
}

/** Do `action`, and show in `box` that it runs, or what went wrong. Who left in the meantime is told nothing. */
export async function attempt(box, action, signal) {
  const slow = setTimeout(() => fill(box, h("p", { class: "loading", role: "status" }, t("loading"))), 200);
  try {
    await action();
    clearTimeout(slow);
    if (box.firstElementChild?.matches(".loading, .problem")) fill(box);
  } catch (error) {
    clearTimeout(slow);
    if (signal?.aborted || error.name === "AbortError") return;
    if (!(error instanceof Failure)) console.error(error);
    fill(box, problem(error, () => attempt(box, action, signal)));
  }
}

/** Calls `action` a moment after the last call of this, one at a time: many events make one look. */
export function soon(action, wait_ms = 120) {
  let timer = 0;
  let running = false;
  let wanted = false;
  async function run() {
    if (running) {
      wanted = true;
      return;
    }
    running = true;
    try {
      await action();
    } catch (error) {
      if (error.name !== "AbortError" && !(error instanceof Failure)) console.error(error);
    }
    running = false;
    if (wanted) {
      wanted = false;
      run();
    }
  }
  return () => {
    clearTimeout(timer);
    timer = setTimeout(run, wait_ms);
  };
}
