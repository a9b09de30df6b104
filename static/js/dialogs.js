// Dialogs: one at a time; Esc, the close button and a click on the backdrop close them; focus goes back to where it was.
// data-dialog="id" opens one that is on the page.  A <dialog data-modal> that htmx puts into #dialog-slot opens itself.
let opener = null;

function open(dialog, from) {
  if (dialog.open) return;
  for (const other of document.querySelectorAll("dialog[open]")) other.close();
  opener = from ?? document.activeElement;
  dialog.showModal();
}

function closed(event) {
  const dialog = event.target;
  if (!(dialog instanceof HTMLDialogElement)) return;
  const back = opener;
  opener = null;
  if (dialog.closest("#dialog-slot")) dialog.remove();
  if (back?.isConnected) back.focus();
}

export function toggle(id) {
  const dialog = document.getElementById(id);
  if (!dialog) return;
  if (dialog.open) dialog.close(); else open(dialog);
}

export function start() {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-dialog]");
    if (button) open(document.getElementById(button.dataset.dialog), button);
    const close = event.target.closest("[data-close]");
    if (close) close.closest("dialog")?.close();
    if (event.target instanceof HTMLDialogElement) event.target.close();   // the backdrop belongs to the dialog
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (!menu.contains(event.target) || event.target.closest("a, button")) menu.open = false;
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });
  document.addEventListener("close", closed, true);   // "close" does not bubble
  document.addEventListener("htmx:afterSwap", (event) => {
    const dialog = event.detail.target?.querySelector?.("dialog[data-modal]");
    if (dialog && !dialog.open) open(dialog, event.detail.requestConfig?.elt);
  });
}
