// What somebody asked for shows that it is under way; what the page asks for by itself does not.
const AFTER = 80, RECENT = 150; // milliseconds: quicker answers do not flicker; a script asks so soon after a hand
const LONGEST = 10_000; // a download leaves the page where it is
let acted = -Infinity, shown = 0;

function mark(target, is) {
  if (is) target?.setAttribute("aria-busy", "true"); else target?.removeAttribute("aria-busy");
  shown += is ? 1 : -1;
  document.body.classList.toggle("busy", shown > 0);
}

function waitFor(target, ended) {
  let isShown = false;
  const timer = setTimeout(() => { isShown = true; mark(target, true); }, AFTER);
  ended(() => { clearTimeout(timer); if (isShown) mark(target, false); });
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
    addEventListener(kind, (event) => { if (leaves(event)) waitFor(null, (end) => setTimeout(end, LONGEST)); });
  }
}
