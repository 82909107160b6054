#!/usr/bin/env python3
"""The HTML page in headless Chromium: clicks and keys, light and dark, without scripts, narrow, hostile texts.
Prints TAP; all is skipped where chromium or chromium-driver is not installed.

usage: test_page.py PLANTED_REPORT WARPSCOPE SOURCE_ROOT
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import webdriver  # noqa: E402


class Wrong(Exception):
    pass


def same(what, got, expected):
    if got != expected:
        raise Wrong(f'{what}: {got!r}, expected {expected!r}')


def holds(what, text, *parts):
    for part in parts:
        if part not in text:
            raise Wrong(f'{what} is {text!r}, without {part!r}')


class Cases:
    """Each opens its own page in the one browser."""

    def __init__(self, browser, pages):
        self.browser, self.pages = browser, pages

    def open(self, name, width=1280, scheme='light', scripts=True):
        self.browser.size(width, 900)
        self.browser.media(scheme)
        self.browser.scripts(scripts)
        self.browser.open(self.pages[name])

    def nothing_is_refused_or_wrong(self):
        for name in self.pages:
            self.open(name)
            same(f'messages of {name}', self.browser.messages(), [])
            loaded = self.browser.script('return performance.getEntriesByType("resource").map(e => e.name)')
            same(f'loads of {name}', loaded, [])

    def hostile_texts_stay_text(self):
        self.open('hostile')
        if self.browser.script('return document.title') == 'owned':
            raise Wrong('a script of the dump ran')
        same('images', self.browser.count('img'), 0)
        holds('the heading', self.browser.text('h1'), "<script>document.title='owned'</script>")

    def a_click_opens_the_lanes(self):
        self.open('planted')
        row = '.lanes tbody tr'
        if self.browser.script('return document.querySelector(arguments[0]).checkVisibility()', row):
            raise Wrong('the lanes are open before the click')
        self.browser.click('#access details > summary')
        if not self.browser.script('return document.querySelector(arguments[0]).checkVisibility()', row):
            raise Wrong('the click opened nothing')
        same('lanes', self.browser.count(row), 32)
        same('suspects', self.browser.count(row + '.bad'), 29)

    def keys_open_a_frame(self):
        self.open('fault')
        self.browser.script('document.querySelector("#stack details:not([open]) > summary").focus()')
        before = self.browser.count('#stack details[open]')
        self.browser.press('enter')
        same('open frames', self.browser.count('#stack details[open]'), before + 1)

    def the_user_frame_is_open_and_its_lines_are_counted(self):
        self.open('fault')
        holds('the open frame', self.browser.text('#stack .user summary'), 'deep.cu:18')
        holds('the line', self.browser.text('#stack .user tr.here'), '128', '18', 'cute::copy<WIDTH>(atom)')

    def a_click_on_the_map_tells_the_warp_and_chooses_its_place(self):
        self.open('planted')
        view = self.browser.script('const v = document.querySelector(".map svg").viewBox.baseVal;'
                                   'return [v.width, v.y, v.height]')
        self.browser.click_at('.map svg', 2.5 / view[0], (1.5 - view[1]) / view[2])
        holds('what is told', self.browser.text('#told'), 'SM 2, slot 1: faulted', 'scale.cu:12', 'block (4,0,0)')
        same('chosen rows', self.browser.script('return Array.from(document.querySelectorAll("#groups tr.chosen"), '
                                                'r => r.dataset.group)'), ['0'])
        same('cells shown', self.browser.script('return document.querySelector(".map .shown").getAttribute("d")'),
             'M2 1v1')

    def arrow_keys_walk_the_map(self):
        self.open('planted')
        self.browser.script('document.querySelector(".map svg").focus()')
        holds('at first', self.browser.text('#told'), 'SM 0, slot 0')
        self.browser.press('right', 'right', 'down')
        holds('after three keys', self.browser.text('#told'), 'SM 2, slot 1: faulted')
        self.browser.press('end', 'right', 'down')
        holds('at the edge', self.browser.text('#told'), 'SM 15, slot 2')

    def everything_that_acts_is_reached_by_the_tab_key(self):
        self.open('planted')
        seen = set()
        for _ in range(60):
            self.browser.press('tab')
            seen.add(self.browser.script('const e = document.activeElement; return e.id || e.className.baseVal || '
                                         'e.className || e.tagName'))
        for needed in ('low', 'filter', 'SUMMARY', 'wide tall'):
            if needed not in seen:
                raise Wrong(f'{needed!r} is not among {sorted(map(str, seen))}')

    def a_row_marks_its_warps(self):
        self.open('planted')
        self.browser.click('#groups tbody tr:nth-child(3) td')
        path = self.browser.script('return document.querySelector(".map .shown").getAttribute("d")')
        same('warps at the barrier', path.count('M'), 19)
        self.browser.click('#groups tbody tr:nth-child(3) td')
        same('marks after a second click', self.browser.count('#groups tr.chosen'), 0)

    def the_filter_hides_rows(self):
        self.open('planted')
        self.browser.script('document.getElementById("filter").focus()')
        self.browser.press(*'barrier')
        same('rows left', self.browser.script('return Array.from(document.querySelectorAll("#groups tbody tr"))'
                                              '.filter(r => r.checkVisibility()).length'), 1)
        same('the count', self.browser.text('#filtered'), '1 of 4 places')

    def blocks_tell_their_coordinates(self):
        self.open('planted')
        self.browser.click_at('.blocks svg', 4.5 / 48, .5)
        holds('the block', self.browser.text('.blocks .told'), 'block (4,0,0): faulted')

    def dark_is_dark(self):
        grounds = []
        for scheme in ('light', 'dark'):
            self.open('planted', scheme=scheme)
            grounds.append(self.browser.script('return getComputedStyle(document.body).backgroundColor'))
        same('grounds', grounds, ['rgb(255, 255, 255)', 'rgb(20, 23, 27)'])

    def without_scripts_the_page_reads(self):
        self.open('planted', scripts=False)
        self.browser.scripts(True)  # the driver's own questions need them; the page's script did not run
        text = self.browser.text('body')
        holds('the page', text, 'scale_rows', 'STG.E', 'compute-sanitizer', '20 bytes past the end', 'errorpc')
        same('the filter', self.browser.script('return document.querySelector(".tools").hidden'), True)
        if self.browser.count('.map path') < 4 or self.browser.count('.map .cursor'):
            raise Wrong('no map, or a script ran')

    def no_width_makes_the_page_scroll_sideways(self):
        for name in self.pages:
            for width in (360, 800, 1280, 2000):
                self.open(name, width=width)
                wide = self.browser.script('return document.documentElement.scrollWidth')
                if wide > width:
                    raise Wrong(f'{name} is {wide} wide in a window of {width}')


def build_pages(folder, planted, warpscope, root):
    pages = {name: os.path.join(folder, name + '.html') for name in ('planted', 'hostile', 'large', 'fault', 'hang')}
    for name in ('planted', 'hostile', 'large'):
        with open(pages[name], 'wb') as out:
            subprocess.run([planted, 'html', name], stdout=out, check=True)
    for name, dump in (('fault', 'illegal-address'), ('hang', 'hang')):
        subprocess.run([warpscope, 'report', '--format', 'html', '--source-map', f'/src/ws={root}', '-o', pages[name],
                        f'{root}/examples/dumps/{dump}.nvcudmp'], check=True)
    return pages


def main():
    names = [name for name in vars(Cases) if not name.startswith('_') and name != 'open']
    print(f'1..{len(names)}')
    reason = webdriver.missing()
    if reason:
        for number, name in enumerate(names, 1):
            print(f'ok {number} - {name.replace("_", " ")} # SKIP {reason}')
        return 0
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        pages = build_pages(folder, *sys.argv[1:])
        browser = webdriver.Browser(os.path.join(folder, 'profile'))
        try:
            cases = Cases(browser, pages)
            for number, name in enumerate(names, 1):
                try:
                    getattr(cases, name)()
                    print(f'ok {number} - {name.replace("_", " ")}', flush=True)
                except (Wrong, OSError) as why:
                    failed += 1
                    print(f'not ok {number} - {name.replace("_", " ")}\n# {why}', flush=True)
        finally:
            browser.close()
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
