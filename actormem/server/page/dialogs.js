// Questions before something is erased, the receipt after it, and the question for a key. Each is a <dialog>: the
// browser keeps the focus in it, closes it at Escape, and gives the focus back.

import { h, say } from "/page/dom.js";
import { bytes, count, t } from "/page/i18n.js";
import { button, explained, field, submit } from "/page/parts.js";

let made = 0;

function opened(title, ...children) {
  const id = `dialog-${++made}`;
  const dialog = h("dialog", { "aria-labelledby": id }, h("h2", { id }, title), ...children);
  const back = document.activeElement;
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (back?.isConnected) back.focus();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/**
 * Ask, erase, and show the receipt. `erase(choice)` gives a promise of it; gives whether anything was erased.
 * `choices`: values and words to choose one from; `typed`: what must be typed first.
 */
export function forgetting({ title, about, action, erase, legend, choices = [], typed = null }) {
  return new Promise((done) => {
    let erased = false;
    const confirm = submit(action, "danger", { disabled: typed !== null });
    const form = h(
      "form", { onsubmit: go },
      h("p", {}, about),
      choices.length > 0 && h("fieldset", { class: "choices" }, h("legend", {}, legend), choices.map(choice)),
      typed !== null && typing(typed, (right) => { confirm.disabled = !right; }),
      h("p", { class: "wrong", role: "alert", hidden: true }),
      h("div", { class: "row end" }, button(t("cancel"), () => dialog.close()), confirm),
    );
    const dialog = opened(title, form);
    dialog.addEventListener("close", () => done(erased));

    async function go(event) {
      event.preventDefault();
      const wrong = form.querySelector(".wrong");
      confirm.disabled = true;
      confirm.textContent = t("forgetting");
      wrong.hidden = true;
      try {
        const receipt = await erase(new FormData(form).get("choice"));
        erased = true;
        form.replaceWith(receiptOf(receipt, () => dialog.close()));
        dialog.querySelector("h2").textContent = t("receipt");
        dialog.querySelector("button").focus();
        say(t("receipt"));
      } catch (error) {
        wrong.hidden = false;
        wrong.textContent = explained(error).told;
        confirm.disabled = false;
        confirm.textContent = action;
      }
    }
  });
}

const choice = ([value, words], place) =>
  h(
    "label", { class: "check" },
    h("input", { type: "radio", name: "choice", value, checked: place === 0 }), h("span", {}, words),
  );

function typing(wanted, told) {
  const oninput = (event) => told(event.target.value === wanted);
  const input = h("input", { type: "text", autocomplete: "off", spellcheck: "false", oninput });
  return field(t("forget_user_type", { user: wanted }), input);
}

function receiptOf(receipt, close) {
  const { item_count, text_count, session_count, scanned_bytes, found_count } = receipt;
  const lines = [
    [t("receipt_items"), count(item_count)],
    [t("receipt_texts"), count(text_count)],
    [t("receipt_sessions"), count(session_count)],
    [t("receipt_scanned"), scanned_bytes ? bytes(scanned_bytes) : t("none")],
    [t("receipt_found"), count(found_count)],
  ];
  const about = found_count ? "receipt_left" : scanned_bytes ? "receipt_clean" : "receipt_memory";
  return h(
    "div", { class: "receipt" },
    h("p", { class: found_count ? "wrong" : "right" }, t(about)),
    h("dl", {}, lines.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
    h("div", { class: "row end" }, button(t("close"), close, { class: "button main" })),
  );
}

/** Ask for a key; gives it, or null. */
export function askKey(wrong) {
  return new Promise((done) => {
    let given = null;
    const input = h("input", {
      type: "password", autocomplete: "off", spellcheck: "false", required: true, "aria-describedby": "key-about key-wrong",
    });
    const told = h("p", { class: "wrong", id: "key-wrong", role: "alert", hidden: !wrong }, t("key_wrong"));
    const form = h(
      "form", { onsubmit: go },
      h("p", { id: "key-about" }, t("key_about")),
      field(t("key_label"), input),
      told,
      h("div", { class: "row end" }, button(t("cancel"), () => dialog.close()), submit(t("key_send"))),
    );
    const dialog = opened(t("key_title"), form);
    dialog.addEventListener("close", () => done(given));
    input.focus();

    function go(event) {
      event.preventDefault();
      const key = input.value.trim();
      if (!/^[\x21-\x7e]+$/.test(key)) {
        told.textContent = t("key_signs");
        told.hidden = false;
        return;
      }
      given = key;
      dialog.close();
    }
  });
}
