#!/usr/bin/env python3
"""warpscope.html in a headless browser, from file://: what is dropped is shown as the program shows it, and nothing is loaded or sent.
Prints TAP; all is skipped where the browser is not installed.

usage: test_browser.py chromium|firefox WARPSCOPE SOURCE_ROOT PAGE [CASE...]        (PAGE: the folder of `make page`)
"""
import filecmp
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'browser'))
import marionette  # noqa: E402
import webdriver  # noqa: E402

# Has the browser send something to a port by each way that there is, and says which were refused.
SENDS = """
const [port, done] = arguments, refused = new Set(), there = `http://127.0.0.1:${port}/`;
document.addEventListener('securitypolicyviolation', event => refused.add(event.effectiveDirective));
fetch(there).catch(() => {});
const request = new XMLHttpRequest();
request.open('GET', there);
request.onerror = () => {};
request.send();
navigator.sendBeacon(there, 'x');
try { new WebSocket(`ws://127.0.0.1:${port}/`); } catch {}
try { new EventSource(there); } catch {}
new Image().src = there;
const add = (name, what) => document.body.append(Object.assign(document.createElement(name), what));
add('link', { rel: 'stylesheet', href: there });
add('script', { src: there });
add('script', { textContent: 'document.title = "owned"' });
add('iframe', { src: there });
add('video', { src: there });
add('object', { data: there });
setTimeout(() => done(Array.from(refused).sort()), 1500);
"""

# The longest time between two frames from now on.
FRAMES = """
window.longest = 0;
let last = performance.now();
const frame = now => {
  window.longest = Math.max(window.longest, now - last);
  last = now;
  requestAnimationFrame(frame);
};
requestAnimationFrame(frame);
"""
# Whether the last row has these cells.
LAST = """
const row = document.querySelector('#rows > div:last-child');
return Array.from(row.children, e => e.textContent).slice(1, 4).join() === arguments[0].join();
"""
# What a folder gives that is dropped.
DROPS = """
const [texts, done] = arguments;
take(Object.entries(texts).map(([name, text]) => ({ name, file: new File([text], name.split('/').at(-1)), time: 0 }))).then(done);
"""


class Wrong(Exception):
    pass


def same(what, got, expected):
    if got != expected:
        raise Wrong(f'{what}: {got!r}, expected {expected!r}')


def holds(what, text, *parts):
    for part in parts:
        if part not in text:
            raise Wrong(f'{what} is {text[:600]!r}, without {part!r}')


def received(server):
    """What came over all connections so far: Chromium makes some before it asks the policy, and sends nothing."""
    sent = b''
    server.settimeout(1)
    try:
        while True:
            connection = server.accept()[0]
            connection.settimeout(1)
            with connection:
                try:
                    sent += connection.recv(200)
                except TimeoutError:
                    pass
    except TimeoutError:
        return sent


class Cases:
    """Each begins with a page that has nothing open."""

    def __init__(self, browser, program, root, page, folder):
        self.browser, self.program, self.root, self.page, self.folder = browser, program, root, page, folder
        self.dumps = os.path.join(root, 'examples/dumps')

    # ---- what is done ----

    def start(self, width=1280, scheme='light'):
        self.browser.size(width, 900)
        self.browser.media(scheme)
        self.browser.open(self.page)
        self.until('the page is ready', 'return document.body.dataset.ready === "true"')

    def until(self, what, script, *arguments, seconds=30):
        if not webdriver.wait_for(lambda: self.browser.script(script, *arguments), seconds):
            raise Wrong(f'not so after {seconds} s: {what}; the page says {self.browser.text("body")[:800]!r}')

    def settled(self):
        """Nothing is asked any more."""
        self.until('all is answered', 'return waiting.size === 0 && document.getElementById("busy").hidden')

    def choose(self, *paths, field='files'):
        node, before = self.browser.find('#' + field), self.browser.script('return document.body.dataset.taken')
        self.browser.call(f'/element/{node}/value', {'text': '\n'.join(paths)})
        self.until('the files are taken', 'return document.body.dataset.taken !== (arguments[0] ?? undefined)', before, seconds=60)
        self.settled()

    def open_dump(self, name='illegal-address.nvcudmp', **how):
        self.start(**how)
        self.choose(os.path.join(self.dumps, name))

    def view(self, key):
        self.browser.click(f'#tab-{key}')
        self.settled()

    def set(self, field, value):
        self.browser.script('const e = document.querySelector(`#question [name="${arguments[0]}"]`); e.value = arguments[1]', field, value)

    def ask(self, **fields):
        for field, value in fields.items():
            self.set(field, value)
        self.browser.script('document.getElementById("question").requestSubmit()')
        self.settled()

    def native(self, *words, folder=None):
        done = subprocess.run([self.program, *words], cwd=folder or self.dumps, capture_output=True, check=False, text=True,
                              env={**os.environ, 'NO_COLOR': '1', 'LC_ALL': 'C.UTF-8'})
        return done.stdout, done.stderr

    def lines(self):
        """All lines of the answer that shows, by way of the worker."""
        return self.browser.call('/execute/async', {'script': 'call("rows", {from: 0, count: 1e9}).then(a => arguments[0](a.rows.map(r => r.join("\\n"))))',
                                                    'args': []})

    def report(self):
        return self.browser.script('return document.getElementById("frame").srcdoc')

    # ---- the cases ----

    def a_report_shows_within_a_second(self):
        self.start()
        begun = time.monotonic()
        self.choose(os.path.join(self.dumps, 'illegal-address.nvcudmp'))
        took = time.monotonic() - begun
        same('the report', self.report(), self.native('report', 'illegal-address.nvcudmp', '--format', 'html')[0])
        holds('the title', self.browser.script('return document.title'), 'illegal-address.nvcudmp')
        print(f'# {took:.2f} s from the choice to the report')
        if took > 1 and os.cpu_count() > os.getloadavg()[0]:
            raise Wrong(f'{took:.2f} s')

    def the_report_in_the_frame_is_whole_and_works(self):
        self.open_dump()
        same('messages', [m for m in self.browser.messages() if 'error' in m.lower() or 'refused' in m.lower()], [])
        self.browser.call('/frame', {'id': {webdriver.ELEMENT: self.browser.find('#frame')}})
        try:
            holds('the heading', self.browser.text('h1'), 'Illegal memory access in kernel gather_rows')
            same('the look', self.browser.script('return getComputedStyle(document.querySelector(".verdict")).borderLeftWidth'), '6px')
            self.browser.script('document.querySelector(".map svg").focus()')
            holds('what the map tells', self.browser.text('#told'), 'SM')
        finally:
            self.browser.call('/frame', {'id': None})

    def nothing_can_be_sent_or_loaded(self):
        self.open_dump()
        same('loads', self.browser.script('return performance.getEntriesByType("resource").map(e => e.name).filter(n => !n.startsWith("blob:"))'), [])
        with socket.create_server(('127.0.0.1', 0)) as server:
            refused = self.browser.call('/execute/async', {'script': SENDS, 'args': [server.getsockname()[1]]})
            same('what was sent', received(server), b'')
        holds('what was refused', ' '.join(refused), 'connect-src', 'img-src', 'script-src', 'style-src')
        same('the title', self.browser.script('return document.title').startswith('illegal-address'), True)

    def hostile_texts_stay_text(self):
        name = '<img src=x onerror=document.title=`owned`>.nvcudmp'
        path = os.path.join(self.folder, 'hostile.nvcudmp')
        subprocess.run([sys.executable, os.path.join(self.root, 'tests/builders/build.py'), self.folder, 'hostile-names'], check=False,
                       capture_output=True)
        source = os.path.join(self.folder, 'hostile-names.nvcudmp')
        source = source if os.path.exists(source) else os.path.join(self.dumps, 'hang.nvcudmp')
        path = os.path.join(self.folder, name)
        with open(source, 'rb') as of, open(path, 'wb') as to:
            to.write(of.read())
        self.start()
        self.choose(path)
        for key in ('info', 'regs', 'disas', 'check', 'report'):
            self.view(key)
            same(f'images after {key}', self.browser.count('img'), 0)
        holds('the title', self.browser.script('return document.title'), '<img src=x')

    def tables_are_those_of_the_program(self):
        self.open_dump()
        self.view('info')
        self.ask(table='lanes', filter='')
        want = json.loads(self.native('info', 'illegal-address.nvcudmp', 'lanes', 'sm', 'any', 'warp', 'any', 'lane', 'any', '--json', '--wide')[0])
        same('rows', self.browser.script('return rows.count'), len(want['lanes']))
        holds('the shell command', self.browser.text('#command'), 'warpscope info illegal-address.nvcudmp lanes sm any')
        self.browser.script('Array.from(document.querySelectorAll("#head button")).find(b => b.textContent === "lane").click()')
        self.settled()
        same('sorted', self.lines()[0].split('\n')[self.browser.script('return rows.columns.indexOf("lane")')], '0')
        self.browser.script('const e = document.getElementById("sieve"); e.value = "copy_atom illegal"; e.dispatchEvent(new Event("input"))')
        self.until('the filter holds', 'return document.getElementById("count").textContent.includes(" of ")')
        found = sum(1 for lane in want['lanes'] if 'copy_atom' in str(lane['filename']) and 'Illegal' in str(lane['exception']))
        same('filtered', self.browser.script('return rows.count'), found)

    def registers_memory_code_and_check_are_those_of_the_program(self):
        self.open_dump()
        for key, fields, words in (('regs', {}, ('regs', 'illegal-address.nvcudmp')),
                                   ('mem', {'address': 'global:0x7f3a00000000', 'format': '/xw', 'count': '40'}, ('mem', 'illegal-address.nvcudmp', 'global:0x7f3a00000000', '/xw', '40')),
                                   ('disas', {}, ('disas', 'illegal-address.nvcudmp', '--source')),
                                   ('check', {}, ('check', 'illegal-address.nvcudmp', '--limit', '0'))):
            self.view(key)
            if fields:
                self.ask(**fields)
            same(key, '\n'.join(self.lines()) + '\n', self.native(*words)[0])

    def any_command_can_be_given(self):
        self.open_dump()
        self.view('shell')
        self.ask(words='bt FILE --limit 2')
        same('the stack', '\n'.join(self.lines()) + '\n', self.native('bt', 'illegal-address.nvcudmp', '--limit', '2')[0])
        self.ask(words='regz FILE')
        holds('what it says', self.browser.text('#said'), "unknown verb 'regz'")

    def packed_dumps_and_code_are_opened(self):
        import gzip
        with open(os.path.join(self.dumps, 'hang.nvcudmp'), 'rb') as file:
            content = file.read()
        packed = os.path.join(self.folder, 'packed.nvcudmp.gz')
        with gzip.open(packed, 'wb') as file:
            file.write(content)
        self.start()
        self.choose(packed)
        same('the packed report', self.report(), self.native('report', 'packed.nvcudmp.gz', '--format', 'html', folder=self.folder)[0])
        for path in ('tests/data/cubins/deep.li.sm_90.cubin', 'tests/data/fatbins/bare.li.zstd.fatbin'):
            self.start()
            self.choose(os.path.join(self.root, path))
            where, name = os.path.split(os.path.join(self.root, path))
            same(f'images of {name}', '\n'.join(self.lines()) + '\n', self.native('info', name, folder=where)[0])
            self.view('code')
            same(f'code of {name}', '\n'.join(self.lines()) + '\n', self.native('disas', name, '--source', folder=where)[0])

    def bad_input_is_refused_in_the_programs_words(self):
        path = os.path.join(self.folder, 'notes.txt')
        with open(path, 'w', encoding='utf-8') as file:
            file.write('no dump at all\n')
        self.start()
        self.choose(path)
        same('what it says', self.browser.text('#said').strip(), self.native('info', 'notes.txt', folder=self.folder)[1].strip())

    def a_folder_of_dumps_is_triaged(self):
        folder = os.path.join(self.folder, 'job')
        os.makedirs(folder)
        names = ('illegal-address.nvcudmp', 'hang.nvcudmp', 'exited.nvcudmp')
        for name in names:
            with open(os.path.join(self.dumps, name), 'rb') as of, open(os.path.join(folder, name), 'wb') as to:
                to.write(of.read())
        self.start()
        self.choose(*(os.path.join(folder, name) for name in names))
        same('the triage', self.report(), self.native('triage', '--format', 'html', *names, folder=folder)[0])
        self.browser.script('const e = document.getElementById("dumps"); e.value = "hang.nvcudmp"; e.dispatchEvent(new Event("change"))')
        self.settled()
        same('one of them', self.report(), self.native('report', 'hang.nvcudmp', '--format', 'html', folder=folder)[0])

    def sources_that_are_dropped_are_shown(self):
        self.open_dump()
        before, where, texts = self.report(), os.path.join(self.folder, 'sourced'), {}
        os.makedirs(where)
        shutil.copy(os.path.join(self.dumps, 'illegal-address.nvcudmp'), where)
        for name in ('kernels/deep.cu', 'kernels/include/cute/atom/copy_atom.hpp'):
            os.makedirs(os.path.join(where, os.path.dirname(name)), exist_ok=True)
            shutil.copy(os.path.join(self.root, 'tests', name), os.path.join(where, name))
            with open(os.path.join(where, name), encoding='utf-8') as file:
                texts[name] = file.read()
        self.browser.call('/execute/async', {'script': DROPS, 'args': [texts]})
        self.settled()
        if before == self.report():
            raise Wrong('the report is the same')
        same('the report with sources', self.report(), self.native('report', 'illegal-address.nvcudmp', '--format', 'html', '--source-dir', 'kernels',
                                                                    folder=where)[0])

    def a_copy_that_is_safe_to_share_is_saved(self):
        self.open_dump()
        self.browser.save_to(self.folder)
        self.browser.click('#share')
        made, want = (os.path.join(self.folder, name) for name in ('illegal-address.safe.nvcudmp', 'want.nvcudmp'))
        self.native('strip', 'illegal-address.nvcudmp', '--for-issue', '-o', want)
        if not webdriver.wait_for(lambda: os.path.exists(made) and filecmp.cmp(made, want, shallow=False), 20):
            raise Wrong(f'it is not saved, or differs; the page says {self.browser.text("#state")!r}')
        holds('what is said', self.browser.text('#state'), 'first line of the report: the same')

    def long_work_can_be_cancelled(self):
        self.open_dump()
        self.browser.script('call("ask", {words: ["report", "illegal-address.nvcudmp"], as: "text"}).catch(() => document.body.dataset.stopped = "true");'
                            'document.getElementById("cancel").onclick()')
        self.until('what was asked is given up', 'return document.body.dataset.stopped === "true"')
        self.settled()
        self.view('check')
        same('afterwards', '\n'.join(self.lines()) + '\n', self.native('check', 'illegal-address.nvcudmp', '--limit', '0')[0])

    def keys_reach_and_choose_the_views(self):
        self.open_dump()
        self.browser.script('document.getElementById("tab-report").focus()')
        self.browser.press('right')
        self.settled()
        same('the view', self.browser.script('return [current.key, document.activeElement.id]'), ['info', 'tab-info'])
        self.browser.press('end')
        self.settled()
        same('the last', self.browser.script('return current.key'), 'shell')

    def a_phone_shows_all_without_scrolling_sideways(self):
        self.open_dump(width=390)
        for key in ('report', 'info', 'regs', 'mem', 'disas', 'check', 'shell'):
            self.view(key)
            same(f'the tab {key} has one line', self.browser.script('return document.getElementById(arguments[0]).offsetHeight < 40', f'tab-{key}'), True)
            same(f'{key} is wider than the screen', self.browser.script('return document.documentElement.scrollWidth > innerWidth'), False)

    def dark_is_dark(self):
        grounds = []
        for scheme in ('light', 'dark'):
            self.start(scheme=scheme)
            grounds.append(self.browser.script('return getComputedStyle(document.body).backgroundColor'))
        same('grounds', grounds, ['rgb(255, 255, 255)', 'rgb(20, 23, 27)'])

    def paper_has_the_answer(self):
        self.open_dump()
        self.browser.script('window.print = () => { document.body.dataset.printed = "true"; }')
        self.browser.click('#print')
        self.until('it prints', 'return document.body.dataset.printed === "true"')
        self.browser.media(kind='print')
        webdriver.wait_for(lambda: self.browser.script('return getComputedStyle(document.getElementById("paper")).display') == 'block')
        same('paper', self.browser.script('return document.getElementById("paper").textContent'),
             self.native('report', 'illegal-address.nvcudmp', '--format', 'text')[0])
        same('the tabs on paper', self.browser.script('return document.getElementById("tabs").checkVisibility()'), False)

    def a_dump_of_60_gigabytes_opens(self):
        path = os.path.join(self.folder, 'sparse.nvcudmp')
        subprocess.run([sys.executable, os.path.join(self.root, 'bench/gen_huge.py'), '--sparse', '60', '--busy-sms', '4', path], check=True,
                       stdout=subprocess.DEVNULL)
        self.start()
        self.choose(path)
        same('the report', self.report(), self.native('report', 'sparse.nvcudmp', '--format', 'html', folder=self.folder)[0])
        os.unlink(path)

    def all_lanes_of_a_gpu_do_not_freeze_the_page(self):
        path = os.path.join(self.folder, 'full.nvcudmp')
        subprocess.run([sys.executable, os.path.join(self.root, 'bench/gen_huge.py'), path], check=True, stdout=subprocess.DEVNULL)
        self.start()
        self.choose(path)
        self.browser.script(FRAMES)
        self.view('info')
        begun = time.monotonic()
        self.set('table', 'lanes')
        self.browser.script('document.getElementById("question").requestSubmit()')
        self.until('the lanes show', 'return rows?.columns.includes("lane") && waiting.size === 0', seconds=120)
        print(f'# {time.monotonic() - begun:.1f} s until {self.browser.script("return rows.count")} lanes show')
        same('lanes', self.browser.script('return rows.count'), 132 * 64 * 32)
        self.browser.script('document.getElementById("scroll").scrollTop = 1e9')
        self.until('the last row shows', LAST, ['131', '63', '31'])
        same('rows in the page', self.browser.count('#rows > div') < 100, True)
        longest = self.browser.script('return window.longest')
        print(f'# {longest:.0f} ms at most between two frames')
        if longest > 1000:
            raise Wrong(f'the page stood still for {longest:.0f} ms')

    def a_browser_without_wasm_is_told(self):
        self.browser.wasm(False)
        try:
            self.browser.open(self.page)
            self.until('it is told', 'return document.getElementById("state").textContent.includes("This browser has no WebAssembly")')
        finally:
            self.browser.wasm(True)


def main():
    kind = {'chromium': webdriver, 'firefox': marionette}[sys.argv[1]]
    program, root, page = (os.path.abspath(path) for path in sys.argv[2:5])
    html = os.path.join(page, 'warpscope.html')
    missing = kind.missing() or (None if os.path.exists(html) else f'no {html}: make page')
    if missing:
        print(f'1..0 # SKIP {missing}')
        return 0
    names = [name for name, value in vars(Cases).items() if value.__doc__ is None and not name.startswith('_')]
    names = names[names.index('a_report_shows_within_a_second'):]
    chosen = sys.argv[5:] or names
    failed = 0
    print(f'1..{len(chosen)}')
    with tempfile.TemporaryDirectory() as folder:
        browser = kind.Browser(os.path.join(folder, 'profile'))
        try:
            cases = Cases(browser, program, root, html, folder)
            for number, name in enumerate(chosen, 1):
                try:
                    getattr(cases, name)()
                    print(f'ok {number} - {name.replace("_", " ")}', flush=True)
                except (Wrong, OSError) as why:
                    failed += 1
                    print(f'not ok {number} - {name.replace("_", " ")}', *('# ' + line for line in str(why)[:1500].splitlines()), sep='\n', flush=True)
        finally:
            browser.close()
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
