// A context in numbers: the bar of its sections, its figures, and the time of its steps.

import { h } from "/page/dom.js";
import { count, milliseconds, named, percent, reason, t } from "/page/i18n.js";
import { meter } from "/page/parts.js";

/** Tokens by section as one bar, as wide as the budget. */
export function barOf(trace) {
  const { sections, tokens, budget_tokens: budget } = trace;
  const told = sections.map(({ name, tokens: part }) => `${named("section", name)} ${count(part)}`).join(", ");
  const segments = sections.map(({ name, tokens: part }) => {
    const title = `${named("section", name)}: ${count(part)}`;
    return h("span", { class: `segment s-${name}`, share: part / Math.max(budget, tokens), title });
  });
  return h(
    "figure", { class: "bar" },
    h("div", { class: "bar-head" },
      h("p", { class: "big" }, t("tokens_of", { tokens, budget })),
      h("p", { class: "quiet" }, t(trace.exact ? "tokens_exact" : "tokens_bound", { tokenizer: trace.tokenizer }))),
    h("div", { class: "track", role: "img", "aria-label": t("bar", { tokens, budget, sections: told }) }, segments),
  );
}

/** Four figures, each with a word on it. */
export function figuresOf(trace) {
  const { tokens, full_tokens: full, stable_prefix_tokens: stable, steps } = trace;
  const total = steps.reduce((sum, one) => sum + one.elapsed_ms, 0);
  const slowest = [...steps].sort((a, b) => b.elapsed_ms - a.elapsed_ms)[0];
  const saved = full > tokens ? t("figure_full_saved", { share: percent(1 - tokens / full) }) : t("figure_full_fits");
  const took = slowest && { step: named("step", slowest.name), time: milliseconds(slowest.elapsed_ms) };
  const epoch = trace.epoch_end ? t("figure_epoch_new", { reason: reason(trace.epoch_end) }) : t("figure_epoch_same");
  const figure = (name, value, note) =>
    h("div", {}, h("dt", {}, name), h("dd", {}, h("b", {}, value), h("small", {}, note)));
  return h(
    "dl", { class: "figures" },
    figure(t("figure_full"), count(full), saved),
    figure(t("figure_prefix"), percent(tokens ? stable / tokens : 0), t("figure_prefix_note", { tokens: stable })),
    figure(t("figure_time"), milliseconds(total), took ? t("figure_time_note", took) : ""),
    figure(t("figure_epoch"), count(trace.epoch), epoch),
  );
}

/** The same sections as a table, and what is free. */
export function sectionsOf({ sections, tokens, budget_tokens: budget }) {
  const line = (name, sort, part) =>
    h(
      "tr", {}, h("th", { scope: "row" }, h("span", { class: `swatch s-${sort}` }), name),
      h("td", {}, count(part)), h("td", {}, percent(budget ? part / budget : 0)),
    );
  const lines = sections.map(({ name, tokens: part }) => line(named("section", name), name, part));
  const head = [t("section"), t("tokens"), t("share")].map((words) => h("th", { scope: "col" }, words));
  return h(
    "table", { class: "numbers" }, h("thead", {}, h("tr", {}, head)),
    h("tbody", {}, lines, budget > tokens && line(t("free"), "free", budget - tokens)),
  );
}

/** Milliseconds by step. */
export function stepsOf({ steps }) {
  const most = Math.max(...steps.map((one) => one.elapsed_ms), 0.001);
  const line = ({ name, elapsed_ms: took }) =>
    h(
      "tr", {}, h("th", { scope: "row" }, named("step", name)),
      h("td", { class: "wide" }, meter(took / most)), h("td", {}, milliseconds(took)),
    );
  return h("table", { class: "numbers steps" }, h("tbody", {}, steps.map(line)));
}
