"""A headless Firefox by its Marionette protocol, with nothing but the standard library: the calls of webdriver.Browser."""
import json
import os
import re
import shutil
import socket
import subprocess

import webdriver

# WebDriver's paths -> commands of Marionette, which takes the same bodies. A number in a path is the element.
COMMANDS = {
    '/url': 'WebDriver:Navigate', '/execute/sync': 'WebDriver:ExecuteScript', '/execute/async': 'WebDriver:ExecuteAsyncScript',
    '/element': 'WebDriver:FindElement', '/element//click': 'WebDriver:ElementClick', '/element//value': 'WebDriver:ElementSendKeys',
    '/actions': 'WebDriver:PerformActions', '/frame': 'WebDriver:SwitchToFrame',
}
PREFERENCES = {
    'marionette.port': 0, 'browser.shell.checkDefaultBrowser': False, 'datareporting.policy.dataSubmissionEnabled': False,
    'browser.aboutwelcome.enabled': False, 'browser.download.folderList': 2, 'browser.download.always_ask_before_handling_new_types': False,
    'toolkit.telemetry.enabled': False, 'app.update.enabled': False, 'network.captive-portal-service.enabled': False,
}


def missing():
    """Why there is no browser to test with, or None."""
    return None if shutil.which('firefox-esr') else 'firefox-esr is not installed'


class Browser(webdriver.Browser):
    def __init__(self, folder):  # pylint: disable=super-init-not-called
        os.makedirs(folder)
        self.downloads = os.path.dirname(folder)
        with open(os.path.join(folder, 'user.js'), 'w', encoding='ascii') as file:
            for name, value in {**PREFERENCES, 'browser.download.dir': self.downloads}.items():
                file.write(f'user_pref({json.dumps(name)}, {json.dumps(value)});\n')
        # pylint: disable-next=consider-using-with
        self.driver = subprocess.Popen(['firefox-esr', '--headless', '--marionette', '--remote-allow-system-access', '--no-remote', '--profile', folder],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, 'HOME': folder})
        self.socket, self.number = None, 0
        place = os.path.join(folder, 'MarionetteActivePort')
        if not webdriver.wait_for(lambda: os.path.exists(place) and os.path.getsize(place), 60):
            self.close()
            raise OSError('firefox-esr did not start')
        with open(place, encoding='ascii') as file:
            self.socket = socket.create_connection(('127.0.0.1', int(file.read())), 120)
        self.received = b''
        self.receive()
        self.command('WebDriver:NewSession', {'acceptInsecureCerts': False})
        self.command('WebDriver:SetTimeouts', {'script': 60000})

    def close(self):
        if self.socket:
            self.command('Marionette:Quit', {'flags': ['eForceQuit']})
            self.socket.close()
        else:
            self.driver.terminate()
        self.driver.wait(20)

    def receive(self):
        while b':' not in self.received:
            self.received += self.more()
        size, self.received = self.received.split(b':', 1)
        while len(self.received) < int(size):
            self.received += self.more()
        message, self.received = self.received[:int(size)], self.received[int(size):]
        return json.loads(message)

    def more(self):
        got = self.socket.recv(1 << 16)
        if not got:
            raise OSError('firefox-esr has ended')
        return got

    def command(self, name, body):
        self.number += 1
        message = json.dumps([0, self.number, name, body]).encode()
        self.socket.sendall(b'%d:%s' % (len(message), message))
        _, _, error, answer = self.receive()
        if error:
            raise OSError(f'{name}: {error.get("message", error)}')
        return answer

    def call(self, path, body=None, method=None):
        element = re.match('/element/([^/]+)/', path)
        body = dict(body or {})
        if element:
            body['id'] = element[1]
            path = path.replace(element[1], '', 1)
        if path == '/frame':
            body = {'element': body['id'][webdriver.ELEMENT]} if body['id'] else {}
        answer = self.command(COMMANDS[path], body)
        return answer.get('value') if isinstance(answer, dict) else answer

    # ---- what Chromium has by another protocol ----

    def prefer(self, name, value):
        self.command('Marionette:SetContext', {'value': 'chrome'})
        try:
            kind = {bool: 'Bool', int: 'Int', str: 'String'}[type(value)]
            self.command('WebDriver:ExecuteScript', {'script': f'Services.prefs.set{kind}Pref(...arguments)', 'args': [name, value]})
        finally:
            self.command('Marionette:SetContext', {'value': 'content'})

    def media(self, scheme='light', kind=''):
        self.prefer('layout.css.prefers-color-scheme.content-override', 0 if scheme == 'dark' else 1)
        self.command('Marionette:SetContext', {'value': 'chrome'})
        try:
            self.command('WebDriver:ExecuteScript', {'script': 'gBrowser.selectedBrowser.browsingContext.top.mediumOverride = arguments[0]', 'args': [kind]})
        finally:
            self.command('Marionette:SetContext', {'value': 'content'})

    def size(self, width, height):
        self.command('WebDriver:SetWindowRect', {'width': width, 'height': height})
        inner = self.script('return [outerWidth - innerWidth, outerHeight - innerHeight]')
        self.command('WebDriver:SetWindowRect', {'width': width + inner[0], 'height': height + inner[1]})

    def save_to(self, folder):
        self.prefer('browser.download.dir', folder)

    def wasm(self, enabled):
        self.prefer('javascript.options.wasm', enabled)

    def messages(self):
        return []
