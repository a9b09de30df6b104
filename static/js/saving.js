// A chart as a PNG image, drawn by the browser: of a page's chart, <button data-save-chart="id of the chart">; of the
// share dialog's SVG, which is redacted as its form says, <button data-save-png>.
import { clearError, showError, words } from "./failures.js";

const SHARPER = 2;

async function drawn(text) {
  const svg = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  const [width, height] = svg.getAttribute("viewBox").split(" ").slice(2).map((size) => SHARPER * size);
  svg.setAttribute("width", width);
  svg.setAttribute("height", height);
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(svg))}`;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  canvas.getContext("2d").drawImage(image, 0, 0);
  return canvas.toDataURL("image/png");
}

async function saveFrom(form) {
  if (!form.reportValidity()) return;
  const body = new FormData(form);
  body.set("send", "chart");
  const answer = await fetch(form.action, { method: "POST", body }).catch(() => null);
  const text = await answer?.text();
  clearError(form);
  if (!answer?.headers.get("Content-Type")?.startsWith("image/svg")) showError(form, words(answer?.status, text));
  else Object.assign(document.createElement("a"), { href: await drawn(text), download: "ctxweb-chart.png" }).click();
}

document.addEventListener("click", (event) => {
  const save = event.target.closest("[data-save-chart], [data-save-png]");
  const chart = save && document.getElementById(save.dataset.saveChart);
  if (chart) window.Plotly?.downloadImage(chart, { format: "png", scale: SHARPER, filename: `ctxweb-${chart.id}` });
  else if (save?.form) saveFrom(save.form);
});
