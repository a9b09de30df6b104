// Draws the charts. The server sends a figure as JSON in an inert <template>, with roles ("@kind-image") in place of
// colours; here the theme's colours go in, the layout is fitted to the width, and Plotly.react keeps zoom and hover.
// Every chart element is <div class="plot" id="…" data-figure="id of the template">; it emits "chart:pick" with
// {message} or {event} on a click and shows a cursor for "chart:mark".

const NARROW = 700;
import { strip } from "./strip.js";

const drawn = new WeakMap();

export function paint(figure, root = document.documentElement) {
  const style = getComputedStyle(root);
  const known = new Map();
  const colour = (role) => {
    if (!known.has(role)) known.set(role, style.getPropertyValue("--" + role.slice(1)).trim());
    return known.get(role);
  };
  const walk = (v) =>
    typeof v === "string" && v.startsWith("@") ? colour(v)
    : Array.isArray(v) ? (typeof v[0] === "number" ? v : v.map(walk))
    : v && typeof v === "object" ? Object.fromEntries(Object.entries(v).map(([k, x]) => [k, walk(x)]))
    : v;
  return walk(figure);
}

function fitted(figure, width) {
  const narrow = width < NARROW;
  const layout = { ...figure.layout, ...(narrow ? figure.layout.meta.narrow : {}), width };
  const skip = narrow ? "wide_only" : "narrow_only";
  layout.annotations = (figure.layout.annotations || []).filter((a) => a.name !== skip);
  const plot = width - layout.margin.l - layout.margin.r;
  const [x0, x1] = layout.xaxis.range;
  const far = layout.meta.teeth > NEAR;
  const data = figure.data.map((trace) =>
    trace.meta?.when ? { ...trace, visible: (trace.meta.when === "far") === far } :
    trace.meta && trace.meta.px
      ? { ...trace, width: trace.meta.px.map((px) => Math.max(1, (px * (x1 - x0)) / plot)) }
      : trace);
  if (layout.meta?.thin) layout.annotations = apart(layout, layout.xaxis.range, plot);
  if (narrow) layout.xaxis = { ...layout.xaxis, tickvals: thin(layout.xaxis.tickvals) };
  return { data, layout, config: figure.config };
}

// Labels that stand at a place of the x axis: the first of two that would touch is kept, and the server sends the most
// important first.  Two whose middles are 48 px apart, or that lie on different heights, do not touch.
const APART = 48, LINE = 18;
function apart(layout, [x0, x1], plot) {
  const [low, high] = layout.yaxis.range, [foot, head] = layout.yaxis.domain || [0, 1];
  const tall = (layout.height - layout.margin.t - layout.margin.b) * (head - foot);
  const taken = [];
  return layout.annotations.filter((a) => {
    if (a.xref !== "x" || typeof a.x !== "number") return true;
    if (a.x < x0 || a.x > x1) return false;
    const wide = Math.max(0, a.text.length * 6.5 - 20) * (a.xanchor === "left" ? 0.5 : a.xanchor === "right" ? -0.5 : 0);
    const at = [((a.x - x0) / (x1 - x0)) * plot + (a.xshift || 0) + wide, ((a.y - low) / (high - low)) * tall + (a.yshift || 0)];
    const free = taken.every(([x, y, n]) => Math.abs(x - at[0]) >= Math.max(APART, (n + a.text.length) * 3.4) || Math.abs(y - at[1]) >= LINE);
    if (free) taken.push([...at, a.text.length]);
    return free;
  });
}

// A line of many teeth is an envelope from afar and itself from near; a zoom lets more labels stand, and other ticks.
const NEAR = 60;
function restage(plot) {
  const { figure, width, range } = drawn.get(plot) || {};
  if (!figure || !plot._fullLayout) return;
  const meta = figure.layout.meta;
  const shown = plot._fullLayout.xaxis.range.slice(), [x0, x1] = range;
  const whole = shown[1] - shown[0] >= (x1 - x0) * 0.98;
  const layout = ticks(figure.layout.xaxis, whole ? null : shown, width < NARROW);
  if (!meta?.thin) {
    if (layout["xaxis.tickvals"]) window.Plotly.relayout(plot, layout);
    return;
  }
  const near = ((shown[1] - shown[0]) / (x1 - x0)) * meta.teeth <= NEAR;
  const asked = { data: [], layout: { ...figure.layout, xaxis: { ...figure.layout.xaxis, range: shown } } };
  layout.annotations = paint(fitted(asked, width)).layout.annotations;
  const staged = plot.data.map((trace, at) => at).filter((at) => plot.data[at].meta?.when);
  const visible = staged.map((at) => (plot.data[at].meta.when === "near") === near);
  if (staged.length) window.Plotly.update(plot, { visible }, layout, staged);
  else window.Plotly.relayout(plot, layout);
}

// An axis of whole numbers without words of its own gets ticks for the range that is shown, null for all of it.
function ticks(axis, shown, narrow) {
  if (!axis.tickvals || axis.ticktext || axis.type === "log") return {};
  if (!shown) return { "xaxis.tickvals": narrow ? thin(axis.tickvals) : axis.tickvals };
  const rough = Math.max(1, (shown[1] - shown[0]) / (narrow ? 5 : 9)), power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
  const first = Math.max(0, Math.ceil(shown[0] / step)), count = Math.floor(shown[1] / step) - first + 1;
  return { "xaxis.tickvals": Array.from({ length: Math.max(0, count) }, (_, i) => (first + i) * step) };
}

// A chart that shows less than there is asks for more of the range that is zoomed to; axes, zoom and words stay.
async function refine(plot, range) {
  const seen = drawn.get(plot);
  if (!plot.dataset.refine || !seen?.figure.layout.meta.coarse) return;
  const [from, to] = (range ?? seen.range).map((x, i) => Math.max(0, i ? Math.ceil(x) : Math.floor(x)));
  const whole = seen.whole ?? seen.figure, asked = `${from}-${to}`;
  plot.dataset.refined = asked;
  let figure = whole;
  if (range && range[1] - range[0] < (seen.range[1] - seen.range[0]) * 0.98) {
    const url = new URL(plot.dataset.refine, location.href);
    url.searchParams.set("from", from);
    url.searchParams.set("to", to);
    const answer = await fetch(url).catch(() => null);
    if (!answer?.ok) return;
    figure = await answer.json();
  }
  const now = drawn.get(plot);
  if (plot.dataset.refined !== asked || now.text !== seen.text || figure === now.figure) return;
  drawn.set(plot, { ...now, figure, whole });
  await window.Plotly.react(plot, paint(fitted(figure, now.width)).data, plot.layout, figure.config);
  plot.dispatchEvent(new CustomEvent("chart:refined", { bubbles: true }));
}

function thin(values) {
  if (!values || values.length < 6) return values;
  const last = values.length - 1;
  return values.filter((_, i) => i === 0 || i === last || (i % 2 === 0 && i < last - 1));
}

function source(plot) {
  const holder = document.getElementById(plot.dataset.figure);
  return holder ? (holder.content || holder).textContent : "";
}

export function draw(plot) {
  const text = source(plot);
  const width = Math.floor(plot.clientWidth);
  if (!text || !width || !window.Plotly) return;
  const seen = drawn.get(plot) || {};
  const theme = getComputedStyle(document.documentElement).getPropertyValue("--chart-paper");
  if (seen.text === text && seen.width === width && seen.theme === theme) return;
  const figure = seen.text === text ? seen.figure : JSON.parse(text);
  const range = figure === seen.figure ? seen.range : figure.layout.xaxis.range.slice(); // Plotly writes zooms into its own
  const zoomed = zoomOf(plot, seen.range, range);
  drawn.set(plot, { text, width, theme, figure, range });
  const ready = paint(fitted(figure, width));
  window.Plotly.react(plot, ready.data, ready.layout, ready.config).then(() => {
    if (!plot.dataset.live) listen(plot);
    if (zoomed) window.Plotly.relayout(plot, { "xaxis.range": zoomed });
    for (const svg of plot.querySelectorAll(".main-svg")) svg.setAttribute("viewBox", `0 0 ${svg.getAttribute("width")} ${svg.getAttribute("height")}`);
    plot.dispatchEvent(new CustomEvent("chart:drawn", { bubbles: true, detail: { meta: figure.layout.meta } }));
  });
}

// Plotly keeps a reader's zoom only while the figure's own range stays the same; a session that grows changes it.
function zoomOf(plot, own, next) {
  const shown = plot._fullLayout?.xaxis?.range;
  const same = (a, b) => a[0] === b[0] && a[1] === b[1];
  return shown && own && !same(own, next) && !same(own, shown) ? shown.slice() : null;
}

function listen(plot) {
  plot.dataset.live = "yes";
  plot.on("plotly_click", (event) => {
    const known = event.points.filter((p) => p.customdata !== undefined);
    const point = known.find((p) => p.data.meta?.px) || known[0] || event.points[0];
    const detail = { x: point.x, message: point.customdata };
    plot.dispatchEvent(new CustomEvent("chart:pick", { bubbles: true, detail }));
  });
  plot.on("plotly_clickannotation", (event) => {
    const number = Number(event.annotation.text.replace(/\D/g, ""));
    plot.dispatchEvent(new CustomEvent("chart:event", { bubbles: true, detail: { number } }));
  });
  plot.on("plotly_relayout", (change) => {
    const zoomed = change["xaxis.range[0]"] !== undefined;
    const range = zoomed ? [change["xaxis.range[0]"], change["xaxis.range[1]"]] : null;
    if (zoomed || change["xaxis.autorange"] || change["xaxis.range"]) {
      plot.dispatchEvent(new CustomEvent("chart:zoom", { bubbles: true, detail: { range: range || change["xaxis.range"] } }));
      restage(plot);
      refine(plot, range || change["xaxis.range"]);
    }
    place(plot);
  });
  plot.on("plotly_hover", (event) => {
    const point = event.points.find((p) => p.customdata !== undefined);
    if (point) plot.dispatchEvent(new CustomEvent("chart:hover", { bubbles: true, detail: { message: point.customdata } }));
  });
}

// The figure as the server sent it, with roles for colours; null before the first drawing.
export const figureOf = (plot) => drawn.get(plot)?.figure ?? null;

// The range of the x axis without a zoom, which Plotly writes into the figure's own.
export const rangeOf = (plot) => drawn.get(plot)?.range ?? null;

// A cursor is an element over the plot: moving it costs no redraw.
export function mark(plot, kind, x, to = null) {
  const name = "plot-" + kind;
  let cursor = plot.parentElement.querySelector("." + name);
  if (!cursor) {
    cursor = Object.assign(document.createElement("i"), { className: "plot-cursor " + name });
    cursor.setAttribute("aria-hidden", "true");
    plot.parentElement.append(cursor);
  }
  cursor.dataset.x = x ?? "";
  cursor.dataset.to = to ?? "";
  place(plot);
}

function place(plot) {
  const layout = plot._fullLayout;
  for (const cursor of plot.parentElement.querySelectorAll(".plot-cursor")) {
    const axis = layout && layout.xaxis;
    const at = cursor.dataset.x === "" || !axis ? NaN : axis.d2p(Number(cursor.dataset.x));
    const [from, to] = [Math.max(at, 0), cursor.dataset.to ? Math.min(axis?.d2p(Number(cursor.dataset.to)), axis?._length) : at];
    const inside = cursor.dataset.to ? to > from : at >= -1 && at <= (axis ? axis._length : 0) + 1;
    cursor.hidden = !inside;
    if (inside && cursor.dataset.to) {
      cursor.style.insetInlineStart = Math.round(axis._offset + from) + "px";
      cursor.style.inlineSize = Math.round(to - from) + "px";
    } else if (inside) cursor.style.insetInlineStart = Math.round(axis._offset + at) + "px";
    if (cursor.matches(".plot-chosen")) clear(plot, inside ? axis._offset + at : NaN);
  }
}

// The figures of the axis under the number of what is chosen give way to it.
function clear(plot, at) {
  const left = plot.getBoundingClientRect().left;
  for (const tick of plot.querySelectorAll(".xtick text")) {
    const box = tick.getBoundingClientRect(), away = Math.abs((box.left + box.right) / 2 - left - at);
    tick.style.visibility = away < box.width / 2 + 16 ? "hidden" : "";
  }
}

// Where a value stands on an axis of the plot, and back: for handles that are elements.
export function scaleOf(plot, name = "yaxis") {
  const axis = plot._fullLayout && plot._fullLayout[name];
  if (!axis) return null;
  return { at: (value) => axis._offset + axis.d2p(value), value: (px) => axis.p2d(px - axis._offset), range: axis.range };
}

const widths = new ResizeObserver((entries) => entries.forEach((entry) => draw(entry.target)));
const plots = () => document.querySelectorAll(".plot[data-figure]");

export function drawAll() {
  for (const plot of plots()) {
    widths.observe(plot);
    draw(plot);
  }
}

function repaint() {
  for (const plot of plots()) draw(plot);
}

document.addEventListener("chart:drawn", (event) => { place(event.target); strip(event.target, event.detail.meta); });
document.addEventListener("htmx:afterSettle", drawAll);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
matchMedia("print").addEventListener("change", repaint);  // as wide as the paper, and back
new MutationObserver(repaint).observe(document.documentElement, { attributes: true });
drawAll();
