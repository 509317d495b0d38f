// What is remembered of a person: listed, searched, written down, downloaded, forgotten.

import { call, request } from "/page/api.js";
import { forgetting } from "/page/dialogs.js";
import { fill, h, icon, keyed, say } from "/page/dom.js";
import { language, milliseconds, named, t } from "/page/i18n.js";
import { itemCard } from "/page/item.js";
import { attempt, button, empty, soon, submit } from "/page/parts.js";
import { link } from "/page/place.js";
import { adding } from "/page/remembering.js";

const SHOWN = 60;
const SCORE_MIN = 0.1; // what has less says nothing about the words that were sought
const FOUND_MAX = 30; // less than `SHOWN`
const ABOUT = ["fact", "preference", "event"];
const KINDS = { about: ABOUT, episode: ["episode"], summary: ["summary"], all: [] };
let focusNext = null; // the field that made this list: it keeps the focus in the next one

/** The view. */
export function memories({ place, owner, signal }) {
  let found = [];
  let shown = SHOWN;
  const box = h("div");
  const told = h("p", { class: "quiet", id: "told" });
  const list = h("ul", { class: "items", "aria-labelledby": "told" });
  const more = h("div", { class: "row centre" });
  const extra = h("div");
  const kinds = KINDS[place.kinds] ?? ABOUT;
  const searching = Boolean(place.q);

  async function read() {
    if (searching) await search();
    else await all();
  }

  async function all() {
    const query = new URLSearchParams({ ...owner, newest: "true", limit: shown + 1, history: Boolean(place.history) });
    for (const kind of kinds) query.append("kinds", kind);
    const items = await call("GET", "/api/items", query, undefined, signal);
    found = items.map((item) => ({ item }));
    fill(told, t(found.length > shown ? "items_newest" : "items_count", { count: Math.min(shown, found.length) }));
    render(empty(t("items_none", { user: place.user }), t("items_none_do")));
  }

  async function search() {
    const asked = { query: place.q, limit: FOUND_MAX, min_score: SCORE_MIN, kinds: kinds.length ? kinds : null };
    const recall = await call("POST", "/api/recall", owner, asked, signal);
    found = recall.hits;
    const time = milliseconds(recall.elapsed_ms);
    const degraded = recall.degraded.map((name) => h("span", { class: "warn" }, " ", named("degraded", name)));
    fill(told, t("search_found", { count: found.length, among: recall.considered_count, time }), degraded);
    say(found.length ? told.textContent : t("search_none", { query: place.q }));
    render(empty(t("search_none", { query: place.q }), t("search_none_do")));
  }

  function render(nothing) {
    const context = { place, owner, changed: read, gone };
    keyed(list, found.slice(0, shown).map((hit) => ({
      key: hit.item.id, mark: language() + JSON.stringify(hit), make: () => itemCard(hit, context),
    })));
    fill(more, found.length > shown && button(t("show_more"), showMore));
    fill(box, found.length === 0 && nothing);
    told.hidden = found.length === 0;
  }

  async function showMore() {
    const last = list.lastElementChild;
    shown += SHOWN;
    await read();
    last?.nextElementSibling?.querySelector("button, summary").focus({ preventScroll: true });
  }

  /** An item is forgotten: the one after it takes the focus. */
  async function gone(id) {
    const card = [...list.children].find((one) => one.dataset.key === id);
    const next = card?.nextElementSibling ?? card?.previousElementSibling;
    await read();
    (next?.isConnected ? next.querySelector("button, summary") : node.querySelector("h1")).focus();
  }

  async function forgetAll() {
    const erased = await forgetting({
      title: t("forget_user_title", { user: place.user }), about: t("forget_user_about"), action: t("forget_user"),
      typed: place.user, erase: () => call("DELETE", "/api/user", owner),
    });
    if (erased) await read();
  }

  const save = () => attempt(extra, () => download(owner, place.user));
  const reread = soon(read, 300);
  // A recall counts what it has shown, which changes those items: searching again then would never end.
  const watched = ["items_forgotten", "session_forgotten", "user_forgotten", ...(searching ? [] : ["items", "missed"])];
  const node = h(
    "div", { class: "narrow" },
    h(
      "div", { class: "title" }, h("h1", { tabindex: -1 }, t("memories")),
      h(
        "div", { class: "row" },
        button(t("add"), () => adding(extra, { place, owner, added: read }), { drawing: "plus", id: "add" }),
        button(t("export"), save, { drawing: "download", class: "button quiet" }),
        button(t("forget_user"), forgetAll, { drawing: "forget", class: "button quiet danger" }),
      ),
    ),
    extra, searchForm(place), kindsForm(place), told, box, list, more,
  );
  return {
    title: `${t("memories")} · ${place.user}`,
    node,
    load() {
      if (focusNext) node.querySelector(focusNext).focus();
      focusNext = null;
      return attempt(box, read, signal);
    },
    happened: (event) => watched.includes(event.kind) && reread(),
  };
}

function searchForm(place) {
  const field = h("input", {
    type: "search", name: "q", value: place.q ?? "", autocomplete: "off", "aria-label": t("search", { user: place.user }),
    placeholder: t("search", { user: place.user }), "aria-describedby": "search-hint",
  });
  const find = (q) => move(place, { q }, ".search input");
  function onsubmit(event) {
    event.preventDefault();
    find(field.value.trim());
  }
  return h(
    "form", { role: "search", class: "search", onsubmit },
    h("div", { class: "search-field" }, icon("search"), field),
    submit(t("search_do")),
    place.q && button(t("search_clear"), () => find("")),
    h("p", { class: "hint", id: "search-hint" }, t("search_hint")),
  );
}

function kindsForm(place) {
  const names = { about: t("kinds_about"), episode: t("kinds_said"), summary: t("kinds_summaries"), all: t("kinds_all") };
  const chosen = Object.hasOwn(KINDS, place.kinds ?? "") ? place.kinds : "about";
  const choose = (value) => move(place, { kinds: value }, `.kinds [value="${value}"]`);
  const one = (value) =>
    h(
      "label", {},
      h("input", { type: "radio", name: "kinds", value, checked: value === chosen, onchange: () => choose(value) }),
      h("span", {}, names[value]),
    );
  const past = (event) => move(place, { history: event.target.checked ? "1" : "" }, ".kinds [name=history]");
  return h(
    "form", { class: "row kinds" },
    h("fieldset", { class: "segments" }, h("legend", { class: "hidden" }, t("kinds")), Object.keys(KINDS).map(one)),
    !place.q && h(
      "label", { class: "check" },
      h("input", { type: "checkbox", name: "history", checked: Boolean(place.history), onchange: past }),
      h("span", {}, t("history")),
    ),
  );
}

/** Another list of the same person; the focus stays on the field that was changed. */
function move(place, changes, field) {
  const { view, ...rest } = { ...place, ...changes };
  focusNext = field;
  location.hash = link(view, rest);
}

async function download(owner, user) {
  const response = await request("GET", "/api/export", owner);
  const address = URL.createObjectURL(await response.blob());
  const name = `memories-${user.replace(/[^\p{L}\p{N}._-]+/gu, "_")}.json`;
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
  say(t("exported"));
}
