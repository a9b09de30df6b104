// Overview: chart, list and inspector show the same message, and nothing moves but the panes. A click on a bar opens its
// message; a row that is not loaded is fetched with its neighbours; the address names what is open.
import { mark, rangeOf } from "./charts.js";
import "./pointing.js";

const plot = document.getElementById("pressure");
const pane = () => document.querySelector("#message-list .scroll");
const rowOf = (index) => document.getElementById("m-" + index);
const address = (name, index) => plot.dataset[name].replace("/0/", `/${index}/`);

// The row comes to the middle of its own pane; the page stays where it is.
function reveal(row) {
  const box = pane();
  if (!box || !row) return;
  const at = row.getBoundingClientRect(), seen = box.getBoundingClientRect();
  const head = box.querySelector("thead")?.offsetHeight ?? 0;
  if (at.top >= seen.top + head && at.bottom <= seen.bottom) return;
  box.scrollTop += at.top - seen.top - (seen.height + head) / 2;
}

function select(index) {
  for (const row of document.querySelectorAll("#rows tr[aria-selected], .cause[aria-selected]")) row.removeAttribute("aria-selected");
  const row = rowOf(index);
  if (row) { row.setAttribute("aria-selected", "true"); reveal(row); }
  document.querySelector(`.cause[data-message="${index}"]`)?.setAttribute("aria-selected", "true");
  if (plot) mark(plot, "chosen", index);
  const url = new URL(location.href);
  url.searchParams.set("m", index);
  url.searchParams.delete("start");
  url.hash = "";
  history.replaceState(history.state, "", url);
}

async function open(index) {
  if (!rowOf(index)) {
    const now = new URLSearchParams(location.search);
    const query = new URLSearchParams({ m: index });
    const inside = now.has("from") && index >= Number(now.get("from")) && index <= Number(now.get("to"));
    for (const name of inside ? ["measure", "from", "to"] : ["measure"]) if (now.get(name)) query.set(name, now.get(name));
    await window.htmx.ajax("GET", `${plot.dataset.rows}?${query}`, { target: "#message-list", swap: "innerHTML" });
  }
  window.htmx.ajax("GET", address("one", index), { target: "#inspector", swap: "innerHTML" });
}

// the inspector says which message it shows: whatever opened it, list and chart follow
document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target?.id !== "inspector") return;
  const head = document.querySelector("#inspector [data-message]");
  if (head) select(Number(head.dataset.message));
});
document.addEventListener("chart:pick", (event) => {
  if (event.target === plot && event.detail.message !== undefined) open(event.detail.message);
});
document.addEventListener("mouseover", (event) => {
  const row = event.target.closest?.("#rows tr[id]");
  if (row && plot) mark(plot, "hover", Number(row.id.slice(2)));
});
document.addEventListener("mouseout", (event) => {
  if (event.target.closest?.("#rows") && plot) mark(plot, "hover", null);
});
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-message-link]");
  if (link && plot && !event.ctrlKey && !event.metaKey && !event.shiftKey) { event.preventDefault(); open(Number(link.dataset.messageLink)); return; }
  const row = event.target.closest("#rows tr[id]");
  if (row && !event.target.closest("a, button") && !getSelection().toString()) row.querySelector("[data-row]").click();
});

// ---- a compaction's card and its part of the chart: pointing at one raises the other -----------------------------------
const spansOf = (card) => (card.dataset.spans ?? "").split(" ").filter(Boolean).map((span) => span.split("-").map(Number));
function raise(card, span) {
  for (const other of document.querySelectorAll(".cause.raised")) other.classList.toggle("raised", other === card);
  card?.classList.add("raised");
  if (plot) mark(plot, "segment", span ? span[0] - 0.5 : null, span ? span[1] + 0.5 : null);
}
for (const kind of ["mouseover", "focusin"]) document.addEventListener(kind, (event) => {
  const card = event.target.closest?.(".cause[data-spans]");
  if (card) raise(card, spansOf(card)[0]);
});
for (const kind of ["mouseout", "focusout"]) document.addEventListener(kind, (event) => {
  if (event.target.closest?.(".cause[data-spans]")) raise(null);
});
document.addEventListener("chart:point", (event) => {
  if (event.target !== plot) return;
  const { message } = event.detail;
  for (const card of message === null ? [] : document.querySelectorAll(".cause[data-spans]")) {
    const span = spansOf(card).find(([first, last]) => first <= message && message <= last);
    if (span) { raise(card, span); return; }
  }
  raise(null);
});

// ---- a range that is dragged over: the list and its figures are those of the range --------------------------------------
let waiting = 0;
document.addEventListener("chart:zoom", (event) => {
  if (event.target !== plot || !rangeOf(plot)) return;
  clearTimeout(waiting);
  waiting = setTimeout(() => limit(event.detail.range), 200);
});
function limit(range) {
  const [low, high] = rangeOf(plot), url = new URL(location.href), was = url.search;
  for (const name of ["from", "to", "start"]) url.searchParams.delete(name);
  if (range && range[1] - range[0] < (high - low) * 0.98) {
    url.searchParams.set("from", Math.max(0, Math.ceil(range[0])));
    url.searchParams.set("to", Math.max(0, Math.floor(range[1])));
  }
  if (url.search === was) return;
  history.replaceState(history.state, "", url);
  window.htmx.ajax("GET", `${plot.dataset.rows}${url.search}`, { target: "#message-list", swap: "innerHTML" });
}
document.addEventListener("click", (event) => {
  if (!plot || !rangeOf(plot) || !event.target.closest("[data-whole]")) return;
  event.preventDefault();
  const [low, high] = rangeOf(plot);
  window.Plotly.relayout(plot, { "xaxis.range[0]": low, "xaxis.range[1]": high });
});
document.addEventListener("chart:drawn", (event) => {
  if (event.target !== plot || plot.dataset.marked) return;
  plot.dataset.marked = "yes";
  const part = new URLSearchParams(location.search);
  if (part.has("from") && part.has("to")) window.Plotly.relayout(plot, { "xaxis.range[0]": Number(part.get("from")) - 0.5, "xaxis.range[1]": Number(part.get("to")) + 0.5 });
  const head = document.querySelector("#inspector [data-message]");
  if (head) mark(plot, "chosen", Number(head.dataset.message));
});
const opened = document.querySelector("#rows tr[aria-selected]");
if (opened) reveal(opened);
