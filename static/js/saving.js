// A chart as a PNG image, drawn by the browser: <button data-save-chart="id of the chart">.
document.addEventListener("click", (event) => {
  const save = event.target.closest("[data-save-chart]");
  const chart = save && document.getElementById(save.dataset.saveChart);
  if (chart) window.Plotly?.downloadImage(chart, { format: "png", scale: 2, filename: `ctxweb-${chart.id}` });
});
