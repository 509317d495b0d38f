// Two small forms: one writes a memory down by hand, one gives a memory another text.

import { call } from "/page/api.js";
import { fill, h, say } from "/page/dom.js";
import { t } from "/page/i18n.js";
import { button, explained, field, submit } from "/page/parts.js";

/** Open the form in `box`; `added()` is called when something was remembered. */
export function adding(box, { place, owner, added }) {
  const text = h("textarea", { rows: 2, required: true, name: "text" });
  const attribute = h("input", { type: "text", name: "attribute", autocomplete: "off", spellcheck: "false" });
  const form = h(
    "form", { class: "panel", "aria-label": t("add_title", { user: place.user }) },
    field(t("add_text"), text, t("add_example")),
    field(t("add_attribute"), attribute, t("add_attribute_example")),
    ...ending(shut, t("add_do")),
  );
  function shut() {
    fill(box);
    document.getElementById("add").focus();
  }
  sending(form, async () => {
    const about = attribute.value.trim();
    await call("POST", "/api/items", owner, { text: text.value, ...(about ? { attribute: about } : {}) });
    shut();
    say(t("added"));
    await added();
  });
  fill(box, form);
  text.focus();
}

/** A form that edits `item`; `done(item)` is called with its new version, or null where it was left. */
export function editing(item, owner, done) {
  const text = h("textarea", { rows: 3, required: true, name: "text" });
  text.value = item.text;
  const form = h("form", { class: "editing" }, field(t("edit_label"), text), ...ending(() => done(null), t("edit_do")));
  form.addEventListener("keydown", (event) => event.key === "Escape" && done(null));
  sending(form, async () => {
    const edited = await call("PATCH", "/api/item", { ...owner, item: item.id }, { text: text.value });
    say(t("edited", { version: edited.version }));
    done(edited);
  });
  return { form, text };
}

const ending = (cancel, words) => [
  h("p", { class: "wrong", role: "alert", hidden: true }),
  h("div", { class: "row end" }, button(t("cancel"), cancel), submit(words)),
];

function sending(form, send) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const [wrong, submit] = [form.querySelector(".wrong"), form.querySelector("[type=submit]")];
    submit.disabled = true;
    wrong.hidden = true;
    try {
      await send();
    } catch (error) {
      const { told, line } = explained(error);
      wrong.hidden = false;
      wrong.textContent = line ? `${told} ${line}` : told;
    }
    submit.disabled = false;
  });
}
