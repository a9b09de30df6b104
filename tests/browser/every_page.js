// What is wrong with the look of the page that is open: wider than the window, words too small, cut off or printed over
// each other, a font under 12 px (the figures on an axis may have 11). One line for each.
() => {
  const out = new Set();
  const root = document.scrollingElement;
  if (root.scrollWidth > root.clientWidth) out.add(`scrolls sideways: ${root.scrollWidth} in ${root.clientWidth}`);
  const name = (e) => e.tagName.toLowerCase() + (e.id ? "#" + e.id : "") + (typeof e.className === "string" && e.className ? "." + e.className.trim().split(/\s+/).join(".") : "");
  const seen = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walk.nextNode());) {
    const words = node.data.trim(), e = node.parentElement;
    if (!words || e.closest("script, style, template, noscript, option, title, desc, textarea, .visually-hidden, .skip")) continue;
    if (!e.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const rects = [...range.getClientRects()].filter((r) => r.width > 1 && r.height > 1);
    if (!rects.length) continue;
    const drawn = e.closest("svg"), size = parseFloat(getComputedStyle(e).fontSize);
    if (size < (drawn && !/[a-z]{3}/i.test(words) ? 11 : 12)) out.add(`${size} px: ${name(e)} "${words.slice(0, 40)}"`);
    let scrolls = false, shortened = false;
    for (let a = e; a && a !== document.body && !scrolls && !shortened; a = a.parentElement) {
      const style = getComputedStyle(a), box = a.getBoundingClientRect();
      shortened = style.textOverflow === "ellipsis" || style.webkitLineClamp !== "none" || style.clipPath !== "none";
      scrolls = ["auto", "scroll"].includes(style.overflowX);
      if (shortened || scrolls) break;
      const hides = (way) => ["hidden", "clip"].includes(way);
      if (hides(style.overflowX) && rects.some((r) => r.right > box.right + 1.5 || r.left < box.left - 1.5)) out.add(`cut by ${name(a)}: "${words.slice(0, 40)}"`);
      if (hides(style.overflowY) && rects.some((r) => r.bottom > box.bottom + 3 || r.top < box.top - 3)) out.add(`cut by ${name(a)}: "${words.slice(0, 40)}"`);
    }
    if (shortened) continue;
    if (!scrolls && rects.some((r) => r.right > root.clientWidth + 1)) out.add(`beyond the page: ${name(e)} "${words.slice(0, 40)}"`);
    for (const r of rects) {
      const x = (r.left + r.right) / 2, y = (r.top + r.bottom) / 2;
      if (x < 0 || y < 0 || x > innerWidth || y > innerHeight) continue;
      const hit = document.elementFromPoint(x, y);
      if (drawn || (hit && (hit === e || e.contains(hit) || hit.contains(e)))) seen.push({ e, r, words: words.slice(0, 24) });
    }
  }
  seen.forEach((a, at) => {
    for (const b of seen.slice(at + 1)) {
      if (a.e === b.e) continue;
      const wide = Math.min(a.r.right, b.r.right) - Math.max(a.r.left, b.r.left), tall = Math.min(a.r.bottom, b.r.bottom) - Math.max(a.r.top, b.r.top);
      if (wide > 2 && tall > 5) out.add(`printed over each other: "${a.words}" and "${b.words}"`);
    }
  });
  return [...out];
}
