"""A headless Chromium by the WebDriver protocol, with nothing but the standard library."""
import base64
import json
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request

ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'  # the key of element references, by the WebDriver standard
KEYS = {'enter': '\ue007', 'tab': '\ue004', 'left': '\ue012', 'up': '\ue013', 'right': '\ue014', 'down': '\ue015',
        'space': ' ', 'end': '\ue010', 'home': '\ue011'}


def missing():
    """Why there is no browser to test with, or None."""
    for program in ('chromium', 'chromedriver'):
        if not shutil.which(program):
            return f'{program} is not installed'
    return None


class Browser:
    def __init__(self, folder, width=1280, height=900):
        self.driver = subprocess.Popen(['chromedriver', '--port=0'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                       text=True)
        self.session = self.no_wasm = None
        port = None
        for line in self.driver.stdout:
            found = re.search(r'started successfully on port (\d+)', line)
            if found:
                port = found.group(1)
                break
        if not port:
            raise OSError('chromedriver did not start')
        self.url = f'http://127.0.0.1:{port}/session'
        options = {'args': ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
                            f'--user-data-dir={folder}', f'--window-size={width},{height}', '--hide-scrollbars'],
                   'binary': shutil.which('chromium')}
        wanted = {'browserName': 'chrome', 'goog:chromeOptions': options, 'goog:loggingPrefs': {'browser': 'ALL'}}
        answer = self.call('', {'capabilities': {'alwaysMatch': wanted}})
        self.url += '/' + answer['sessionId']
        self.session = answer['sessionId']

    def close(self):
        if self.session:
            self.call('', method='DELETE')
        self.driver.terminate()
        self.driver.wait(10)
        self.driver.stdout.close()

    def call(self, path, body=None, method=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {'Content-Type': 'application/json'},
                                         method=method or ('GET' if body is None else 'POST'))
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)['value']
        except urllib.error.HTTPError as error:
            raise OSError(f'{path}: {error.read().decode()[:300]}') from error

    def cdp(self, command, **parameters):
        return self.call('/goog/cdp/execute', {'cmd': command, 'params': parameters})

    def open(self, path):
        self.call('/url', {'url': 'file://' + path})

    def script(self, text, *arguments):
        return self.call('/execute/sync', {'script': text, 'args': list(arguments)})

    def find(self, selector):
        return self.call('/element', {'using': 'css selector', 'value': selector})[ELEMENT]

    def click(self, selector):
        self.call(f'/element/{self.find(selector)}/click', {})

    def click_at(self, selector, x, y):
        """At a part (0 to 1) of an element's width and height."""
        left, top, wide, high = self.script(
            'const e = document.querySelector(arguments[0]); e.scrollIntoView({block: "center"});'
            'const r = e.getBoundingClientRect(); return [r.left, r.top, r.width, r.height]', selector)
        move = {'type': 'pointerMove', 'x': round(left + x * wide), 'y': round(top + y * high), 'duration': 0}
        self.call('/actions', {'actions': [{'type': 'pointer', 'id': 'mouse', 'parameters': {'pointerType': 'mouse'},
                                            'actions': [move, {'type': 'pointerDown', 'button': 0},
                                                        {'type': 'pointerUp', 'button': 0}]}]})

    def press(self, *keys):
        """Keys go to whatever has the focus."""
        actions = []
        for key in keys:
            value = KEYS.get(key, key)
            actions += [{'type': 'keyDown', 'value': value}, {'type': 'keyUp', 'value': value}]
        self.call('/actions', {'actions': [{'type': 'key', 'id': 'keyboard', 'actions': actions}]})

    def text(self, selector):
        return self.script('return document.querySelector(arguments[0]).innerText', selector)

    def count(self, selector):
        return self.script('return document.querySelectorAll(arguments[0]).length', selector)

    def messages(self):
        """What the page wrote to the console since the last call: refused loads and scripts are among it."""
        return [entry['message'] for entry in self.call('/se/log', {'type': 'browser'})]

    def save_to(self, folder):
        """Where downloads go."""
        self.cdp('Browser.setDownloadBehavior', behavior='allow', downloadPath=folder)

    def wasm(self, enabled):
        """Of pages that are opened from now on."""
        if enabled:
            self.cdp('Page.removeScriptToEvaluateOnNewDocument', identifier=self.no_wasm)
        else:
            self.cdp('Page.enable')
            self.no_wasm = self.cdp('Page.addScriptToEvaluateOnNewDocument', source='delete globalThis.WebAssembly')['identifier']

    def media(self, scheme='light', kind=''):
        self.cdp('Emulation.setEmulatedMedia', media=kind, features=[{'name': 'prefers-color-scheme', 'value': scheme}])

    def size(self, width, height):
        self.cdp('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1, mobile=False)

    def scripts(self, enabled):
        self.cdp('Emulation.setScriptExecutionDisabled', value=not enabled)

    def screenshot(self, path):
        """The whole page as PNG."""
        size = self.cdp('Page.getLayoutMetrics')['cssContentSize']
        clip = {'x': 0, 'y': 0, 'width': size['width'], 'height': min(size['height'], 8000), 'scale': 1}
        image = self.cdp('Page.captureScreenshot', captureBeyondViewport=True, clip=clip)['data']
        with open(path, 'wb') as out:
            out.write(base64.b64decode(image))


def wait_for(test, seconds=5):
    """Repeats a test until it is true."""
    end = time.monotonic() + seconds
    while not test():
        if time.monotonic() > end:
            return False
        time.sleep(.05)
    return True
