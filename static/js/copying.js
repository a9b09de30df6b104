// Copy buttons: data-copy="text", data-copy-from="#id" (value or text of an element) or data-copy-link (this address).
export function say(words) {
  const place = document.getElementById("said");
  if (place) place.textContent = words;
}

async function write(text) {
  if (navigator.clipboard && isSecureContext) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");   // plain http on another host has no clipboard API
  area.value = text;
  area.className = "visually-hidden";
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("the browser did not allow it");
}

function textOf(button) {
  if (button.hasAttribute("data-copy-link")) return location.href;
  if (button.dataset.copy) return button.dataset.copy;
  const from = document.querySelector(button.dataset.copyFrom);
  return from?.value ?? from?.textContent.trim() ?? "";
}

function mark(button, done) {
  const use = button.querySelector("svg use");
  if (use) {
    const before = use.getAttribute("href");
    use.setAttribute("href", done ? "#i-check" : "#i-alert");
    setTimeout(() => use.setAttribute("href", before), 1600);
  }
}

export async function copyLink() {
  await write(location.href).then(() => say("Link copied"), () => say("The link could not be copied"));
}

export function start() {
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy], [data-copy-from], [data-copy-link]");
    if (!button) return;
    try {
      await write(textOf(button));
      mark(button, true);
      say("Copied");
    } catch {
      mark(button, false);
      say("Could not be copied: select the text and copy it by hand");
      const from = button.dataset.copyFrom && document.querySelector(button.dataset.copyFrom);
      from?.select?.();
    }
  });
}
