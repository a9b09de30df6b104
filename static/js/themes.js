// The theme switch: system, light, dark.  theme.js (synchronous, in the head) applies the stored choice; this keeps it.
const STORE = "ctxweb-theme";
const CHOICES = ["auto", "light", "dark"];

export const current = () => document.documentElement.dataset.theme ?? "auto";

function show(choice) {
  for (const input of document.querySelectorAll("input[data-theme-choice]")) input.checked = input.value === choice;
}

export function choose(choice) {
  const root = document.documentElement;
  if (choice === "auto") delete root.dataset.theme; else root.dataset.theme = choice;
  try {
    if (choice === "auto") localStorage.removeItem(STORE); else localStorage.setItem(STORE, choice);
  } catch { /* not kept: the choice then lasts as long as the page */ }
  show(choice);
  document.dispatchEvent(new CustomEvent("ctxweb:theme", { detail: { choice } }));   // charts repaint on it
}

export const next = () => choose(CHOICES[(CHOICES.indexOf(current()) + 1) % CHOICES.length]);

export function start() {
  show(current());
  document.addEventListener("change", (event) => {
    if (event.target.matches("input[data-theme-choice]")) choose(event.target.value);
  });
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", () => {
    if (current() === "auto") document.dispatchEvent(new CustomEvent("ctxweb:theme", { detail: { choice: "auto" } }));
  });
  addEventListener("storage", (event) => { if (event.key === STORE) choose(event.newValue ?? "auto"); });
}
