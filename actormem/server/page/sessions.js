// All sessions of a person, newest change first.

import { call } from "/page/api.js";
import { fill, h, icon, keyed } from "/page/dom.js";
import { t } from "/page/i18n.js";
import { attempt, button, empty, field, soon, time } from "/page/parts.js";
import { link } from "/page/place.js";

const SHOWN = 100;

/** The view. */
export function sessions({ place, owner, signal }) {
  let rows = [];
  let shown = SHOWN;
  const box = h("div");
  const list = h("ul", { class: "lines" });
  const more = h("div", { class: "row centre" });
  const filter = h("input", { type: "search", autocomplete: "off", spellcheck: "false", oninput: render });
  const filtering = field(t("sessions_filter"), filter);

  function render() {
    const wanted = filter.value.trim().toLowerCase();
    const found = rows.filter((row) => row.session_id.toLowerCase().includes(wanted));
    filtering.hidden = rows.length < 2;
    keyed(list, found.slice(0, shown).map((row) => ({
      key: row.session_id, mark: String(row.changed_ms), make: () => line(row, place),
    })));
    const left = found.length - shown;
    fill(more, left > 0 && button(t("more", { count: left }), showMore));
    if (!rows.length) fill(box, empty(t("sessions_none", { user: place.user }), t("sessions_none_do")));
    else if (!found.length) fill(box, empty(t("sessions_no_match", { query: filter.value })));
    else fill(box);
  }

  function showMore() {
    shown += SHOWN;
    render();
  }

  async function read() {
    rows = await call("GET", "/api/sessions", owner, undefined, signal);
    render();
  }

  const node = h("div", { class: "narrow" }, h("h1", { tabindex: -1 }, t("sessions")), filtering, box, list, more);
  const reread = soon(read, 400);
  return { title: t("sessions"), node, load: () => attempt(box, read, signal), happened: reread };
}

function line({ session_id, message_count, changed_ms }, { user, tenant }) {
  const about = `${t("messages_count", { count: message_count })} · ${t("session_changed")} `;
  return h(
    "li", {},
    h(
      "a", { class: "line", href: link("session", { user, tenant, session: session_id }), "data-focus": "open" },
      h("span", { class: "line-name" }, session_id),
      h("span", { class: "line-about" }, about, time(changed_ms)),
      icon("next"),
    ),
  );
}
