// Elements from names, attributes and texts. The law of the page: a text is only ever put in as a text node, so that
// nothing anybody has said can become HTML.

/** An element. `on…` listens; `share` is a number from 0 to 1 for the style; null and false leave an attribute out. */
export function h(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "share") node.style.setProperty("--share", String(value));
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  fill(node, ...children);
  return node;
}

/** Put these in the place of what the element holds. */
export function fill(node, ...children) {
  node.replaceChildren(...children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false));
}

const DRAWN = {
  archive: "M4 7h16M6 7v11a2 2 0 0 0 2 2h8a2 2 0 0 0 2-2V7M10 11h4M5 4h14v3H5z",
  back: "M15 6l-6 6 6 6",
  clock: "M12 7.5V12l3 2M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17z",
  copy: "M9 9h10v11H9zM5 15V4h10",
  dark: "M19.5 14A8 8 0 0 1 10 4.5a8 8 0 1 0 9.5 9.5z",
  down: "M6 9l6 6 6-6",
  download: "M12 4v11M7.5 11l4.5 4.5L16.5 11M5 20h14",
  edit: "M4 20l1-4.5L16 4.5l3.5 3.5L8.5 19zM13.5 7l3.5 3.5",
  forget: "M5 7h14M10 7V4.5h4V7M7 7l1 13h8l1-13M10.5 11v5.5M13.5 11v5.5",
  key: "M14.5 4a5.5 5.5 0 1 0-4.6 8.5L4 18.4V21h3v-2h2v-2h2l2-2.2A5.5 5.5 0 0 0 14.5 4zM16 8h.01",
  light: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M18.7 5.3l-1.4 1.4M6.7 17.3l-1.4 1.4",
  next: "M9 6l6 6-6 6",
  plus: "M12 5v14M5 12h14",
  search: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM20 20l-4.8-4.8",
  system: "M4 5h16v11H4zM9 20h6M12 16v4",
  warning: "M12 4L2.8 19.5h18.4zM12 10v4.5M12 17h.01",
};

/** A drawing that says nothing to a screen reader: the words stand beside it, or in the button's label. */
export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const drawing = document.createElementNS(space, "svg");
  const path = document.createElementNS(space, "path");
  for (const [key, value] of [["viewBox", "0 0 24 24"], ["class", "icon"], ["aria-hidden", "true"]]) {
    drawing.setAttribute(key, value);
  }
  path.setAttribute("d", DRAWN[name]);
  drawing.append(path);
  return drawing;
}

const marks = new WeakMap();

/**
 * Make the element's children these: one for each entry of `key`, `mark` and `make`. Who has the same mark as before is
 * left alone; who has not is made anew, and keeps the focus and what was open in it. Who is being written in stays.
 */
export function keyed(parent, entries) {
  const before = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  const nodes = entries.map(({ key, mark, make }) => {
    const old = before.get(key);
    if (old && (marks.get(old) === mark || old.hasAttribute("data-busy"))) return old;
    const made = make();
    made.dataset.key = key;
    marks.set(made, mark);
    if (old) takeOver(old, made);
    return made;
  });
  const kept = new Set(nodes);
  for (const child of [...parent.children]) if (!kept.has(child)) child.remove();
  let place = parent.firstElementChild;
  for (const node of nodes) {
    if (node === place) place = place.nextElementSibling;
    else parent.insertBefore(node, place);
  }
}

function takeOver(old, made) {
  for (const open of old.querySelectorAll("details[open][data-part]")) {
    const same = made.querySelector(`details[data-part="${CSS.escape(open.dataset.part)}"]`);
    if (same) same.open = true;
  }
  const focused = old.contains(document.activeElement) ? document.activeElement.dataset.focus : null;
  old.replaceWith(made);
  if (focused) made.querySelector(`[data-focus="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

/** Tell those who listen rather than look. The same words twice are told twice. */
export function say(text) {
  const place = document.getElementById("said");
  place.textContent = place.textContent === text ? `${text}\u00a0` : text;
}
