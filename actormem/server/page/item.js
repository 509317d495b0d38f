// One memory: its words, whence it is, its versions and dates, and what can be done with it.

import { call } from "/page/api.js";
import { forgetting } from "/page/dialogs.js";
import { fill, h, say } from "/page/dom.js";
import { count, day, exactly, moment, named, t } from "/page/i18n.js";
import { badge, button, explained, fold, meter, scored, time } from "/page/parts.js";
import { link } from "/page/place.js";
import { editing } from "/page/remembering.js";

const CHAIN_MAX = 20;
const SOURCES_SHOWN = 8;

/** A card of an item, or of a hit. `changed()` is called when it was changed, `gone(id)` when it was forgotten. */
export function itemCard(hit, context) {
  const { item } = hit;
  const text = h("p", { class: "item-text" }, item.text || t("empty_text"));
  const words = h("div", { class: "item-words" }, text, outdated(hit));
  const attribute = item.attribute === "note" ? "" : named("attribute", item.attribute).replaceAll("_", " ");
  const small = { class: "button quiet small", "data-focus": "edit", drawing: "edit" };
  const card = h("li", { class: `item is-${item.state}` });
  fill(
    card,
    h(
      "div", { class: "item-head" },
      badge(named("kind", item.kind), item.kind),
      item.state !== "live" && badge(named("state", item.state), "past"),
      attribute && h("span", { class: "attribute" }, attribute),
      h("time", { class: "quiet", datetime: exactly(item.event_ms), title: exactly(item.event_ms) }, day(item.event_ms)),
      h(
        "div", { class: "row item-do" },
        item.state === "live" && button(t("edit"), () => edit(card, words, item, context), small),
        button(t("forget"), () => forget(item, context), {
          drawing: "forget", class: "button quiet small danger", "data-focus": "forget",
        }),
      ),
    ),
    words, hit.score !== undefined && scored(hit.score, sharesOf(hit.why)), more(item, context),
  );
  return card;
}

/** What holds in place of what the words of a hit say. */
function outdated(hit) {
  return (hit.outdated ?? []).map(({ value, replacement }) => {
    const now = replacement && (replacement.value || replacement.text);
    return h("p", { class: "warn" }, now ? t("outdated_now", { value, now }) : t("outdated", { value }));
  });
}

function sharesOf(why) {
  const sorted = Object.entries(why).sort(([, one], [, other]) => other - one);
  return sorted.map(([arm, share]) => [arm, share.toFixed(2)]);
}

function edit(card, words, item, { owner, changed }) {
  const { form, text } = editing(item, owner, async (edited) => {
    card.removeAttribute("data-busy");
    form.replaceWith(words);
    if (edited) await changed();
    document.querySelector(`[data-key="${CSS.escape(item.id)}"] [data-focus=edit]`)?.focus();
  });
  card.setAttribute("data-busy", "");
  words.replaceWith(form);
  text.focus();
  text.setSelectionRange(text.value.length, text.value.length);
}

async function forget(item, { owner, gone }) {
  const erased = await forgetting({
    title: t("forget_title"), about: t("forget_about"), action: t("forget"), legend: t("forget_sources"),
    choices: item.source_ids.length ? [["redact", t("forget_redact")], ["keep", t("forget_keep")]] : [],
    erase: (sources) => call("DELETE", "/api/item", { ...owner, item: item.id, ...(sources ? { sources } : {}) }),
  });
  if (erased) await gone(item.id);
}

// --- details ----------------------------------------------------------------------------------------

function more(item, context) {
  const chain = h("div");
  const fact = ([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value));
  const details = fold(
    "more", t("details"),
    h("dl", { class: "facts" }, facts(item).map(fact)),
    chain,
    item.state !== "superseded" && h("div", { class: "row" }, archive(item, context)),
  );
  details.classList.add("more");
  details.addEventListener("toggle", () => details.open && !chain.firstChild && showChain(chain, item, context));
  return details;
}

function facts(item) {
  const sources = item.source_ids.map((id, place) => [item.source_sessions[place] ?? item.session_id, id]);
  const { user, tenant } = item.owner;
  const from = sources.slice(0, SOURCES_SHOWN).map(([session, at]) =>
    h("a", { href: link("session", { user, tenant, session, at }) }, t("item_source_link", { session })));
  const source = named("source", item.source);
  const other = item.speaker && item.speaker !== item.source;
  const speaker = other ? t("item_speaker", { source, name: item.speaker }) : source;
  const shown = item.shown_count
    ? t("item_shown_last", { count: item.shown_count, when: moment(item.last_shown_ms) })
    : t("item_never");
  return [
    item.quote && [t("item_quote"), h("q", {}, item.quote)],
    [t("item_sources"), from.length ? h("span", { class: "links" }, from) : t("item_no_source")],
    [t("item_source"), speaker],
    [t("item_said"), time(item.event_ms)],
    item.first_ms > 0 && [t("item_first"), time(item.first_ms)],
    [t("item_stored"), time(item.stored_ms)],
    item.expires_ms > 0 && [t("item_expires"), time(item.expires_ms)],
    [t("item_version"), count(item.version)],
    [t("item_seen"), t("times", { count: item.seen_count })],
    [t("item_shown"), shown],
    [t("item_importance"), measured(item.importance)],
    [t("item_confidence"), measured(item.confidence)],
    item.scope && [t("item_scope"), item.scope],
    [t("item_id"), h("code", {}, item.id)],
  ].filter(Boolean);
}

const measured = (share) => h("span", { class: "measured" }, meter(share), share.toFixed(2));

function archive(item, { owner, changed }) {
  const archived = item.state !== "archived";
  return button(t(archived ? "archive" : "unarchive"), async () => {
    try {
      await call("POST", "/api/item/archive", { ...owner, item: item.id }, { archived });
      say(t(archived ? "archived" : "unarchived"));
      await changed();
    } catch (error) {
      say(explained(error).told);
    }
  }, { drawing: "archive", class: "button small", "data-focus": "archive" });
}

/** What took the place of what, oldest first. */
async function showChain(box, item, { owner }) {
  if (!item.supersedes && !item.superseded_by) return;
  const before = await along(item, "supersedes", owner);
  const after = await along(item, "superseded_by", owner);
  const chain = [...before.reverse(), item, ...after];
  function line(one) {
    const mine = one.id === item.id;
    const state = mine ? t("item_chain_now") : one.state && named("state", one.state);
    return h(
      "li", { "aria-current": mine && "true" }, one.event_ms > 0 && time(one.event_ms),
      h("span", {}, one.text ?? t("item_gone")), state && badge(state, one.state === "live" ? "holds" : "past"),
    );
  }
  fill(box, h("h2", { class: "small" }, t("item_chain")), h("ol", { class: "chain" }, chain.map(line)));
}

async function along(item, next, owner) {
  const found = [];
  for (let id = item[next]; id && found.length < CHAIN_MAX;) {
    try {
      const one = await call("GET", "/api/item", { ...owner, item: id });
      found.push(one);
      id = one[next];
    } catch {
      found.push({ id });
      break;
    }
  }
  return found;
}
