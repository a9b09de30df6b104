// A column beside a longer one stays in sight while the page scrolls.  Where it is taller than the window its end stays,
// and not its start: the style sheet (.stays) needs its height for that.
const watch = new ResizeObserver((all) => {
  for (const { target } of all) target.style.setProperty("--high", `${target.offsetHeight}px`);
});

function find() {
  for (const column of document.querySelectorAll(".stays")) watch.observe(column);
}

export function start() {
  find();
  document.addEventListener("htmx:afterSettle", find);
}
