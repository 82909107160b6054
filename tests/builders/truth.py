"""What is true of a built dump, as a plain structure for truth.json: planted, never read back from the dump."""


def dims(values):
    return list(values) if values else None


def place_of_return(pos):
    """A caller's place: the call is the instruction before the return address."""
    call = pos.later(-1)
    return {"return_address": hex(pos.address), "call": call.truth()}


def registers(thread):
    """The first registers of each file, as far as they are in the dump."""
    out = {f"R{n}": value for n, value in enumerate((thread.node.regs or [])[:6])}
    out.update({f"P{n}": value for n, value in enumerate(thread.node.preds or [])})
    out.update({f"UR{n}": value for n, value in enumerate((thread.warp_node.uregs or [])[:4])})
    out.update({f"UP{n}": value for n, value in enumerate(thread.warp_node.upreds or [])})
    return out


def thread_truth(thread):
    state = thread.state
    return {
        "device": thread.launch.device.id, "sm": thread.sm, "warp": thread.warp, "lane": thread.lane,
        "grid": thread.launch.grid_id, "kernel": thread.launch.kernel,
        "blockIdx": list(thread.block), "threadIdx": list(thread.thread), "code": thread.code,
        "virtualPC": hex(thread.launch.process.virtual(thread.pos)),
        "pc": thread.pos.truth(), "errorpc": state.error.truth() if state.error else None,
        "registers": registers(thread),
        "syscall_frames": state.syscall_depth,
        "frames": [place_of_return(f) for f in thread.frames],
    }


def order(thread):
    return thread.launch.device.id, thread.sm, thread.warp, thread.lane


def faulting(process):
    """[(thread, code)] in (device, SM, warp, lane) order: lanes' own exceptions, then an SM's for its blamed warps."""
    out = [(t, t.code) for t in process.threads if t.code]
    own = {(t.launch.device.id, t.sm) for t, _ in out}
    for thread in process.threads:
        device = thread.launch.device
        code = device.sm(thread.sm).row.get("exception", 0)
        if code and (device.id, thread.sm) not in own and thread.state.error is not None and thread.is_active:
            out.append((thread, code))
    return sorted(out, key=lambda item: order(item[0]))


def sm_rows(process):
    """Every SM row with an exception."""
    out = []
    for device in process.devices:
        for sm in device.node.sms:
            row = sm.row
            if row.get("exception"):
                target = [row[f"clusterExceptionTargetBlockIdx{a}"] for a in "XYZ"] \
                    if row.get("clusterExceptionTargetBlockIdxValid") else None
                out.append({"device": device.id, "sm": row["smId"], "code": row["exception"],
                            "errorpc": hex(row["errorPC"]) if row.get("errorPCValid") else None,
                            "target_block": target, "text": row.get("exceptionString")})
    return out


def groups(process):
    """Threads by the place of their pc, most lanes first."""
    found = {}
    for thread in process.threads:
        key = thread.pos.address
        entry = found.setdefault(key, {"place": thread.pos.truth(), "lanes": 0, "warps": set()})
        entry["lanes"] += 1
        entry["warps"].add((thread.launch.device.id, thread.sm, thread.warp))
    for entry in found.values():
        entry["warps"] = len(entry["warps"])
    return sorted(found.values(), key=lambda e: (-e["lanes"], e["place"]["address"]))


def kernels(process):
    seen, out = set(), []
    for thread in process.threads:
        launch = thread.launch
        key = (launch.device.id, launch.grid_id)
        if key not in seen:
            seen.add(key)
            out.append({"device": launch.device.id, "grid": launch.grid_id, "name": launch.kernel,
                        "entry": hex(launch.entry.address), "gridDim": dims(launch.grid),
                        "blockDim": dims(launch.block), "clusterDim": dims(launch.cluster)})
    return out


def of(process, blamed=None):
    """blamed: Position of an SM row's error PC when no thread is left to show it."""
    faults = faulting(process)
    trapped = sorted((t for t in process.threads if t.state.broken and t.is_active), key=order)
    focus, code = faults[0] if faults else (trapped[0], 0) if trapped else (None, 0)
    if focus is None and process.threads:
        focus = min(process.threads, key=lambda t: (t.launch.device.id, t.launch.grid_id, t.block[::-1], order(t)))
    rows = sm_rows(process)
    if not faults and rows:
        code = rows[0]["code"]
    return {
        "code": code, "trap": bool(trapped) and not faults,
        "focus": thread_truth(focus) if focus else None,
        "faulting_lanes": [{"device": t.launch.device.id, "sm": t.sm, "warp": t.warp, "lane": t.lane, "code": c}
                           for t, c in faults],
        "sm_rows": rows,
        "blamed": blamed.truth() if blamed else None,
        "classic": process.classic,
        "kernels": kernels(process), "groups": groups(process), "threads": len(process.threads),
    }
