// Runs before the first paint: puts the reader's choice on the root element, so that no page flashes in the other theme.
// Without a choice the page follows the system (`color-scheme: light dark` in tokens.css).
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  try {
    const choice = localStorage.getItem("ctxweb-theme");
    if (choice === "light" || choice === "dark") root.dataset.theme = choice;
  } catch { /* storage may be forbidden; the system's theme is then the theme */ }
})();
