// Whose memory: everybody there is, as far as the key tells, and a field for an id.

import { call } from "/page/api.js";
import { fill, h, icon } from "/page/dom.js";
import { t } from "/page/i18n.js";
import { attempt, badge, empty, field, submit } from "/page/parts.js";
import { link } from "/page/place.js";

const OWNERS_MAX = 1_000;

/** The view. */
export function people({ grant, signal }) {
  const list = h("div");
  const user = h("input", { type: "search", name: "user", required: true, autocomplete: "off", spellcheck: "false" });
  const tenant = h("input", { type: "text", name: "tenant", autocomplete: "off", spellcheck: "false" });
  const form = h(
    "form", { class: "row open-person", onsubmit: open },
    field(t("people_find"), user),
    grant.tenant === null && field(t("people_tenant"), tenant),
    submit(t("people_open")),
  );

  function open(event) {
    event.preventDefault();
    location.hash = link("memories", { user: user.value, tenant: grant.tenant ?? tenant.value });
  }

  async function load() {
    await attempt(list, async () => {
      const rows = await call("GET", "/api/owners", { limit: OWNERS_MAX }, undefined, signal);
      fill(list, rows.length ? known(rows) : empty(t("people_none"), t("people_none_do")));
    }, signal);
  }

  const node = h("div", { class: "narrow" }, h("h1", { tabindex: -1 }, t("people_about")), form, list);
  return { title: t("people"), node, load };
}

function known(rows) {
  return h(
    "section", { "aria-labelledby": "known" },
    h("h2", { id: "known" }, t("people_known")),
    h("ul", { class: "lines" }, rows.map(line)),
  );
}

function line({ owner, session_count, item_count }) {
  return h(
    "li", {},
    h(
      "a", { class: "line", href: link("memories", owner) },
      h("span", { class: "line-name" }, owner.user), owner.tenant && badge(t("of_tenant", { tenant: owner.tenant })),
      h("span", { class: "line-about" }, t("people_counts", { items: item_count, sessions: session_count })), icon("next"),
    ),
  );
}
