#!/usr/bin/env python3
"""Prints a PATH with only the commands that a bare Debian machine has after `make packages`.

usage: listed-commands.py FOLDER [LIST...]        (FOLDER is made anew: one link for each command)

A test that calls a command of a package which nobody listed works on its author's machine and fails on a newcomer's.
`make check` runs with this PATH, so it fails on both. The commands are those of the packages in each LIST (default:
packages.txt and packages-optional.txt), of git and make, of what every Debian system has (essential or required), and of
what these depend on. Where there is no dpkg, the PATH is printed as it is.
"""
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LISTS = [os.path.join(HERE, name) for name in ('packages.txt', 'packages-optional.txt')]
FOLDERS = ('/usr/bin', '/bin', '/usr/sbin', '/sbin')
FIELDS = ('Package', 'Essential', 'Priority', 'Provides', 'Pre-Depends', 'Depends')


def listed(lists):
    names = ['git', 'make']
    for name in lists:
        with open(name, encoding='utf-8') as lines:
            names += [line.split('#')[0].strip() for line in lines]
    return [name for name in names if name]


def installed():
    """Package -> its fields, and package or virtual package -> a package that is installed."""
    form = '\\t'.join('${%s}' % field for field in ('db:Status-Status', *FIELDS)) + '\\n'
    text = subprocess.run(['dpkg-query', '-W', '-f', form], capture_output=True, check=True, text=True).stdout
    packages, provider = {}, {}
    for line in text.splitlines():
        status, *values = line.split('\t')
        if status == 'installed':
            fields = dict(zip(FIELDS, values))
            packages[fields['Package']] = fields
            for name in re.findall(r'[a-z0-9][a-z0-9+.-]+(?=[^()]*(?:\(|,|$))', fields['Provides']):
                provider.setdefault(name, fields['Package'])
    provider.update((name, name) for name in packages)
    return packages, provider


def closure(names):
    packages, provider = installed()
    wanted = [name for name, fields in packages.items() if fields['Essential'] == 'yes' or fields['Priority'] == 'required']
    wanted += [provider[name] for name in names if name in provider]
    have = set()
    while wanted:
        name = wanted.pop()
        if name in have:
            continue
        have.add(name)
        for clause in ', '.join((packages[name]['Pre-Depends'], packages[name]['Depends'])).split(','):
            choices = [re.split(r'[\s(:]', choice.strip())[0] for choice in clause.split('|')]
            wanted += [provider[choice] for choice in choices if choice in provider][:1]
    return sorted(have)


def commands(lists):
    """Name -> path."""
    text = subprocess.run(['dpkg-query', '-L', *closure(listed(lists))], capture_output=True, check=True, text=True).stdout
    paths = {path for path in text.splitlines() if os.path.dirname(path) in FOLDERS}
    paths |= {os.path.realpath(path) for path in paths}
    for folder in FOLDERS:  # cc, awk: links that the system's table of alternatives owns
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if os.path.islink(path) and os.readlink(path).startswith('/etc/alternatives/') and os.path.realpath(path) in paths:
                paths.add(path)
    return {os.path.basename(path): path for path in sorted(paths) if os.access(path, os.X_OK)}


def main():
    folder = os.path.abspath(sys.argv[1])
    if not shutil.which('dpkg-query'):
        print(os.environ['PATH'])
        return
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for name, path in commands(sys.argv[2:] or LISTS).items():
        os.symlink(path, os.path.join(folder, name))
    print(folder)


if __name__ == '__main__':
    main()
