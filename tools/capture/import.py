#!/usr/bin/env python3
"""Turns what run.sh left into fixtures and compares them: import.py WARPSCOPE FOLDER...

FOLDER holds the archives and manifest-X.tsv of one or more stages. Every file is checked against the manifest and goes into
tests/data/h200: dumps as NAME.core.gz, transcripts as NAME.txt, texts, images and cubins in folders of their own, and README.md
with the machine, and each file's size, hash and command. A file of more than 2 MiB (compressed), and what would make the folder
larger than 24 MiB, is only listed. Then docs/ground-truth.md is written again (tools/compare-transcript --page), whose status
this is: 10 when something differs. WARPSCOPE_ROOT: another tree than this one's.
"""

import gzip
import hashlib
import lzma
import os
import shutil
import subprocess
import sys
import tarfile

HERE = os.path.dirname(os.path.abspath(__file__))
MOST, MOST_OF_ALL, PLAIN = 2 << 20, 24 << 20, 64 << 10
TEXTS = (".run", ".log", ".readelf", ".symbols", "facts.txt")


class Wrong(Exception):
    pass


def manifests(folder):
    """[(archive, [lines about the machine], {name: (bytes, sha256, command)})]; the archive None: what was left out."""
    for name in sorted(os.listdir(folder)):
        if not (name.startswith("manifest-") and name.endswith(".tsv")):
            continue
        with open(os.path.join(folder, name), encoding="utf-8") as lines:
            lines = lines.read().splitlines()
        about = [line[2:] for line in lines if line.startswith("# ")]
        archives = {}
        for line in lines:
            if not line.startswith("# "):
                file, archive, size, digest, command = line.split("\t")
                archives.setdefault(None if archive == "left out" else archive, {})[file] = (int(size), digest, command)
        for archive, rows in archives.items():
            yield archive, about, rows


def members(path):
    """(name, content) of an archive; dumps are packed each for itself."""
    with tarfile.open(path) as archive:
        for member in archive:
            if member.isfile():
                content, name = archive.extractfile(member).read(), member.name
                yield (name[:-3], lzma.decompress(content)) if name.endswith(".xz") else (name, content)


def packed(content):
    return content if content[:2] == b"\x1f\x8b" else gzip.compress(content, 9, mtime=0)


def place(name, content):
    """Where a file goes in the folder of fixtures, and as what."""
    base = os.path.basename(name)
    if name.startswith("d/"):
        return base.split(".core")[0] + ".core.gz", packed(content)
    if name.startswith("images/") or name.endswith(".cubin"):
        return os.path.join("images", base + ".gz"), packed(content)
    if base.endswith(TEXTS) or name.startswith("t/") and not base.endswith(".txt"):
        return (os.path.join("text", base + ".gz"), packed(content)) if len(content) > PLAIN else (os.path.join("text", base), content)
    return base, content


def collect(folders):
    """{place: (content, name, digest, size, command)}, {name: (size, digest, command)} left out, lines about the machine."""
    files, left, machine = {}, {}, []
    for folder in folders:
        for archive, about, rows in manifests(folder):
            machine += [line for line in about if line not in machine]
            if archive is None:
                left.update(rows)
                continue
            have = dict(members(os.path.join(folder, archive)))
            for name, (size, digest, command) in rows.items():
                if name not in have or hashlib.sha256(have[name]).hexdigest() != digest:
                    raise Wrong(f"{name} of {archive} is not what the manifest says")
                if have[name]:
                    where, content = place(name, have[name])
                    files[where] = (content, name, digest, size, command)
    if not files:
        raise Wrong("no manifest-X.tsv with files")
    return files, left, machine


def order(item):
    """Transcripts first, then dumps, smallest first, then the rest."""
    where, (content, *_) = item
    return ((not where.endswith(".txt")) + (os.sep in where) * 2, len(content), where)


def write(folder, files, left, machine):
    shutil.rmtree(folder, ignore_errors=True)
    total, rows = 0, []
    for where, (content, name, digest, size, command) in sorted(files.items(), key=order):
        fits = len(content) <= MOST and total + len(content) <= MOST_OF_ALL
        if fits:
            total += len(content)
            path = os.path.join(folder, where)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as out:
                out.write(content)
        rows.append((where if fits else "not kept", name, size, digest, command))
    rows += [("left out there", name, *facts) for name, facts in sorted(left.items())]
    with open(os.path.join(folder, "README.md"), "w", encoding="utf-8") as out:
        out.write("# Dumps of a real GPU\n\nMade by `tools/capture/run.sh`, put here by `tools/capture/import.py`, which "
                  "wrote this page. The programs are `tools/capture`'s.\n\n")
        out.write("".join(f"* {line}\n" for line in machine))
        out.write("\n| here | made as | bytes | sha256 | by |\n| --- | --- | ---: | --- | --- |\n")
        out.write("".join("| " + " | ".join(str(word).replace("|", "\\|") for word in row) + " |\n" for row in rows))
    return total


def main(arguments):
    if len(arguments) < 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    root = os.environ.get("WARPSCOPE_ROOT") or os.path.dirname(os.path.dirname(HERE))
    folder = os.path.join(root, "tests", "data", "h200")
    try:
        files, left, machine = collect(arguments[1:])
    except (Wrong, OSError, ValueError, tarfile.TarError, lzma.LZMAError) as why:
        print(f"import.py: {why}", file=sys.stderr)
        return 1
    total = write(folder, files, left, machine)
    print(f"{folder}: {total} bytes of {len(files)} files; {len(left)} were left out on the machine", flush=True)
    return subprocess.run([sys.executable, os.path.join(os.path.dirname(HERE), "compare-transcript"), "--page",
                           os.path.join(root, "docs", "ground-truth.md"), arguments[0]], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
