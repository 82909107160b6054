// The module in Node, with the page's own engine: one request a line on standard input, one answer a line on standard output.
//
//   node ask.js MODULE_FOLDER ENGINE
//
// {folder, names}                     a new module that has these files of a folder
// {open: name}                        opens a dump
// {words}                             a command line -> {status, out (base64), said, ended}
// {record: name, bytes, time}         a record of a triage
// {take: name}, {put: name, text}     files that verbs write and read
'use strict';

const fs = require('fs'), path = require('path'), readline = require('readline'), vm = require('vm');

const [folder, engineFile] = process.argv.slice(2);

/** What a browser hands out: slices of a file, which a reader reads. */
class FileOnDisk {
  constructor(name) {
    this.fd = fs.openSync(name, 'r');
    this.size = fs.fstatSync(this.fd).size;
  }

  slice(from, to) {
    const size = Math.max(Math.min(to, this.size) - from, 0);
    return { size, read: () => {
      const bytes = FileOnDisk.rooms.get(size) ?? new Uint8Array(size); // it is copied at once
      FileOnDisk.rooms.set(size, bytes);
      fs.readSync(this.fd, bytes, 0, size, from);
      return bytes.buffer;
    } };
  }
}
FileOnDisk.rooms = new Map();
globalThis.FileReaderSync = class {
  readAsArrayBuffer(slice) {
    return slice.read();
  }
};

const load = require(path.resolve(folder, 'module.js'));
const wasm = fs.readFileSync(path.join(folder, 'module.wasm'));
const Engine = vm.runInThisContext(`${fs.readFileSync(engineFile, 'utf8')}\nEngine`, { filename: engineFile });
let engine = null;

async function answer(request) {
  if (request.names) {
    engine = await Engine.create(load, wasm);
    engine.add(request.names.map(name => {
      const whole = path.join(request.folder, name);
      return { name, file: new FileOnDisk(whole), time: fs.statSync(whole).mtimeMs };
    }));
    return {};
  }
  if (request.open !== undefined) return { opened: engine.open(request.open) };
  if (request.take !== undefined) return { out: Buffer.from(engine.take(request.take)).toString('base64') };
  if (request.put !== undefined) return { path: engine.put(request.put, new TextEncoder().encode(request.text)) };
  const { status, out, said } = request.words ? engine.ask(request.words) : engine.record(request.record, request.bytes, request.time);
  return { status, out: Buffer.from(out).toString('base64'), said, ended: engine.ended };
}

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    const { rss } = process.memoryUsage();
    const usage = process.cpuUsage();
    const got = await answer(JSON.parse(line));
    const { user, system } = process.cpuUsage(usage);
    process.stdout.write(`${JSON.stringify({ ...got, cpu: (user + system) / 1e6, rss })}\n`);
  }
}

main();
