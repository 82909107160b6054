#!/usr/bin/env python3
"""The HTML page in headless Chromium: clicks and keys, light and dark, without scripts, narrow, hostile texts, contrast, the
accessibility tree; pages of a fault, a hang, no fault, a fault without an access, and
many dumps. Prints TAP; all is skipped where chromium or chromium-driver is not installed.

usage: test_page.py PLANTED_REPORT WARPSCOPE SOURCE_ROOT
"""
import json
import os
import re
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


# [colour, ground, size in px, weight, what]: of every text that shows, where its ground is one colour
TEXTS = """
const solid = c => !/^rgba\\(.*, 0\\)$|^transparent$/.test(c);
const found = [];
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walk.nextNode()) {
  const e = walk.currentNode.parentElement, text = walk.currentNode.data.trim();
  if (!text || !e.checkVisibility() || ['SCRIPT', 'STYLE'].includes(e.tagName)) continue;
  const style = getComputedStyle(e);
  let g = e;
  while (g && !solid(getComputedStyle(g).backgroundColor)) g = g.parentElement;
  found.push([e.closest('svg') ? style.fill : style.color, g ? getComputedStyle(g).backgroundColor : 'rgb(255, 255, 255)',
              e.tagName + '.' + (e.className.baseVal ?? e.className) + ': ' + text.slice(0, 40)]);
}
return found;
"""
# Pairs of texts of a picture that lie on another, and texts that leave it
LABELS = """
const found = [];
for (const picture of document.querySelectorAll('.ruler')) {
  const frame = picture.getBoundingClientRect(), texts = Array.from(picture.querySelectorAll('text'));
  const boxes = texts.map(e => e.getBoundingClientRect());
  const mark = picture.querySelector('rect.access').getBoundingClientRect();
  boxes.forEach((a, i) => {
    if (a.left < frame.left || a.right > frame.right || a.top < frame.top || a.bottom > frame.bottom)
      found.push(texts[i].textContent + ' leaves the picture');
    boxes.concat([mark]).forEach((b, j) => {
      if (j > i && a.left < b.right && b.left < a.right && a.top + 1 < b.bottom && b.top + 1 < a.bottom)
        found.push(texts[i].textContent + ' is under ' + (texts[j] ? texts[j].textContent : 'the mark'));
    });
  });
}
return found;
"""
# Of each line of the first picture of times: name, seconds, place on the axis, words, class of the mark
TIMES = """
const axis = document.querySelector('.times path').getBoundingClientRect();
return Array.from(document.querySelectorAll('.times')[0].querySelectorAll('g'), g => {
  const mark = g.querySelector('rect').getBoundingClientRect(), texts = g.querySelectorAll('text');
  return [texts[0].textContent, parseInt(texts[1].textContent.slice(1)), (mark.left - axis.left) / (axis.width - mark.width),
          texts[1].textContent, g.querySelector('rect').getAttribute('class')];
});
"""
LEAVES = """
return Array.from(document.querySelectorAll('.times text')).filter(e => {
  const a = e.getBoundingClientRect(), b = e.closest('svg').getBoundingClientRect();
  return a.left < b.left - 1 || a.right > b.right + 1 || a.top < b.top - 1 || a.bottom > b.bottom + 1;
}).map(e => e.textContent);
"""
FOLDED = """
return Array.from(document.querySelectorAll('details > :not(summary)')).filter(e => !e.checkVisibility({contentVisibilityAuto: true}))
  .map(e => e.tagName + '.' + e.className)
"""
FOCUSABLE = """
return Array.from(document.querySelectorAll('a[href], button, input, summary, [tabindex]'))
  .filter(e => e.tabIndex >= 0 && e.checkVisibility() && !e.closest('[hidden]')).length
"""
# What has the focus: its number in the document, and whether that shows
FOCUS = """
const e = document.activeElement;
if (!e || e === document.body) return null;
const all = Array.from(document.querySelectorAll('*')), style = getComputedStyle(e);
return [all.indexOf(e), style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1,
        e.tagName + '.' + (e.className.baseVal ?? e.className)];
"""
NAMED_ROLES = {'button', 'link', 'textbox', 'searchbox', 'checkbox', 'DisclosureTriangle', 'slider', 'application', 'grid', 'region',
               'img', 'image', 'combobox', 'menuitem', 'tab'}


def luminance(color):
    parts = [float(part) / 255 for part in re.findall(r'[\d.]+', color)[:3]]
    linear = [p / 12.92 if p <= .04045 else ((p + .055) / 1.055) ** 2.4 for p in parts]
    return .2126 * linear[0] + .7152 * linear[1] + .0722 * linear[2]


def contrast(one, other):
    a, b = sorted((luminance(one), luminance(other)), reverse=True)
    return (a + .05) / (b + .05)


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
        for needed in ('low few', 'filter', 'SUMMARY', 'wide tall'):
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

    def labels_of_the_ruler_lie_side_by_side(self):
        rulers = 0
        for name in self.pages:
            for width in (400, 1400):
                self.open(name, width=width)
                self.browser.script('document.querySelectorAll("details").forEach(d => d.open = true)')
                same(f'labels of {name}, {width} wide', self.browser.script(LABELS), [])
                rulers += self.browser.count('.ruler')
        if rulers < 10:
            raise Wrong(f'only {rulers} rulers')

    def what_scrolls_sideways_shows_it(self):
        """At 400 pixels tables scroll in their own boxes, whose edges have a shadow."""
        self.open('fault', width=400)
        boxes = self.browser.script('return Array.from(document.querySelectorAll(".wide")).filter(e => e.scrollWidth > '
                                    'e.clientWidth + 1).map(e => getComputedStyle(e).backgroundImage)')
        if len(boxes) < 3 or not all(image.count('linear-gradient') == 4 for image in boxes):
            raise Wrong(f'boxes that scroll have {boxes}')

    def the_title_and_the_first_line_name_the_dump(self):
        for name, dump in (('fault', 'illegal-address'), ('hang', 'hang'), ('none', 'running'), ('bare', 'bad-pc')):
            self.open(name)
            title = self.browser.script('return document.title')
            if not title.startswith(f'{dump}.nvcudmp: '):
                raise Wrong(f'{name} has the title {title!r}')
            holds('the first line', self.browser.text('body').split('\n')[0], f'{dump}.nvcudmp')

    def the_head_says_what_and_then_where(self):
        self.open('fault')
        holds('the heading', self.browser.text('h1'), 'Illegal memory access in kernel gather_rows at copy_atom.hpp:11')
        if 'block (' in self.browser.text('h1'):
            raise Wrong(f'the heading is {self.browser.text("h1")!r}')
        holds('the second line', self.browser.text('header .rest'), 'Device 0, block (1,0,0)')
        self.open('hang')
        holds('the heading', self.browser.text('h1').lower(), 'hang suspected')
        self.open('none')
        same('the heading', self.browser.text('h1'), 'No fault in this dump.')
        same('its slant', self.browser.script('return getComputedStyle(document.querySelector("h1")).fontStyle'), 'normal')

    def no_space_is_left_under_the_fault(self):
        for name in ('fault', 'hang', 'none', 'bare', 'planted'):
            self.open(name, width=1400)
            below = self.browser.script(
                'const s = document.querySelector("#fault"), n = s.nextElementSibling;'
                'return [s.querySelector("dl").getBoundingClientRect().bottom, n.getBoundingClientRect().top]')
            if not 0 <= below[1] - below[0] < 60:
                raise Wrong(f'{name}: the facts end at {below[0]}, the next section begins at {below[1]}')

    def the_map_draws_what_is_used(self):
        self.open('two')
        same('columns', self.browser.script('return document.querySelector(".map svg").viewBox.baseVal.width'), 2)
        same('their SMs', self.browser.text('.map .axis').split(), ['0', '101'])
        holds('the caption', self.browser.text('#gpu figcaption'), '132 SMs', '130 SMs without warps not drawn')
        self.browser.click_at('.map svg', .75, .3)
        holds('what is told', self.browser.text('#told'), 'SM 101, slot 0: active', 'block (1,0,0)')
        self.open('whole')
        same('columns', self.browser.script('return document.querySelector(".map svg").viewBox.baseVal.width'), 132)
        for width in (400, 1400):
            self.open('whole', width=width)
            wide = self.browser.script('return document.querySelector(".map svg").getBoundingClientRect().width')
            if not width * .9 < wide <= width:
                raise Wrong(f'132 SMs are {wide} wide in a window of {width}')

    def paper_has_no_folds(self):
        for name in ('fault', 'planted', 'bare'):
            self.open(name, scripts=False)
            self.browser.scripts(True)
            if name != 'bare' and not self.browser.script(FOLDED):
                raise Wrong(f'nothing of {name} is folded on the screen')
            self.browser.media(kind='print')
            webdriver.wait_for(lambda: not self.browser.script(FOLDED))  # the medium may change after the answer
            same(f'what of {name} does not show on paper', self.browser.script(FOLDED), [])
            same('shadows', self.browser.script('return getComputedStyle(document.querySelector(".wide")).backgroundImage'), 'none')

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
            for width in (360, 400, 800, 1280, 2000):
                self.open(name, width=width)
                wide = self.browser.script('return document.documentElement.scrollWidth')
                if wide > width:
                    raise Wrong(f'{name} is {wide} wide in a window of {width}')

    def texts_stand_out_from_their_ground(self):
        """4.5 to 1, by WCAG 2, as the browser computes the colours."""
        for scheme in ('light', 'dark'):
            for name in self.pages:
                self.open(name, scheme=scheme)
                self.browser.script('document.querySelectorAll("details").forEach(d => d.open = true)')
                texts = self.browser.script(TEXTS)
                if len(texts) < 20:
                    raise Wrong(f'{name} has {len(texts)} texts')
                for color, ground, what in texts:
                    if contrast(color, ground) < 4.5:
                        raise Wrong(f'{name}, {scheme}: {contrast(color, ground):.2f} to 1, {color} on {ground}, {what}')

    def the_accessibility_tree_has_names_landmarks_and_headings(self):
        for name in self.pages:
            self.open(name)
            self.browser.script('document.querySelectorAll("details").forEach(d => d.open = true)')
            nodes = [node for node in self.browser.cdp('Accessibility.getFullAXTree')['nodes'] if not node.get('ignored')]
            landmarks, levels = [], []
            for node in nodes:
                role = node['role']['value']
                called = node.get('name', {}).get('value', '').strip()
                states = {one['name']: one['value'].get('value') for one in node.get('properties', [])}
                landmarks += [role] * (role in ('banner', 'main', 'contentinfo'))
                levels += [states['level']] if role == 'heading' else []
                acts = states.get('focusable') and role not in ('RootWebArea', 'row')
                if (acts or role in NAMED_ROLES) and not called:
                    raise Wrong(f'{name}: a {role} has no name')
                if acts and role in ('generic', 'none', 'Unknown'):
                    raise Wrong(f'{name}: {called!r} takes the focus and has the role {role}')
            same(f'landmarks of {name}', landmarks, ['banner', 'main', 'contentinfo'])
            if levels[:1] != [1] or levels.count(1) != 1 or any(b > a + 1 for a, b in zip(levels, levels[1:])):
                raise Wrong(f'headings of {name}: {levels}')

    def the_tab_key_walks_the_whole_page_in_order_and_out_of_it(self):
        for name in ('planted', 'fault', 'hang', 'none', 'bare'):
            self.open(name)
            count, seen = self.browser.script(FOCUSABLE), []
            for _ in range(count + 5):
                self.browser.press('tab')
                focus = self.browser.script(FOCUS)
                if focus is None or (seen and focus[0] == seen[0]):
                    break
                if not focus[1]:
                    raise Wrong(f'{name}: the focus does not show on {focus[2]}')
                seen.append(focus[0])
            same(f'stops in {name}', len(seen), count)
            same(f'order of {name}', seen, sorted(seen))

    def sections_have_the_order_of_the_page(self):
        order = ['cause', 'next', 'waits', 'fault', 'access', 'finding', 'stack', 'code', 'launch', 'further', 'waits', 'map', 'grids', 'places', 'build',
                 'facts', 'damage', 'signature']
        for name, first in (('fault', 'cause'), ('hang', 'next'), ('none', 'next'), ('bare', 'cause')):
            self.open(name)
            ids = self.browser.script('return Array.from(document.querySelectorAll("main > section"), e => e.id)')
            same(f'the first section of {name}', ids[0], first)
            for needed in ('build', 'facts', 'signature') if name in ('fault', 'hang') else ('facts',):
                if needed not in ids:
                    raise Wrong(f'{name} has no {needed}: {ids}')
            known = [one for one in ids if one in order]
            at = [order.index(one) if one != 'waits' or name == 'hang' else order.index('waits', 3) for one in known]
            same(f'order of {name}', at, sorted(at))

    def a_page_says_that_there_is_no_fault(self):
        self.open('none')
        holds('the head', self.browser.text('header'), 'NO FAULT', 'No fault in this dump')
        same('the first section', self.browser.text('#fault h2'), 'A thread to look at')
        same('the access', self.browser.count('#access'), 0)

    def a_hang_says_who_waits_for_what(self):
        self.open('hang')
        holds('the head', self.browser.text('header'), 'HANG SUSPECTED')
        holds('the waits', self.browser.text('#waits'), 'barrier', 'hang.cu')

    def a_fault_without_an_access_says_why(self):
        self.open('bare')
        holds('the fault', self.browser.text('#fault'), 'not shown', 'the dump does not have the code that ran')
        same('the access', self.browser.count('#access .ruler'), 0)

    def the_build_is_told(self):
        self.open('fault')
        holds('the build', self.browser.text('#build'), 'for sm_90', 'CUDA 13.0', 'ptxas', '-lineinfo', 'Lines')
        if not re.search(r'\b[0-9a-f]{64}\b', self.browser.text('#build')):
            raise Wrong('the build has no identity of the code')

    def an_index_of_many_dumps_shows_times_and_links(self):
        self.open('fleet')
        holds('the head', self.browser.text('header'), '16 DUMPS', '2 jobs')
        same('pictures', self.browser.script('return Array.from(document.querySelectorAll(".times"), e => e.getAttribute("aria-label"))'),
             ['Times of dumps', 'Times of dumps', 'Times of bugs'])
        places = self.browser.script(TIMES)
        same('ranks of the first job', [one[0] for one in places], [f'rank {rank}' for rank in range(8)])
        same('their seconds', [one[1] for one in places], [rank * 37 % 100 for rank in range(8)])
        for _, seconds, left, words, kind in places:
            if abs(left - seconds / 85) > .01:
                raise Wrong(f'{words} is at {left} of the axis')
            same(f'the look of {words}', kind, 'fault' if 'fault' in words else 'wait')
        same('those that stand out', self.browser.script('return Array.from(document.querySelectorAll(".times .here"), e => e.textContent)'),
             ['rank 5', 'rank 3'])
        same('labels that leave the picture', self.browser.script(LEAVES), [])
        links = self.browser.script('return Array.from(document.querySelectorAll("#ranks a"), e => [e.href, e.textContent])')
        same('dumps with a page', len(set(href for href, _ in links)), 16)
        href = next(href for href, text in links if '/one/' in text and text.endswith('_r5.nvcudmp'))
        self.browser.open(href[len('file://'):])
        holds('the page of the one that was first', self.browser.text('header'), 'FAULT', 'null_member')

    def library_frames_unfold(self):
        self.open('fault')
        hidden = '#stack ol ol li'
        same('frames folded', self.browser.count(hidden), 5)
        if self.browser.script('return document.querySelector(arguments[0]).checkVisibility()', hidden):
            raise Wrong('they are open before the click')
        holds('the fold', self.browser.text('#stack .library > details > summary:not(:has(.level))'), '5 library frames (cute)')
        self.browser.click('#stack .library > details > summary:not(:has(.level))')
        if not self.browser.script('return document.querySelector(arguments[0]).checkVisibility()', hidden):
            raise Wrong('the click opened nothing')


def build_running(path, root, blocks=3, sms=(0, 2, 4)):
    """A dump that was asked for: threads at a load, none at fault."""
    sys.path.insert(0, f'{root}/tests/builders')
    import coredump  # pylint: disable=import-error,import-outside-toplevel
    import scenarios  # pylint: disable=import-error,import-outside-toplevel
    from machine import H100, Process, State  # pylint: disable=import-error,import-outside-toplevel
    process = Process(H100)
    module = process.context().load('deep.li.sm_90.cubin')
    load = module.at(scenarios.REDUCE, 'deep.cu', 'user_store', scenarios.STORES)
    launch = process.launch(module.context, module, scenarios.REDUCE, (max(blocks, 8), 1, 1), (64, 1, 1))
    scenarios.spread(launch, blocks, lambda _, __: State(load), sms=sms)
    with open(path, 'wb') as out:
        out.write(coredump.write(process.dump(), coredump.Options()))


def build_fleet(folder, warpscope, root):
    """An index of two jobs whose dumps have different times, with the single pages."""
    sys.path.insert(0, f'{root}/tests/builders')
    import jobs  # pylint: disable=import-error,import-outside-toplevel
    maker, names = jobs.Maker(), ('--name', 'core_%t_%h_%p_r%r.nvcudmp')
    store, records = os.path.join(folder, 'store'), os.path.join(folder, 'records.jsonl')
    for job, what in (('one', {5: 'null_member', 6: jobs.ALL_REDUCE + '!'}), ('two', {3: 'matrix_product'})):
        one = jobs.Job(8, job).fill(jobs.ALL_REDUCE)
        one.ranks.update(what)
        one.write(os.path.join(store, job), maker)
    subprocess.run([warpscope, 'triage', *names, '--records', records, store], stdout=subprocess.DEVNULL, check=False)
    with open(records, encoding='utf-8') as file:
        found = [json.loads(line) for line in file]
    with open(records, 'w', encoding='utf-8') as file:
        for record in found:  # built dumps all have one time
            record['time'] += record['rank'] * 37 % 100 + 4000 * ('/two/' in record['path'])
            file.write(json.dumps(record, separators=(',', ':')) + '\n')
    subprocess.run([warpscope, 'triage', '--merge', '--html', os.path.join(folder, 'fleet'), '--dumps', store, records], check=False)
    return os.path.join(folder, 'fleet', 'index.html')


def build_pages(folder, planted, warpscope, root):
    pages = {name: os.path.join(folder, name + '.html') for name in ('planted', 'hostile', 'large', 'fault', 'hang', 'none', 'bare', 'two', 'whole',
                                                                 'inside', 'cluster', 'cut')}
    for name in ('planted', 'hostile', 'large'):
        with open(pages[name], 'wb') as out:
            subprocess.run([planted, 'html', name], stdout=out, check=True)
    subprocess.run([sys.executable, f'{root}/tests/builders/build.py', folder, 'bad-pc', 'cluster-out-of-range', 'cut-half'], check=True)
    build_running(os.path.join(folder, 'running.nvcudmp'), root)
    build_running(os.path.join(folder, 'two.nvcudmp'), root, 2, (0, 101))
    build_running(os.path.join(folder, 'whole.nvcudmp'), root, 264, tuple(range(132)))
    for name, dump in (('fault', f'{root}/examples/dumps/illegal-address'), ('hang', f'{root}/examples/dumps/hang'),
                       ('none', f'{folder}/running'), ('bare', f'{folder}/bad-pc'), ('two', f'{folder}/two'),
                       ('whole', f'{folder}/whole'), ('inside', f'{root}/examples/dumps/misaligned-G'),
                       ('cluster', f'{folder}/cluster-out-of-range'), ('cut', f'{folder}/cut-half')):
        subprocess.run([warpscope, 'report', '--format', 'html', '--source-map', f'/src/ws={root}', '-o', pages[name],
                        dump + '.nvcudmp'], check=True)
    pages['fleet'] = build_fleet(folder, warpscope, root)
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
