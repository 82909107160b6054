// The page: takes files, asks the worker, shows answers. Whatever comes from a file gets in as text (textContent), or as a report, which
// the library escapes and a sandboxed frame shows.
'use strict';

const $ = id => document.getElementById(id);
const ROW = 20; // pixels: #rows in page.css
const MOST_HEIGHT = 8e6; // pixels that every browser has of an element
const PRINTED = 5000; // rows
const WIDEST = 60; // characters of a cell

// ---- the worker ----

let wasm = null, source = null, worker = null, nextId = 1;
var waiting = new Map(); // var, here and below: tests read it as a property of the window

class Cancelled extends Error {}

/** What an element of this page has packed. */
async function unpack(id) {
  const packed = Uint8Array.from(atob($(id).textContent.trim()), letter => letter.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
}

function startWorker() {
  worker = new Worker(source);
  worker.onmessage = ({ data }) => {
    const { resolve, reject } = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.error !== undefined) reject(new Error(data.error));
    else resolve(data.answer);
  };
  worker.onerror = event => stopWorker(new Error(event.message || 'the worker does not start'));
  return call('start', { wasm });
}

function stopWorker(why) {
  worker.terminate();
  const all = [...waiting.values()];
  waiting = new Map();
  all.forEach(({ reject }) => reject(why));
}

function call(what, data = {}) {
  return new Promise((resolve, reject) => {
    waiting.set(nextId, { resolve, reject });
    worker.postMessage({ ...data, what, id: nextId++ });
  });
}

/** A new worker that has the files of the old one, and the dump open. */
async function restart() {
  await startWorker();
  await call('add', { files: [...files.values()] });
  if (opened?.kind === 'dump') await call('open', { name: opened.name });
}

// ---- what is going on ----

let cancelled = false, timer = null;

function say(text) {
  $('said').textContent = text;
  $('said').hidden = !text;
}

function busy(words, done, of) {
  clearTimeout(timer);
  const show = () => {
    $('busy').hidden = false;
    $('doing').textContent = words;
    if (of) Object.assign($('progress'), { max: of, value: done });
    else $('progress').removeAttribute('value');
  };
  if ($('busy').hidden) timer = setTimeout(show, 300); // what is quick does not flicker
  else show();
}

function idle() {
  clearTimeout(timer);
  $('busy').hidden = true;
}

/** Does something that can be cancelled; says why when it fails. */
async function work(words, task) {
  cancelled = false;
  busy(words);
  try {
    return await task();
  } catch (error) {
    if (error instanceof Cancelled) $('state').textContent = 'Cancelled.';
    else say(`warpscope: ${error.message}\n`);
    return undefined;
  } finally {
    idle();
  }
}

$('cancel').onclick = async () => {
  cancelled = true;
  stopWorker(new Cancelled());
  idle();
  await restart();
};

async function ask(words, as, name) {
  const answer = await call('ask', { words, as, name });
  if (answer.ended) { // it cannot answer more: a new one can
    stopWorker(new Cancelled());
    await restart();
  }
  return answer;
}

// ---- files ----

const files = new Map(); // name -> {name, file, time}
let opened = null; // {name, kind: 'dump' | 'images' | 'triage', dumps: names}
let sourceFolders = [];

async function looksLikeDump({ name, file }) {
  if (name.includes('.nvcudmp')) return true;
  const ELF = 0x464c457f, CORE = 4, CUDA = 190;
  if (file.size < 20) return false;
  const head = new DataView(await file.slice(0, 20).arrayBuffer());
  return head.getUint32(0, true) === ELF && head.getUint16(16, true) === CORE && head.getUint16(18, true) === CUDA;
}

async function take(list) {
  if (list.length) await takeSome(list);
  document.body.dataset.taken = Number(document.body.dataset.taken ?? 0) + 1;
}

async function takeSome(list) {
  say('');
  $('state').textContent = '';
  const dumps = [];
  for (const one of list) if (await looksLikeDump(one)) dumps.push(one.name);
  for (const one of list) files.set(one.name, one);
  await work('Opening …', async () => {
    await call('add', { files: list });
    const folders = new Set(list.filter(({ name }) => name.includes('/')).map(({ name }) => name.split('/')[0]));
    sourceFolders = [...new Set([...sourceFolders, ...folders])];
    if (!dumps.length && opened?.kind === 'dump' && folders.size) {
      $('state').textContent = `${list.length} files are there as sources.`;
      return show('report');
    }
    if (dumps.length > 1) return triage(dumps);
    return openFile(dumps[0] ?? list[0].name, []);
  });
}

async function openFile(name, dumps) {
  const answer = await call('open', { name });
  opened = { name, kind: answer.opened ? 'dump' : 'images', dumps };
  document.title = `${name.split('/').at(-1)} - Warpscope`;
  $('opened').textContent = name;
  $('share').hidden = !answer.opened;
  offerDumps();
  showTabs();
  await show(views.find(view => view.of === opened.kind).key);
}

function offerDumps() {
  $('others').hidden = opened.dumps.length < 2;
  $('dumps').replaceChildren(new Option('all (triage)', ''), ...opened.dumps.map(name => new Option(name, name, false, name === opened.name)));
}

$('dumps').onchange = () => {
  const name = $('dumps').value, { dumps } = opened;
  work('Opening …', () => name ? openFile(name, dumps) : triage(dumps));
};

/** One record of each dump, then the page of all. A dump whose reader ends is a row that says so. */
async function triage(dumps) {
  const records = [];
  for (const [index, name] of dumps.entries()) {
    busy(`Reading dump ${index + 1} of ${dumps.length}: ${name}`, index, dumps.length);
    const { file, time } = files.get(name);
    let answer = await call('record', { name, bytes: file.size, time });
    if (answer.ended) {
      const why = answer.ended;
      stopWorker(new Cancelled());
      await startWorker();
      await call('add', { files: [...files.values()] });
      answer = await call('record', { name, bytes: file.size, time, why });
    }
    records.push(answer.text);
  }
  const { path } = await call('put', { name: 'records.jsonl', text: records.join('') });
  opened = { name: path, kind: 'triage', dumps };
  $('opened').textContent = `${dumps.length} dumps`;
  $('share').hidden = true;
  offerDumps();
  showTabs();
  await show('triage');
}

async function entriesOf(entry, before = '') {
  const name = before + entry.name;
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [{ name, file, time: file.lastModified }];
  }
  const reader = entry.createReader(), found = [];
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) break;
    for (const one of some) found.push(...await entriesOf(one, `${name}/`));
  }
  return found;
}

const picked = list => Array.from(list, file => ({ name: file.webkitRelativePath || file.name, file, time: file.lastModified }));

function takeDrops() {
  addEventListener('dragover', event => {
    event.preventDefault();
    document.body.classList.add('dragged');
  });
  addEventListener('dragleave', event => event.relatedTarget ?? document.body.classList.remove('dragged'));
  addEventListener('drop', async event => {
    event.preventDefault();
    document.body.classList.remove('dragged');
    const entries = Array.from(event.dataTransfer.items, item => item.webkitGetAsEntry?.()).filter(entry => entry);
    const lists = entries.length ? await Promise.all(entries.map(entry => entriesOf(entry))) : [picked(event.dataTransfer.files)];
    await take(lists.flat());
  });
  for (const [button, input] of [['choose', 'files'], ['folder', 'tree']]) {
    $(button).onclick = () => $(input).click();
    $(input).onchange = async () => {
      const list = picked($(input).files);
      await take(list);
      $(input).value = '';
    };
  }
}

// ---- saving ----

function save(bytes, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

$('share').onclick = () => work('Leaving out what is private …', async () => {
  const name = `${opened.name.split('/').at(-1).replace(/\.(gz|zst)$/, '').replace(/\.nvcudmp$/, '')}.safe.nvcudmp`;
  const answer = await ask(['strip', opened.name, '--for-issue', '-o', `/made/${name}`], 'file', name);
  say(answer.said);
  if (!answer.bytes) return;
  save(answer.bytes, name);
  $('state').textContent = `Saved as ${name}. ${answer.text.trim().replaceAll('\n', '. ')}.`;
});

// ---- views ----

const words = text => text.match(/"[^"]*"|\S+/g)?.map(word => word.replace(/^"(.*)"$/, '$1')) ?? [];
const sources = () => sourceFolders.flatMap(folder => ['--source-dir', folder]);
const TABLES = ['devices', 'contexts', 'modules', 'kernels', 'sms', 'blocks', 'clusters', 'warps', 'lanes', 'threads', 'barriers', 'exceptions',
  'memory', 'managed', 'sections', 'metadata'];
const ALL = { warps: 'sm any warp any', lanes: 'sm any warp any lane any', barriers: 'sm any warp any' };

const CODE = {
  title: 'Code', as: 'lines',
  fields: [{ name: 'function', hint: 'all', wide: true }, { name: 'options', value: '--source' }],
  words: (name, fields) => ['disas', name, ...(fields.function ? ['--function', fields.function.trim()] : []), ...words(fields.options)],
};

// Each view: the fields of its question, the command line that they make, and how its answer is shown.
const views = [
  { key: 'report', of: 'dump', title: 'Report', fields: [], as: 'page', words: name => ['report', name, '--format', 'html', ...sources()] },
  { key: 'info', of: 'dump', title: 'Tables', as: 'table',
    fields: [{ name: 'table', options: TABLES, value: 'exceptions' }, { name: 'filter', hint: 'sm 3 warp any; empty: all', wide: true }],
    words: (name, { table, filter }) => ['info', name, ...words(table), ...words(filter || ALL[table] || ''), '--json', '--wide'] },
  { key: 'regs', of: 'dump', title: 'Registers', as: 'lines',
    fields: [{ name: 'registers', hint: 'R4-R7,UR2; empty: all' }, { name: 'thread', hint: 'block (1,0,0) thread (32,0,0); empty: the faulty one', wide: true }],
    words: (name, { registers, thread }) => ['regs', name, ...words(registers), ...words(thread)] },
  { key: 'mem', of: 'dump', title: 'Memory', as: 'lines', starts: false,
    fields: [{ name: 'address', hint: 'global:0x7f3a00000000', value: 'global:', wide: true }, { name: 'format', hint: '/4xw', value: '/xw' },
      { name: 'count', value: '64' }, { name: 'thread', hint: 'of shared and local memory' }],
    words: (name, { address, format, count, thread }) => ['mem', name, address.trim(), ...words(format), ...words(count), ...words(thread)] },
  { ...CODE, key: 'disas', of: 'dump' },
  { key: 'check', of: 'dump', title: 'Check', as: 'lines', fields: [], words: name => ['check', name, '--limit', '0'] },
  { key: 'images', of: 'images', title: 'Images', as: 'lines', fields: [], words: name => ['info', name] },
  { ...CODE, key: 'code', of: 'images' },
  { key: 'lines', of: 'images', title: 'Lines', as: 'lines', fields: [], words: name => ['lines', name] },
  { key: 'triage', of: 'triage', title: 'Triage', as: 'page', fields: [], words: name => ['triage', '--merge', name, '--format', 'html'] },
  { key: 'shell', of: null, title: 'Command', as: 'lines', starts: false,
    fields: [{ name: 'words', hint: 'bt FILE', wide: true }], words: (name, fields) => words(fields.words).map(word => word === 'FILE' ? name : word) },
];
var current = null; // the view that shows
const kept = new Map(); // view's key -> fields, as they were left

const viewsOfOpened = () => views.filter(view => view.of === opened.kind || view.of === null);

function showTabs() {
  $('tabs').hidden = $('view').hidden = $('print').hidden = false;
  $('drop').hidden = true;
  $('tabs').replaceChildren(...viewsOfOpened().map(view => {
    const tab = Object.assign(document.createElement('button'), { textContent: view.title, id: `tab-${view.key}`, onclick: () => show(view.key) });
    tab.setAttribute('role', 'tab');
    return tab;
  }));
}

$('tabs').onkeydown = event => {
  const all = viewsOfOpened(), at = all.indexOf(current);
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  const next = all[(to + all.length) % all.length];
  show(next.key);
  $(`tab-${next.key}`).focus();
};

function formOf(view) {
  const fields = kept.get(view.key) ?? {};
  $('question').replaceChildren(...view.fields.map(({ name, hint, value, options, wide }) => {
    const label = document.createElement('label'), input = document.createElement(options ? 'select' : 'input');
    label.append(name, input);
    if (options) input.append(...options.map(option => new Option(option)));
    Object.assign(input, { name, value: fields[name] ?? value ?? '', placeholder: hint ?? '', spellcheck: false, autocomplete: 'off' });
    if (options) input.onchange = () => answer();
    if (wide) label.className = 'words';
    return label;
  }));
  if (view.fields.length) $('question').append(Object.assign(document.createElement('button'), { textContent: 'Show' }));
  $('question').hidden = !view.fields.length;
}

function show(key) {
  current = views.find(view => view.key === key);
  for (const view of viewsOfOpened()) {
    const tab = $(`tab-${view.key}`), chosen = view === current;
    tab.setAttribute('aria-selected', chosen);
    tab.tabIndex = chosen ? 0 : -1;
  }
  formOf(current);
  $('frame').hidden = $('table').hidden = $('command').hidden = true;
  $('view').setAttribute('aria-labelledby', `tab-${key}`);
  return current.starts === false ? undefined : answer();
}

function lineOf() {
  const fields = Object.fromEntries(new FormData($('question')));
  kept.set(current.key, fields);
  return current.words(opened.name, fields);
}

const quoted = word => /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** Asks what the form says, and shows the answer. */
function answer() {
  const view = current, line = lineOf();
  if (!line.length) return undefined;
  return work(`${view.title} …`, async () => {
    say('');
    const got = await ask(line, view.as === 'page' ? 'text' : view.as);
    if (view !== current) return;
    say(got.said);
    $('command').hidden = view.of === 'triage';
    $('command').querySelector('code').textContent = ['warpscope', ...line].map(quoted).join(' ');
    $('frame').hidden = view.as !== 'page' || !got.text;
    $('table').hidden = view.as === 'page' || !got.count;
    if (view.as === 'page') $('frame').srcdoc = got.text;
    else await showRows(got, view.as);
  });
}

$('question').onsubmit = event => {
  event.preventDefault();
  answer();
};

// ---- rows: only those that show are in the page ----

const shownWidth = characters => Math.min(characters, WIDEST);
const columnWidth = characters => shownWidth(characters) + 3;

var rows = null; // {count, widths, column, down, filter, from, drawn}

async function showRows(got, as) {
  rows = { count: got.count, of: got.count, widths: got.widths, columns: got.columns, column: null, down: false, filter: '', drawn: -1 };
  $('table').className = as;
  $('head').replaceChildren(...got.columns.map((column, index) => {
    const button = Object.assign(document.createElement('button'), { textContent: column, onclick: () => sortBy(index) });
    button.setAttribute('role', 'columnheader');
    button.style.width = `${columnWidth(got.widths[index])}ch`;
    return button;
  }));
  $('scroll').style.width = `${as === 'lines' ? got.widths[0] + 3 : got.widths.reduce((sum, one) => sum + columnWidth(one), 0)}ch`;
  filterField(as);
  $('scroll').scrollTop = 0;
  await arrange();
}

function filterField(as) {
  const input = Object.assign(document.createElement('input'), { id: 'sieve', placeholder: 'only rows with these words', spellcheck: false });
  input.setAttribute('aria-label', 'Only rows with these words');
  let later = null;
  input.oninput = () => {
    clearTimeout(later);
    later = setTimeout(() => {
      rows.filter = input.value;
      arrange();
    }, 150);
  };
  $('told').replaceChildren(input, ' ', Object.assign(document.createElement('span'), { id: 'count' }));
  rows.unit = as === 'lines' ? 'lines' : 'rows';
}

function sortBy(column) {
  rows.down = rows.column === column ? !rows.down : false;
  rows.column = column;
  Array.from($('head').children, (button, index) => button.setAttribute('aria-sort', index !== column ? 'none' : rows.down ? 'descending' : 'ascending'));
  return arrange();
}

async function arrange() {
  const { count, of } = await call('arrange', { filter: rows.filter, column: rows.column, down: rows.down });
  Object.assign(rows, { count, of, drawn: -1 });
  const all = n => n.toLocaleString('en');
  const unit = of === 1 ? rows.unit.slice(0, -1) : rows.unit;
  $('count').textContent = count === of ? `${all(of)} ${unit}` : `${all(count)} of ${all(of)} ${unit}`;
  $('space').style.height = `${Math.min(count * ROW, MOST_HEIGHT)}px`;
  await draw();
}

/** Draws the rows at the place that is scrolled to; where there are too many for pixels, a pixel is several rows. */
async function draw() {
  const box = $('scroll'), view = Math.ceil(box.clientHeight / ROW) + 1, height = Math.min(rows.count * ROW, MOST_HEIGHT);
  const most = Math.max(rows.count - view + 1, 0), way = Math.max(height - box.clientHeight, 1);
  const from = Math.min(Math.floor(box.scrollTop / way * most), most);
  if (from === rows.drawn) return;
  const asked = rows;
  rows.drawn = from;
  const got = await call('rows', { from, count: view });
  if (asked !== rows || rows.drawn !== from) return;
  $('rows').replaceChildren(...got.rows.map(row => {
    const line = document.createElement('div');
    line.setAttribute('role', 'row');
    line.append(...row.map((text, index) => {
      const cell = Object.assign(document.createElement('span'), { textContent: text, title: text.length > WIDEST ? text : '' });
      cell.setAttribute('role', 'cell');
      if (rows.unit === 'rows') cell.style.width = `${columnWidth(rows.widths[index])}ch`;
      return cell;
    }));
    return line;
  }));
  $('rows').style.top = `${Math.min(box.scrollTop, Math.max(height - got.rows.length * ROW, 0))}px`;
}

$('scroll').onscroll = () => rows && draw();
addEventListener('resize', () => {
  if (!rows || $('table').hidden) return;
  rows.drawn = -1;
  draw();
});

// ---- paper ----

$('print').onclick = () => work('Preparing the print …', async () => {
  if (current.as === 'page') {
    const line = lineOf().map(word => word === 'html' ? 'text' : word);
    $('paper').textContent = (await ask(line, 'text')).text;
  } else {
    const got = await call('rows', { from: 0, count: PRINTED });
    const head = rows.unit === 'rows' ? [rows.columns] : [];
    const widths = rows.widths.map(shownWidth);
    $('paper').textContent = [...head, ...got.rows].map(row => row.map((text, index) => text.padEnd(widths[index])).join('  ').trimEnd()).join('\n') +
      (rows.count > PRINTED ? `\n... and ${rows.count - PRINTED} more` : '');
  }
  idle();
  window.print();
});

$('about').ontoggle = async () => {
  if (!$('licences').textContent) $('licences').textContent = new TextDecoder().decode(await unpack('packed-licences'));
};

// ---- the start ----

async function start() {
  const missing = typeof WebAssembly === 'undefined' ? 'WebAssembly' : typeof Worker === 'undefined' ? 'workers' :
    typeof DecompressionStream === 'undefined' ? 'DecompressionStream' : null;
  if (missing) {
    $('state').textContent = `This browser has no ${missing}, so this page cannot read dumps in it. The program warpscope can, on Linux.`;
    $('drop').hidden = $('choose').hidden = $('folder').hidden = true;
    return;
  }
  wasm = await unpack('wasm');
  source = URL.createObjectURL(new Blob([await unpack('worker')], { type: 'text/javascript' }));
  await startWorker();
  takeDrops();
  document.body.dataset.ready = 'true';
}

start().catch(error => say(`warpscope: this page does not start: ${error.message}\n`));
