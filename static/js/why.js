// Why page: a mark in a chart leads to the message that it stands at.
import "./charts.js";

document.addEventListener("chart:pick", (event) => {
  const plot = event.target.closest(".plot[data-link]");
  if (!plot || event.detail.message === undefined) return;
  const url = new URL(plot.dataset.link, location.href);
  url.searchParams.set("m", event.detail.message);
  url.hash = "m-" + event.detail.message;
  location.assign(url);
});
