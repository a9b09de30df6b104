// The pressure chart answers for the message under the pointer: pixel to message by ourselves, since a chart library's
// hover snaps to the points of its traces. Red bars win within HIT px of their middle, over the whole byte lane.
// By keys: left and right walk messages, up and down over-counted ones, Enter opens. Emits "chart:pick" and "chart:point".
import { figureOf, mark } from "./charts.js";

const HIT = 8, STILL = 4;
const many = (n) => Number(n).toLocaleString("en-US");

function sized(n) {
  for (const [unit, word] of [[1e9, "GB"], [1e6, "MB"], [1e3, "KB"]]) {
    if (n >= unit * 0.9995) return (n / unit).toPrecision(3) + " " + word;
  }
  return n + " B";
}

const known = (plot) => figureOf(plot)?.layout.meta.points;

// ---- which bar ------------------------------------------------------------------------------------------------------
function loudNear(plot, px) {
  const { xaxis } = plot._fullLayout, rows = known(plot);
  let best = -1, near = HIT + 1;
  for (const place of Object.keys(rows.over)) {
    const away = Math.abs(xaxis.d2p(rows.message[place]) - px);
    if (away < near) { near = away; best = Number(place); }
  }
  return best;
}

function barOf(rows, message) {
  let best = -1;
  rows.first.forEach((first, place) => {
    const width = rows.last[place] - first;
    if (first <= message && message <= rows.last[place] && (best < 0 || width < rows.last[best] - rows.first[best])) best = place;
  });
  return best;
}

function under(plot, event) {
  const { xaxis, yaxis2 } = plot._fullLayout, box = plot.getBoundingClientRect(), rows = known(plot);
  const px = event.clientX - box.left - xaxis._offset, py = event.clientY - box.top - yaxis2._offset;
  if (px < -1 || px > xaxis._length + 1 || event.clientY < box.top || event.clientY > box.bottom) return -1;
  if (py >= 0 && py <= yaxis2._length) {
    const loud = loudNear(plot, px);
    if (loud >= 0) return loud;
  }
  return barOf(rows, Math.min(Math.max(Math.round(xaxis.p2d(px)), 0), rows.last.at(-1)));
}

// ---- what it says ---------------------------------------------------------------------------------------------------
function sentWith(rows, place) {
  return rows.request[place] < 0 ? "" : `sent with request ${many(rows.request[place])}, ${many(rows.context[place])} tokens`;
}

export function words(plot, place) {
  const rows = known(plot), over = rows.over[place], message = rows.message[place];
  const parts = over
    ? [`#${many(message)} ${over.what}`, `${many(over.tokens)} tokens`, sized(over.bytes), over.factor, over.say]
    : [`#${many(message)} ${rows.said[rows.words[place]]}`, `${many(rows.tokens[place])} tokens`, sized(rows.bytes[place])];
  if (rows.last[place] > rows.first[place]) parts.push(`heaviest of ${many(rows.first[place])} to ${many(rows.last[place])}`);
  const marks = figureOf(plot).data.filter((trace) => trace.name === "refused" || trace.name === "cleared");
  for (const trace of marks) trace.x.forEach((x, i) => { if (Math.abs(x - message) <= 0.5) parts.push(trace.text[i]); });
  return { head: parts.filter(Boolean).join(" · "), tail: sentWith(rows, place), over: Boolean(over) };
}

function tipOf(plot) {
  let tip = plot.parentElement.querySelector(".plot-tip");
  if (!tip) {
    tip = Object.assign(document.createElement("p"), { className: "plot-tip", hidden: true });
    tip.append(document.createElement("strong"), document.createElement("span"));
    plot.parentElement.append(tip);
  }
  return tip;
}

function show(plot, place) {
  const tip = tipOf(plot), rows = known(plot);
  tip.hidden = place < 0;
  mark(plot, "hover", place < 0 ? null : rows.message[place]);
  plot.dispatchEvent(new CustomEvent("chart:point", { bubbles: true, detail: { message: place < 0 ? null : rows.message[place] } }));
  if (place < 0) { delete plot.dataset.message; return; }
  const said = words(plot, place), { xaxis } = plot._fullLayout;
  plot.dataset.message = rows.message[place];
  tip.dataset.message = rows.message[place];
  tip.classList.toggle("plot-tip-over", said.over);
  tip.firstElementChild.textContent = said.head;
  tip.lastElementChild.textContent = said.tail;
  const at = xaxis._offset + xaxis.d2p(rows.message[place]), room = plot.clientWidth - tip.offsetWidth - 4;
  tip.style.insetInlineStart = Math.max(4, Math.min(room, at + 12 + tip.offsetWidth > plot.clientWidth ? at - tip.offsetWidth - 12 : at + 12)) + "px";
  plot.setAttribute("aria-valuenow", rows.message[place]);
  plot.setAttribute("aria-valuetext", [said.head, said.tail].filter(Boolean).join(", "));
}

const pick = (plot, message) => plot.dispatchEvent(new CustomEvent("chart:pick", { bubbles: true, detail: { message } }));

// ---- pointer and keys -----------------------------------------------------------------------------------------------
function byKey(plot, event) {
  const rows = known(plot), last = rows.last.at(-1);
  const now = Number(plot.dataset.message ?? plot.getAttribute("aria-valuenow") ?? 0);
  const loud = Object.keys(rows.over).map((place) => rows.message[place]).sort((a, b) => a - b);
  const to = {
    ArrowLeft: () => now - 1, ArrowRight: () => now + 1, PageDown: () => now - 10, PageUp: () => now + 10,
    Home: () => 0, End: () => last,
    ArrowUp: () => loud.find((m) => m > now) ?? now, ArrowDown: () => loud.findLast((m) => m < now) ?? now,
  }[event.key];
  if (event.key === "Enter" || event.key === " ") { event.preventDefault(); pick(plot, now); return; }
  if (event.key === "Escape") { show(plot, -1); return; }
  if (!to) return;
  event.preventDefault();
  const message = Math.min(last, Math.max(0, to()));
  show(plot, barOf(rows, message));
  plot.dataset.message = message;
  mark(plot, "hover", message);
}

export function point(plot) {
  if (plot.dataset.points || !known(plot)) return;
  plot.dataset.points = "yes";
  plot.setAttribute("aria-valuemax", known(plot).last.at(-1) ?? 0);
  let down = null;
  plot.addEventListener("pointermove", (event) => show(plot, under(plot, event)));
  plot.addEventListener("pointerleave", () => show(plot, -1));
  plot.addEventListener("pointerdown", (event) => { down = [event.clientX, event.clientY]; }, true);
  addEventListener("pointerup", (event) => {
    const moved = down && Math.hypot(event.clientX - down[0], event.clientY - down[1]);
    if (down && moved < STILL) {
      const place = under(plot, event);
      if (place >= 0) { show(plot, place); pick(plot, known(plot).message[place]); }
    }
    down = null;
  }, true);
  plot.addEventListener("keydown", (event) => byKey(plot, event));
  plot.addEventListener("blur", () => show(plot, -1));
}

document.addEventListener("chart:drawn", (event) => point(event.target));
