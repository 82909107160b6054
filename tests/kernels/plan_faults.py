"""The kernels of faults.cu: how each is launched, and what must come of it.

The state of a fault is what the device holds when the fault surfaces, some instructions late. Its truth comes from the plan, which
knows the source: the address of each thread. A lane is guilty when what its address says lies in no memory that there is. The
same run without lateness, which stops at the access, must agree: lanes, the address of the first of them, width.
"""

import struct

import planted
from planted import Wrong, words

LDGSTS = 0xfae  # has its width elsewhere
LOADS = {0x381, 0x981, 0x980, 0x984, 0x983, LDGSTS, 0xdae, 0x4ae, 0x7ae}
STORES = {0x386, 0x986, 0x385, 0x985, 0x388, 0x988, 0x387, 0x987}


class Plan:
    """One launch.

    address(x, y, block) is what the source says of a thread, or {width: such a function}; owner what the base pointer came
    from: a parameter ("param", ordinal, offset inside it), ("symbol", name), ("constant", name), ("shared",), ("stack",),
    ("loaded", ordinal of the parameter that the pointer was loaded through, or None). lanes: those that are guilty, where they
    are the same in all blocks; late: how many instructions later it surfaces; step: from the address of a lane to that of the
    next, where the source does not say the address itself; only: lanes that make the access, where not all that are active do;
    rank(block): the block of the cluster whose shared memory it is."""

    def __init__(self, params, address, width, space, direction, owner, lanes=None, block=(32, 1, 1), late=3, grid=(4, 1, 1),
                 freed=(), code=14, cluster=None, step=None, only=None,
                 rank=None):
        self.params, self.address, self.width, self.space, self.direction = params, address, width, space, direction
        self.owner, self.lanes, self.block, self.late, self.grid = owner, lanes, block, late, grid
        self.freed, self.code, self.cluster, self.step, self.only, self.rank = freed, code, cluster, step, only, rank


def plans(heap, sm):
    """{kernel: function making its Plan}. A function, for every kernel has a heap of its own."""
    ints, floats = words("i", range(64)), words("f", [float(i) for i in range(64)])
    shared = 0x400 if sm >= 90 else 0

    def past_by_one():
        a, b = heap.add(words("f", [1.0] * 60)), heap.add(bytes(240))
        return Plan([("Q", a), ("Q", b), ("i", 60)], lambda x, y, block: a + 4 * (32 * block[0] + x), 4, "global", "load", ("param", 0, 0),
                    lanes=[28])

    def past_by_much():
        a, b = heap.add(ints), heap.add(bytes(128))
        return Plan([("Q", a), ("Q", b), ("i", 1 << 18)], lambda x, y, _: a + 4 * x * (1 << 18), 4, "global", "load",
                    ("param", 0, 0), late=1)

    def negative_index():
        a, b = heap.add(ints), heap.add(bytes(128))
        return Plan([("Q", a), ("Q", b), ("i", 3)], lambda x, y, _: a + 4 * (x - 3), 4, "global", "load", ("param", 0, 0),
                    lanes=[0, 1, 2], late=0)

    def null_member():
        b = heap.add(bytes(128))
        return Plan([("Q", 0), ("Q", b)], {8: lambda x, y, _: 8, 4: lambda x, y, _: 0}, None, "global", "load", ("param", 0, 0))

    def misaligned_vector():
        a, b = heap.add(bytes(1024)), heap.add(bytes(1024))
        return Plan([("Q", a), ("Q", b), ("i", 1)], lambda x, y, _: a + 16 * x + 4, 16, "global", "load", ("param", 0, 0), code=6)

    def after_free():
        a, b, c = heap.add(bytes(256)), heap.add(ints[:128]), heap.add(bytes(256))
        return Plan([("Q", a), ("Q", b)], lambda x, y, _: a + 4 * x, 4, "global", "store", ("param", 0, 0), freed=[a], late=1)

    def wrong_stride():
        a, b = heap.add(bytes(4 * 32 * 6)), heap.add(bytes(128))
        return Plan([("Q", a), ("Q", b), ("i", 6), ("i", 64)], lambda x, y, _: a + 4 * (3 * 64 + x), 4, "global", "load",
                    ("param", 0, 0), late=2)

    def shared_overrun():
        a, b = heap.add(ints[:128]), heap.add(bytes(128))
        return Plan([("Q", a), ("Q", b), ("i", 9)], lambda x, y, _: shared + 4 * 9 * x, 4, "shared", "load", ("shared",), code=5,
                    late=1)

    def local_overrun():
        a = heap.add(bytes(128))
        return Plan([("Q", a), ("i", 90), ("i", 4)], None, 4, "local", "store", ("stack",), code=5, step=16)

    def bad_in_struct():
        b = heap.add(bytes(128))
        return Plan([("struct", struct.pack("<iiQQ", 7, 0, 0x7f1100000000, b)), ("i", 20)],
                    lambda x, y, _: 0x7f1100000000 + 4 * x, 4, "global", "load", ("param", 0, 8), lanes=list(range(20)))

    def bad_link():
        wild = 0x7e5500000040
        a = heap.add(lambda at: b"".join(struct.pack("<qQii", i, wild if i % 4 == 1 else at, i, 0) for i in range(32)))
        b = heap.add(bytes(128))
        return Plan([("Q", a), ("Q", b), ("i", 1)], lambda x, y, _: (wild if x % 4 == 1 else a) + 16, 4, "global", "load", ("loaded", 0),
                    lanes=[i for i in range(32) if i % 4 == 1], late=0)

    def loaded_index():
        which = [i if i not in (5, 6) else 100000 + i for i in range(32)]
        a, b, c = heap.add(floats), heap.add(words("i", which)), heap.add(bytes(128))
        return Plan([("Q", a), ("Q", b), ("Q", c)], lambda x, y, _: a + 4 * which[x], 4, "global", "load", ("param", 0, 0),
                    lanes=[5, 6], late=0)

    def some_lanes():
        a, b = heap.add(ints[:128]), heap.add(bytes(128))
        return Plan([("Q", a), ("Q", b), ("i", 50000)], lambda x, y, _: b + 4 * (x + 50000), 4, "global", "store", ("param", 1, 0),
                    lanes=list(range(1, 32, 2)), only=range(1, 32, 2), late=0)

    def same_for_all():
        a, b = heap.add(ints), heap.add(bytes(128))
        return Plan([("Q", a), ("Q", b), ("i", 70)], lambda x, y, block: a + 4 * (1000 * block[0] + 70), 4, "global", "load", ("param", 0, 0))

    def pairs():
        a, b = heap.add(bytes(256)), heap.add(bytes(256))
        return Plan([("Q", a), ("Q", b), ("i", 30), ("i", 5)], lambda x, y, _: b + 8 * (5 * x + 30), 8, "global", "store",
                    ("param", 1, 0), lanes=list(range(1, 32)), late=1)

    def wide_store():
        a, b = heap.add(bytes(512)), heap.add(bytes(512))
        return Plan([("Q", a), ("Q", b), ("i", 2)], lambda x, y, _: b + 16 * (x + 2), 16, "global", "store", ("param", 1, 0),
                    lanes=[30, 31], late=1)

    def count_up():
        a, b = heap.add(bytes(128)), heap.add(words("I", range(32)))
        return Plan([("Q", a), ("Q", b), ("I", 1000)], lambda x, y, _: a + 4000 * x, 4, "global", "atomic", ("param", 0, 0),
                    lanes=list(range(1, 32)), late=1)

    def swap_in():
        a, b = heap.add(bytes(256)), heap.add(bytes(256))
        return Plan([("Q", a), ("Q", b), ("i", -1)], lambda x, y, _: a + 8 * (x - 1), 8, "global", "atomic", ("param", 0, 0),
                    lanes=[0], late=0)

    def shared_atomic():
        a, b = heap.add(words("i", [i if i != 9 else 4000 for i in range(32)])), heap.add(bytes(128))
        return Plan([("Q", a), ("Q", b)], lambda x, y, _: shared + 4 * (x if x != 9 else 4000), 4, "shared", "atomic", ("shared",),
                    lanes=[9], code=5, late=1)

    def async_copy():
        a, b = heap.add(bytes(512)), heap.add(bytes(512))
        return Plan([("Q", a), ("Q", b), ("i", 1000)], lambda x, y, _: a + 16 * (x + 1000), 16, "global", "load", ("param", 0, 0),
                    late=0)

    def device_table():
        a = heap.add(bytes(128))
        table = heap.symbol("table")
        return Plan([("Q", a), ("i", 7)], lambda x, y, _: table + 28 * x, 4, "global", "load", ("symbol", "table"), late=0)

    def device_pointer():
        a = heap.add(bytes(128))
        heap.write(heap.symbol("shelf"), struct.pack("<Q", a))
        return Plan([("i", 1000)], lambda x, y, _: a + 4 * (x + 1000), 4, "global", "store", ("loaded", None), late=1)

    def constant_pointer():
        a, b = heap.add(bytes(128)), heap.add(bytes(128))
        heap.write(heap.symbol("source"), struct.pack("<Q", a))
        return Plan([("Q", b), ("i", -1)], lambda x, y, _: a + 4 * (x - 1), 4, "global", "load", ("constant", "source"), lanes=[0], late=0)

    def by_bytes():
        a, b = heap.add(bytes(32)), heap.add(bytes(32))
        return Plan([("Q", a), ("Q", b), ("i", 32)], lambda x, y, _: b + 32 - x, 1, "global", "store", ("param", 1, 0), lanes=[0],
                    late=0)

    def by_shorts():
        a, b = heap.add(bytes(64)), heap.add(bytes(64))
        return Plan([("Q", a), ("Q", b), ("i", 2)], lambda x, y, _: b + 4 * x, 2, "global", "store", ("param", 1, 0),
                    lanes=list(range(16, 32)), late=1)

    def walk_past_end():
        a, b = heap.add(words("i", [1] * 96)), heap.add(bytes(128))
        return Plan([("Q", a), ("Q", b)], lambda x, y, _: a + 4 * (96 + x), 4, "global", "load", ("param", 0, 0), late=2)

    def garbage_pointer():
        a = heap.add(struct.pack("<qQ", 3, 0xdeadbeefdeadbee8))
        return Plan([("Q", a), ("i", 2)], lambda x, y, _: 0xdeadbeefdeadbee8 + 8 * x, 4, "global", "store", ("loaded", 0), late=1)

    def misaligned_atomic():
        a = heap.add(bytes(512))
        return Plan([("Q", a), ("i", 2)], lambda x, y, _: a + 2 + 4 * x, 4, "global", "atomic", ("param", 0, 0), code=6, late=1)

    def in_the_gap():
        a, b, c = heap.add(bytes(256)), heap.add(ints[:128]), heap.add(bytes(256))
        return Plan([("Q", a), ("Q", b), ("i", 64)], lambda x, y, _: a + 4 * (64 + x), 4, "global", "store", ("param", 0, 0), late=1)

    def three_d():
        a, b = heap.add(bytes(8 * 4 * 4 * 2)), heap.add(bytes(8 * 4 * 4 * 2))
        return Plan([("Q", a), ("Q", b), ("i", 8), ("i", 4)], lambda x, y, block: a + 4 * ((block[2] * 4 + y) * 8 + x), 4, "global", "load",
                    ("param", 0, 0), block=(8, 4, 1), grid=(1, 1, 3))

    def generic_shared():
        a = heap.add(bytes(128))
        return Plan([("Q", a), ("i", 0), ("i", 3000)], lambda x, y, _: shared + 4 * (x + 3000), 4, "shared", "store", ("shared",),
                    code=5, late=1)

    def through_call():
        a, b = heap.add(bytes(128)), heap.add(bytes(128))
        return Plan([("Q", a), ("Q", b), ("i", 1000), ("i", 3)], lambda x, y, _: a + 4 * (1000 + 3 * x), 4, "global", "load", ("param", 0, 0))

    def through_calls():
        a, b = heap.add(bytes(128)), heap.add(bytes(128))
        return Plan([("Q", a), ("Q", b), ("i", 1000), ("i", 3)], lambda x, y, _: a + 4 * (1002 + 3 * (x + 1)), 4, "global", "load",
                    ("param", 0, 0))

    def by_reference():
        a, b = heap.add(bytes(128)), heap.add(bytes(128))
        return Plan([("Q", a), ("Q", b), ("i", 300)], lambda x, y, _: a + 4 * (x + 300), 4, "global", "load", ("param", 0, 0))

    def two_tables():
        a, b, c = heap.add(bytes(128)), heap.add(bytes(128)), heap.add(bytes(128))
        return Plan([("Q", a), ("Q", b), ("Q", c), ("i", 1), ("i", 500)], lambda x, y, _: b + 4 * (x + 500), 4, "global", "load",
                    ("param", 1, 0))

    def chosen():
        a, b, c = heap.add(bytes(128)), heap.add(bytes(128)), heap.add(bytes(128))
        return Plan([("Q", a), ("Q", b), ("Q", c), ("i", 30)], lambda x, y, _: b + 4 * 30 * x, 4, "global", "load", ("param", 1, 0))

    def cluster_shared():
        a = heap.add(bytes(128))
        return Plan([("Q", a), ("i", 500)], lambda x, y, block: shared + 4 * (x + 500), 4, "shared", "load", ("shared",), code=17, late=0, cluster=(2, 1, 1),
                    rank=lambda block: block[0] & 1 ^ 1)

    return {name: make for name, make in locals().items() if callable(make) and name not in ("words", "heap")}


def thread_of(block, lane):
    return lane % block[0], lane // block[0]


class Place:
    """Where a fault is: the row of its SM, block and warp in the dump."""

    def __init__(self, device, answer):
        _, self.exception, self.errorpc, self.address, sm, slot, self.lanes = answer
        self.sm = device["sms"][sm]
        self.cta, self.warp = next(((cta, warp) for cta in self.sm.get("ctas") or () for warp in cta["warps"]
                                    if warp["warpId"] == slot), (None, None))
        self.block = tuple(self.cta["blockIdx" + axis] for axis in "XYZ") if self.cta else None


def is_there(plan, place, memory, address, width):
    """Whether an access of the plan's space is right: by the memory that the dump has."""
    if address % width:
        return False
    if plan.space == "shared":
        return address + width <= len(place.cta["shared"])
    if plan.space == "local":
        return address + width <= place.warp["lanes"][0]["local"]["address"] + len(place.warp["lanes"][0]["local"]["bytes"])
    return any(one["address"] <= address and address + width <= one["address"] + len(one["bytes"]) for one in memory)


def width_of(plan, image, address, errorpc):
    operation, width = image.opcode(address, errorpc)
    kind = "load" if operation in LOADS else "store" if operation in STORES else "atomic"
    if kind != plan.direction:
        raise Wrong(f"operation {operation:#x} is a {kind}")
    if plan.width is not None and kind != "atomic" and operation != LDGSTS and width != plan.width:
        raise Wrong(f"width {width}")
    return plan.width or width


def truth_of(plan, image, device, memory, answer):
    """What the plan says of the fault that is there; Wrong when the device says otherwise."""
    if answer[0] != planted.FAULTED or answer[1] != plan.code:
        raise Wrong(f"outcome {answer[0]}, exception {answer[1]:#x}")
    place = Place(device, answer)
    width = width_of(plan, image, planted.addresses(device), place.errorpc)
    formula = plan.address[width] if isinstance(plan.address, dict) else plan.address
    executing = [lane for lane in range(32) if place.warp["activeLanesMask"] >> lane & 1]
    executing = [lane for lane in executing if plan.only is None or lane in plan.only]
    blamed = [lane for lane in range(32) if place.lanes >> lane & 1]
    # of shared memory: without the rank of the block
    at_block = 0xffffff if plan.space == "shared" else (1 << 64) - 1
    if formula is None:  # of the stack: what lies between two lanes' addresses is known
        said = {lane: place.address + plan.step * (lane - blamed[0]) for lane in executing}
    else:
        said = {lane: formula(*thread_of(plan.block, lane), place.block) & (1 << 64) - 1 for lane in executing}
    guilty = [lane for lane in executing if not is_there(plan, place, memory, said[lane], width)]
    if guilty != blamed or said[guilty[0]] != place.address & at_block:
        raise Wrong(f"lanes {blamed}, {place.address:#x}; by the plan {guilty}, {said.get(guilty[0] if guilty else None)}")
    if plan.lanes is not None and guilty != plan.lanes:
        raise Wrong(f"lanes {guilty}, planned {plan.lanes}")
    return {"lanes": guilty, "executing": executing, "address": {str(lane): at for lane, at in sorted(said.items())}, "width": width,
            "space": plan.space, "direction": plan.direction, "owner": plan.owner, "rank": plan.rank and plan.rank(place.block)}


def go(console, image, kernel, symbol, run):
    """Runs it to its end: the plan, its answer, and what the device holds."""
    planted.start(console, image, run)
    heap = planted.Heap(console)
    plan = plans(heap, image.sm)[kernel]()
    for at in plan.freed:
        heap.free(at)
    planted.launch(console, symbol, plan)
    answer = console.ask("run", 1000000)
    return plan, heap, answer, *planted.dump(console)


def state_of(console, image, kernel, symbol, run):
    """The state of a fault, with its truth. `run.late` None: as the plan has it."""
    late = run.late
    run = planted.Run(run.schedule, run.seed)
    plan, heap, answer, device, memory = go(console, image, kernel, symbol, run)
    truth = truth_of(plan, image, device, memory, answer)
    block = Place(device, answer).block
    run.late = plan.late if late is None else late
    if run.late:
        plan, heap, answer, device, memory = go(console, image, kernel, symbol, run)
    place = Place(device, answer)
    fault = {"code": plan.code, "errorpc": place.errorpc, "sm": place.sm["smId"], "ctaid": block,
             "warp": planted.number_of(place.warp["lanes"][0], plan.block) // 32 if place.warp else None}
    held = planted.state_of(device, memory, plan) if device["grids"] else {}  # nothing is left of a grid that has ended
    return {"kernel": kernel, "symbol": symbol, **held, "fault": fault,
            "freed": [[at, heap.blocks[at]] for at in plan.freed], "truth": truth}, planted.addresses(device)
