// A shared view: charts are drawn and lead to their events; nothing is changed and nothing else is reachable.
import "./charts.js";

document.addEventListener("chart:pick", (event) => {
  document.querySelector(`[data-event="${Number(event.detail.event)}"] a`)?.click();
});
