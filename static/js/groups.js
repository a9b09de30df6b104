// The rows of one file in the library: the first click fetches and shows them, the next one puts them away.
const inside = (row) => document.querySelectorAll(`tr[data-of="${row.id}"]`);

document.addEventListener("htmx:beforeRequest", (event) => {
  const link = event.target.closest("[data-unfold][aria-expanded=true]");
  if (!link) return;
  event.preventDefault();
  for (const row of inside(link.closest("tr"))) row.remove();
  link.setAttribute("aria-expanded", "false");
});

document.addEventListener("htmx:afterRequest", (event) => {
  const link = event.target.closest("[data-unfold]");
  if (link && event.detail.successful) link.setAttribute("aria-expanded", "true");
});
