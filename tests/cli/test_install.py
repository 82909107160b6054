#!/usr/bin/env python3
"""An installed Warpscope works from where it was put. Prints TAP.

usage: test_install.py BUILD SOURCE_ROOT SANITIZER CC...        SANITIZER: as Meson's b_sanitize

Installs into an empty DESTDIR, then: the program runs, a C program builds with pkg-config alone and runs, with the shared
library and with the static one, the manual pages are there. What has the name of a vendor's library is found by nobody
who does not ask for it.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM = r'''
#include <stdio.h>
#include <warpscope/verbs.h>

int main(int argc, char **argv)
{
	const struct ws_report *report;
	struct ws_error err;
	if (argc != 2 || ws_report_create_from_file(argv[1], NULL, &report, &err) != WS_OK)
		return 1;
	printf("%s\n", report->summary);
	ws_report_destroy(report);
	return 0;
}
'''
PROJECT = '''
cmake_minimum_required(VERSION 3.18)
project(one C)
find_package(Warpscope 0.1 REQUIRED)
add_executable(one one.c)
target_link_libraries(one PRIVATE Warpscope::warpscope)
'''


def run(command, **more):
    return subprocess.run(command, capture_output=True, check=False, text=True, **more)


def find(root, name):
    return [os.path.join(where, name) for where, _, files in os.walk(root) if name in files]


def flags_of(root, *what):
    pc = find(root, 'warpscope.pc')
    environment = {**os.environ, 'PKG_CONFIG_PATH': os.path.dirname((pc or ['/'])[0]), 'PKG_CONFIG_SYSROOT_DIR': root}
    return run(['pkg-config', *what, 'warpscope'], env=environment)


def use(root, folder, cc, dump, static):
    """Builds PROGRAM with what pkg-config says, and runs it."""
    flags = flags_of(root, '--cflags', *(['--static'] if static else []), '--libs')
    if flags.returncode:
        return flags.stderr
    source, program = os.path.join(folder, 'one.c'), os.path.join(folder, 'one')
    with open(source, 'w', encoding='utf-8') as out:
        out.write(PROGRAM)
    done = run([*cc, source, *(['-static'] if static else []), '-o', program, *flags.stdout.split()])
    missing = re.search(r'cannot find (-l(?!warpscope)\S+)', done.stderr)
    if static and missing:
        return f'SKIP no static library for {missing[1].rstrip(":")}'
    if done.returncode:
        return done.stderr
    # the loader must find the shared library where pkg-config found it, and needs nothing for the static one
    folder = flags_of(root, '--variable=libdir').stdout.strip()
    environment = {name: value for name, value in os.environ.items() if name != 'LD_LIBRARY_PATH'}
    done = run([program, dump], env=environment if static else {**environment, 'LD_LIBRARY_PATH': folder})
    return None if done.stdout.startswith('Illegal memory access') else done.stderr or 'no output'


def use_cmake(root, libdir, folder, cc, dump):
    """The same with CMake, which finds the package below the root; and no other version of it."""
    cmake = shutil.which('cmake')
    if not cmake:
        return 'SKIP no cmake'
    own = cc[os.path.basename(cc[0]) == 'ccache':]  # which CMake takes for the compiler
    project = os.path.join(folder, 'project')
    os.mkdir(project)
    for wanted in ('99.0', '0.1'):
        for name, text in (('one.c', PROGRAM), ('CMakeLists.txt', PROJECT.replace('0.1', wanted))):
            with open(os.path.join(project, name), 'w', encoding='utf-8') as out:
                out.write(text)
        configured = run([cmake, '-S', project, '-B', os.path.join(project, wanted), f'-DWarpscope_DIR={root}{libdir}/cmake/Warpscope',
                          f'-DCMAKE_C_COMPILER={own[0]}', '-DCMAKE_C_FLAGS=' + ' '.join(own[1:])])
        if (configured.returncode == 0) != (wanted == '0.1'):
            return f'{wanted}: {configured.stdout}{configured.stderr}'
    built = run([cmake, '--build', os.path.join(project, '0.1')])
    done = run([os.path.join(project, '0.1', 'one'), dump]) if built.returncode == 0 else built
    return None if done.stdout.startswith('Illegal memory access') else built.stdout + built.stderr + done.stderr


def default_libdir(source):
    """Not Meson's guess, which is lib64 on some systems: nothing looks there below /usr/local."""
    done = run(['meson', 'introspect', '--buildoptions', os.path.join(source, 'meson.build')])
    if done.returncode:
        return done.stderr
    value = next(option['value'] for option in json.loads(done.stdout) if option['name'] == 'libdir')
    return None if value == 'lib' else f'libdir is {value}'


def files_below(*folders):
    return sorted(os.path.join(where, name) for folder in folders for where, _, names in os.walk(folder) for name in names)


def of_a_vendor(path):
    """Whether a library has a name that is one of NVIDIA's: libcuda, libcudart, libnv..."""
    return re.match(r'lib(cu|nv)[^/]*\.(so|a)\b', os.path.basename(path))


def test_names(root, libdir):
    """Such libraries lie in one folder of ours."""
    here = os.path.join(root + libdir, 'warpscope', 'software-gpu')
    found = [path for path in files_below(root) if of_a_vendor(path)]
    bad = [path for path in found if os.path.dirname(path) != here]
    missing = {'libcuda.so.1', 'libcudart.so.12', 'libcudart.so.13'} - {os.path.basename(path) for path in found}
    return f'elsewhere {bad}, missing {missing}' if bad or missing else None


def test_settings(root):
    """Nothing is installed that tells a loader or a shell of a folder."""
    bad = [path for path in files_below(root) if '/etc/' in path[len(root):] or re.search(r'ld\.so|profile|environment', path[len(root):])]
    return f'{bad}' if bad else None


def test_cache(root, libdir, cc):
    """What the loader of libraries would find if all its folders, those of this machine and those of others, were below the root."""
    ldconfig = shutil.which('ldconfig', path=os.environ.get('PATH', '') + ':/usr/sbin:/sbin')
    if not ldconfig:
        return 'SKIP no ldconfig'
    multiarch = run([*cc, '-print-multiarch']).stdout.strip()
    folders = {libdir} | {f'{prefix}/{lib}' for prefix in ('', '/usr', '/usr/local') for lib in ('lib', 'lib64', f'lib/{multiarch}')}
    folders |= {line.split(':')[0] for line in run([ldconfig, '-N', '-X', '-v']).stdout.splitlines() if line.startswith('/')}
    os.makedirs(os.path.join(root, 'etc'))
    with open(os.path.join(root, 'etc', 'folders'), 'w', encoding='utf-8') as out:
        out.write(''.join(folder + '\n' for folder in sorted(folders)))
    made = run([ldconfig, '-r', root, '-X', '-f', '/etc/folders', '-C', '/etc/cache'])
    known = run([ldconfig, '-r', root, '-C', '/etc/cache', '-p']).stdout
    shutil.rmtree(os.path.join(root, 'etc'))
    names = [line.split()[0] for line in known.splitlines() if '=>' in line]
    if not any(name.startswith('libwarpscope.so') for name in names):
        return f'even libwarpscope is not found: {made.stderr}{known}'
    bad = [name for name in names if of_a_vendor(name)]
    return f'{bad}' if bad else None


def test_exec(root, libdir, program, folder):
    """`exec --software-gpu` has the program look there, and nobody else."""
    gpu = os.path.join(root + libdir, 'warpscope', 'software-gpu')
    home = os.path.join(folder, 'home')
    os.mkdir(home)
    before = files_below(root, home)
    script = '"$0" exec --software-gpu -- sh -c \'echo "${LD_LIBRARY_PATH-none}"\'; echo "${LD_LIBRARY_PATH-none}"'
    for path, wanted in ((None, [gpu, 'none']), ('/one:/other', [gpu + ':/one:/other', '/one:/other'])):
        environment = {name: value for name, value in os.environ.items() if name != 'LD_LIBRARY_PATH'}
        environment.update({'HOME': home}, **({'LD_LIBRARY_PATH': path} if path else {}))
        done = run(['sh', '-c', script, program], env=environment, cwd=home)
        said = [':'.join(os.path.normpath(part) for part in line.split(':')) for line in done.stdout.splitlines()]
        if said != wanted:
            return f'{said}, wanted {wanted}: {done.stderr}'
    left = [path for path in files_below(root, home) if path not in before and not path.startswith(home + '/warpscope-dumps/')]
    return f'left {left}' if left else None


def test_pointers(root, program):
    """Files that the help and the manual pages name are installed; no other is named."""
    verbs = re.findall(r'^  ([a-z]+) ', run([program, 'help']).stdout, re.MULTILINE)
    texts = {verb: run([program, 'help', verb]).stdout for verb in ['options', *verbs]}
    for page in files_below(root):
        if re.search(r'/man1/[^/]+\.1$', page):
            with open(page, encoding='utf-8') as text:
                texts[os.path.basename(page)] = re.sub(r'\\(.)', r'\1', text.read().replace('\\&', ''))
    prefix = os.path.dirname(os.path.dirname(program))
    named = [(name, path) for name, text in texts.items() for path in re.findall(r'(?<![\w/.])(?:docs|examples|data|tests|tools|share)/[\w./-]*\w', text)]
    gone = [pointer for pointer in named if not os.path.exists(os.path.join(prefix, pointer[1]))]
    return f'{gone}' if gone else None if len(named) >= 3 else f'only {named}'


def test_examples(root, program, cc, folder):
    """The example dumps open beside their sources, and an example builds."""
    where = os.path.join(os.path.dirname(os.path.dirname(program)), 'share/doc/warpscope/examples')
    done = run([program, '--source-map', f'/src/ws/tests/kernels={where}/kernels', os.path.join(where, 'dumps', 'illegal-address.nvcudmp')])
    if not re.search(r'\n +> +18  ', done.stdout):
        return f'no source line: {done.stdout[-2000:]}{done.stderr}'
    flags = flags_of(root, '--cflags', '--libs').stdout.split()
    done = run([*cc, os.path.join(where, '01-open.c'), '-o', os.path.join(folder, 'example'), *flags])
    return done.stderr if done.returncode else None


def main():
    build, source, sanitizer, cc = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
    results = []
    with tempfile.TemporaryDirectory() as folder:
        root = os.path.join(folder, 'root')
        done = run(['meson', 'install', '-C', build, '--no-rebuild', '--destdir', root])
        results.append(('install into DESTDIR', done.stderr if done.returncode else None))
        results.append(('libraries go to lib below the prefix', default_libdir(source)))
        program = next((path for path in find(root, 'warpscope') if os.access(path, os.X_OK)), '/nonexistent')
        dump = os.path.join(source, 'examples/dumps/exited.nvcudmp')
        done = run([program, dump])
        results.append(('the program runs', None if done.stdout.startswith('Illegal memory access') else done.stderr))
        libdir = flags_of(root, '--variable=libdir').stdout.strip()[len(root):]
        results.append(('what has the name of a vendor lies in a folder of ours', test_names(root, libdir)))
        results.append(('nothing is installed that tells where libraries are', test_settings(root)))
        results.append(('the loader finds our library, and none with the name of a vendor', test_cache(root, libdir, cc)))
        results.append(('exec has its program look in that folder, and nobody else', test_exec(root, libdir, program, folder)))
        results.append(('what help and manual pages name is installed', test_pointers(root, program)))
        cc += [] if sanitizer == 'none' else ['-fsanitize=' + sanitizer]
        results.append(('a C program with the shared library', use(root, folder, cc, dump, False)))
        results.append(('a C program with CMake', use_cmake(root, libdir, folder, cc, dump)))
        results.append(('a C program with the static library, and nothing shared', 'SKIP a sanitizer needs the loader'
                        if sanitizer != 'none' else use(root, folder, cc, dump, True)))
        results.append(('the examples are installed and work', test_examples(root, program, cc, folder)))
        headers = [name for name in os.listdir(os.path.join(source, 'include', 'warpscope')) if name.endswith('.h')] + ['cudadebugger.h']
        results.append(('every public header is there', str([name for name in headers if not find(root, name)] or '') or None))
        pages = [name[:-4] for name in os.listdir(os.path.join(source, 'docs/man')) if name.endswith('.scd')]
        missing = [page for page in pages if not find(root, page)]
        shells = ('bash-completion/completions/warpscope', 'zsh/site-functions/_warpscope', 'fish/vendor_completions.d/warpscope.fish')
        share = os.path.join(os.path.dirname(os.path.dirname(program)), 'share')
        results.append(('completions lie where shells look', str([name for name in shells if not os.path.isfile(os.path.join(share, name))] or '') or None))
        batch, questions = (find(root, name) for name in ('triage.sbatch', 'triage.sql'))
        results.append(('the batch script can be run, and the questions lie beside it',
                        None if batch and os.access(batch[0], os.X_OK) and questions else f'{batch} {questions}'))
        of_functions = run([sys.executable, os.path.join(source, 'tools/man3.py')]).stdout.split()
        missing += [page for page in of_functions if not find(root, page)]
        if shutil.which('scdoc'):
            results.append(('all manual pages are there', f'not {missing}' if missing or not pages or len(of_functions) < 20 else None))
        else:
            results.append(('all manual pages are there', 'SKIP scdoc is not installed'))
    print(f'1..{len(results)}')
    failed = 0
    for number, (name, problem) in enumerate(results, 1):
        if problem and problem.startswith('SKIP'):
            print(f'ok {number} - {name} # {problem}')
            continue
        failed += problem is not None
        print(f'{"not ok" if problem is not None else "ok"} {number} - {name}')
        for line in (problem or '').splitlines()[:10]:
            print(f'# {line}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
