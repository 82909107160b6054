// The page's worker: one question after the other. What can be long (all lanes as JSON) stays here, and the page asks for the rows
// that it shows.
'use strict';

let engine = null;
let table = null; // {columns, rows: [[text...]], shown: indices}

const text = bytes => new TextDecoder().decode(bytes);

/** A value of a table as people read it. */
function cell(value) {
  if (value === null) return '';
  if (Array.isArray(value)) return `(${value.join(',')})`;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** The rows of a document of `info`: its array that has the table's name. */
function tableOf(document) {
  const elements = document[document.table] ?? [];
  const names = [];
  for (const name of Object.keys(elements[0] ?? {})) {
    if (name.endsWith('_why') || name === 'current') continue;
    names.push(name);
  }
  const rows = elements.map(element => names.map(name => element[name] === null && element[`${name}_why`]
    ? `(${element[`${name}_why`]})` : cell(element[name])));
  return { columns: names, rows, shown: rows.map((_, index) => index) };
}

const number = value => value === '' || Number.isNaN(Number(value)) ? null : Number(value);

function compare(a, b) {
  const x = number(a), y = number(b);
  if (x !== null && y !== null) return x - y;
  if (x !== null || y !== null) return x !== null ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Which rows are shown: those that have every word of the filter, in the order of a column. */
function arrange(filter, column, down) {
  const words = filter.toLowerCase().split(/\s+/).filter(word => word);
  const shown = [];
  table.rows.forEach((row, index) => {
    const all = words.length ? row.join('\n').toLowerCase() : '';
    if (words.every(word => all.includes(word))) shown.push(index);
  });
  if (column !== null) shown.sort((a, b) => (down ? -1 : 1) * compare(table.rows[a][column], table.rows[b][column]) || a - b);
  table.shown = shown;
  return { count: shown.length, of: table.rows.length };
}

/** Lines of text are a table of one column. */
function linesOf(out) {
  const lines = text(out).split('\n');
  if (lines.at(-1) === '') lines.pop();
  const rows = lines.map(line => [line]);
  return { columns: ['text'], rows, shown: rows.map((_, index) => index) };
}

const handlers = {
  async start({ wasm }) {
    engine = await Engine.create(loadModule, wasm);
  },
  add({ files }) {
    engine.add(files);
  },
  open({ name }) {
    return { opened: engine.open(name) };
  },
  /** `as`: 'text', 'lines', 'table', 'file' (NAME in MADE, which the verb wrote). */
  ask({ words, as, name }) {
    const { status, out, said } = engine.ask(words);
    const answer = { status, said, ended: engine.ended };
    if (as === 'text') answer.text = text(out);
    if (as === 'lines') table = linesOf(out);
    if (as === 'table') table = out.length ? tableOf(JSON.parse(text(out))) : { columns: [], rows: [], shown: [] };
    if (as === 'lines' || as === 'table') Object.assign(answer, { columns: table.columns, count: table.rows.length });
    if (as === 'table') answer.widths = table.columns.map((column, index) => table.rows.reduce((most, row) => Math.max(most, row[index].length), column.length));
    if (as === 'lines') answer.widths = [table.rows.reduce((most, [line]) => Math.max(most, line.length), 0)];
    if (as === 'file') Object.assign(answer, { text: text(out), bytes: status === 0 ? engine.take(name) : null });
    return answer;
  },
  arrange({ filter, column, down }) {
    return arrange(filter, column, down);
  },
  rows({ from, count }) {
    return { rows: table.shown.slice(from, from + count).map(index => table.rows[index]) };
  },
  record({ name, bytes, time, why }) {
    const { out, said } = engine.record(name, bytes, time, why);
    return { text: text(out), said, ended: engine.ended };
  },
  put({ name, text: content }) {
    return { path: engine.put(name, new TextEncoder().encode(content)) };
  },
};

self.onmessage = async ({ data }) => {
  try {
    const answer = await handlers[data.what](data) ?? {};
    self.postMessage({ id: data.id, answer }, answer.bytes ? [answer.bytes.buffer] : []);
  } catch (error) {
    self.postMessage({ id: data.id, error: String(error?.message ?? error) });
  }
};
