// A shared view: charts are drawn and lead to their events; nothing is changed and nothing else is reachable.
import { mark } from "./charts.js";

const events = () => [...document.querySelectorAll("[data-event]")];

document.addEventListener("chart:pick", (event) => {
  document.querySelector(`[data-event="${Number(event.detail.event)}"] a`)?.click();
});

document.addEventListener("keydown", (event) => {
  const step = { "[": -1, "]": 1 }[event.key];
  if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
  const rows = events();
  const at = rows.findIndex((row) => row.getAttribute("aria-selected") === "true");
  rows[at + step]?.querySelector("a").click();
});

document.addEventListener("chart:drawn", (event) => {
  const request = document.getElementById("saw-data")?.dataset.request;
  if (event.target.id === "saw" && request) mark(event.target, "step", request);
});
