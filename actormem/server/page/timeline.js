// What was said, oldest first: turns, messages, tool calls, and the summaries that stand for what is out of view.

import { h, keyed } from "/page/dom.js";
import { language, named, t } from "/page/i18n.js";
import { badge, button, fold, meter, time } from "/page/parts.js";

const LONG = 4_000; // characters of a message that are shown at once

/**
 * The list: `render(data, turn, more)`, `show(message id)` scrolls there, `focus(turn id)`. `earlier()` and `all()` are
 * to read more of it.
 */
export function timeline({ link, earlier, all }) {
  const list = h("ol", { class: "timeline" });
  const above = button(t("earlier"), showEarlier, { class: "button earlier", hidden: true });
  const node = h("div", {}, above, list);

  function render(data, turn, more) {
    above.hidden = !more;
    keyed(list, entriesOf(data, turn, link));
  }

  async function showEarlier() {
    const top = list.firstElementChild;
    await earlier();
    top?.scrollIntoView({ block: "start" });
  }

  async function show(id) {
    const find = () => list.querySelector(`[data-message="${CSS.escape(id)}"]`);
    if (!find() && !above.hidden) await all();
    const found = find();
    if (!found) return;
    const details = found.closest("details");
    if (details) details.open = true;
    found.classList.add("sought");
    found.scrollIntoView({ block: "center" });
  }

  const focus = (turn) => list.querySelector(`[data-key="t:${CSS.escape(turn)}"] a`)?.focus();
  return { node, render, show, focus };
}

/** Turns, messages and summaries in one list. Messages that a summary stands for are in it. */
function entriesOf({ messages, turns, summaries, settings }, chosen, link) {
  const numbers = new Map(turns.map((turn, place) => [turn.id, place + 1]));
  const turnOf = new Map(turns.map((turn) => [turn.id, turn]));
  const blockOf = new Map();
  for (const block of summaries) for (const id of block.source_ids) blockOf.set(id, block);
  const entries = [];
  let inside = null;
  for (const said of messages) {
    const block = blockOf.get(said.id) ?? null;
    const turn = turnOf.get(said.id);
    const shown = [messageEntry(said)];
    if (turn) shown.unshift(turnEntry(turn, numbers.get(turn.id), turn.id === chosen, settings, link));
    if (block === null) entries.push(...shown);
    else if (inside?.block === block) inside.within.push(...shown);
    else entries.push({ block, within: shown });
    inside = block === null ? null : entries.at(-1);
  }
  return entries.map((entry) => (entry.block ? blockEntry(entry) : entry));
}

function turnEntry(turn, number, chosen, settings, link) {
  return {
    key: `t:${turn.id}`,
    mark: JSON.stringify([language(), turn, chosen, settings?.budget.context]),
    make: () => turnLine(turn, number, chosen, settings?.budget.context ?? 0, link),
  };
}

function turnLine(turn, number, chosen, budget, link) {
  const tokens = turn.context_tokens;
  const told = { "aria-label": t("turn_why_of", { number }), "aria-current": chosen && "true" };
  return h(
    "li", { class: `turn ${chosen ? "current" : ""}` },
    h("span", { class: "turn-name" }, t("turn_number", { number })), time(turn.began),
    turn.outcome !== "complete" && badge(named("outcome", turn.outcome), turn.outcome),
    tokens > 0 && h("span", { class: "turn-tokens" }, budget > 0 && meter(tokens / budget), t("turn_context", { tokens })),
    h("a", { class: "button small", href: link({ turn: turn.id }), "data-focus": "why", ...told }, t("turn_why")),
  );
}

const messageEntry = (said) => ({
  key: `m:${said.id}`,
  mark: JSON.stringify([language(), said]),
  make: () => messageLine(said),
});

function messageLine({ id, time_ms, message }) {
  return h(
    "li", { class: `message ${message.role}`, "data-message": id },
    h("div", { class: "who" }, h("span", { class: "role" }, named("role", message.role)), time(time_ms)),
    h("div", { class: "words" }, contentOf(message)),
  );
}

/** The words of a message, other parts by their kind, and what tools are called with. */
export function contentOf(message) {
  const { content, tool_calls: calls, refusal } = message;
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : Array.isArray(content) ? content : [];
  const shown = parts.map((part) => {
    if (typeof part.text === "string") return part.text && words(part.text, message.role);
    return h("p", { class: "quiet" }, t("parts_other", { kind: part.type }));
  });
  if (refusal) shown.push(words(refusal, message.role));
  for (const call of Array.isArray(calls) ? calls : []) {
    const { name = call.type, arguments: given = "" } = call.function ?? call.custom ?? {};
    const shownGiven = typeof given === "string" ? given : JSON.stringify(given);
    shown.push(h("div", { class: "call" }, h("span", {}, t("tool_call", { name })), h("pre", {}, shownGiven)));
  }
  const found = shown.filter(Boolean);
  return found.length ? found : h("p", { class: "quiet" }, t("empty_text"));
}

function words(text, role) {
  const tag = role === "tool" ? "pre" : "p";
  if (text.length <= LONG) return h(tag, {}, text);
  const node = h(tag, {}, `${text.slice(0, LONG)}…`);
  function showAll() {
    node.textContent = text;
    whole.remove();
  }
  const whole = button(t("whole", { count: text.length }), showAll, { class: "button small" });
  return [node, h("div", {}, whole)];
}

function blockEntry({ block, within }) {
  const list = () => {
    const inner = h("ol", { class: "timeline" });
    keyed(inner, within);
    return inner;
  };
  return {
    key: `b:${block.id}:${within[0].key}`,
    mark: JSON.stringify([language(), block.version, block.text, within.map((one) => one.mark)]),
    make: () => {
      const all = block.source_ids.length;
      const title = t("summary", { count: all });
      const count = within.filter((one) => one.key.startsWith("m:")).length;
      return h(
        "li", { class: "block" },
        h("div", { class: "who" }, badge(title, "summary"), time(block.stored_ms)),
        h("p", { class: "words" }, block.text),
        fold("within", t(count < all ? "summary_some" : "summary_messages", { count }), list()),
      );
    },
  };
}
