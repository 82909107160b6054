// What the module calls: see module.c. And files that a browser hands out can be mapped: their bytes are copied in.
mergeInto(LibraryManager.library, {
  page_print: function (bytes, len) {
    Module.print_bytes(HEAPU8.slice(bytes, bytes + len));
  },

  page_read: function (file, off, buffer, n) {
    const bytes = new Uint8Array(WORKERFS.reader.readAsArrayBuffer(Module.files[file].slice(off, off + n)));
    HEAPU8.set(bytes, buffer);
    return bytes.length;
  },

  // src/cubin/demangle.c
  page_try: function (run, user) {
    const stack = stackSave();
    try {
      getWasmTableEntry(run)(user);
      return 1;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      stackRestore(stack);
      return 0;
    }
  },

  // A file that is open may have no name any more.
  __syscall_fstat64: function (fd, to) {
    const { node } = SYSCALLS.getStreamFromFD(fd);
    return SYSCALLS.doStat(() => node.node_ops.getattr(node), null, to);
  },

  $MAPPED__deps: ['$WORKERFS', '$FS', '$mmapAlloc'],
  $MAPPED__postset: 'WORKERFS.stream_ops.mmap = MAPPED.mmap;',
  $MAPPED: {
    mmap: function (stream, address, length, position) {
      const ENOMEM = 48, PIECE = 1 << 26;
      const ptr = mmapAlloc(length);
      if (!ptr) throw new FS.ErrnoError(ENOMEM);
      for (let done = 0; done < length; ) {
        const n = WORKERFS.stream_ops.read(stream, HEAPU8, ptr + done, Math.min(PIECE, length - done), position + done);
        if (!n) break; // the file has shrunk: zeros, as where a page of a mapped file ends
        done += n;
      }
      return { ptr: ptr, allocated: true };
    },
  },
});
