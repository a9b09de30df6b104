// A request that failed says so next to what caused it (in data-errors inside a form, or around it), and stays until it is dealt
// with.  The server's own words are used when its answer holds an element with data-error (templates/sessions/ui/_error.html).
const NOTE = "data-failure";

function place(element) {
  const inside = element.closest("form")?.querySelector("[data-errors]");
  const named = inside || element.closest("[data-errors]");
  if (named) return [named, "afterbegin"];
  const head = element.closest(".pane-head, .viewbar, form");
  if (head) return [head, "afterend"];
  return [element.closest("dialog, section, main") ?? document.getElementById("main"), "afterbegin"];
}

export function words(status, text, kind = "text/html") {
  if (status && kind.startsWith("text/plain")) return text.trim();
  const page = new DOMParser().parseFromString(text ?? "", "text/html");
  const own = page.querySelector("[data-error-text]")?.textContent.trim();
  if (own) return own;
  if (!status) return "The server did not answer. Is ctxweb still running? What you see is the last state.";
  return `The server could not do this (${status}). Try again, or reload the page.`;
}

// Where what was asked for is gone, the answer says where to go on.
function wayBack(text) {
  return new DOMParser().parseFromString(text ?? "", "text/html").querySelector("a[data-error-back]");
}

export function showError(element, text, back = null) {
  clearError(element);
  const note = document.createElement("p");
  note.className = "note note-danger";
  note.setAttribute("role", "alert");
  note.setAttribute(NOTE, "");
  const icon = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  icon.setAttribute("class", "icon");
  icon.setAttribute("aria-hidden", "true");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", "#i-alert");
  icon.append(use);
  const said = document.createElement("span");
  said.textContent = text;
  note.append(icon, said);
  if (back) {
    const link = document.createElement("a");
    link.href = back.getAttribute("href");
    link.textContent = back.textContent;
    note.append(link);
  }
  const [anchor, where] = place(element);
  anchor.insertAdjacentElement(where, note);
}

export function clearError(element) {
  const [anchor, where] = place(element);
  const old = where === "afterend" ? anchor.nextElementSibling : anchor.firstElementChild;
  if (old?.hasAttribute(NOTE)) old.remove();
}

export function start() {
  for (const name of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) {
    document.addEventListener(name, ({ detail: { elt, xhr } }) =>
      showError(elt, words(xhr?.status, xhr?.responseText, xhr?.getResponseHeader("Content-Type") ?? ""), wayBack(xhr?.responseText)));
  }
  // What asked may be gone by then: the event is told to what was around it, and a form's own failure stays.
  document.addEventListener("htmx:afterRequest", ({ detail: { elt, requestConfig, successful } }) => {
    if (successful && (elt === requestConfig.elt || !elt.matches("form"))) clearError(elt);
  });
}
