// Sweep page: a point of a chart opens the lab at its setting; the row's own link says where.
import "./charts.js";
import "./picker.js";

document.addEventListener("chart:pick", (event) => {
  const plot = event.target.closest(".plot[data-rows]");
  if (!plot || event.detail.message === undefined) return;
  const row = document.querySelector(`#${plot.dataset.rows} tr[data-row="${event.detail.message}"]`);
  row?.querySelector(".lab-link")?.click();
});
