// The module with the files that were dropped. It knows no page and no worker, and runs in Node just as well
// (tests/page/ask.js).
'use strict';

const FILES = '/files'; // where they are, by their names
const MADE = '/made'; // what verbs write

class Engine {
  /** `load`: the module's loader; `wasm`: its bytes. */
  static async create(load, wasm) {
    const engine = new Engine();
    engine.module = await load({
      wasmBinary: wasm,
      files: [],
      print_bytes: piece => engine.printed.push(piece),
      stderr: byte => byte !== null && engine.said.push(byte),
      noExitRuntime: true,
    });
    engine.printed = [];
    engine.said = [];
    engine.ended = null; // why it can answer no more
    engine.isOpen = null; // name of the dump that is open
    engine.numbers = new Map(); // name -> its number in module.files
    engine.module.FS.mkdir(FILES);
    engine.module.FS.mkdir(MADE);
    engine.module.FS.chdir(FILES);
    return engine;
  }

  /** Adds files: {name: path below the folder, file: a File or Blob, time: milliseconds since 1970}. */
  add(files) {
    const { FS, WORKERFS } = this.module, { getattr, setattr } = WORKERFS.node_ops;
    if (!WORKERFS.reader) WORKERFS.reader = new FileReaderSync();
    for (const { name, file, time } of files) {
      this.numbers.set(name, this.module.files.push(file) - 1);
      const parts = name.split('/').filter(part => part && part !== '.' && part !== '..');
      let parent = FS.lookupPath(FILES).node;
      for (const part of parts.slice(0, -1)) {
        let child = null;
        try {
          child = FS.lookupNode(parent, part);
        } catch {
          child = FS.mkdir(`${FS.getPath(parent)}/${part}`);
        }
        parent = child;
      }
      const path = `${FS.getPath(parent)}/${parts.at(-1)}`;
      if (FS.analyzePath(path).exists) FS.unlink(path);
      // MEMFS has the folders and asks the node itself for its bytes
      const node = FS.create(path, 0o444);
      node.size = file.size;
      node.contents = file;
      node.timestamp = time ?? 0;
      node.node_ops = { getattr, setattr }; // no readlink(): they are no links
      node.stream_ops = WORKERFS.stream_ops;
    }
  }

  /** Opens a dump for the questions that follow; false: it is none that can be read. */
  open(name) {
    this.close();
    const number = this.numbers.get(name), { size } = this.module.files[number];
    if (this.call(() => this.withText(name, text => this.module._page_open(number, size, text))).status !== 1) return false;
    this.isOpen = name;
    return true;
  }

  close() {
    if (this.isOpen !== null) this.module._page_close();
    this.isOpen = null;
  }

  /** Answers a command line, such as ['report', 'x.nvcudmp']: {status, out: bytes, said: text}. */
  ask(words) {
    const one = new TextEncoder().encode(['warpscope', ...words].join('\0') + '\0');
    return this.call(() => {
      const at = this.module._malloc(one.length);
      this.module.HEAPU8.set(one, at);
      try {
        return this.module._page_ask(at, one.length, words.includes(this.isOpen) && !BY_FILE.has(words[0]));
      } finally {
        if (!this.ended) this.module._free(at);
      }
    });
  }

  /** The record of a dump for a triage; `why`: it could not be read. */
  record(name, bytes, time, why) {
    const number = this.numbers.get(name);
    return this.call(() => this.withText(name, path => {
      if (why === undefined) this.module._page_record(number, path, bytes, time, 0);
      else this.withText(why, text => this.module._page_record(number, path, bytes, time, text));
      return 0;
    }));
  }

  /** A file that a verb wrote; it is gone afterwards. */
  take(name) {
    const path = `${MADE}/${name}`, bytes = this.module.FS.readFile(path);
    this.module.FS.unlink(path);
    return bytes;
  }

  /** A file for a verb to read. */
  put(name, bytes) {
    this.module.FS.writeFile(`${MADE}/${name}`, bytes);
    return `${MADE}/${name}`;
  }

  withText(text, use) {
    const { lengthBytesUTF8, stringToUTF8, _malloc, _free } = this.module;
    const size = lengthBytesUTF8(text) + 1, at = _malloc(size);
    stringToUTF8(text, at, size);
    try {
      return use(at);
    } finally {
      if (!this.ended) _free(at);
    }
  }

  call(use) {
    this.printed = [];
    this.said = [];
    let status;
    try {
      if (this.ended) throw new Error(this.ended);
      status = Number(use());
    } catch (error) {
      // exit(): it has said why. Anything else is a fault of ours, or the browser's memory is used up.
      status = error.name === 'ExitStatus' ? error.status : 1;
      this.ended = error.name === 'ExitStatus' ? 'the program has ended' : `the module stopped: ${error.message}`;
      if (error.name !== 'ExitStatus') this.said.push(...new TextEncoder().encode(`warpscope: ${this.ended}\n`));
    }
    const total = this.printed.reduce((sum, piece) => sum + piece.length, 0), out = new Uint8Array(total);
    let at = 0;
    for (const piece of this.printed) {
      out.set(piece, at);
      at += piece.length;
    }
    const said = new TextDecoder().decode(Uint8Array.from(this.said));
    this.printed = [];
    return { status, out, said };
  }
}

// Verbs that open files of their own, however the dump is.
const BY_FILE = new Set(['diff', 'triage', 'log', 'shell', 'debug', 'store', 'as']);
