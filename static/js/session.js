// Session page: chart, list and inspector show the same message. A click on a bar opens it; the list follows; the
// address names it. Rows further away are fetched by the page that holds them.
import { mark } from "./charts.js";

const plot = document.getElementById("pressure");

function select(index, { scroll = false } = {}) {
  for (const row of document.querySelectorAll("#rows tr[aria-selected]")) row.removeAttribute("aria-selected");
  const row = document.getElementById("m-" + index);
  if (row) {
    row.setAttribute("aria-selected", "true");
    if (scroll) row.scrollIntoView({ block: "center" });
  }
  if (plot) mark(plot, "chosen", index);
  const url = new URL(location.href);
  url.searchParams.set("m", index);
  url.searchParams.delete("start");
  url.hash = "m-" + index;
  history.replaceState(history.state, "", url);
}

function open(index) {
  const row = document.getElementById("m-" + index);
  if (row) { row.querySelector("[data-row]").click(); row.scrollIntoView({ block: "nearest" }); return; }
  const url = new URL(plot.dataset.link, location.href);
  const now = new URLSearchParams(location.search);
  if (now.get("measure")) url.searchParams.set("measure", now.get("measure"));
  url.searchParams.set("m", index);
  url.hash = "m-" + index;
  location.assign(url);
}

// the inspector says which message it shows: whatever opened it, list and chart follow
document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target.id !== "inspector") return;
  const head = document.querySelector("#inspector [data-message]");
  if (head) select(Number(head.dataset.message));
});
document.addEventListener("chart:pick", (event) => {
  if (event.detail.message !== undefined) open(event.detail.message);
});
document.addEventListener("mouseover", (event) => {
  const row = event.target.closest?.("#rows tr[id]");
  if (plot) mark(plot, "hover", row ? Number(row.id.slice(2)) : null);
});
document.addEventListener("click", (event) => {
  const row = event.target.closest("#rows tr[id]");
  if (row && !event.target.closest("a, button") && !getSelection().toString()) row.querySelector("[data-row]").click();
  const save = event.target.closest("[data-save-chart]");
  if (save && window.Plotly) {
    window.Plotly.downloadImage(document.getElementById(save.dataset.saveChart), { format: "png", scale: 2, filename: "ctxweb-pressure" });
  }
});
document.addEventListener("chart:drawn", (event) => {
  if (event.target !== plot || plot.dataset.marked) return;
  plot.dataset.marked = "yes";
  const head = document.querySelector("#inspector [data-message]");
  if (head) mark(plot, "chosen", Number(head.dataset.message));
});
