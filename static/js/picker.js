// A select of many policies becomes a picker: a button with the name and what it does, and a list to search in.  The select
// stays what the form sends; without a script it is what the reader sees.
let open = null;

const words = (option) => `${option.textContent} ${option.title} ${option.value}`.toLowerCase();
const made = (tag, className, text = "") => Object.assign(document.createElement(tag), { className, textContent: text });

function show(button, select) {
  const chosen = select.selectedOptions[0];
  button.replaceChildren(made("strong", "", chosen?.textContent), made("span", "picker-says", chosen?.title));
}

// The options that hold every word typed, under their headings.
function list(select, typed) {
  const asked = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const box = made("div", "picker-list");
  box.id = select.id + "-list";
  box.setAttribute("role", "listbox");
  box.setAttribute("aria-label", "Policies");
  box.tabIndex = -1;
  for (const group of select.querySelectorAll("optgroup")) {
    const found = [...group.children].filter((option) => asked.every((word) => words(option).includes(word)));
    if (!found.length) continue;
    const part = made("div", "picker-group");
    part.setAttribute("role", "group");
    part.setAttribute("aria-label", group.label);
    const title = made("p", "picker-title", group.label);
    title.setAttribute("aria-hidden", "true");
    part.append(title);
    for (const option of found) {
      const line = made("div", "picker-option");
      line.id = `${select.id}-${option.value}`;
      line.dataset.value = option.value;
      line.setAttribute("role", "option");
      line.setAttribute("aria-selected", String(option.selected));
      line.append(made("strong", "", option.textContent), made("span", "picker-says", option.title));
      part.append(line);
    }
    box.append(part);
  }
  if (!box.children.length) {
    box.setAttribute("role", "note");
    box.append(made("p", "picker-none", "No policy has these words."));
  }
  return box;
}

const lines = () => [...open.pop.querySelectorAll(".picker-option")];

function walk(to) {
  const all = lines();
  all.forEach((line) => line.classList.remove("at"));
  const line = all[Math.min(all.length - 1, Math.max(0, to))];
  if (!line) { open.input.removeAttribute("aria-activedescendant"); return; }
  line.classList.add("at");
  line.scrollIntoView({ block: "nearest" });
  open.input.setAttribute("aria-activedescendant", line.id);
}

function filter() {
  const box = list(open.select, open.input.value);
  open.pop.querySelector(".picker-list").replaceWith(box);
  const at = open.input.value ? 0 : lines().findIndex((line) => line.dataset.value === open.select.value);
  walk(at);
  open.count.textContent = `${lines().length} of ${open.select.options.length}`;
}

function close(focus = true) {
  if (!open) return;
  const { button, pop } = open;
  pop.remove();
  button.setAttribute("aria-expanded", "false");
  open = null;
  if (focus) button.focus();
}

function choose(value) {
  const { select, button } = open;
  close();
  if (select.value === value) return;
  select.value = value;
  show(button, select);
  select.dispatchEvent(new Event("input", { bubbles: true }));
}

function start(button, select, typed = "") {
  const pop = made("div", "picker-pop");
  const input = made("input", "input picker-find");
  Object.assign(input, { type: "text", value: typed, placeholder: `Find among ${select.dataset.picker}, by name or by what it does`, autocomplete: "off" });
  input.dataset.unsent = "";
  for (const [name, value] of Object.entries({ role: "combobox", "aria-expanded": "true", "aria-autocomplete": "list", "aria-controls": select.id + "-list", "aria-label": "Find a policy" })) input.setAttribute(name, value);
  const count = made("p", "picker-count");
  count.setAttribute("role", "status");
  pop.append(input, made("div", "picker-list"), count);
  button.after(pop);
  button.setAttribute("aria-expanded", "true");
  open = { button, select, pop, input, count };
  filter();
  input.focus();
}

function enhance(select) {
  if (select.dataset.picked) return;
  select.dataset.picked = "yes";
  const button = made("button", "picker");
  button.type = "button";
  button.id = select.id + "-picker";
  button.setAttribute("aria-haspopup", "listbox");
  button.setAttribute("aria-expanded", "false");
  show(button, select);
  const box = made("div", "picker-box");
  select.before(box);
  box.append(button, select);
  select.hidden = true;
  const label = document.querySelector(`label[for="${CSS.escape(select.id)}"]`);
  if (label) {
    label.id ||= select.id + "-label";
    label.htmlFor = button.id;
    button.setAttribute("aria-labelledby", `${label.id} ${button.id}`);
  }
}

export const enhanceAll = () => document.querySelectorAll("select[data-picker]").forEach(enhance);

document.addEventListener("click", (event) => {
  const button = event.target.closest?.(".picker");
  if (button) { const again = open?.button === button; close(false); if (!again) start(button, button.parentElement.querySelector("select")); return; }
  const line = event.target.closest?.(".picker-option");
  if (line && open) choose(line.dataset.value);
  else if (open && !event.target.closest?.(".picker-pop")) close(false);
});
// What is typed to find a policy is no value of the form.
document.addEventListener("input", (event) => {
  if (!open || event.target !== open.input) return;
  event.stopImmediatePropagation();
  filter();
}, true);
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (open && event.target === open.input) {
    const at = lines().findIndex((line) => line.classList.contains("at"));
    const steps = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + 6, PageUp: at - 6 };
    if (event.key in steps) walk(steps[event.key]);
    else if (event.key === "Enter") { if (at >= 0) choose(lines()[at].dataset.value); }
    else if (event.key === "Escape") close();
    else if (event.key === "Tab") { close(false); return; }
    else return;
    event.preventDefault();
    event.stopPropagation();
    return;
  }
  const button = event.target.closest?.(".picker");
  if (!button || event.key.length > 1 && !["ArrowDown", "ArrowUp"].includes(event.key) || event.key === " ") return;
  event.preventDefault();
  event.stopPropagation();
  start(button, button.parentElement.querySelector("select"), event.key.length === 1 ? event.key : "");
}, true);
// Another policy brings another form: whoever picked it goes on from there.
let held = "";
document.addEventListener("htmx:oobBeforeSwap", () => { held = document.activeElement?.classList.contains("picker") ? document.activeElement.id : ""; });
document.addEventListener("htmx:oobAfterSwap", () => { enhanceAll(); if (held) document.getElementById(held)?.focus(); held = ""; });
document.addEventListener("htmx:afterSettle", enhanceAll);
enhanceAll();
