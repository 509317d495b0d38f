// The context of one turn: what the model was given, and why.

import { call } from "/page/api.js";
import { barOf, figuresOf, sectionsOf, stepsOf } from "/page/context.js";
import { fill, h, icon, say } from "/page/dom.js";
import { named, reason, t } from "/page/i18n.js";
import { attempt, badge, button, drawn, empty, fold, scored, table, time } from "/page/parts.js";
import { contentOf } from "/page/timeline.js";

const LEFT_OUT_SHOWN = 12;

/** The pane: `show(turns, turn id)`; after `renew(ids)` the same turn is read again, and these items, or all. */
export function inspector({ of, owner, link, signal }) {
  const body = h("div", { class: "inspected" });
  const back = h("a", { class: "button quiet to-timeline", href: link({}) }, icon("back"), t("back_to_timeline"));
  const node = h("section", { class: "pane inspector", tabindex: 0, "aria-label": t("inspector") }, back, body);
  const known = new Map(); // items by id, as they were when they were read
  let mark = "";
  let newest = 0;

  async function show(turns, id) {
    const place = turns.findIndex((turn) => turn.id === id);
    if (place < 0) {
      mark = "";
      const title = h("h2", { tabindex: -1, class: "hidden" }, t("inspector"));
      fill(body, title, empty(t("inspector_none"), t("inspector_none_do")));
      return;
    }
    const turn = turns[place];
    const now = JSON.stringify([turn, turns.length]);
    if (now === mark) return;
    const number = ++newest;
    await attempt(body, async () => {
      const seen = await call("GET", "/api/turn", { ...of, turn: id }, undefined, signal);
      const items = seen.trace ? await itemsOf(seen.trace) : known;
      if (number !== newest) return; // another turn was chosen meanwhile
      const same = node.dataset.turn === id;
      const open = [...body.querySelectorAll("details[open]")].map((one) => one.dataset.part);
      const at = body.contains(document.activeElement) ? document.activeElement.dataset.focus : null;
      fill(body, ...shownTurn(seen, items, turns, place));
      mark = now;
      node.dataset.turn = id;
      for (const one of body.querySelectorAll("details")) one.open = open.includes(one.dataset.part);
      if (at) body.querySelector(`[data-focus="${at}"]`)?.focus({ preventScroll: true });
      if (!same) node.scrollTop = 0;
    }, signal);
  }

  async function itemsOf(trace) {
    const told = [...trace.included, ...trace.left_out].map((one) => one.id);
    const ids = told.filter((id) => !id.startsWith("#") && !known.has(id));
    await Promise.all(ids.slice(0, 60).map(async (id) => {
      try {
        known.set(id, await call("GET", "/api/item", { ...owner, item: id }, undefined, signal));
      } catch (error) {
        if (error.name === "AbortError") throw error;
        known.set(id, null);
      }
    }));
    return known;
  }

  function shownTurn({ turn, trace, messages }, items, turns, place) {
    const title = heading(turn, turns, place, link);
    if (!trace) return [title, empty(t("inspector_no_trace"), t("inspector_no_trace_do"))];
    return [
      title, barOf(trace), figuresOf(trace), degradedOf(trace),
      part(t("sections"), sectionsOf(trace)), part(t("recall"), ...recallOf(trace, items)),
      part(t("exact"), exactOf(messages)),
      part(t("left_out"), leftOutOf(trace, items)), part(t("steps"), stepsOf(trace)),
    ];
  }

  function renew(ids = [...known.keys()]) {
    for (const id of ids) known.delete(id);
    mark = "";
  }

  return { node, show, renew, back };
}

const part = (title, ...children) => h("section", { class: "part" }, h("h3", {}, title), children);

function heading(turn, turns, place, link) {
  const step = (to, words, drawing) =>
    turns[to]
      ? drawn("a", drawing, words, { href: link({ turn: turns[to].id }), "data-focus": drawing })
      : h("span", { class: "button quiet off", "aria-hidden": "true" }, icon(drawing));
  const name = h("h2", { tabindex: -1 }, t("turn_number", { number: place + 1 }));
  return h(
    "div", { class: "title" },
    h("div", { class: "row" }, name, badge(named("outcome", turn.outcome), turn.outcome), time(turn.began)),
    h("div", { class: "row" }, step(place - 1, t("previous_turn"), "back"), step(place + 1, t("next_turn"), "next")),
  );
}

function degradedOf({ degraded }) {
  if (!degraded.length) return h("p", { class: "fine" }, t("degraded_none"));
  return h(
    "div", { class: "degraded", role: "note" }, icon("warning"),
    h("div", {}, h("b", {}, t("degraded")), degraded.map((name) => h("p", {}, named("degraded", name)))),
  );
}

function recallOf({ included, gate }, items) {
  const why = gate && h("p", { class: "quiet" }, t("recall_gate", { reason: reason(gate) }));
  if (!included.length) return [why, h("p", {}, t("recall_none"))];
  const line = ({ id, kind, score, why: arms }) =>
    h(
      "li", {},
      h("p", { class: "hit-text" }, items.get(id)?.text ?? h("span", { class: "quiet" }, t("hit_gone"))),
      scored(score, armsOf(arms), { before: badge(named("kind", kind), kind), after: h("code", { class: "quiet" }, id) }),
    );
  return [why, h("ol", { class: "hits" }, included.map(line))];
}

const armsOf = (why) => [...why.matchAll(/([a-z]+) (-?[\d.]+)/g)].map(([, arm, share]) => [arm, share]);

function leftOutOf({ left_out }, items) {
  if (!left_out.length) return h("p", { class: "fine" }, t("left_out_none"));
  const what = (id) =>
    id.startsWith("#") ? t("messages_range", { range: id }) : h("span", { class: "clipped" }, items.get(id)?.text ?? id);
  const rows = left_out.map(({ id, reason: why }) => [what(id), reason(why)]);
  const headings = [t("left_out_id"), t("left_out_reason")];
  const rest = rows.slice(LEFT_OUT_SHOWN);
  return [
    table(headings, rows.slice(0, LEFT_OUT_SHOWN)),
    rest.length > 0 && fold("left", t("more", { count: rest.length }), table(headings, rest)),
  ];
}

function exactOf(messages) {
  if (!messages) return h("p", { class: "quiet" }, t("exact_gone"));
  const copy = async () => {
    await navigator.clipboard.writeText(JSON.stringify(messages, null, 2));
    say(t("copied"));
  };
  const line = (one) =>
    h("li", {}, h("span", { class: "role" }, named("role", one.role)), h("div", { class: "words" }, contentOf(one)));
  return fold(
    "exact", t("exact_about", { count: messages.length }),
    h("ol", { class: "exact" }, messages.map(line)),
    button(t("copy"), copy, { drawing: "copy", class: "button small" }),
  );
}
