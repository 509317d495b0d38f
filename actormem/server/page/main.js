// The frame: the head of the page, and the view of the place that the address names.

import { call, dropKey, hasKey, keysFrom } from "/page/api.js";
import { askKey } from "/page/dialogs.js";
import { fill, h, icon } from "/page/dom.js";
import { language, speak, t } from "/page/i18n.js";
import { lookOn } from "/page/live.js";
import { memories } from "/page/memories.js";
import { badge, button, drawn, problem } from "/page/parts.js";
import { people } from "/page/people.js";
import { link, ownerOf, placeOf } from "/page/place.js";
import { session } from "/page/session.js";
import { sessions } from "/page/sessions.js";

const VIEWS = { people, memories, sessions, session };
const COLOURS = ["system", "light", "dark"];
const main = document.getElementById("main");
let grant = null;
let view = null;
let shown = null; // the part of the address that the view is of
let leaving = new AbortController();
let live = null;
let liveOf = null;

keysFrom(askKey);

/** Show the place of the address; the same view may move there by itself. */
async function go({ anew = false } = {}) {
  if (!grant) head({});
  try {
    grant ??= await call("GET", "/api/grant");
  } catch (error) {
    fill(main, h("div", { class: "narrow" }, problem(error, () => go())));
    return;
  }
  if (!anew && view && shown === location.hash) return;
  shown = location.hash;
  const place = placed();
  const same = view?.place.view === place.view && view.place.user === place.user && view.place.tenant === place.tenant;
  if (!anew && same && view.moved?.(place)) {
    view.place = place;
    return;
  }
  leaving.abort();
  leaving = new AbortController();
  const first = view === null;
  view = VIEWS[place.view]({ place, owner: ownerOf(place), grant, signal: leaving.signal });
  view.place = place;
  document.title = `${view.title} · actormem`;
  head(place);
  fill(main, view.node);
  main.dataset.view = place.view;
  if (!first && !anew) {
    scrollTo(0, 0);
    main.querySelector("h1")?.focus({ preventScroll: true });
  }
  look(place);
  await view.load();
}

/** A key for one user leaves nothing to choose. */
function placed() {
  const place = placeOf(location.hash);
  if (!Object.hasOwn(VIEWS, place.view)) place.view = "people";
  if (grant.user !== null) {
    place.user = grant.user;
    place.tenant = grant.tenant ?? "";
    if (place.view === "people") place.view = "memories";
  }
  if (!place.user) place.view = "people";
  return place;
}

function look(place) {
  const of = place.user && place.view !== "people" ? JSON.stringify(ownerOf(place)) : null;
  if (of === liveOf) return;
  liveOf = of;
  live?.close();
  live = of && lookOn(ownerOf(place), (event) => view.happened?.(event), showState);
}

function showState(name) {
  const place = document.getElementById("live");
  if (!place) return;
  place.dataset.state = name;
  fill(place, h("span", { class: "dot" }), h("span", {}, t(name === "live" ? "live" : `live_${name}`)));
}

// --- the head ---------------------------------------------------------------------------------------

function head(place) {
  document.getElementById("skip").textContent = t("skip");
  const known = place.user && place.view !== "people";
  const mark = h("img", { src: "/page/icon.svg", alt: "", width: 26, height: 26 });
  const state = document.getElementById("live")?.dataset.state ?? "waiting";
  fill(
    document.getElementById("top"),
    h(
      "div", { class: "top-inner" },
      h("a", { class: "brand", href: link("people") }, mark, h("span", {}, "actormem")),
      known && person(place),
      known && tabs(place),
      h("div", { class: "row tools" }, known && h("span", { id: "live", class: "live", title: t("live_title") }), tools()),
    ),
  );
  if (known) showState(state);
}

function person(place) {
  const tenant = place.tenant && badge(t("of_tenant", { tenant: place.tenant }));
  const inner = [h("span", { class: "person-name" }, place.user), tenant];
  if (grant.user !== null) return h("span", { class: "person" }, inner);
  const title = t("change_person");
  const label = `${place.user}: ${title}`;
  return h("a", { class: "person", href: link("people"), title, "aria-label": label }, inner, icon("down"));
}

function tabs(place) {
  const { user, tenant } = place;
  const one = (name, current) =>
    h("a", { href: link(name, { user, tenant }), "aria-current": current && "page" }, t(name));
  return h(
    "nav", { "aria-label": t("views") },
    one("memories", place.view === "memories"),
    one("sessions", place.view === "sessions" || place.view === "session"),
  );
}

function tools() {
  const colours = document.documentElement.dataset.colours ?? "system";
  const label = t("colours", { name: t(`colours_${colours}`) });
  const other = language() === "zh" ? "en" : "zh-CN";
  return [
    button(t("switch_language"), switchLanguage, { class: "button quiet", lang: other, id: "language" }),
    drawn("button", colours, label, { type: "button", id: "colours", onclick: switchColours }),
    hasKey() && drawn("button", "key", t("drop_key"), { type: "button", onclick: leave }),
  ];
}

async function switchLanguage() {
  speak(language() === "zh" ? "en" : "zh");
  await go({ anew: true });
  document.getElementById("language")?.focus();
}

function switchColours() {
  const root = document.documentElement;
  const next = COLOURS[(COLOURS.indexOf(root.dataset.colours ?? "system") + 1) % COLOURS.length];
  if (next === "system") delete root.dataset.colours;
  else root.dataset.colours = next;
  try {
    localStorage.setItem("actormem.colours", next);
  } catch {
    // It holds until the page is left.
  }
  head(view?.place ?? {});
  document.getElementById("colours").focus();
}

function leave() {
  dropKey();
  location.hash = "";
  location.reload();
}

addEventListener("hashchange", () => go());
addEventListener("keydown", (event) => {
  const writing = event.target.closest("input, textarea, select, dialog");
  if (event.key !== "/" || writing || event.ctrlKey || event.metaKey || event.altKey) return;
  const search = main.querySelector("input[type=search]");
  if (search) {
    event.preventDefault();
    search.focus();
  }
});
document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
go();
