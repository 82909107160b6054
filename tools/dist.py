#!/usr/bin/env python3
"""Packs what `make dist` gives to others, the same bytes whenever and wherever it is made from the same sources and packages.

usage: dist.py FOLDER OUT ARCH...        FOLDER/ARCH: what tools/dist.sh built

OUT gets, for each architecture, the program, an archive with it, its manual pages and the licences of what is linked into it,
and a bill of materials (SPDX 2.3), which the linker's map dictates; and SHA256SUMS of them all.
SOURCE_DATE_EPOCH, or else the date of the last commit, is the date of everything.
"""
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
import uuid

from completions import completions

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Source package -> licence of what of it is linked. libiberty: its demangler; libgcc: its runtime.
LICENCES = {
    'glibc': 'LGPL-2.1-or-later',
    'zlib': 'Zlib',
    'libzstd': 'BSD-3-Clause',
    'lz4': 'BSD-2-Clause',
    'libiberty': 'GPL-2.0-or-later WITH GCC-exception-2.0',
    'libedit': 'BSD-3-Clause',
    'libbsd': 'BSD-3-Clause AND BSD-2-Clause AND ISC',
    'libmd': 'BSD-3-Clause AND BSD-2-Clause AND ISC',
    'ncurses': 'X11-distribute-modifications-variant',
    'gcc-12': 'GPL-3.0-or-later WITH GCC-exception-3.1',
    'gcc-12-cross': 'GPL-3.0-or-later WITH GCC-exception-3.1',
}


def output(*command):
    return subprocess.run(command, capture_output=True, check=True, text=True, cwd=ROOT).stdout


def epoch():
    if 'SOURCE_DATE_EPOCH' in os.environ:
        return int(os.environ['SOURCE_DATE_EPOCH'])
    try:
        return int(output('git', 'log', '-1', '--format=%ct'))
    except (OSError, subprocess.CalledProcessError):
        return int(os.stat(os.path.join(ROOT, 'CHANGELOG.md')).st_mtime)


def read(path):
    with open(path, 'rb') as file:
        return file.read()


def linked(folder):
    """Archives and objects that the linker took something from."""
    text = read(os.path.join(folder, 'build/warpscope.map')).decode()
    members = re.search(r'^Archive member included.*?\n\n(.*?)\n\n', text, re.DOTALL | re.MULTILINE)[1]
    found = set(re.findall(r'^(/\S+\.a)\(', members, re.MULTILINE)) | set(re.findall(r'^LOAD (/\S+\.o)$', text, re.MULTILINE))
    return sorted({os.path.realpath(path) for path in found})


def owners(folder):
    """File -> the package of the sysroot that it is from, as a dictionary of its fields."""
    found = {}
    for name in sorted(os.listdir(os.path.join(folder, 'sysroot/debs'))):
        deb = os.path.join(folder, 'sysroot/debs', name)
        fields = dict(re.findall(r'^(\S+): (.*)$', output('dpkg-deb', '-f', deb), re.MULTILINE))
        fields['SHA256'] = hashlib.sha256(read(deb)).hexdigest()
        for line in output('dpkg-deb', '-c', deb).splitlines():
            path = line.split(None, 5)[5].split(' -> ')[0].lstrip('.')
            found[os.path.realpath(os.path.join(folder, 'sysroot/root') + path)] = fields
    return found


def of_the_compiler(path):
    """The installed package that a file is from."""
    name = output('dpkg-query', '-S', path).split(': ')[0]
    form = 'Package: ${Package}\\nVersion: ${Version}\\nArchitecture: ${Architecture}\\nSource: ${source:Package}\\n'
    return dict(re.findall(r'^(\S+): (.*)$', output('dpkg-query', '-W', '-f', form, name), re.MULTILINE))


def materials(folder):
    """The packages that something is linked from: name -> fields."""
    files = owners(folder)
    packages = [files.get(path) or of_the_compiler(path) for path in linked(folder)]
    return {package['Package']: package for package in sorted(packages, key=lambda package: package['Package'])}


def source_of(package):
    return package.get('Source', package['Package']).split(' ')[0]


def copyright_of(folder, package):
    name = f"usr/share/doc/{package['Package']}/copyright"
    places = (os.path.join(folder, 'sysroot/root', name), '/' + name)
    return next(read(path) for path in places if os.path.exists(path))


def bill(name, version, program, packages, when):
    """A document of SPDX 2.3."""
    digest = hashlib.sha256(program).hexdigest()
    ours = {'SPDXID': 'SPDXRef-warpscope', 'name': 'warpscope', 'versionInfo': version, 'downloadLocation': 'NOASSERTION',
            'filesAnalyzed': False, 'licenseConcluded': 'Apache-2.0', 'licenseDeclared': 'Apache-2.0', 'copyrightText': 'NOASSERTION',
            'primaryPackagePurpose': 'APPLICATION', 'packageFileName': name,
            'checksums': [{'algorithm': 'SHA256', 'checksumValue': digest}]}
    described, relations = [ours], [('SPDXRef-DOCUMENT', 'DESCRIBES', ours['SPDXID'])]
    for package in packages.values():
        licence = LICENCES[source_of(package)]  # of a library that is new here, somebody has to look it up
        one = {'SPDXID': 'SPDXRef-' + package['Package'].replace('+', '-'), 'name': package['Package'], 'versionInfo': package['Version'],
               'downloadLocation': 'NOASSERTION', 'filesAnalyzed': False, 'licenseConcluded': licence, 'licenseDeclared': licence,
               'copyrightText': 'NOASSERTION', 'supplier': 'Organization: Debian', 'sourceInfo': 'source package ' + source_of(package),
               'externalRefs': [{'referenceCategory': 'PACKAGE-MANAGER', 'referenceType': 'purl', 'referenceLocator':
                                 f"pkg:deb/debian/{package['Package']}@{package['Version']}?arch={package['Architecture']}"}]}
        if 'SHA256' in package:
            one['checksums'] = [{'algorithm': 'SHA256', 'checksumValue': package['SHA256']}]
        described.append(one)
        relations.append((ours['SPDXID'], 'STATIC_LINK', one['SPDXID']))
    document = {
        'spdxVersion': 'SPDX-2.3', 'dataLicense': 'CC0-1.0', 'SPDXID': 'SPDXRef-DOCUMENT', 'name': name,
        'documentNamespace': 'urn:uuid:' + str(uuid.uuid5(uuid.NAMESPACE_OID, digest)),
        'creationInfo': {'created': time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(when)), 'creators': ['Tool: warpscope-tools-dist.py']},
        'packages': described,
        'relationships': [dict(zip(('spdxElementId', 'relationshipType', 'relatedSpdxElement'), row)) for row in relations],
    }
    return json.dumps(document, indent=1).encode() + b'\n'


def manual_pages(when):
    folder = os.path.join(ROOT, 'docs/man')
    for name in sorted(os.listdir(folder)):
        if name.endswith('.scd'):
            page = subprocess.run(['scdoc'], input=read(os.path.join(folder, name)), capture_output=True, check=True,
                                  env={**os.environ, 'SOURCE_DATE_EPOCH': str(when)}).stdout
            yield f'share/man/man1/{name[:-4]}', page


def archive(top, files, when):
    """A .tar.gz: path below `top` -> bytes."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode='w', format=tarfile.USTAR_FORMAT) as tar:
        for path in sorted(files):
            about = tarfile.TarInfo(f'{top}/{path}')
            about.size, about.mtime = len(files[path]), when
            about.mode = 0o755 if path.startswith('bin/') else 0o644
            tar.addfile(about, io.BytesIO(files[path]))
    return gzip.compress(packed.getvalue(), mtime=0)


def of_architecture(folder, arch, when):
    """File name -> bytes."""
    version = json.loads(read(os.path.join(folder, 'build/meson-info/intro-projectinfo.json')))['version']
    name = f'warpscope-{version}-linux-{arch}'
    program, packages = read(os.path.join(folder, 'warpscope')), materials(folder)
    spdx = bill(name, version, program, packages, when)
    doc = 'share/doc/warpscope/'
    files = {'bin/warpscope': program, doc + 'LICENSE': read(os.path.join(ROOT, 'LICENSE')),
             doc + 'CHANGELOG.md': read(os.path.join(ROOT, 'CHANGELOG.md')), doc + 'warpscope.spdx.json': spdx}
    files.update(manual_pages(when))
    files.update((path, text.encode()) for path, text in completions(ROOT).items())
    files.update((f'{doc}licences/{package}', copyright_of(folder, packages[package])) for package in packages)
    return {name: program, name + '.tar.gz': archive(name, files, when), name + '.spdx.json': spdx}


def main():
    folder, out, *architectures = sys.argv[1:]
    when, made = epoch(), {}
    for arch in architectures:
        made.update(of_architecture(os.path.join(os.path.realpath(folder), arch), arch, when))
    made['SHA256SUMS'] = ''.join(f'{hashlib.sha256(made[name]).hexdigest()}  {name}\n' for name in sorted(made)).encode()
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    for name, content in made.items():
        with open(os.path.join(out, name), 'wb') as file:
            file.write(content)
        os.chmod(os.path.join(out, name), 0o755 if content[:4] == b'\x7fELF' else 0o644)
    for name in sorted(made):
        print(f'{len(made[name]):>9} {os.path.join(out, name)}')


if __name__ == '__main__':
    main()
