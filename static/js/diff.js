// Diff: next and previous change, and the part of the minimap that is on the screen.
let current = -1;

const changes = () => [...document.querySelectorAll(".diff-lists > [data-n], .diff-groups [data-n]")];

function go(step) {
  const all = changes();
  if (!all.length) return;
  all[current]?.classList.remove("current");
  current = Math.min(all.length - 1, Math.max(0, current + step));
  const target = all[current];
  target.classList.add("current");
  target.scrollIntoView({ block: "center" });
  (target.querySelector("summary, a") || target).focus?.({ preventScroll: true });
  const place = document.getElementById("change-place");
  place.textContent = `change ${current + 1} of ${place.dataset.total}`;
}

function view() {
  const lists = document.querySelector(".diff-lists");
  const frame = document.getElementById("map-view");
  if (!lists || !frame) return;
  const box = lists.getBoundingClientRect();
  const top = Math.max(0, -box.top), bottom = Math.min(box.height, innerHeight - box.top);
  frame.setAttribute("y", (640 * top) / box.height);
  frame.setAttribute("height", Math.max(0, (640 * (bottom - top)) / box.height));
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-change]");
  if (button) go(Number(button.dataset.change));
});
document.addEventListener("scroll", view, { passive: true });
addEventListener("resize", view);
document.addEventListener("toggle", view, true);
document.addEventListener("htmx:afterSettle", view);
view();
