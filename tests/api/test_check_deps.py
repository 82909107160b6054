#!/usr/bin/env python3
"""The check of the folders can fail: each planted line is found, its harmless neighbour is not. Prints TAP.

usage: test_check_deps.py SOURCE_ROOT
"""
import os
import shutil
import subprocess
import sys
import tempfile

# (file, line of C, whether it is refused)
CASES = (
    ('src/render/x.c', '#include "report/build.h"', False),
    ('src/report/x.c', '#include "render/page.h"', True),
    ('src/explain/findings/x.c', '#include "report/build.h"', False),
    ('src/report/x.c', '#include "explain/explain.h"', True),
    ('src/base/x.c', '#include <linux/openat2.h>', False),
    ('src/target/dump/x.c', '#include <linux/openat2.h>', True),
    ('src/line/x.c', '#include <warpscope/line.h>', False),
    ('src/line/x.c', '#include <warpscope/target.h>', True),
    ('src/render/x.c', '#include <warpscope/write.h>', True),
    ('src/target/api/x.c', '#include <warpscope/cudadebugger.h>', False),
    ('include/warpscope/line.h', '#include <warpscope/base.h>', False),
    ('include/warpscope/line.h', '#include <warpscope/cubin.h>', True),
    ('include/warpscope/line.h', '#include "base/base.h"', True),
    ('cli/x.c', '#include <warpscope/report.h>', False),
    ('cli/x.c', 'void f(const char *s) { printf("%s", s); }', True),
    ('cli/x.c', 'void f(const char *s) { fputs(s, stderr); }', True),
    ('cli/x.c', 'void f(const char *s) { fwrite(s, 1, 2, stdout); }', True),
    ('cli/x.c', 'void f(const char *s) { (void)write(2, s, 3); }', True),
    ('cli/x.c', 'int (*p)(const char *, FILE *) = fputs;', True),
    ('cli/x.c', 'void f(void) { perror("x"); }', True),
    ('cli/x.c', 'void f(struct ws_out *out, int *fd) { ws_out_init(out, ws_write_fd, fd); }', True),
    ('cli/x.c', 'void f(struct ws_out *out, const char *s) { ws_out_bytes(out, s, 3); }', True),
    ('cli/x.c', 'void f(struct ws_out *out, const char *s) { ws_out_text(out, s); }', True),
    ('cli/x.c', 'void f(struct ws_out *out, const char *s) { ws_out_text(out, *s ? ", " : s); }', True),
    ('cli/x.c', 'void f(struct ws_out *out, const char *s) { ws_out_printf(out, s); }', True),
    ('cli/x.c', 'void f(const char *s) { cli_warn(s); }', True),
    ('src/render/x.c', 'void f(struct wsi_page *p, const char *s) { wsi_html_raw(p, s); }', True),
    ('src/render/x.c', 'void f(struct wsi_page *p, const char *s) { wsi_say(p, s); }', True),
    ('src/render/x.c', 'void f(struct wsi_page *p, const char *s) { wsi_render_run(p, WSI_CODE, s); }', True),
    ('src/render/x.c', 'void f(struct wsi_page *p, const char *s) { wsi_render_run(p, WSI_CODE, "%s", s); }', False),
    ('src/render/x.c', 'void f(struct wsi_page *p, const char *s) { wsi_label(p, s); }', True),
    ('cli/x.c', '/* printf("%s", s); */', False),
    ('cli/x.c', 'const char *s = "printf(stderr)";', False),
    ('cli/x.c', 'void f(struct puts *puts) { puts->write(1); }', False),
    ('cli/x.c', 'void f(struct ws_out *out, int a) { ws_out_text(out, a ? a > 1 ? "x" : "," : "a" "b"); }', False),
    ('cli/x.c', 'void f(struct ws_out *out, const char *s) { ws_out_printf(out, "%s" "\\n", s); }', False),
    ('src/cudbg/x.c', 'bool f(const struct ws_target *t) { return t->ops->step; }', True),
    ('src/target/x.c', 'bool f(const struct ws_target *t) { return t->ops->step; }', False),
    ('src/target/dump/x.c', 'bool f(const struct ws_target *t) { return t->ops->step; }', True),
    ('src/text/x.c', 'void f(struct ws_out *out, const char *s) { ws_out_bytes(out, s, 3); }', False),
    ('src/sim/exec/x.c', '#include "sim/check/check.h"', False),
    ('src/sim/check/x.c', '#include "sim/exec/exec.h"', True),
    ('src/sim/device/x.c', '#include "sim/event/event.h"', True),
    ('src/sim/exec/x.c', '#include "sim/debug/debug.h"', True),
    ('src/sim/debug/x.c', '#include "sim/history/history.h"', True),
    ('cuda/agent/x.c', '#include "driver/wire.h"', False),
    ('cuda/agent/x.c', '#include "driver/driver.h"', True),
    ('cuda/driver/x.c', '#include <warpscope/report.h>', True),
    ('cuda/runtime/x.c', 'void f(const char *s) { printf("%s", s); }', True),
    ('cli/x.c', 'struct taken { int x; };', True),
    ('cli/x.c', 'struct own { int x; };', False),
    ('cli/x.c', 'static void find(void)\n{\n\tf();\n\tf();\n\tf();\n}', True),
    ('cli/x.c', 'static void find(void)\n{\n\tf();\n\tf();\n}', False),
    ('cli/x.c', 'void wsi_near_end(void)\n{\n}', True),
    ('src/base/x.c', 'void wsi_near_end(void)\n{\n}', False),
)

NEIGHBOUR = 'struct taken { int x; };\nstatic void find(void)\n{\n\tf();\n\tf();\n\tf();\n}\nvoid wsi_near_by(void)\n{\n}\n'  # a file of src/base


def refused(root, path, line):
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(os.path.join(folder, 'docs'))
        shutil.copy(os.path.join(root, 'docs/architecture.md'), os.path.join(folder, 'docs'))
        os.makedirs(os.path.join(folder, 'src/base'))
        with open(os.path.join(folder, 'src/base/neighbour.c'), 'w', encoding='utf-8') as file:
            file.write(NEIGHBOUR)
        os.makedirs(os.path.join(folder, os.path.dirname(path)), exist_ok=True)
        with open(os.path.join(folder, path), 'w', encoding='utf-8') as file:
            file.write('/* one file */\n' + line + '\n')
        done = subprocess.run([sys.executable, os.path.join(root, 'tools/check-deps.py'), folder], capture_output=True,
                              text=True, check=False, timeout=60)
    return done.returncode == 1 and f'# {path}: line 2: ' in done.stdout, done.stdout


def main():
    root = sys.argv[1]
    print(f'1..{len(CASES)}')
    failed = 0
    for number, (path, line, expected) in enumerate(CASES, 1):
        got, output = refused(root, path, line)
        failed += got != expected
        print(f'{"ok" if got == expected else "not ok"} {number} - {"refused" if expected else "allowed"} in {path}: '
              f'{" ".join(line.replace("#", "").split())}')
        if got != expected:
            print('# ' + output.strip().replace('\n', '\n# '))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
