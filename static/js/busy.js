// What somebody asked for shows that it is under way; what the page asks for by itself does not.
const AFTER = 80, RECENT = 150; // milliseconds: quicker answers do not flicker; a script asks so soon after a hand
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

export function start() {
  for (const kind of ["pointerdown", "click", "keydown", "input", "change", "submit"]) {
    document.addEventListener(kind, () => { acted = performance.now(); }, true);
  }
  document.addEventListener("htmx:beforeSend", ({ detail: { target, xhr, requestConfig } }) => {
    if (!requestConfig.triggeringEvent && performance.now() - acted > RECENT) return;
    waitFor(target, (end) => xhr.addEventListener("loadend", end));
  });
}
