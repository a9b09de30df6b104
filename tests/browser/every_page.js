// What is wrong with the look of the page that is open, as far as the window shows it: one line for each fault.
// `faults(within)` looks once, at all of it or at one part; `faults.scrolled()` says what scrolling shows: parts that do not stick, columns left blank.
(() => {
  const root = document.scrollingElement;
  const CONTROLS = "a[href], button, input:not([type=hidden]), select, textarea, summary, label.btn";
  const FAR = 24, WORD = 40, COLUMN = 160;  // px: a field from its label, what must show of a first word, a column
  const name = (e) => e.tagName.toLowerCase() + (e.id ? "#" + e.id : "") + (typeof e.className === "string" && e.className ? "." + e.className.trim().split(/\s+/).join(".") : "");
  const said = (words) => `"${words.trim().replace(/\s+/g, " ").slice(0, 40)}"`;
  const shown = (e) => e.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !e.closest(".visually-hidden, .skip");
  const is = (...ways) => (way) => ways.includes(way);
  const scrolls = is("auto", "scroll"), hides = is("hidden", "clip"), bounds = is("auto", "scroll", "hidden", "clip");
  const rects = (node, words = node.data.trim()) => {
    const range = document.createRange(), from = node.data.indexOf(words);
    range.setStart(node, from);
    range.setEnd(node, from + words.length);
    return [...range.getClientRects()].filter((r) => r.width > 1 && r.height > 1);
  };
  const up = function* (e) { for (let a = e; a && a !== document.body; a = a.parentElement) yield [a, getComputedStyle(a)]; };
  const gap = (a, b) => Math.hypot(Math.max(a.left - b.right, b.left - a.right, 0), Math.max(a.top - b.bottom, b.top - a.bottom, 0));

  /** Every visible text: its node, element, words, and the boxes that it is drawn in. */
  const texts = (within) => {
    const found = [], walk = document.createTreeWalker(within, NodeFilter.SHOW_TEXT);
    for (let node; (node = walk.nextNode());) {
      const words = node.data.trim(), e = node.parentElement;
      if (!words || e.closest("script, style, template, noscript, option, title, desc, textarea") || !shown(e)) continue;
      const boxes = rects(node);
      if (boxes.length) found.push({ node, e, words, boxes, drawn: e.closest("svg") });
    }
    return found;
  };

  /** Words that are small, cut, beyond the page, or in a box narrower than the first of them. */
  const cut = ({ node, e, words, boxes, drawn }, out) => {
    const size = parseFloat(getComputedStyle(e).fontSize);
    if (size < (drawn && !/[a-z]{3}/i.test(words) ? 11 : 12)) out.add(`${size} px: ${name(e)} ${said(words)}`);
    let inside = false;
    for (const [a, style] of up(e)) {
      const box = a.getBoundingClientRect();
      if (bounds(style.overflowX) && !drawn && a.clientWidth > 1 && boxes[0].left <= box.right) {
        const room = a.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
        const first = Math.min(rects(node, words.split(/\s/)[0])[0]?.width ?? 0, WORD);
        if (first > room + 1.5) out.add(`narrower than its first word: ${name(a)}, ${Math.round(room)} px, ${said(words)}`);
      }
      if (style.textOverflow === "ellipsis" || style.webkitLineClamp !== "none" || style.clipPath !== "none") {
        if (e.closest("th, h2, h3, summary, legend") && !e.closest("tbody tr:not(.group), details.call, [title]") && a.scrollWidth > a.clientWidth + 1) out.add(`heading cut: ${name(a)} ${said(words)}`);
        return true;
      }
      if (scrolls(style.overflowX)) { inside = true; break; }
      if (hides(style.overflowX) && boxes.some((r) => r.right > box.right + 1.5 || r.left < box.left - 1.5)) out.add(`cut by ${name(a)}: ${said(words)}`);
      if (hides(style.overflowY) && boxes.some((r) => r.bottom > box.bottom + 3 || r.top < box.top - 3)) out.add(`cut by ${name(a)}: ${said(words)}`);
    }
    if (!inside && boxes.some((r) => r.right > root.clientWidth + 1)) out.add(`beyond the page: ${name(e)} ${said(words)}`);
    return false;
  };

  const opaque = (e) => /^rgb\(/.test(getComputedStyle(e).backgroundColor) || e.matches("img, canvas, video");
  /** Whether something that one cannot see through stands before an element at a point, or it is not there at all. */
  const covered = (e, x, y) => {
    for (const top of document.elementsFromPoint(x, y)) {
      if (top === e || e.contains(top)) return false;
      if (top.contains(e) || opaque(top)) return true;
    }
    return true;
  };

  /** Texts that lie over each other. */
  const overprinted = (found, out) => {
    const seen = [];
    for (const { e, words, boxes, drawn } of found) for (const r of boxes) {
      const x = (r.left + r.right) / 2, y = (r.top + r.bottom) / 2;
      if (x < 0 || y < 0 || x > innerWidth || y > innerHeight) continue;
      if (drawn || !covered(e, x, y)) seen.push({ e, r, words });
    }
    seen.forEach((a, at) => {
      for (const b of seen.slice(at + 1)) {
        if (a.e === b.e) continue;
        const wide = Math.min(a.r.right, b.r.right) - Math.max(a.r.left, b.r.left), tall = Math.min(a.r.bottom, b.r.bottom) - Math.max(a.r.top, b.r.top);
        if (wide > 2 && tall > 5) out.add(`printed over each other: ${said(a.words)} and ${said(b.words)}`);
      }
    });
  };

  /** Two texts of ours in one line with no space between them, a tag that touches a text, a word said twice. */
  const glued = (found, out) => {
    const theirs = (e) => e.closest("svg, mark, pre, code, kbd, .prose, .katex, .name, .ellipsis");
    const tag = (e, other) => {
      for (const [a, style] of up(e)) {
        if (!style.display.startsWith("inline") || a.contains(other)) return null;
        if (!/, 0\)$|transparent/.test(style.backgroundColor)) return a;
      }
      return null;
    };
    const cutOff = ({ e, boxes }) => [...up(e)].some(([a, style]) => bounds(style.overflowX) && boxes.at(-1).right > a.getBoundingClientRect().right + 1.5);
    found.forEach((b, at) => {
      const a = found[at - 1];
      if (/\b([a-z]{3,}) \1\b(?!\/)/i.test(b.words) && !theirs(b.e)) out.add(`said twice: ${said(b.words)}`);
      if (!a || theirs(a.e) || theirs(b.e) || cutOff(a) || a.e.closest(CONTROLS) !== b.e.closest(CONTROLS) && a.e.closest(".seg, .tabs, .apply-tabs")) return;
      const [before, after] = [tag(a.e, b.e), tag(b.e, a.e)];
      const r = before ? before.getBoundingClientRect() : a.boxes.at(-1), s = after ? after.getBoundingClientRect() : b.boxes[0];
      if (Math.min(r.bottom, s.bottom) - Math.max(r.top, s.top) < Math.min(r.height, s.height) / 2) return;
      const room = s.left - r.right, [end, start] = [a.words.at(-1), b.words[0]];
      const meet = /[\p{L}\p{N}.,:;!?)”%]/u.test(end) && /[\p{L}\p{N}(“×]/u.test(start);
      if (room > -3 && room < 2 && (before || after || meet)) out.add(`no space between: ${said(a.words.slice(-20))} and ${said(b.words)}`);
      const twice = a.words.match(/([a-z]{3,})$/i)?.[1].toLowerCase();
      if (room > -3 && room < 8 && twice && twice === b.words.match(/^([a-z]{3,})\b/i)?.[1].toLowerCase()) out.add(`said twice: ${said(a.words.slice(-20))} and ${said(b.words)}`);
    });
  };

  /** A field far from its label or too narrow for what it says, a control out of sight beside its box, or alone on a line. */
  const controls = (out, within) => {
    const paper = document.createElement("canvas").getContext("2d");
    for (const e of within.querySelectorAll(CONTROLS)) {
      if (!e.checkVisibility({ visibilityProperty: true }) || e.closest(".visually-hidden, .skip, svg")) continue;
      const box = e.getBoundingClientRect();
      if (!box.width || !box.height) continue;
      for (const label of e.labels ?? []) {
        if (!shown(label) || label.closest(".btn")) continue;
        const walk = document.createTreeWalker(label, NodeFilter.SHOW_TEXT, (node) => node.data.trim() && shown(node.parentElement) && !e.contains(node) ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_REJECT);
        const boxes = [];
        for (let node; (node = walk.nextNode());) boxes.push(...rects(node));
        const far = Math.min(...boxes.map((r) => gap(r, box)));
        if (boxes.length && far > FAR) out.add(`${Math.round(far)} px from its label: ${name(e)} ${said(label.textContent)}`);
      }
      const style = getComputedStyle(e), value = e.matches("select") ? e.selectedOptions[0]?.text : e.matches("input:not([type=checkbox], [type=radio], [type=range], [type=file], [type=hidden], [type=password]), textarea") ? e.value || e.placeholder : "";
      if (value && style.opacity !== "0") {
        paper.font = style.font;
        const first = Math.min(paper.measureText(value.trim().split(/\s+/)[0]).width, WORD), room = e.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
        if (first > room + 1.5) out.add(`narrower than its first word: ${name(e)}, ${Math.round(room)} px, ${said(value)}`);
      }
      const walk = document.createTreeWalker(e, NodeFilter.SHOW_TEXT), inner = [];
      for (let node; (node = walk.nextNode());) if (node.data.trim() && shown(node.parentElement)) inner.push(...rects(node));
      const left = inner.length ? Math.min(...inner.map((r) => r.left)) : box.left, right = inner.length ? Math.max(...inner.map((r) => r.right)) : box.right;
      for (const [a, look] of up(e.parentElement)) {
        if (look.textOverflow === "ellipsis" || style.textOverflow === "ellipsis") break;
        if (look.position === "fixed" && a.tagName !== "DIALOG") break;
        const around = a.getBoundingClientRect();
        if (bounds(look.overflowX) && around.width > 1 || a.tagName === "DIALOG") {
          if (right > around.right + 2 || left < around.left - 2) { out.add(`out of sight in ${name(a)}: ${name(e)} ${said(e.textContent || e.title || e.name)}`); break; }
        }
      }
    }
    for (const row of within.querySelectorAll("*")) {
      const style = getComputedStyle(row);
      if (style.display !== "flex" || style.flexWrap !== "wrap" || row.children.length < 3) continue;
      const parts = [...row.children].filter((e) => e.checkVisibility() && e.getBoundingClientRect().width > 1), last = parts.at(-1);
      if (parts.length < 3 || !last.matches("button, .btn, details")) continue;
      const [r, s] = [last.getBoundingClientRect(), parts.at(-2).getBoundingClientRect()];
      if (r.top >= s.bottom - 1 && r.width < 60) out.add(`alone on a line: ${name(last)} in ${name(row)}`);
    }
  };

  /** A chart's words on a mark of nearly their own colour. */
  const faint = (found, out) => {
    const light = (colour) => {
      const [r, g, b] = colour.match(/[\d.]+/g).map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    for (const { e, words, boxes, drawn } of found) {
      const ground = e.closest(".annotation")?.querySelector("rect.bg");
      if (!drawn?.matches(".main-svg") || ground && getComputedStyle(ground).fillOpacity > 0.5) continue;
      const ink = light(getComputedStyle(e).fill), r = boxes[0], plot = drawn.closest(".plot, .js-plotly-plot");
      for (const mark of plot.querySelectorAll(".bars path, .shapelayer path")) {
        const style = getComputedStyle(mark), box = mark.getBoundingClientRect();
        if (style.fill === "none" || style.fillOpacity * style.opacity < 0.5 || !box.width) continue;
        const wide = Math.min(box.right, r.right) - Math.max(box.left, r.left), tall = Math.min(box.bottom, r.bottom) - Math.max(box.top, r.top);
        const [one, two] = [ink, light(style.fill)].sort((a, b) => b - a);
        if (wide > 4 && tall > 4 && (one + 0.05) / (two + 0.05) < 2) out.add(`on its own colour: ${said(words)}`);
      }
    }
  };

  const faults = (within = document.body) => {
    const out = new Set();
    if (root.scrollWidth > root.clientWidth) out.add(`scrolls sideways: ${root.scrollWidth} in ${root.clientWidth}`);
    const found = texts(within);
    const whole = found.filter((text) => !cut(text, out));
    overprinted(whole, out);
    glued(found, out);
    controls(out, within);
    faint(found, out);
    return [...out];
  };

  const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const scroller = (e) => { for (const [a, style] of up(e.parentElement)) if (style.overflowY !== "visible" && style.overflowY !== "clip") return a; return root; };

  /** Each sticky part after its box was scrolled under it; each column that is empty where the one beside it is not. */
  faults.scrolled = async () => {
    const out = new Set();
    for (const e of document.querySelectorAll("*")) {
      const style = getComputedStyle(e), inset = parseFloat(style.top);
      if (style.position !== "sticky" || isNaN(inset) || !e.checkVisibility() || !e.offsetHeight) continue;
      const box = scroller(e), edge = box === root ? 0 : box.getBoundingClientRect().top + box.clientTop;
      const was = box.scrollTop;
      if (box !== root && box.scrollHeight <= box.clientHeight + 1) {
        if (box.clientHeight > innerHeight) out.add(`does not stick: ${name(e)} in ${name(box)}`);
        continue;
      }
      box.scrollTop += Math.max(e.getBoundingClientRect().top - edge - inset, 0) + 60;
      await frame();
      const now = e.getBoundingClientRect(), frameOf = e.closest("table") && e.matches("th, td, tr, thead") ? e.closest("table") : e.parentElement;
      const pushed = frameOf.getBoundingClientRect().bottom - now.height;
      if (box.scrollTop > was + 30 && now.top < Math.min(edge + inset, pushed) - 2) out.add(`does not stick: ${name(e)}`);
      box.scrollTop = was;
    }
    for (const part of [0.34, 0.67, 1]) {
      const far = root.scrollHeight - innerHeight;
      if (far < innerHeight / 2) break;
      scrollTo(0, far * part);
      await frame();
      const seen = texts(document.body).filter(({ boxes }) => boxes.some((r) => r.bottom > 0 && r.top < innerHeight));
      for (const row of document.querySelectorAll("main, main *")) {
        const box = row.getBoundingClientRect();
        if (box.top > 0 || box.bottom < innerHeight || row.children.length < 2 || !["grid", "flex"].includes(getComputedStyle(row).display)) continue;
        const columns = [...row.children].filter((e) => e.getBoundingClientRect().width >= COLUMN);
        if (new Set(columns.map((e) => Math.round(e.getBoundingClientRect().left))).size < 2) continue;
        const side = (e) => columns.filter((one) => Math.abs(one.getBoundingClientRect().left - e.getBoundingClientRect().left) < 2);
        const full = (e) => seen.some((text) => side(e).some((one) => one.contains(text.e)));
        if (columns.some(full)) for (const e of columns) if (!full(e)) out.add(`blank beside its neighbour: ${name(e)}`);
      }
    }
    scrollTo(0, 0);
    return [...out];
  };
  window.faults = faults;
})();
