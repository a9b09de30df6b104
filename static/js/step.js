// Steps through the requests of a replay: a scrubber, two buttons, the arrow keys and play.  The list of a request is the
// server's; one is asked for at a time, and while it comes only the newest wish is remembered.
import { mark } from "./charts.js";

const calm = matchMedia("(prefers-reduced-motion: reduce)");
const view = () => document.getElementById("step-view");
const bar = () => view()?.querySelector(".step-bar");
const here = () => Number(document.getElementById("scrub")?.value ?? 0);
const opened = () => bar()?.hasAttribute("data-opened");
const BEFORE = 6;  // requests that lead up to what is shown to happen
let wanted = null, busy = false, playing = 0, end = null, touched = false;

// ---- where we are ---------------------------------------------------------------------------------------------------
function show(request) {
  document.getElementById("scrub").value = request;
  document.getElementById("step-place").textContent = `request ${request.toLocaleString("en-US")}`;
  const plot = document.getElementById("saw");
  if (plot) mark(plot, "step", request);
}

function query(changes) {
  const address = new URLSearchParams(document.getElementById("saw-data").dataset.url.split("?")[1] || "");
  for (const [key, value] of Object.entries(changes)) value === null ? address.delete(key) : address.set(key, value);
  return address.toString();
}

function remember(search) {
  const data = document.getElementById("saw-data");
  data.dataset.url = data.dataset.url.split("?")[0] + (search ? "?" + search : "");
  document.getElementById("f-request").value = new URLSearchParams(search).get("request") ?? "";
  history.replaceState(history.state, "", data.dataset.url);
}

// The newest messages are the last ones: the list opens where what is new begins.
function reveal() {
  const box = view()?.querySelector(".step-box");
  const edge = box?.querySelector("tr.cached-end");
  if (edge) box.scrollTop = edge.offsetTop - 100;
}

// ---- asking for a step ----------------------------------------------------------------------------------------------
async function ask(search, whole = false) {
  busy = true;
  const part = whole || !opened() ? "" : "#step-body";
  const answer = part ? { target: part, select: part, swap: "outerHTML" } : { target: "#step-view", swap: "innerHTML" };
  const focused = document.activeElement?.id;
  await window.htmx.ajax("GET", `${view().dataset.stepUrl}?${search}`, answer);
  if (!part && focused) document.getElementById(focused)?.focus();
  busy = false;
  reveal();
  if (wanted) { const next = wanted; wanted = null; go(next.request, next.changes); }
}

function go(request, changes = {}) {
  const { first, last } = bar().dataset;
  const place = Math.min(Number(last), Math.max(Number(first), Math.round(request)));
  show(place);
  if (busy) { wanted = { request, changes }; return; }
  const search = query({ request: place, at: null, ...changes });
  remember(search);
  return ask(search);
}

function close() {
  stop();
  const search = query({ request: null, at: null });
  remember(search);
  ask(search, true);
}

// ---- play -----------------------------------------------------------------------------------------------------------
function stop() {
  clearTimeout(playing);
  playing = 0;
  end = null;
  const button = document.getElementById("play");
  if (!button) return;
  button.setAttribute("aria-pressed", "false");
  button.lastElementChild.textContent = "Play";
  button.querySelector("use").setAttribute("href", "#i-play");
}

// Who asked for less motion gets a step a second at most.
async function beat() {
  const started = performance.now();
  if (here() >= (end ?? Number(bar().dataset.last))) { stop(); return; }
  await go(here() + 1);
  if (!playing) return;
  const pause = 1000 / (calm.matches ? 1 : Number(document.getElementById("speed").value));
  playing = setTimeout(beat, Math.max(20, pause - (performance.now() - started)));
}

async function play() {
  if (playing) { stop(); return; }
  if (here() >= Number(bar().dataset.last)) await go(Number(bar().dataset.first));
  else if (!opened()) await go(here());
  run();
}

function run() {
  playing = 1;
  const button = document.getElementById("play");
  button.setAttribute("aria-pressed", "true");
  button.lastElementChild.textContent = "Pause";
  button.querySelector("use").setAttribute("href", "#i-pause");
  beat();
}

// The address of "Show it happen" ends in #play: up to its request once, but for who asked for less motion.
async function happen() {
  if (location.hash !== "#play" || !bar()) return;
  history.replaceState(history.state, "", location.pathname + location.search);
  if (calm.matches) return;
  const at = here();
  await go(at - BEFORE);
  if (touched) return;
  end = at;
  run();
}

// ---- hands ----------------------------------------------------------------------------------------------------------
// What plays by itself stops where somebody takes hold of the page.
document.addEventListener("pointerdown", (event) => {
  touched = true;
  if (end !== null && !event.target.closest("#play")) stop();
}, true);
document.addEventListener("input", (event) => { if (event.target.id === "scrub") { stop(); go(Number(event.target.value)); } });
document.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || !view()) return;
  const link = event.target.closest("[data-step], [data-step-close], [data-step-turn], #play");
  if (!link) return;
  event.preventDefault();
  if (link.id === "play") play();
  else if (link.matches("[data-step-close]")) close();
  else if (link.matches("[data-step-turn]")) go(here(), { at: new URL(link.href).searchParams.get("at") });
  else { stop(); go(here() + Number(link.dataset.step)); }
});
document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !bar()) return;
  if (event.target.matches?.("input, select, textarea, [role=slider], [contenteditable]") || document.querySelector("dialog[open]")) return;
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step) return;
  event.preventDefault();
  stop();
  go(here() + step);
});
document.addEventListener("chart:pick", (event) => { if (event.target.id === "saw" && bar()) { stop(); go(event.detail.x); } });

// ---- the replay changed: the same request of the new one, once the hand rests ---------------------------------------
let rest = 0;
document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target?.id !== "replay-view" || !view()) return;
  stop();
  const data = document.getElementById("saw-data");
  if (bar() && data.dataset.request) show(Number(data.dataset.request));
  const request = document.getElementById("f-request");
  const asked = new URLSearchParams(document.getElementById("saw-data").dataset.url.split("?")[1] || "").get("request");
  if (request) request.value = asked ?? "";
  clearTimeout(rest);
  if (event.detail.requestConfig?.elt?.id === "controls") rest = setTimeout(() => ask(query({}), true), 300);
});
// The knob stands under its request on the chart's axis, at any width; a thumb is 16 px wide and stays inside its track.
function align() {
  const plot = document.getElementById("saw"), box = view()?.querySelector(".scrub");
  const axis = plot?._fullLayout?.xaxis;
  if (!axis || !bar()) return;
  const whole = axis.range[0] <= Number(bar().dataset.first) && axis.range[1] >= Number(bar().dataset.last);
  const [from, to] = whole ? [bar().dataset.first, bar().dataset.last].map((n) => axis._offset + axis.d2p(Number(n))) : [axis._offset, axis._offset + axis._length];
  box.style.marginInline = `${from - 8}px ${plot.clientWidth - to - 8}px`;
}
document.addEventListener("chart:drawn", (event) => {
  if (event.target.id === "saw" && bar()) { mark(event.target, "step", here()); align(); }
});
document.addEventListener("htmx:afterSettle", (event) => { if (event.detail.target?.closest?.("#step-view, #replay-view")) align(); });
if (bar()) { show(here()); align(); reveal(); happen(); }
