// The overview strip under a chart of a long session: all of it, small, with the part that the chart shows as a box to
// drag; plus, minus and All do the same by keys.
const NS = "http://www.w3.org/2000/svg";
const made = (name, values) => { const e = document.createElementNS(NS, name); for (const [k, v] of Object.entries(values)) e.setAttribute(k, v); return e; };
const full = (plot) => plot.parentElement.querySelector(".strip")._full;

function show(plot, from, to) {
  const [x0, x1] = full(plot);
  const span = Math.min(Math.max(to - from, (x1 - x0) / 500), x1 - x0);
  const start = Math.min(Math.max(from, x0), x1 - span);
  window.Plotly.relayout(plot, { "xaxis.range[0]": start, "xaxis.range[1]": start + span });
}

function scale(plot, by) {
  const [a, b] = plot._fullLayout.xaxis.range, middle = (a + b) / 2, half = ((b - a) / 2) * by;
  show(plot, middle - half, middle + half);
}

function mark(plot) {
  const box = plot.parentElement.querySelector(".strip");
  if (!box || !plot._fullLayout) return;
  const [x0, x1] = box._full, [a, b] = plot._fullLayout.xaxis.range;
  const { _offset, _length } = plot._fullLayout.xaxis, svg = box.querySelector("svg");
  svg.style.marginInlineStart = `${_offset}px`;
  svg.style.inlineSize = `${_length}px`;
  const view = box.querySelector(".strip-view");
  view.setAttribute("x", (1000 * (a - x0)) / (x1 - x0));
  view.setAttribute("width", Math.max(4, (1000 * (b - a)) / (x1 - x0)));
}

function build(plot) {
  const box = Object.assign(document.createElement("div"), { className: "strip" });
  const svg = made("svg", { viewBox: "0 0 1000 30", preserveAspectRatio: "none", "aria-hidden": "true" });
  svg.append(made("path", { class: "strip-line" }), made("rect", { class: "strip-view", y: 0, height: 30 }));
  const tools = Object.assign(document.createElement("span"), { className: "strip-tools" });
  for (const [text, says, act] of [["+", "Zoom in", () => scale(plot, 0.5)], ["\u2212", "Zoom out", () => scale(plot, 2)], ["All", "Show all", () => show(plot, ...full(plot))]]) {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "btn btn-quiet btn-s", textContent: text, title: says });
    button.setAttribute("aria-label", says);
    button.addEventListener("click", act);
    tools.append(button);
  }
  box.append(svg, tools);
  plot.after(box);
  let grip = null;
  const at = (event) => { const r = svg.getBoundingClientRect(), [x0, x1] = full(plot); return x0 + ((event.clientX - r.left) / r.width) * (x1 - x0); };
  svg.addEventListener("pointerdown", (event) => {
    const [a, b] = plot._fullLayout.xaxis.range, [x0, x1] = full(plot), here = at(event);
    const inside = here >= a && here <= b && b - a < (x1 - x0) * 0.98;
    grip = inside ? { move: here - a, span: b - a } : { from: here };
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointermove", (event) => {
    if (!grip) return;
    const here = at(event);
    if (grip.span) show(plot, here - grip.move, here - grip.move + grip.span);
    else if (Math.abs(here - grip.from) > (full(plot)[1] - full(plot)[0]) / 100) show(plot, Math.min(grip.from, here), Math.max(grip.from, here));
  });
  for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, () => { grip = null; });
  plot.addEventListener("chart:zoom", () => mark(plot));
  return box;
}

export function strip(plot, meta) {
  let box = plot.parentElement.querySelector(".strip");
  if (!meta?.strip) { box?.remove(); return; }
  box ||= build(plot);
  const { x, y, n } = meta.strip, top = Math.max(1, ...y);
  box._full = [-0.5, n - 0.2];
  const points = x.map((at, k) => `${((1000 * at) / n).toFixed(1)} ${(29 - (27 * y[k]) / top).toFixed(1)}`);
  box.querySelector(".strip-line").setAttribute("d", points.length ? `M0 30L${points.join("L")}L1000 30Z` : "");
  mark(plot);
}
