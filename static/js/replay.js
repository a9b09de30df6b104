// Replay: sliders and numbers are one value, dots mark what differs from the policy's default, the threshold can be
// dragged on the chart. The form itself is htmx's; here only its fields are kept in step.
import { scaleOf } from "./charts.js";
import "./picker.js";

const number = (text) => Number(String(text).replace(/[, %]/g, ""));
const grouped = (value) => (Number.isInteger(value) ? value.toLocaleString("en-US") : String(value));
const shown = (input, value) => grouped(value) + (input.dataset.unit || "");
const short = (value) => (value >= 999_500 ? `${(value / 1e6).toFixed(1)}M` : value >= 1_000 ? `${Math.round(value / 1e3)}K` : String(Math.round(value)));
const form = () => document.getElementById("controls");
const addressed = () => document.querySelector("#saw-data[data-url], #ab-view [data-url]");

function noteChange(field) {
  const value = field.querySelector("input[type=radio]:checked, select, input.input").value.trim();
  const standard = field.dataset.default;
  const same = value === standard || (Number.isFinite(number(value)) && number(value) === number(standard) && standard !== "none");
  field.querySelector(".field-label").classList.toggle("changed", !same);
  const one = field.querySelector("[data-reset-one]");
  if (one) one.hidden = same;
  field.classList.toggle("off", value === "none");
}

function follow(event) {
  const input = event.target;
  const field = input.closest("[data-field]");
  if (!field) return;
  if (input.type === "range") { const target = document.getElementById(input.dataset.for); target.value = shown(target, Number(input.value)); }
  else if (input.classList.contains("input")) {
    const range = field.querySelector("input[type=range]");
    if (range && Number.isFinite(number(input.value)) && input.value.trim()) range.value = number(input.value);
  }
  noteChange(field);
}

function reset(fields) {
  for (const field of fields) {
    const standard = field.dataset.default;
    const input = field.querySelector("input.input");
    if (input) {
      const n = number(standard);
      input.value = standard === "none" ? "none" : shown(input, n);
      const range = field.querySelector("input[type=range]");
      if (range) range.value = standard === "none" ? range.max : n;
    }
    for (const radio of field.querySelectorAll("input[type=radio]")) radio.checked = radio.value === standard;
    for (const select of field.querySelectorAll("select")) select.value = standard;
    noteChange(field);
  }
  form().dispatchEvent(new Event("input", { bubbles: true }));
}

// While a hand moves, ask at most every 80 ms and always for the last position (htmx's throttle would drop it); the form's
// hx-sync lets the running answer finish, so that the chart keeps moving, and then asks for the newest state alone.
let waiting = 0, moved = false;
function steered() {
  if (waiting) { moved = true; return; }
  window.htmx.trigger(form(), "steer");
  waiting = setTimeout(() => { waiting = 0; if (moved) { moved = false; steered(); } }, 80);
}

document.addEventListener("input", (event) => {
  if (!form() || !form().contains(event.target) || event.target.matches("#compact-slider, [data-find-setting]")) return;
  if (event.target !== form()) follow(event);
  steered();
}, true);
// A link of the form says where the same lies without a script; here it moves the fields, and the form asks.
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-reset-one], [data-reset-all], [data-reset-field], [data-window]");
  if (!link || event.ctrlKey || event.metaKey || !form()?.contains(link)) return;
  event.preventDefault();
  if (link.matches("[data-window]")) {
    const field = link.closest(".field").querySelector("input.input");
    field.value = link.dataset.window;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.focus();
    return;
  }
  if (link.matches("[data-reset-field]")) {
    reset([document.getElementById(link.dataset.resetField).closest("[data-field]")]);
    document.getElementById("compact-slider")?.focus();
    return;
  }
  const part = link.closest(link.matches("[data-reset-all]") ? ".side-form" : "[data-field]");
  reset(part.matches("[data-field]") ? [part] : part.querySelectorAll("[data-field]"));
  [...part.querySelectorAll("input:not([type=hidden]), button")].find((e) => e.getClientRects().length)?.focus();
});
// which of the model windows is chosen, and whether anything is left to reset
document.addEventListener("input", (event) => {
  if (!form()?.contains(event.target)) return;
  for (const link of form().querySelectorAll("[data-window]")) {
    const size = number(link.closest(".field").querySelector("input.input").value);
    if (number(link.dataset.window) === size) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
  }
  for (const all of form().querySelectorAll("[data-reset-all]")) {
    all.closest(".reset-all").hidden = !all.closest(".side-form").querySelector("[data-field] .field-label.changed");
  }
});

// All settings: the field opens the list and keeps what holds every word typed; Escape takes the words away.
function find(input) {
  const list = input.closest(".all-settings").querySelector(".more-settings");
  const asked = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const holds = (field) => asked.every((word) => `${field.textContent} ${field.dataset.of}`.toLowerCase().includes(word));
  list.open = true;
  for (const group of list.querySelectorAll(".form-more")) {
    const fields = [...group.querySelectorAll("[data-field]")];
    for (const field of fields) field.hidden = !holds(field);
    group.hidden = fields.every((field) => field.hidden);
  }
  list.querySelector("[data-none]").hidden = [...list.querySelectorAll(".form-more")].some((group) => !group.hidden);
}
for (const kind of ["input", "click"]) document.addEventListener(kind, (event) => { if (event.target.matches?.("[data-find-setting]")) find(event.target); });
document.addEventListener("keydown", (event) => {
  if (!event.target.matches?.("[data-find-setting]") || !["Enter", "Escape"].includes(event.key)) return;
  event.preventDefault();
  if (event.key === "Escape") event.target.value = "";
  find(event.target);
});

// The address follows when the hand rests (browsers limit how often it may change), as a step of its own: the back button
// undoes a drag or a change of policy. Held keys and a drag under way are one step, not many.
let rest = 0;
document.addEventListener("htmx:afterSwap", (event) => {
  if (!["replay-view", "ab-view"].includes(event.detail.target?.id)) return;
  clearTimeout(rest);
  rest = setTimeout(() => {
    const data = addressed();
    if (data && data.dataset.url !== location.pathname + location.search) history.pushState({ replay: true }, "", data.dataset.url);
  }, 250);
});
addEventListener("popstate", () => {
  const data = addressed();
  if (data && data.dataset.url !== location.pathname + location.search) location.reload();
});

// What Compare recommends for these settings, whatever the slider says: asked for when anything else has changed.
let recommended = 0;
function recommend() {
  clearTimeout(recommended);
  const box = document.querySelector(".compact-rec[data-url]");
  if (!box) return;
  const along = form().elements.along.value;
  if (box.dataset.of === along) return;
  box.dataset.of = along;
  box.replaceChildren();
  document.getElementById("compact-rec-tick")?.replaceChildren();
  recommended = setTimeout(() => window.htmx.ajax("GET", `${box.dataset.url}?${along}`, { target: box, swap: "innerHTML" }), 400);
}
document.addEventListener("htmx:afterSettle", (event) => { if (["replay-view", "controls"].includes(event.detail.target?.id)) recommend(); });
addEventListener("load", recommend);

// The box carries the id for hx-preserve, the pill inside carries the position: htmx copies the style attribute of
// elements with an id while it settles, which the security policy refuses.
// ---- the threshold's pill -------------------------------------------------------------------------------------------
let dragging = false;

function facts() {
  const range = document.getElementById("compact-range")?.dataset, now = document.getElementById("saw-data")?.dataset;
  const input = range && now && document.getElementById("f-" + range.param);
  return input ? { table: JSON.parse(range.table), input, step: Number(range.valueStep), threshold: Number(now.threshold), unit: now.unit, window: Number(now.window) } : null;
}

// A threshold in tokens stands on the context's axis, one in another unit on that of the gate's own lane.
const scale = (plot, known) => scaleOf(plot, known.unit === "tokens" ? "yaxis" : "yaxis2");

function showPill(value) {
  const pill = document.querySelector("#threshold-box .pill");
  const plot = document.getElementById("saw");
  const known = facts();
  const axis = plot && known && scale(plot, known);
  if (!pill || !axis) { if (pill) pill.hidden = true; return; }
  const shown = value ?? known.threshold;
  const [low, high] = axis.range;
  pill.hidden = !(shown >= low && shown <= high);
  pill.style.insetBlockStart = axis.at(shown) + "px";
  pill.style.insetInlineEnd = "auto";
  pill.style.insetInlineStart = plot._fullLayout.xaxis._offset + plot._fullLayout.xaxis._length + 4 + "px";
  pill.textContent = plot.clientWidth < 700 ? short(shown) : "⇅ " + grouped(Math.round(shown));
  const ends = known.table.map((row) => row[1]);
  pill.setAttribute("aria-valuemin", Math.min(...ends));
  pill.setAttribute("aria-valuemax", Math.max(...ends));
  pill.setAttribute("aria-valuenow", Math.round(shown));
  pill.setAttribute("aria-valuetext", grouped(Math.round(shown)) + " " + known.unit);
}

// Between two rows of the table a column lies between theirs: column `to` where column `from` is the wanted one.
function between(table, wanted, from, to) {
  const rows = [...table].sort((a, b) => a[from] - b[from]);
  const above = rows.findIndex((row) => row[from] >= wanted);
  if (above <= 0) return above === 0 ? rows[0][to] : rows[rows.length - 1][to];
  const [low, high] = [rows[above - 1], rows[above]];
  return low[to] + ((wanted - low[from]) / (high[from] - low[from])) * (high[to] - low[to]);
}

// Sets the parameter so that the trigger compares with about the wanted threshold; answers with what it then is.
function steer(wanted) {
  const { table, input, step } = facts();
  const places = (String(step).split(".")[1] || "").length;
  const value = Number((Math.round(between(table, wanted, 1, 0) / step) * step).toFixed(places));
  if (number(input.value) !== value) {
    input.value = shown(input, value);
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }
  return between(table, value, 0, 1);
}

// ---- Compact at: the slider in the trigger's own unit ---------------------------------------------------------------
const slider = () => document.getElementById("compact-slider");

function say(value, { unit, window }) {
  const share = unit === "tokens" ? ` (${Math.round((100 * value) / window)}%)` : "";
  document.getElementById("compact-now").textContent = grouped(Math.round(value));
  document.getElementById("compact-unit").textContent = unit + share;
  slider()?.setAttribute("aria-valuetext", grouped(Math.round(value)) + " " + unit);
}

document.addEventListener("input", (event) => {
  const known = event.target === slider() && facts();
  if (!known) return;
  say(steer(Number(event.target.value)), known);
});
// What the trigger compares with is the server's answer; the slider follows it unless a hand is on it.
document.addEventListener("htmx:afterSwap", (event) => {
  const known = event.detail.target?.id === "replay-view" && document.getElementById("compact-now") && facts();
  if (!known || !known.threshold) return;
  const ends = document.getElementById("compact-range")?.dataset;
  if (slider() && ends) Object.assign(slider(), { min: Math.min(ends.low, known.threshold), max: Math.max(ends.high, known.threshold), step: ends.step });
  if (slider() && document.activeElement !== slider()) slider().value = known.threshold;
  if (!slider()?.matches(":active")) say(known.threshold, known);
});

document.addEventListener("pointerdown", (event) => {
  const pill = event.target.closest("#threshold-box .pill");
  if (!pill || !facts()) return;
  event.preventDefault();
  pill.focus();
  pill.setPointerCapture(event.pointerId);
  dragging = true;
});
document.addEventListener("pointermove", (event) => {
  if (!dragging) return;
  const plot = document.getElementById("saw");
  showPill(steer(scale(plot, facts()).value(event.clientY - plot.getBoundingClientRect().top)));
});
for (const end of ["pointerup", "pointercancel"]) document.addEventListener(end, () => { if (dragging) { dragging = false; showPill(); } });
document.addEventListener("keydown", (event) => {
  if (!event.target.matches("#threshold-box .pill")) return;
  const known = facts();
  const steps = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 5, PageDown: -5 };
  if (!known || !(event.key in steps)) return;
  event.preventDefault();
  const sorted = [...known.table].sort((a, b) => a[1] - b[1]).filter((row, i, all) => !i || row[1] !== all[i - 1][1]);
  let at = 0;
  sorted.forEach((row, i) => { if (Math.abs(row[1] - known.threshold) < Math.abs(sorted[at][1] - known.threshold)) at = i; });
  const next = sorted[Math.min(sorted.length - 1, Math.max(0, at + steps[event.key]))];
  showPill(steer(next[1]));
});
document.addEventListener("chart:drawn", () => { if (!dragging) showPill(); });

// ---- chart and list of events ---------------------------------------------------------------------------------------
const eventLink = (n) => document.querySelector(`tr[data-event="${n - 1}"] .ev-n`);
document.addEventListener("chart:event", (event) => eventLink(event.detail.number)?.click());
document.addEventListener("click", (event) => {
  const row = event.target.closest("tr[data-event]");
  if (row && !event.target.closest("a")) row.querySelector(".ev-n").click();
});
document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.target.matches("input, select, textarea") || !["[", "]"].includes(event.key)) return;
  const rows = [...document.querySelectorAll("tr[data-event]")];
  const at = rows.findIndex((row) => row.getAttribute("aria-selected") === "true");
  rows[Math.min(rows.length - 1, Math.max(0, at + (event.key === "]" ? 1 : -1)))]?.querySelector(".ev-n").click();
});
