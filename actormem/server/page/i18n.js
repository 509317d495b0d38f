// The page's own words, Chinese or English; and names the server gives (kinds, reasons, steps) in them. What is not
// known here is shown as the server says it.

import { EN } from "/page/words_en.js";
import { ZH } from "/page/words_zh.js";

const chinese = () => document.documentElement.lang.startsWith("zh");
const words = () => (chinese() ? ZH : EN);

/** `zh` or `en`. */
export const language = () => (chinese() ? "zh" : "en");

/** Change it, and keep the choice. */
export function speak(name) {
  document.documentElement.lang = name === "zh" ? "zh-CN" : "en";
  try {
    localStorage.setItem("actormem.language", name);
  } catch {
    // It holds until the page is left.
  }
}

/** A sentence of the page. `{name}` in it is filled in; `{n|one|more}` is the first where n is 1. */
export function t(key, given = {}) {
  const found = words().page[key] ?? key;
  return found
    .replace(/\{(\w+)\|([^|}]*)\|([^|}]*)\}/g, (_, name, one, more) => (Number(given[name]) === 1 ? one : more))
    .replace(/\{(\w+)\}/g, (_, name) => shown(given[name]));
}

/** A name of the server's in the language of the page: of a `kind`, a `section`, an `arm`, a `step` and so on. */
export const named = (sort, name) => words()[sort]?.[name] ?? name;

/** A reason of the server's, which may have numbers in it. */
export function reason(text) {
  for (const [pattern, told] of words().reasons) {
    if (pattern.test(text)) return text.replace(pattern, told);
  }
  return text;
}

const shown = (value) => (typeof value === "number" ? count(value) : String(value ?? ""));
const locale = () => (chinese() ? "zh-CN" : "en-GB");

export const count = (value) => new Intl.NumberFormat(locale()).format(value);
export const percent = (share) => new Intl.NumberFormat(locale(), { style: "percent" }).format(share);
export const milliseconds = (value) => {
  const digits = value < 10 ? 2 : value < 100 ? 1 : 0;
  return `${new Intl.NumberFormat(locale(), { maximumFractionDigits: digits }).format(value)} ms`;
};

export function bytes(value) {
  const units = ["B", "kB", "MB", "GB"];
  let place = 0;
  for (; value >= 1000 && place < units.length - 1; place++) value /= 1000;
  return `${new Intl.NumberFormat(locale(), { maximumFractionDigits: place ? 1 : 0 }).format(value)} ${units[place]}`;
}

/** A moment in the reader's own time: date and time, or the time alone where it is of today. */
export function moment(value) {
  const date = new Date(value);
  const today = date.toDateString() === new Date().toDateString();
  const style = today ? { timeStyle: "short" } : { dateStyle: "medium", timeStyle: "short" };
  return new Intl.DateTimeFormat(locale(), style).format(date);
}

export const day = (value) => new Intl.DateTimeFormat(locale(), { dateStyle: "medium" }).format(new Date(value));
export const exactly = (value) => new Date(value).toISOString();
