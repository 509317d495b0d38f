// A session: its timeline, and beside it the context of one turn. Live: what happens is read again, and what has not
// changed stays as it is, with the focus and what was open.

import { call } from "/page/api.js";
import { forgetting } from "/page/dialogs.js";
import { fill, h, say } from "/page/dom.js";
import { named, t } from "/page/i18n.js";
import { inspector } from "/page/inspector.js";
import { attempt, badge, button, drawn, empty, soon } from "/page/parts.js";
import { link } from "/page/place.js";
import { timeline } from "/page/timeline.js";

const SHOWN = 200; // messages; a conversation may have ten thousand
const NEAR_END = 80; // pixels: whoever is that near to the end sees what comes after it

/** The view. */
export function session({ place, owner, signal }) {
  const of = { ...owner, session: place.session ?? "" };
  const to = (more) => link("session", { user: place.user, tenant: place.tenant, session: place.session, ...more });
  let data = { messages: [], turns: [], summaries: [], settings: null };
  let chosen = place.turn ?? "";
  let wanted = SHOWN;
  let first = true;
  const about = h("p", { class: "row about" });
  const box = h("div", { class: "padded" });
  const list = timeline({ link: to, earlier, all });
  const pane = h("section", { class: "pane", tabindex: 0, "aria-label": t("timeline") }, box, list.node);
  const look = inspector({ of, owner, link: to, place, signal });

  async function read() {
    const get = (path, more = {}) => call("GET", path, { ...of, ...more }, undefined, signal);
    const [said, turns, summaries, settings] = await Promise.all([
      get("/api/messages", Number.isFinite(wanted) ? { last: wanted } : {}),
      get("/api/turns"), get("/api/summaries"), get("/api/session"),
    ]);
    const before = data;
    const near = pane.scrollHeight - pane.scrollTop - pane.clientHeight < NEAR_END;
    data = { messages: said.messages, turns, summaries, settings };
    render();
    if (near || (first && !place.at)) pane.scrollTop = pane.scrollHeight;
    if (!first) tell(before);
    const began = first;
    first = false;
    if (began && place.at) await list.show(place.at);
    await look.show(data.turns, current());
  }

  function render() {
    const { messages, settings } = data;
    node.classList.toggle("chosen", Boolean(chosen));
    follow.setAttribute("aria-pressed", String(!chosen));
    if (!settings) return; // nothing has been read yet
    fill(
      about,
      h("span", {}, t(messages.length === wanted ? "messages_newest" : "messages_count", { count: messages.length })),
      h("span", {}, t("session_budget", { tokens: settings.budget.context })),
      [settings.model, settings.policy, settings.scope].filter(Boolean).map((one) => badge(one)),
    );
    fill(box, messages.length === 0 && empty(t("session_none"), t("session_none_do")));
    list.render(data, current(), messages.length === wanted);
  }

  async function earlier() {
    wanted += SHOWN;
    await read();
  }

  /** For a message that is further back than what is shown. */
  async function all() {
    wanted = Infinity;
    await read();
  }

  const current = () => chosen || (data.turns.at(-1)?.id ?? "");

  function tell(before) {
    const [was, is] = [before.messages.length, data.messages.length];
    const last = data.turns.at(-1);
    const known = before.turns.find((one) => one.id === last?.id);
    if (is < was) say(t("rewound"));
    else if (last && (known?.outcome ?? "open") === "open" && last.outcome !== "open") {
      say(t("turn_ended", { number: data.turns.length, outcome: named("outcome", last.outcome) }));
    } else if (data.messages.at(-1)?.id !== before.messages.at(-1)?.id) {
      say(t("new_message", { role: named("role", data.messages.at(-1).message.role) }));
    }
  }

  async function forget() {
    const erased = await forgetting({
      title: t("forget_session_title", { session: place.session }), about: t("forget_session_about"),
      action: t("forget_session"), erase: () => call("DELETE", "/api/session", of),
    });
    if (erased) location.hash = link("sessions", { user: place.user, tenant: place.tenant });
  }

  function gone() {
    data = { ...data, messages: [], turns: [], summaries: [] };
    list.render(data, "", false);
    look.show([], "");
    fill(box, empty(t("session_gone"), t("session_gone_do")));
  }

  const follow = button(t("follow"), () => { location.hash = to({}); }, { drawing: "clock", class: "button quiet toggle" });
  const node = h(
    "div", { class: "session" },
    h(
      "div", { class: "title" },
      h(
        "div", { class: "session-name" },
        drawn("a", "back", t("sessions"), { href: link("sessions", { user: place.user, tenant: place.tenant }) }),
        h("h1", { tabindex: -1 }, place.session), about,
      ),
      h(
        "div", { class: "row" }, follow,
        button(t("forget_session"), forget, { drawing: "forget", class: "button quiet danger" }),
      ),
    ),
    h("div", { class: "panes" }, pane, look.node),
  );
  const reread = soon(read);
  return {
    title: place.session,
    node,
    load: () => attempt(box, read, signal),
    happened(event) {
      if (event.kind.startsWith("items")) look.renew(event.ids);
      if (event.kind === "missed" || event.kind === "redacted") look.renew();
      const mine = event.session_id === place.session;
      if (event.kind === "user_forgotten" || (event.kind === "session_forgotten" && mine)) gone();
      else if (mine || event.kind === "missed" || event.kind.startsWith("items")) reread();
    },
    moved(next) {
      if (next.session !== place.session) return false;
      const narrow = getComputedStyle(look.back).display !== "none";
      const left = chosen;
      chosen = next.turn ?? "";
      render();
      const heading = () => narrow && chosen && look.node.querySelector("h2").focus();
      if (data.settings) look.show(data.turns, current()).then(heading);
      if (narrow && !chosen && left) list.focus(left);
      if (next.at) list.show(next.at);
      return true;
    },
  };
}
