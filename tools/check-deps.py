#!/usr/bin/env python3
"""Holds every #include against the may-use table of docs/architecture.md, and all output against the one sink
(src/text): a string that may come from an input reaches a terminal or a page through it and nothing else. Prints TAP.

usage: check-deps.py [ROOT]

A tag, and a static function of more than SHORT lines, has a name that nothing else of src/, cli/ and cuda/ has.
What a target can do is asked of the waist (include/warpscope/target.h): its members are called in src/target only.

The table in docs/architecture.md is the only copy: rows "| `folder` | uses | public headers | ... |" between the lines
"<!-- may-use -->" and "<!-- /may-use -->". A use is a folder of src/ ("elf") with its public headers, a file of one
("base/sandbox.h", "warpscope/provider.h"), "public" (all of include/warpscope), or a library ("zlib"). Everything in
src/ may use base and libc. A public header is held to what its folder may use.
"""
import os
import re
import sys

LIBRARY_OF = {
    'zlib.h': 'zlib', 'zstd.h': 'libzstd', 'lz4.h': 'liblz4', 'libiberty/demangle.h': 'libiberty',
    'elfutils/libdw.h': 'libdw', 'dwarf.h': 'libdw', 'libelf.h': 'libdw', 'editline/readline.h': 'libedit',
    'jansson.h': 'jansson', 'emscripten.h': 'emscripten', 'dlfcn.h': 'dlopen', 'execinfo.h': 'execinfo', 'cudadebugger.h': 'cuda',
}
LIBC = re.compile(r'^(assert|ctype|dirent|errno|fcntl|fenv|float|getopt|glob|inttypes|limits|locale|math|poll|pthread|regex|sched|'
                  r'setjmp|signal|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|string|strings|time|unistd|'
                  r'wchar|sys/[a-z_]+)\.h$')


def table(root):
    """{folder: what it may use}, {public header: its folder}"""
    uses, room_of = {}, {}
    inside = False
    with open(os.path.join(root, 'docs/architecture.md'), encoding='utf-8') as page:
        for line in page:
            if '<!-- may-use -->' in line:
                inside = True
            elif '<!-- /may-use -->' in line:
                inside = False
            elif inside and line.startswith('| `'):
                cells = [c.strip() for c in line.strip().strip('|').split('|')]
                for folder in re.findall(r'`([^`]+)`', cells[0]):
                    uses[folder] = set(re.findall(r'`([^`]+)`', cells[1]))
                    room_of.update(dict.fromkeys(re.findall(r'`([^`]+)`', cells[2]), folder))
    return uses, room_of


def folder_of(path, uses, room_of):
    """src/target/api/x.c -> target/api; cli/run/x.c -> cli; include/warpscope/x.h -> the folder that it is of"""
    where, name = os.path.split(path)
    if path.startswith('include/'):
        return room_of.get(name, name)
    parts = where.removeprefix('src/').split('/')
    return next((folder for n in range(len(parts), 0, -1) if (folder := '/'.join(parts[:n])) in uses), where)


def allowed(path, folder, include, uses, room_of, root):
    may = uses[folder]
    if include.startswith('warpscope/'):
        return bool(may & {'public', include}) or room_of.get(include[len('warpscope/'):]) in may | {'base', folder}
    if LIBC.match(include) or (include.startswith('linux/') and folder == 'base'):
        return True
    if path.startswith('include/'):
        return False
    if include in LIBRARY_OF:
        return LIBRARY_OF[include] in may
    if not path.startswith('src/'):
        return include in may or ('..' not in include and os.path.exists(os.path.join(root, folder, include)))
    if include.endswith('.inc') or '/' not in include:
        return True  # generated next to the folder's own files
    target = folder_of('src/' + include, uses, room_of)
    return target in ('base', folder) or target in may or include in may


# ---- the sink ----

# Ways to write that escape nothing, and where they are the sink itself or write files.
WRITES = {
    **dict.fromkeys(('printf', 'fprintf', 'vprintf', 'vfprintf', 'dprintf', 'vdprintf', 'puts', 'fputs', 'putchar', 'putc',
                     'fputc', 'putw', 'fwrite', 'perror', 'psignal', 'psiginfo', 'warn', 'warnx', 'err', 'errx', 'syslog',
                     'stdout', 'stderr', 'putc_unlocked', 'putchar_unlocked', 'fputs_unlocked', 'fwrite_unlocked',
                     'writev', 'pwritev', 'sendfile', 'splice', 'copy_file_range'), ()),
    # the driver is in a program that has its own standard output; what it says is literals and names of functions
    **dict.fromkeys(('fprintf', 'stderr', 'fwrite', 'stdout'), ('cuda/driver/init.c', 'cuda/driver/logs.c', 'cuda/driver/missing.c')),
    # bytes for another process: its memory, and what is told by a descriptor
    'write': ('src/text/out.c', 'src/base/', 'cuda/agent/debug.c', 'src/debug/host.c', 'src/debug/program.c'),
    'pwrite': ('src/base/', 'src/debug/host.c'),
    # what kernels print is the program's own output, as it is; cli/pager.c has it lead to the pager, and writes nothing
    'STDOUT_FILENO': ('cuda/agent/debug.c', 'cli/main.c', 'cli/pager.c', 'cli/gdb/pager.c'),
    'STDERR_FILENO': ('cuda/agent/main.c', 'cli/main.c', 'cli/open.c', 'cli/triage/scan.c', 'cli/exec/'),
    'ws_write_fd': ('src/text/out.c', 'src/base/', 'cuda/agent/main.c', 'cli/main.c', 'cli/gdb/pager.c', 'src/trace/trace.c', 'cli/triage/', 'cli/exec/'),
    # a part of a dump that was asked for; records that are JSON already, and names for the program itself
    'ws_out_bytes': ('src/text/', 'cli/extract.c', 'cli/triage/', 'src/triage/record.c'),
}
WORDS = {'puts', 'write', 'warn', 'err', 'splice'}  # names of other things too, unless they are called
# Functions whose argument, counted from 0, is text of the program: a string literal, or a choice of literals.
LITERAL = {
    'ws_out_text': 1, 'wsi_html_raw': 1, 'ws_out_printf': 1, 'wsi_html_printf': 1, 'wsi_say': 1, 'wsi_render_run': 2, 'wsi_label': 1,
    'wsi_render_fact_claim': 1, 'wsi_cell': 1, 'cli_say': 0, 'cli_note': 0, 'cli_warn': 0, 'cli_usage': 1,
    'ws_table_printf': 1, 'agent_say': 0, 'driver_say': 0,
}
# ... or one of these, by file: text of the program that has a name.
NAMED = {
    'cli/main.c': {'verb->text', 'common_help'},
    'src/render/html.c': {'page_style[i]', 'page_script[i]'},
    'src/render/form_html.c': {'ours'},
    'src/render/form_text.c': {'elements[element].start', 'elements[page->element].end', 'join'},
    'src/render/words.c': {'label'}, 'src/render/section_access.c': {'label'}, 'src/render/section_dump.c': {'label'},
    'src/render/section_launch.c': {'join', 'mine?join:": "'},
}
TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\w+|->|\S""", re.S)


def tokens(source):
    """[(token, line)] without comments and preprocessor lines; a literal is one token."""
    lines = re.sub(r'^[ \t]*#(?:[^\n\\]|\\.|\\\n)*', lambda m: '\n' * m.group().count('\n'), source, flags=re.M)
    found, line, at = [], 1, 0
    for m in TOKEN.finditer(lines):
        line += lines.count('\n', at, m.start())
        at = m.start()
        if not m.group().startswith(('//', '/*')):
            found.append((m.group(), line))
    return found


def arguments(words, at):
    """The arguments of the call whose '(' is words[at], each a list of tokens."""
    depth, args = 0, [[]]
    for word, _ in words[at:]:
        depth -= word in ')]}'
        if depth == 0 and word == ')':
            break
        if depth == 1 and word == ',':
            args.append([])
        elif depth:
            args[-1].append(word)
        depth += word in '([{'
    return args


def is_literal(words):
    """"a" "b", PRIu64, or c ? "a" : "b" with any condition."""
    if '?' in words:
        colon, depth, mark = None, 0, words.index('?')
        for i in range(mark + 1, len(words)):
            depth += (words[i] == '?') - (words[i] == ':')
            if depth < 0:
                colon = i
                break
        return colon is not None and is_literal(words[mark + 1:colon]) and is_literal(words[colon + 1:])
    return bool(words) and words[0][0] == '"' and all(w[0] == '"' or re.fullmatch(r'PRI\w+|[A-Z_]+_HASH', w) for w in words)


def sink_passed(path, source):
    """What a file of src/ or cli/ writes past the sink."""
    bad = []
    words = tokens(source)
    for i, (word, line) in enumerate(words):
        called = i + 1 < len(words) and words[i + 1][0] == '('
        is_member = i and words[i - 1][0] in ('.', '->')
        if word in WRITES and (called or word not in WORDS) and not is_member and not path.startswith(WRITES[word]):
            bad.append(f'line {line}: {word} writes past the sink (src/text)')
        if word in LITERAL and called and i and re.fullmatch(r'[;{}]|\)|else|do', words[i - 1][0]):
            args = arguments(words, i + 1)
            text = args[LITERAL[word]] if len(args) > LITERAL[word] else []
            if not path.startswith('src/text/') and not is_literal(text) and ''.join(text) not in NAMED.get(path, ()):
                bad.append(f'line {line}: {word}() takes text of the program, a literal, not: {" ".join(text)}')
    return bad


# ---- names ----

PREFIX = 'prefix '  # of functions that files share
SHORT = 5  # lines of a static function that may be named like one in another file


def names_defined(source):
    """Tags, prefixes of functions for other files, and static functions of more than SHORT lines, that a file defines: [(name, line)]"""
    words = tokens(source)
    found, depth, start, function = [], 0, 0, None
    for i, (word, line) in enumerate(words):
        if word == '{':
            if words[i - 2][0] in ('struct', 'enum', 'union') and re.fullmatch(r'\w+', words[i - 1][0]):
                found.append((f'{words[i - 2][0]} {words[i - 1][0]}', line))
            elif depth == 0:
                head = re.findall(r'(\w+) \(', ' '.join(w for w, _ in words[start:i]))
                names = [name for name in head if name != '__attribute__' and not name.isupper()]
                is_static = names and words[i - 1][0] == ')' and 'static' in (w for w, _ in words[start:i])
                function = (names[0], words[start][1]) if is_static else None
                if names and not is_static and names[-1].startswith('wsi_'):
                    found.append((PREFIX + re.match('wsi_[a-z0-9]+', names[-1])[0] + '_', words[start][1]))
            depth += 1
        elif word == '}':
            depth -= 1
            if depth == 0 and function and line - function[1] >= SHORT:
                found.append(function)
        if depth == 0 and word in ('}', ';'):
            start, function = i + 1, None
    return found


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else '.'
    uses, room_of = table(root)
    results, defined = [], {}
    for top in ('src', 'cli', 'cuda', 'page', 'examples', 'bench', 'include'):
        for where, _, files in os.walk(os.path.join(root, top)):
            for name in sorted(files):
                if not name.endswith(('.c', '.h')):
                    continue
                path = os.path.relpath(os.path.join(where, name), root)
                folder = folder_of(path, uses, room_of)
                if folder not in uses:
                    results.append((path, [f'folder {folder} has no row in docs/architecture.md']))
                    continue
                with open(os.path.join(root, path), encoding='utf-8') as file:
                    source = file.read()
                bad = sink_passed(path, source) if top in ('src', 'cli', 'cuda', 'page') else []
                for what, number in names_defined(source) if top in ('src', 'cli', 'cuda', 'page') else ():
                    if what.startswith(PREFIX) and name.endswith('.h'):
                        continue  # inline
                    # tags have a name space of their own; a prefix belongs to a room, the floors of sim are one
                    owner = re.sub('^sim/.*', 'sim', folder) if what.startswith(PREFIX) else path
                    first = defined.setdefault((' ' in what, what.split()[-1]), owner)
                    if first != owner:
                        bad.append(f'line {number}: {what} is defined in {first}, too: say whose or what')
                for number, line in enumerate(source.splitlines(), 1):
                    m = re.match(r'\s*#\s*include\s+[<"]([^>"]+)[>"]', line)
                    if '->ops->' in line and folder != 'target':
                        bad.append(f'line {number}: members of a back end are called by the waist (src/target) only')
                    if m and not allowed(path, folder, m.group(1), uses, room_of, root):
                        bad.append(f'line {number}: {folder} may not include {m.group(1)}')
                results.append((path, bad))
    print(f'1..{len(results)}')
    failed = 0
    for number, (path, bad) in enumerate(results, 1):
        print(f'{"not ok" if bad else "ok"} {number} - {path}')
        for line in bad:
            print(f'# {path}: {line}')
        failed += bool(bad)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
