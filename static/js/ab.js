// Two charts on one pair of axes: a zoom of one is a zoom of both, and what opens in one form stays open when it changes.
let following = false;

document.addEventListener("chart:zoom", (event) => {
  if (following || !event.target.id.startsWith("saw-")) return;
  const other = document.getElementById(event.target.id === "saw-A" ? "saw-B" : "saw-A");
  const range = event.target._fullLayout?.xaxis.range.slice();
  if (!other?._fullLayout || !range) return;
  following = true;
  window.Plotly.relayout(other, { "xaxis.range": range }).then(() => { following = false; });
});

// the form comes again when a policy changes: what was open stays open
let open = [];
document.addEventListener("htmx:oobBeforeSwap", () => { open = [...document.querySelectorAll(".ab-fields")].map((d) => d.open); });
document.addEventListener("htmx:oobAfterSwap", () => {
  document.querySelectorAll(".ab-fields").forEach((d, at) => { if (open[at] !== undefined) d.open = open[at]; });
});
