// What somebody asked for and takes a moment shows that it is under way: what it goes into is busy, and a line runs along the
// top.  What the page asks for by itself (a part that loads, a poll) shows nothing.
const AFTER = 80;       // milliseconds: quicker answers do not flicker
const RECENT = 150;     // a script asks within so many after the hand that made it ask
const LONGEST = 10_000; // a link that was a download leaves the page where it is
let acted = -Infinity, shown = 0;

function show(target) {
  target?.setAttribute("aria-busy", "true");
  shown += 1;
  document.body.classList.add("busy");
}

function hide(target) {
  target?.removeAttribute("aria-busy");
  shown -= 1;
  document.body.classList.toggle("busy", shown > 0);
}

function waitFor(target, ended) {
  let isShown = false;
  const timer = setTimeout(() => { isShown = true; show(target); }, AFTER);
  ended(() => { clearTimeout(timer); if (isShown) hide(target); });
}

function leaves(event) {
  if (event.defaultPrevented) return false;
  if (event.type === "submit") return true;
  const link = event.target.closest?.("a[href]");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return false;
  const here = link.pathname === location.pathname && link.search === location.search && link.hash;
  return link.origin === location.origin && !here && !link.hasAttribute("download") && ["", "_self"].includes(link.target);
}

export function start() {
  for (const kind of ["pointerdown", "click", "keydown", "input", "change", "submit"]) {
    document.addEventListener(kind, () => { acted = performance.now(); }, true);
  }
  document.addEventListener("htmx:beforeSend", ({ detail: { target, xhr, requestConfig } }) => {
    if (!requestConfig.triggeringEvent && performance.now() - acted > RECENT) return;
    waitFor(target, (end) => xhr.addEventListener("loadend", end));
  });
  for (const kind of ["click", "submit"]) {
    addEventListener(kind, (event) => {
      if (leaves(event)) waitFor(null, (end) => { setTimeout(end, LONGEST); addEventListener("pagehide", end, { once: true }); });
    });
  }
}
