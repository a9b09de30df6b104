// Overview: chart, list and inspector show the same message, and nothing moves but the panes. A click on a bar opens its
// message; a row that is not loaded is fetched with its neighbours; the address names what is open.
import { mark } from "./charts.js";
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
    if (now.get("measure")) query.set("measure", now.get("measure"));
    await window.htmx.ajax("GET", `${plot.dataset.rows}?${query}`, { target: "#message-list", swap: "innerHTML" });
  }
  window.htmx.ajax("GET", address("one", index), { target: "#inspector", swap: "innerHTML" });
}

// the inspector says which message it shows: whatever opened it, list and chart follow
document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target.id !== "inspector") return;
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
document.addEventListener("chart:drawn", (event) => {
  if (event.target !== plot || plot.dataset.marked) return;
  plot.dataset.marked = "yes";
  const head = document.querySelector("#inspector [data-message]");
  if (head) mark(plot, "chosen", Number(head.dataset.message));
});
const opened = document.querySelector("#rows tr[aria-selected]");
if (opened) reveal(opened);
