// A shared view: charts are drawn and lead to their compactions; the slider asks for the replay at another threshold.
import { mark } from "./charts.js";

const events = () => [...document.querySelectorAll("[data-event]")];

document.addEventListener("chart:pick", (event) => {
  document.querySelector(`[data-event="${Number(event.detail.event)}"] a`)?.click();
});

document.addEventListener("keydown", (event) => {
  const step = { "[": -1, "]": 1 }[event.key];
  if (!step || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea")) return;
  const rows = events();
  const at = rows.findIndex((row) => row.getAttribute("aria-selected") === "true");
  rows[at + step]?.querySelector("a").click();
});

document.addEventListener("chart:drawn", (event) => {
  const request = document.getElementById("saw-data")?.dataset.request;
  if (event.target.id === "saw" && request) mark(event.target, "step", request);
});

// ---- the recipient's slider -----------------------------------------------------------------------------------------
const form = document.getElementById("try");
const slider = document.getElementById("try-slider");
// The sender's value need not be a round one: the slider takes any value, a hand moves it in round steps.
if (slider) slider.step = 1;
let waiting = 0, moved = false, rest = 0;

function say(value) {
  const { unit, window: whole } = form.dataset;
  const said = `${value.toLocaleString("en-US")} ${unit}`;
  const share = unit === "tokens" ? ` (${Math.round((100 * value) / Number(whole))}%)` : "";
  document.getElementById("try-now").textContent = said + share;
  slider.setAttribute("aria-valuetext", said);
}

function steered() {
  if (waiting) { moved = true; return; }
  window.htmx.trigger(form, "steer");
  waiting = setTimeout(() => { waiting = 0; if (moved) { moved = false; steered(); } }, 80);
}

function rounded(value) {
  const step = Number(slider.dataset.step) || 1;
  return Math.min(Number(slider.max), Math.max(Number(slider.min), Math.round(value / step) * step));
}

slider?.addEventListener("input", () => {
  slider.value = rounded(Number(slider.value));
  say(Number(slider.value));
  steered();
});
slider?.addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
  if (!step) return;
  event.preventDefault();
  slider.value = rounded(Number(slider.value) + step * (Number(slider.dataset.step) || 1));
  slider.dispatchEvent(new Event("input", { bubbles: true }));
});
document.addEventListener("click", (event) => {
  const back = event.target.closest("#try-back");
  if (!back || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  slider.value = back.dataset.threshold;
  say(Number(back.dataset.threshold));
  slider.focus();
  window.htmx.ajax("GET", back.getAttribute("href"), { target: "#replay-view", source: "#replay-view" });
});

// The address follows when the hand rests, so that a copied link shows what is on the screen.
document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target?.id !== "replay-view" || !form) return;
  // The parameter need not reach the place that was asked for: the figure that came is the one it compacts at.
  slider.setAttribute("aria-valuetext", document.getElementById("try-now").textContent);
  clearTimeout(rest);
  rest = setTimeout(() => {
    const url = document.getElementById("saw-data")?.dataset.url;
    if (url) history.replaceState(history.state, "", url);
  }, 250);
});
