// The files of a drop, folders opened (webkitGetAsEntry), in the order of their paths; hidden files are left alone.
const MOST = 5000;

const read = (reader) => new Promise((resolve, reject) => reader.readEntries(resolve, reject));
const fileOf = (entry) => new Promise((resolve, reject) => entry.file(resolve, reject));

async function walk(entry, found) {
  if (found.length >= MOST || entry.name.startsWith(".")) return;
  if (entry.isFile) { found.push(await fileOf(entry)); return; }
  const reader = entry.createReader();
  for (let some = await read(reader); some.length; some = await read(reader)) {   // a reader answers in portions
    for (const child of some.sort((a, b) => a.name.localeCompare(b.name))) await walk(child, found);
  }
}

export async function gather(transfer) {
  const items = [...transfer.items].filter((item) => item.kind === "file");
  // Both lists are read before the first await: the browser empties the transfer after the event.
  const entries = items.map((item) => item.webkitGetAsEntry?.());
  const plain = [...transfer.files];
  if (!entries.some((entry) => entry?.isDirectory)) return plain;
  const found = [];
  for (const entry of entries) if (entry) await walk(entry, found);
  return found;
}
