#!/usr/bin/env python3
"""The builders against each other (TAP): what the writer was told is what the independent reader finds.

usage: test_builders.py [EVERY]          (each EVERYth scenario)
"""

import mmap
import os
import subprocess
import sys
import tempfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path.insert(0, HERE)

import build  # noqa: E402
import coredump  # noqa: E402
import cubin as cb  # noqa: E402
import layout  # noqa: E402
import reader  # noqa: E402

EXAMPLES = ("illegal-address", "misaligned-G", "hang", "exited")


def blob(data, address=None):
    out = {"size": len(data), "present": len(data), "crc32": zlib.crc32(data)}
    return out if address is None else {**out, "address": address}


def row(kind, node_row, options):
    """The fields that a driver's layout (or a shorter stride) holds, 0 or "" where the model says nothing."""
    out = {}
    table = {"bank": "constbank"}.get(kind, kind)
    stride = options.strides.get(table, 1 << 30)
    for name in layout.Layout(table, options.driver).fields:
        offset, size = reader.FIELDS[kind][name]
        if offset + size <= stride:
            out[name] = node_row.get(name, "" if name in reader.TEXT else 0)
    return out


def expected_lane(lane, options):
    out = row("lane", lane.row, options)
    if lane.regs is not None:
        out["regs"] = lane.regs
    if lane.preds is not None:
        out["preds"] = lane.preds
    if lane.frames is not None:
        out["frames"] = [row("frame", f, options) for f in lane.frames]
    if lane.local is not None and not options.flags & coredump.FLAG_SKIP_LOCAL:
        out["local"] = blob(lane.local[1], lane.local[0])
    return out


def expected_warp(warp, options):
    out = row("warp", warp.row, options)
    for name, since in (("uregs", 400), ("upreds", 400), ("barriers", 575)):
        if getattr(warp, name) is not None and options.driver >= since:
            out[name] = getattr(warp, name)
    if warp.lanes is not None:
        out["lanes"] = [expected_lane(lane, options) for lane in warp.lanes]
    return out


def expected_cta(cta, options):
    out = row("cta", cta.row, options)
    if cta.shared is not None and not options.flags & coredump.FLAG_SKIP_SHARED:
        out["shared"] = blob(cta.shared)
    if cta.warps is not None:
        out["warps"] = [expected_warp(warp, options) for warp in cta.warps]
    return out


def expected_module(module, options):
    out = row("module", module.row, options)
    if module.relocated is not None:
        out["relocated"] = blob(module.relocated)
    if module.image is not None and not options.flags & coredump.FLAG_SKIP_IMAGES:
        out["image"] = blob(module.image)
    return out


def expected_device(device, options):
    out = row("device", device.row, options)
    if device.contexts is not None:
        out["contexts"] = [{**row("context", c.row, options),
                            "modules": [expected_module(m, options) for m in c.modules]} for c in device.contexts]
    if device.grids is not None:
        out["grids"] = []
        for grid in device.grids:
            entry = {**row("grid", grid.row, options), "params": blob(grid.params)}
            if options.driver >= 550:
                entry["banks"] = [row("bank", bank, options) for bank in grid.banks]
            out["grids"].append(entry)
    out["sms"] = []
    for sm in device.sms:
        entry = row("sm", sm.row, options)
        if sm.ctas is not None:
            entry["ctas"] = [expected_cta(cta, options) for cta in sm.ctas]
        out["sms"].append(entry)
    return out


def difference(path, got, expected):
    """The first place where two structures differ, or None."""
    if isinstance(expected, dict) and isinstance(got, dict):
        for key in sorted(expected.keys() | got.keys()):
            if key not in got or key not in expected:
                return f"{path}.{key}: only {'expected' if key in expected else 'read'}"
            found = difference(f"{path}.{key}", got[key], expected[key])
            if found:
                return found
        return None
    if isinstance(expected, list) and isinstance(got, list) and len(got) == len(expected):
        for index, pair in enumerate(zip(got, expected)):
            found = difference(f"{path}[{index}]", *pair)
            if found:
                return found
        return None
    return None if got == expected else f"{path}: {str(got)[:80]}, expected {str(expected)[:80]}"


def check_scenario(name):
    function, _ = build.SCENARIOS[name]
    built = function()
    options, model = built.options, built.model
    data = coredump.write(model, options)
    if coredump.write(function().model, options) != data:
        return "a second build gives other bytes"
    read = reader.read(data)
    if options.truncate is not None:
        return None if read["lost"] else "cut, but nothing is reported lost"
    if read["lost"]:
        return f"lost: {read['lost'][:2]}"
    found = difference("devices", read["devices"], [expected_device(d, options) for d in model.devices])
    if found:
        return found
    memory = [] if options.flags & coredump.FLAG_SKIP_GLOBAL else [
        {**blob(m.data, m.row["address"]), "managed": bool(m.row.get("managed"))} for m in model.memory]
    got = read["memory"]
    if options.shuffle is not None:
        got, memory = (sorted(x, key=lambda m: m["address"]) for x in (got, memory))
    found = difference("memory", got, memory)
    if found:
        return found
    meta = row("meta", {**model.meta, "flags": options.flags}, options) if options.driver >= 565 else None
    return difference("meta", read["meta"], meta) or difference("unknown", read["unknown"], options.unknown)


def check_layout_sizes():
    """Entry sizes by driver, as the format's documentation lists them."""
    known = {
        "device": {346: 72, 400: 80, 575: 88}, "context": {346: 40}, "module": {346: 8},
        "grid": {346: 104, 525: 120, 565: 136}, "constbank": {346: 0, 550: 16},
        "sm": {346: 8, 555: 24, 565: 40, 580: 48}, "cta": {346: 24, 525: 40, 565: 56},
        "warp": {346: 32, 525: 40, 570: 48, 575: 64, 590: 80}, "lane": {346: 48, 575: 56, 615: 64},
        "frame": {346: 24}, "meta": {346: 0, 565: 32},
    }
    for driver in layout.DRIVERS:
        for table, sizes in known.items():
            want = sizes[max(d for d in sizes if d <= driver)]
            if layout.Layout(table, driver).size != want:
                return f"{table} r{driver}: {layout.Layout(table, driver).size}, expected {want}"
    return None


def check_examples():
    """The committed examples are what the scenarios build, and small."""
    for name in EXAMPLES:
        with open(os.path.join(ROOT, "examples", "dumps", name + ".nvcudmp"), "rb") as handle:
            data = handle.read()
        if data != build.build(name)[0]:
            return f"{name}: differs from a rebuild (run examples/dumps/build.sh)"
        if len(data) >= 200_000:
            return f"{name}: {len(data)} bytes"
    return None


def check_cut_everywhere():
    """The reader survives cuts anywhere, with headers first and last, and says that something is lost."""
    for name in ("plain-counts", "code-14"):
        data = build.build(name)[0]
        for size in range(64, len(data) - 1, 97):
            if not reader.read(data[:size])["lost"]:
                return f"{name} cut at {size}: nothing reported"
    return None


def check_huge():
    """bench/gen_huge.py announces as many sections as it writes, and the reader finds nothing wrong with them."""
    for number, options in enumerate((["--busy-sms", "1", "--warps-per-cta", "2"], ["--devices", "2", "--busy-sms", "1",
                                      "--ctas-per-sm", "2", "--local", "64", "--bt", "5", "--modules", "3"],
                                     ["--busy-sms", "0", "--no-memory", "--sparse", "1", "--driver", "346"])):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "huge.nvcudmp")
            subprocess.run([sys.executable, os.path.join(ROOT, "bench", "gen_huge.py"), *options, path], check=True,
                           stdout=subprocess.DEVNULL)
            with open(path, "rb") as handle, mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as data:
                found = reader.Reader(data)
                if number < 2:
                    lost = found.tables()["lost"]
                    faults = sum(s["exception"] == 14 for d in found.read(
                        next(x for x in found.sections if x.name == ".cudbg.devtbl")) for s in d["sms"])
                    if lost or faults != number + 1:
                        return f"{options}: lost {lost[:1]}, {faults} faults"
                elif found.lost or len(data) < 1 << 30:
                    return f"{options}: {found.lost}, {len(data)} bytes"
                found.data.release()
    return None


def check_neutral_paths():
    """Committed cubins name only the neutral source folder, and their marks are where the sources say."""
    folder = os.path.join(HERE, "..", "data", "cubins")
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".cubin"):
            continue
        with open(os.path.join(folder, name), "rb") as handle:
            cubin = cb.Cubin(handle.read())
        for rows in cb.line_sequences(cubin).values():
            for line in rows:
                if line.file and not line.file.startswith(("/src/ws/tests/kernels/", "/usr/local/cuda")):
                    return f"{name}: {line.file}"
    return None


def main():
    checks = [("entry_sizes_are_those_of_the_drivers", check_layout_sizes),
              ("examples_are_what_the_builder_makes", check_examples),
              ("reader_survives_cuts", check_cut_everywhere),
              ("dumps_of_full_size_are_sound", check_huge),
              ("cubins_name_the_neutral_source_folder", check_neutral_paths)]
    checks += [(f"reader_finds_what_was_written {name}", lambda name=name: check_scenario(name))
               for name in list(build.SCENARIOS)[::int(sys.argv[1]) if len(sys.argv) > 1 else 1]]
    print(f"1..{len(checks)}")
    failed = 0
    for number, (name, check) in enumerate(checks, 1):
        why = check()
        failed += why is not None
        print(f"{'ok' if why is None else 'not ok'} {number} - {name}")
        if why:
            print("# " + why)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
