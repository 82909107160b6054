#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each kind of exception, planted on code that can raise it: the report tells what it means, how precise it is, what the state
shows, the causes that follow and what to run next; and the pages say the same as the JSON. Prints TAP.

usage: test_exceptions.py WARPSCOPE BUILDER_FOLDER

A case is a function with a docstring. It returns what it planted and what must be said: regular expressions that some
sentence of a list must match. What must not be said begins with "!".
"""
import gzip
import html
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, sys.argv[2])

import coredump  # noqa: E402
import cubin as cb  # noqa: E402
from coredump import FLAG_SKIP_CONSTBANK, FLAG_SKIP_IMAGES, FLAG_SKIP_LOCAL, FLAG_SKIP_SHARED, Options  # noqa: E402
from machine import (A100, B200, H100, LOCAL_BYTES, LOCAL_WINDOW, SHARED_WINDOW, STACK_TOP, Foreign, Position,  # noqa: E402
                     Process, State)
import schemas  # noqa: E402

DATA = os.path.join(sys.argv[2], "..", "data", "exceptions")
GPUS = {"sm_80": A100, "sm_90": H100, "sm_90a": H100, "sm_100a": B200}
SYSTEM = 0x7f2b3fe00500  # code of the driver
HEAP = 0x7f3a00000000
CASES = []


def case(function):
    CASES.append(function)
    return function


class Planted:
    """One kernel of except.cu, or of another cubin, with one block in flight."""

    def __init__(self, kernel, form="li.sm_90", block=32, params=b"", shared=0, local=False, cluster=None, grid=8, patch=None,
                 gpu=None, cubin=None, source="except"):
        if cubin:
            with open(os.path.join(DATA, "..", "cubins", cubin), "rb") as handle:
                data = handle.read()
        else:
            with gzip.open(os.path.join(DATA, f"{source}.{form}.cubin.gz")) as handle:
                data = handle.read()
        self.process = Process(gpu or GPUS[form.rsplit(".", 1)[1]], local=local)
        self.module = self.process.context().load(data, externs={"__assertfail": SYSTEM})
        if patch:
            patch(self)
        self.launch = self.process.launch(self.module.context, self.module, self.kernel(kernel), (grid, 1, 1), (block, 1, 1),
                                          params=params, shared=shared, cluster=cluster)

    def kernel(self, name):
        return next(f.name for f in self.module.cubin.functions if f.value == 0 and re.match(rf"_Z\d+{name}(P|i|3|K|v)|{name}$", f.name))

    def function(self, name):
        return next(f for f in self.module.cubin.functions if re.search(rf"{name}", f.name))

    def at(self, offset, function=None):
        """The instruction at an offset of the kernel, or of one of its functions."""
        if function is None:
            return self.launch.entry.later(offset // 16)
        symbol = self.function(function)
        return Position(self.module, symbol.shndx, symbol.value + offset)

    def calls(self, function=None):
        """The calls of the kernel or of a function."""
        symbol = self.launch.entry.function if function is None else self.function(function)
        return [Position(self.module, symbol.shndx, offset)
                for offset in range(symbol.value, symbol.value + symbol.size, 16)
                if cb.opcode(self.module.cubin.word(symbol.shndx, offset)) in cb.CALLS
                and self.module.cubin.function_at(symbol.shndx, offset).index == symbol.index]

    def bank(self, offset, form, value):
        """A word of constant bank 0."""
        base, data = self.process.memory[0]
        data = bytearray(data)
        struct.pack_into("<" + form, data, offset, value)
        self.process.memory[0] = (base, bytes(data))

    def place(self, state, sm=2, block=(0, 0, 0)):
        self.cta = self.launch.place(sm, block, lambda warp: state if warp == 0 else State(self.launch.entry))
        return self.cta

    def uregs(self, **values):
        """Uniform registers of the first warp: UR4=..., or UR4_64=... for a pair."""
        warp = self.cta.warps[0]
        for name, value in values.items():
            number, _, wide = name[2:].partition("_")
            warp.uregs[int(number)] = value & 0xffffffff
            if wide:
                warp.uregs[int(number) + 1] = value >> 32

    def dump(self, options=None):
        options = options or Options(driver=615)
        return coredump.write(self.process.dump(options.driver), options)


def said(planted, code, findings=(), causes=(), next_=(), precision=(), options=None, **more):
    data = planted if isinstance(planted, bytes) else planted.dump(options)
    return {"dump": data, "code": code, "findings": findings, "causes": causes, "next": next_, "precision": precision, **more}


def pair(value):
    """Registers of a lane as functions: the low and high half of a number that may depend on the lane."""
    get = value if callable(value) else lambda _: value
    return [lambda lane: get(lane) & 0xffffffff, lambda lane: get(lane) >> 32]


# ---- assertions and traps ----

def asserted(form, options=None, frames_of=None):
    planted = Planted("asserts", form, params=struct.pack("<QQi", HEAP, HEAP + 0x1000, 10))
    outer = planted.calls()[0].later(1)
    inner = planted.calls("check")[0].later(1)
    frames = frames_of(planted, inner, outer) if frames_of else (inner, outer)
    wait = Foreign(SYSTEM, 0x100)
    planted.place(State(wait, frames, error=wait, exception=12, active=0xff, syscall_depth=1))
    return said(planted, 12, options=options)


TEXT = {"message": 'value < limit && "value is below the limit"', "file": "/src/ws/tests/kernels/except.cu", "line": 7,
        "function": "int check(int, int)"}
SPOKEN = dict(causes=["certain: an assertion in device code failed"], next_=["standard error"],
              precision=["errorpc is outside the code in the dump", "8 threads carry the exception"],
              text=[r'^Assertion failed: `value < limit', r"assertion  value < limit", r"except\.cu:7$", r"in int check\(int, int\)"])


@case
def assertion_beside_a_lost_image():
    """12: an image of another module is not there as it was loaded; the error PC may be in it."""
    planted = Planted("asserts", "li.sm_90", params=struct.pack("<QQi", HEAP, HEAP + 0x1000, 10))
    planted.module.context.load("bare.none.sm_90.cubin").node.relocated = None
    planted.module.context.load("calls.li.sm_90.cubin")
    outer = planted.calls()[0].later(1)
    inner = planted.calls("check")[0].later(1)
    planted.place(State(Foreign(SYSTEM, 0x100), (inner, outer), error=Foreign(SYSTEM, 0x100), exception=12, active=0xff, syscall_depth=1))
    return said(planted, 12, precision=["the code at errorpc is not known: no available image has it"])


@case
def assertion_sm_90():
    """12: the strings are in the image, their addresses in constant bank 4."""
    return {**asserted("li.sm_90"), **SPOKEN, "next": SPOKEN["next_"], "assertion": TEXT}


@case
def assertion_sm_80():
    """12: the same for sm_80, whose code moves the addresses in other ways."""
    return {**asserted("li.sm_80"), **SPOKEN, "next": SPOKEN["next_"], "assertion": TEXT}


@case
def assertion_sm_100():
    """12: the same for sm_100."""
    return {**asserted("li.sm_100a"), **SPOKEN, "next": SPOKEN["next_"], "assertion": TEXT}


@case
def assertion_blamed_on_its_call():
    """12: errorpc is the call itself, not the driver's code."""
    planted = Planted("asserts")
    call, outer = planted.calls("check")[0], planted.calls()[0].later(1)
    planted.place(State(call.later(1), (outer,), error=call, exception=12))
    return said(planted, 12, precision=["the instruction is known"], assertion=TEXT)


@case
def assertion_in_a_debug_build():
    """12: -G calls a function of the image that calls the system; the strings come through its arguments."""
    def frames(planted, inner, outer):
        return (planted.calls("__assert_fail")[0].later(1), inner, outer)
    return {**asserted("G.sm_90", frames_of=frames), "assertion": TEXT}


@case
def assertion_without_images():
    """12: a dump without the cubins has the loaded images still, and so the text."""
    return {**asserted("li.sm_90", Options(driver=615, flags=FLAG_SKIP_IMAGES | FLAG_SKIP_CONSTBANK)), "assertion": TEXT}


@case
def assertion_whose_image_is_lost():
    """12: without the image nothing can be told, and that is said."""
    planted = Planted("asserts")
    inner, outer = planted.calls("check")[0].later(1), planted.calls()[0].later(1)
    planted.module.node.relocated = None
    wait = Foreign(SYSTEM, 0x100)
    planted.place(State(wait, (inner, outer), error=wait, exception=12))
    return said(planted, 12, assertion={"message": None, "file": None, "line": None, "function": None},
                text=[r"assertion  its text is not known: the relocated image of the module"])


@case
def trap_of_a_stack_check():
    """A debug build traps where the stack pointer leaves local memory: the page says stack, not trap."""
    planted = Planted("recurses", "G.sm_90", local=True)
    symbol = planted.function("descend")
    trap = planted.at(0x40, "descend")
    again = next(p for p in planted.calls("descend") if p.offset > symbol.value).later(1)
    planted.place(State(trap, (again, again, again, planted.calls()[0].later(1)), broken=True,
                        regs={1: lambda _: STACK_TOP - LOCAL_BYTES - 24}))
    return said(planted, 0, ["stack check that a debug build makes", "descend.* is on the call stack 4 times",
                             r"R1 = 0x[0-9a-f]+, is 24 bytes below the thread's local memory \(576 bytes"],
                ["certain: endless recursion"], ["cudaLimitStackSize"], ["the warp stopped there", "32 threads stopped"], attribution="trap")


@case
def trap_of_a_tensor_memory_check():
    """The compiler's own checks of tensor memory end in a trap; the function's name says which."""
    planted = Planted("tensor_memory", "li.sm_100a")
    trap = planted.at(0, "unallocated_columns_being_dealloced")
    planted.place(State(trap, (planted.calls()[-1].later(1),), broken=True))
    return said(planted, 0, ["a tensor memory check that the compiler inserted failed: unallocated columns being dealloced"],
                ["certain: tensor memory is used wrongly"], attribution="trap")


@case
def asked_for():
    """No exception and no trap: a dump that was asked for says so."""
    planted = Planted("const_past")
    planted.place(State(planted.at(0x80)))
    return said(planted, None, next_=["A requested dump normally has no exception"])


# ---- the stack ----

def overflow(code, local=True, options=None, form="li.sm_90", top=0x28, pointer=STACK_TOP - LOCAL_BYTES - 0x60):
    planted = Planted("recurses", form, block=4, local=local)
    planted.bank(top, "I", STACK_TOP)
    stop = planted.at(0x40, "descend")
    again = planted.calls("descend")[0].later(1)
    planted.place(State(stop.later(1), (again,) * 100 + (planted.calls()[0].later(1),), error=stop, exception=code,
                        regs={1: lambda _: pointer}))
    return said(planted, code, options=options)


@case
def stack_overflow():
    """35: recursion, the stack pointer below local memory, how much was used."""
    return {**overflow(35), "findings": [r"`descend` is on the call stack 101 times",
                                         r"R1 = 0xfffb20, is 96 bytes below the thread's local memory \(576 bytes from 0xfffb80\)",
                                         r"lane 0 has used 672 bytes of stack"],
            "causes": [r"likely: endless recursion.*101 times"], "next": ["nvcc -Xptxas -v"]}


@case
def stack_overflow_sm_80():
    """35: the first instruction of the kernel is another one."""
    return {**overflow(35, form="li.sm_80"), "findings": [r"lane 0 has used 672 bytes of stack"]}


@case
def stack_overflow_sm_100():
    """35: and the word in another place."""
    return {**overflow(35, form="li.sm_100a", top=0x37c), "findings": [r"lane 0 has used 672 bytes of stack"]}


@case
def stack_overflow_without_local_memory():
    """35: local memory left out: the limit cannot be shown, and the flag that would keep it is named."""
    return {**overflow(35, options=Options(driver=615, flags=FLAG_SKIP_LOCAL)),
            "findings": ["local memory of lane 0, whose size is the stack limit, is left out of the dump",
                         "lane 0 has used 672 bytes of stack"], "next": ["without `skip_local_memory`"]}


@case
def stack_pointer_inside():
    """35: the stack pointer has not left local memory: how much is left."""
    return {**overflow(35, pointer=STACK_TOP - LOCAL_BYTES + 0x50),
            "findings": ["80 of the 576 bytes of local memory of lane 0 are left below its stack pointer, R1 = 0xfffbd0"]}


@case
def stack_pointer_at_the_end():
    """35: nothing is left, and nothing is missing."""
    return {**overflow(35, pointer=STACK_TOP - LOCAL_BYTES), "findings": ["0 of the 576 bytes of local memory of lane 0 are left", "!below the thread"]}


@case
def stack_pointer_above():
    """35: the stack pointer lies above local memory: it is no stack pointer."""
    return {**overflow(35, pointer=STACK_TOP + 0x10),
            "findings": [r"R1 = 0xfffdd0, lies outside the thread's local memory \(576 bytes from 0xfffb80\)", "!are left below"]}


@case
def stack_overflow_by_a_large_frame():
    """35: no recursion: one function with 40000 bytes of local arrays."""
    planted = Planted("big_frame", local=True)
    store = planted.at(0x120, "spread")
    planted.place(State(store, (planted.calls()[0].later(1),), error=store, exception=35,
                        regs={1: lambda _: STACK_TOP - 40000}))
    return said(planted, 35, [r"`spread` has a stack frame of 40000 bytes", "is 39424 bytes below the thread's local memory",
                              "!on the call stack"], ["likely: local arrays too large"], ["cudaLimitStackSize"])


@case
def retired_lane_stack_overflow():
    """2: the old number of the same, of the lane itself."""
    return {**overflow(2), "findings": ["on the call stack 101 times", "no longer report this number"]}


@case
def device_hardware_stack():
    """3: of the device: the errorpc is not promised to be the instruction."""
    return {**overflow(3), "precision": ["does not guarantee that it is the faulting instruction"]}


@case
def hardware_stack():
    """9: the warp's hardware stack."""
    return {**overflow(9), "findings": ["on the call stack 101 times"], "causes": ["likely: endless recursion"]}


@case
def api_stack():
    """33: device calls into the runtime."""
    return {**overflow(33), "findings": ["on the call stack"], "next": ["cudaLimitStackSize"]}


@case
def canary():
    """19: the function whose frame holds the guard."""
    planted = Planted("big_frame", local=True)
    check = planted.at(0x130, "spread")
    planted.place(State(check, (planted.calls()[0].later(1),), error=check, exception=19))
    return said(planted, 19, ["the guard lies in the stack frame of `spread`"], ["likely: a local array was overrun"], ["memcheck"])


# ---- jumps ----

def called(kernel, reg, value, code, pc=None, error=True, memory=(), **params):
    planted = Planted(kernel, **params)
    planted.process.memory += list(memory)
    low, high = pair(value)
    wild = Foreign(value if pc is None else pc)
    planted.place(State(wild, (planted.calls()[0].later(1),), error=wild if error else None, exception=code,
                        regs={reg: low, reg + 1: high}))
    return planted


@case
def null_function_pointer():
    """8: a table of functions with a null entry, entry 3 of it."""
    planted = called("calls_pointer", 6, 0, 8, params=struct.pack("<QQi", HEAP, HEAP + 0x100, 3),
                     memory=[(HEAP, bytes(64)), (HEAP + 0x100, bytes(128))])
    return said(planted, 8, [r"jumped to 0x0, as from a null pointer", "CALL.REL.NOINC R6", "R6.64, the target of that call, holds this",
                             r"loaded from 0x7f3a00000018, as a function pointer is"],
                ["likely: a null function pointer was called"], ["memcheck", "warpscope bt --full"],
                ["errorpc may be where the code jumped to, not where it came from", "32 threads carry the exception"])


@case
def null_virtual_table():
    """8: a virtual call on an object that is all zero."""
    planted = called("calls_virtual", 10, 0, 8, params=struct.pack("<QQ", HEAP, HEAP + 0x100), memory=[(HEAP, bytes(512))])
    return said(planted, 8, ["as from a null pointer", "through another loaded pointer, as a virtual call does"],
                ["likely: a virtual call on an object without a table"])


@case
def wild_virtual_call():
    """8: a virtual call on an object of the host: its table holds host addresses."""
    planted = called("calls_virtual", 10, 0x55d0c3a84e10, 8)
    return said(planted, 8, ["jumped to 0x55d0c3a84e10: no image of the dump has code there", "as a virtual call does"],
                ["likely: a virtual call on an object that the host constructed"])


@case
def jump_into_data():
    """8: the pointer leads to global memory."""
    planted = called("calls_pointer", 6, HEAP + 0x40, 8, memory=[(HEAP, bytes(512))])
    return said(planted, 8, ["jumped to 0x7f3a00000040, which is global memory: 512 bytes from 0x7f3a00000000"],
                ["likely: a pointer to data was taken for a function"])


@case
def jump_into_shared_memory():
    """8: the pointer leads to a window of generic addresses."""
    planted = called("calls_pointer", 6, SHARED_WINDOW + 0x40, 8)
    return said(planted, 8, [f"jumped to {SHARED_WINDOW + 0x40:#x}, which is shared memory"],
                ["likely: a pointer to data was taken for a function"])


@case
def jump_not_by_the_call():
    """8: the register of the last call holds another address: a return may have gone wrong."""
    planted = called("calls_pointer", 6, HEAP, 8, pc=0x41414140)
    return said(planted, 8, ["jumped to 0x41414140", "holds 0x7f3a00000000 in lane 0: it was written since"],
                ["the return address on the stack was overwritten"])


@case
def misaligned_pc():
    """23: a pointer into the middle of an instruction of known code."""
    planted = Planted("calls_pointer")
    odd = Position(planted.module, planted.launch.entry.shndx, 0x48)
    low, high = pair(odd.address)
    planted.place(State(odd, (planted.calls()[0].later(1),), error=odd, exception=23, regs={6: low, 7: high}))
    return said(planted, 23, ["is 8 bytes past an instruction boundary", "R6.64, the target of that call, holds this"],
                ["likely: a function pointer in memory is garbage"])


@case
def pc_overflow():
    """24: the program counter beyond the address space."""
    planted = called("calls_pointer", 6, 0xfffffffffffff0, 24)
    return said(planted, 24, ["jumped to 0xfffffffffffff0: no image"], precision=["may be where the code jumped to"])


# ---- instructions ----

def instruction(code, kernel="const_past", offset=0x80, patch=None, options=None, form="li.sm_90", gpu=None, **rows):
    planted = Planted(kernel, form, gpu=gpu)
    place = planted.at(offset)
    if patch:  # the loaded image only
        image = bytearray(planted.module.node.relocated)
        at = planted.module.cubin.sections[place.shndx].offset + place.offset
        patch(image, at)
        planted.module.node.relocated = bytes(image)
    planted.place(State(place.later(1), error=place, exception=code))
    planted.cta.warps[0].row.update(rows)
    return said(planted, code, options=options)


def garbage(image, at):
    image[at:at + 16] = b"\xff" * 16


@case
def illegal_instruction_in_changed_code():
    """4: the loaded image differs from the cubin at errorpc."""
    return {**instruction(4, patch=garbage), "findings": ["are not a known instruction of sm_90: ff ff", "other bytes there than the cubin",
                                                         "made for sm_90; the device is sm_90"],
            "causes": ["likely: the code was overwritten in memory"], "next": ["names stores that hit code", "cuobjdump -lelf"],
            "precision": ["the instruction is known"]}


@case
def illegal_instruction_in_unchanged_code():
    """4: the bytes are those that were built: another cause."""
    return {**instruction(4), "findings": ["a known instruction, `LDC R5, c", "has the same bytes there as the cubin"],
            "causes": ["!overwritten", "possible: failing hardware"], "next": ["another GPU"]}


@case
def illegal_instruction_without_the_cubin():
    """4: without the cubin nobody can compare; the flag that would keep it is named."""
    return {**instruction(4, options=Options(driver=615, flags=FLAG_SKIP_IMAGES)),
            "findings": ["the cubin of the module is left out of the dump"], "next": ["without `skip_nonrelocated_elf_images`"]}


@case
def illegal_instruction_in_the_middle_of_one():
    """4: errorpc is not a multiple of an instruction's size."""
    planted = Planted("const_past")
    odd = Position(planted.module, planted.launch.entry.shndx, 0x88)
    planted.place(State(odd, error=odd, exception=4))
    return said(planted, 4, ["errorpc is 8 bytes past an instruction boundary"], ["likely: a jump into the middle of an instruction"])


@case
def illegal_encoding_of_another_architecture():
    """26: code of sm_80 on a device of sm_90."""
    return {**instruction(26, form="li.sm_80", gpu=H100, offset=0x40), "findings": ["made for sm_80; the device is sm_90"],
            "causes": ["likely: the code is for an architecture that this device does not run"]}


@case
def illegal_instruction_outside_code():
    """4: errorpc in no function: a jump."""
    planted = called("calls_pointer", 6, 0x123456780, 4)
    return said(planted, 4, ["jumped to 0x123456780", "R6.64, the target"], ["likely: the pc is outside every function"])


def refused(kernel, form, opcode, state, params=b""):
    """The first instruction of an operation, which the hardware refused, and what the warp has."""
    planted = Planted(kernel, form, params=params, source="operands")
    symbol = planted.launch.entry.function
    at = next(Position(planted.module, symbol.shndx, offset) for offset in range(symbol.value, symbol.value + symbol.size, 16)
              if cb.opcode(planted.module.cubin.word(symbol.shndx, offset)) & 0x1ff == opcode)
    planted.place(State(at, error=at, exception=4, **state))
    return planted


LACKS = "certain: lane 1 waits at `WARPSYNC %s` with a mask that does not have it, and so do 14 more lanes"
MASKED = {"causes": ["likely: a lane calls a warp function", "!hardware"], "next": ["synccheck", "!another GPU"]}


@case
def warp_mask_without_its_caller():
    """4: odd lanes wait with a mask of even ones and lane 3, in a register."""
    planted = refused("lacks_itself", "li.sm_90a", 0x148, {"active": 0xaaaaaaaa, "regs": {0: lambda _: 0x5555555d}})
    return {**said(planted, 4, [LACKS % "R0"], precision=["the instruction is known"]), **MASKED}


@case
def warp_mask_in_a_parameter():
    """4: the same mask is a parameter of the kernel."""
    planted = refused("lacks_itself", "li.sm_80", 0x148, {"active": 0xaaaaaaaa}, struct.pack("<QI", HEAP, 0x5555555d))
    return {**said(planted, 4, [LACKS % r"c\[0x0\]\[0x168\]"]), **MASKED}


@case
def warp_mask_with_its_callers():
    """4: the mask has them all: nothing is said of it."""
    planted = refused("lacks_itself", "li.sm_90a", 0x148, {"active": 0xaaaaaaaa, "regs": {0: lambda _: 0xaaaaaaaa}})
    return said(planted, 4, ["!with a mask"], ["!warp function", "possible: failing hardware"])


def group_product(a, b):
    planted = refused("multiplies", "li.sm_90a", 0x1f0, {})
    planted.uregs(UR4_64=a, UR6_64=b)
    return planted


@case
def pointer_for_a_matrix_descriptor():
    """4: B's descriptor of a product of a warp group is an address."""
    return said(group_product(0x0000004000400040, 0x00007f3a00001000), 4,
                ["certain: the matrix descriptor in UR6, 0x00007f3a00001000, has bits that are not as in a descriptor: 0x0000400000000000", "!in UR4,"],
                ["likely: a descriptor of the matrix product is wrong", "!hardware"])


@case
def right_matrix_descriptors():
    """4: both are as they must be: nothing is said of them."""
    return said(group_product(0x4000004000400040, 0x8000004000400080), 4, ["!matrix descriptor"], ["!descriptor", "possible: failing hardware"])


@case
def register_given_away():
    """4: the same as 28, as an illegal instruction."""
    return {**instruction(4, kernel="recurses", offset=0x220, numRegs=8), "findings": ["this warp has 8 left"],
            "causes": [r"likely: registers were released \(setmaxnreg\) by a warp that still uses them", "!hardware"]}


@case
def misaligned_register():
    """25: a 64-bit load into an odd register."""
    def odd(image, at):
        image[at + 2] = 7  # Rd of LDC.64
    return {**instruction(25, offset=0x30, patch=odd), "findings": ["uses R7 to R8 as one operand: its first register is not a multiple of 2"],
            "causes": ["certain|likely: the code was overwritten|machine code was patched"]}


@case
def register_beyond():
    """28: the warp gave registers back."""
    return {**instruction(28, kernel="recurses", offset=0x220, numRegs=8),
            "findings": [r"uses R\d+.*; the warp has 8 registers, R0 to R7", "gave each thread 32 registers; this warp has 8 left"],
            "causes": [r"likely: registers were released \(setmaxnreg\) by a warp that still uses them"], "next": ["setmaxnreg"]}


@case
def newer_driver_needed():
    """22: the driver is older than the toolkit."""
    return {**instruction(22, options=Options(driver=575)), "findings": ["built by CUDA 13.0; the driver 575.57 belongs to CUDA 12.9"],
            "causes": ["certain: the toolkit that built the code is newer than the driver"], "next": ["nvidia-smi"]}


@case
def newer_driver_needed_by_no_evidence():
    """22: the driver is as new as the toolkit: the exception's word against the versions'."""
    return {**instruction(22), "findings": ["built by CUDA 13.0; the driver 615.21 belongs to CUDA 13.4"],
            "causes": ["!certain", "possible: a library from a later toolkit"]}


# ---- memory ----

@case
def shared_past_the_end():
    """5: dynamic shared memory of 128 bytes behind 256 static ones."""
    planted = Planted("shared_past", shared=1024 + 256 + 128, params=struct.pack("<QQi", HEAP, HEAP, 9))
    load = planted.at(0x170)
    planted.place(State(load.later(1), error=load, exception=5, address={lane: 0x500 + 36 * lane for lane in range(32)}))
    return said(planted, 5, ["has 1408 bytes of shared memory: 1280 static in the image .1024 of them reserved for the system., 128 requested by the launch"],
                ["likely: an index past the end of shared memory"], ["memcheck", "third argument"])


@case
def shared_past_the_only_variable():
    """5: the kernel has one variable in shared memory; another kernel of the image has three."""
    planted = Planted("nothing", form="li.sm_80", cubin="shared.clang.sm_80.cubin")
    store = planted.at(0x150)
    planted.place(State(store, error=store, exception=5, address={lane: SHARED_WINDOW + 0x500 for lane in range(32)}))
    return said(planted, 5, ["certain: the block has 0 bytes of shared memory"],
                [r"likely: an index past the end of shared memory.* \(lane 0: outside the 0 bytes of shared memory of the block\)"],
                access={"window_size": 0, "outside": "0xffffffff"},
                text=[r"lane 0 stores 4 bytes to shared memory at 0x500, outside the 0 bytes of shared memory of the block",
                      r"base +the shared variable `nothing\(\)::only`"])


@case
def local_past_the_end():
    """5: a store below the stack of the thread."""
    planted = Planted("big_frame", local=True)
    store = planted.at(0x120, "spread")
    planted.place(State(store.later(1), (planted.calls()[0].later(1),), error=store, exception=5,
                        address={lane: STACK_TOP - LOCAL_BYTES - 4 * lane for lane in range(32)}))
    return said(planted, 5, ["has 576 bytes of local memory, from 0xfffb80 to 0xfffdc0"], ["likely: an index past the end of a local array"])


@case
def global_load_of_a_shared_address():
    """7: a generic address of shared memory in a load for global memory."""
    planted = Planted("wrong_space", shared=0x500)
    load = planted.at(0x120)
    planted.place(State(load, error=load, exception=7, address={lane: SHARED_WINDOW + 0x40c for lane in range(32)}))
    return said(planted, 7, [r"0x7f040000040c is the generic address of byte 0x40c of shared memory; the instruction is for global memory"],
                ["certain: a pointer to shared or local memory is used by an operation for global memory"], ["__isShared"])


@case
def global_load_of_a_local_address():
    """7: the same of a local variable."""
    planted = Planted("wrong_space")
    load = planted.at(0x120)
    planted.place(State(load, error=load, exception=7, address={lane: LOCAL_WINDOW + STACK_TOP - 16 for lane in range(32)}))
    return said(planted, 7, ["of local memory"], ["certain: a pointer to shared or local memory"])


@case
def constant_past_the_bank():
    """29: a table index beyond its bank."""
    planted = Planted("const_past", params=struct.pack("<Qi", HEAP, 9))
    load = planted.at(0x80)
    planted.place(State(load, error=load, exception=29, regs={0: lambda lane: 0x7000 + lane * 4}))
    return said(planted, 29, ["constant bank 3 has 1024 bytes"], ["likely: a constant is read beyond its bank"], ["__constant__"])


def loads(code, **more):
    planted = Planted("calls_pointer", params=struct.pack("<QQi", HEAP, HEAP, 1 << 20))
    planted.process.memory.append((HEAP, bytes(4096)))
    load = planted.at(0x50)
    planted.place(State(load, error=load if more.get("error", True) else None, exception=code,
                        regs=dict(zip((6, 7), pair(HEAP + (8 << 20))))))
    return said(planted, code)


@case
def illegal_address():
    """14: the access itself is told (tests/cli/test_faults.py); here its words and commands."""
    return {**loads(14), "causes": ["likely: .*far too large|stride"], "next": ["memcheck --padding 1024"],
            "precision": ["the instruction is known", "32 threads carry the exception"]}


@case
def mmu_fault():
    """30: the same error, and the kernel log."""
    return {**loads(30), "causes": ["likely"], "next": ["dmesg . grep -i xid", "memcheck"]}


@case
def device_illegal_address():
    """10: of the memory system: who was running."""
    return {**loads(10), "findings": ["one kernel was running"], "next": ["CUDA_LAUNCH_BLOCKING=1"],
            "precision": ["does not guarantee that it is the faulting instruction"]}


@case
def retired_lane_illegal_address():
    """1: the old checker's word for 14, exact to the lane."""
    return {**loads(1), "findings": ["no longer report this number; the dump is from driver 615.21"], "causes": ["likely"]}


@case
def misaligned():
    """6 and 11 are one error; 11 is the old checker's."""
    result = loads(11)
    return {**result, "findings": ["no longer report"], "causes": ["misaligned|cast|aligned"], "next": ["memcheck"]}


@case
def misaligned_of_the_warp():
    """6"""
    return {**loads(6), "next": ["memcheck"]}


def atomics(code):
    planted = Planted("system_add", params=struct.pack("<Q", HEAP))
    atom = planted.at(next(o for o in range(0, 0x180, 16) if planted.at(o).word() & 0xfff in (0x9a8, 0x98e, 0x9a1, 0x98a)))
    planted.process.memory.append((HEAP, bytes(4096)))
    planted.place(State(atom, error=atom, exception=code, address={lane: HEAP + 4 * lane for lane in range(32)}))
    model = planted.process.dump(550)
    model.memory[-1].row["managed"] = True
    return said(coredump.write(model, Options(driver=550)), code)


@case
def system_atomic_not_migratable():
    """15: on managed memory."""
    return {**atomics(15), "findings": ["is managed memory", "no longer report this number"],
            "causes": ["likely: a system-wide atomic on managed memory"], "next": ["cudaDevAttrHostNativeAtomicSupported"]}


@case
def system_atomic_invalid():
    """16"""
    return {**atomics(16), "findings": ["is managed memory"], "next": ["cudaDevAttrHostNativeAtomicSupported"]}


@case
def failed_device_call():
    """13: malloc in device code."""
    return {**loads(13), "findings": ["no longer report"], "causes": ["`malloc` or `free` in device code"],
            "next": ["cudaLimitMallocHeapSize"]}


# ---- clusters and barriers ----

def cluster(code, target, gone=(), first=4):
    planted = Planted("shared_past", cluster=(4, 1, 1), shared=1024 + 256, block=64)
    load = planted.at(0x170)
    for number in range(8):
        if number in gone:
            continue
        planted.launch.place(2 * number, (number, 0, 0), lambda warp, n=number: State(
            load.later(1), exception=code if (n, warp) == (first + 2, 1) else 0))
    planted.process.devices[0].blame(2 * (first + 2), code, target=target)
    return planted


@case
def cluster_out_of_range():
    """17, which cuda-gdb numbers 18: the target is there, with its size."""
    return said(cluster(17, (7, 0, 0)), 17, [r"rank 2 of a cluster of 4 \(4,1,1\), whose first block is \(4,0,0\)",
                                             r"target block \(7,0,0\), rank 3 of the cluster, is resident on SM 14 and has 1280 bytes"],
                ["a wrong offset into distributed shared memory"], ["racecheck"],
                ["the instruction is not known: at or before pc"], meaning=["cuda-gdb numbers this 18, the driver's log 17"],
                text=["CLUSTER_OUT_OF_RANGE_ADDRESS \\(17\\), cuda-gdb: CUDA_EXCEPTION_18"])


@case
def cluster_block_gone():
    """18, which cuda-gdb numbers 17: the target has ended."""
    return said(cluster(18, (4, 0, 0), gone=(4,)), 18, [r"target block \(4,0,0\), rank 0 of the cluster, is not resident"],
                ["likely: the other block had ended"], meaning=["cuda-gdb numbers this 17, the driver's log 18"],
                text=["CLUSTER_BLOCK_NOT_PRESENT \\(18\\), cuda-gdb: CUDA_EXCEPTION_17"])


@case
def cluster_block_of_another_cluster():
    """18: the target lies outside of the cluster."""
    return said(cluster(18, (1, 0, 0)), 18, [r"target block \(1,0,0\), which is not in this block's cluster, is resident"])


@case
def warp_block_not_present():
    """34: no target is named; the blocks of the cluster that are gone are."""
    return said(cluster(34, None, gone=(5, 7)), 34, ["does not say which block was addressed",
                                                     r"2 of the 4 blocks of the cluster are no longer resident: rank 1 \(5,0,0\), 3 \(7,0,0\)"],
                ["likely: the other block had ended"])


@case
def warp_block_not_present_of_many():
    """34: of a large cluster the first blocks are named, and all are counted."""
    planted = Planted("shared_past", cluster=(16, 1, 1), shared=1024, block=32, grid=4000032)
    own = (4000018, 60000, 60000)
    planted.launch.place(2, own, lambda warp: State(planted.at(0x170), exception=34))
    planted.process.devices[0].blame(2, 34, target=None)
    gone = [f"{rank} ({4000016 + rank},60000,60000)" for rank in range(16) if rank != 2]
    named = next(", ".join(gone[:n]) for n in range(15, 0, -1) if len(", ".join(gone[:n])) < 300)
    return said(planted, 34, [r"rank 2 of a cluster of 16 \(16,1,1\), whose first block is \(4000016,60000,60000\)",
                              "15 of the 16 blocks of the cluster are no longer resident: rank " + re.escape(named) + "$"],
                ["likely: the other block had ended"])


def remote(rank, block=6):
    """A load from the shared memory of a block of the cluster, by rank."""
    process = Process(H100)
    module = process.context().load("cluster.li.sm_90.cubin")
    launch = process.launch(module.context, module, "_Z8exchangePjj", (8, 1, 1), (64, 1, 1), cluster=(4, 1, 1), shared=256)
    load = module.at("_Z8exchangePjj", "cluster.cu", "remote_load", {0x980})
    for number in range(8):
        launch.place(2 * number, (number, 0, 0), lambda warp, n=number: State(
            load, error=load, exception=34, address={lane: SHARED_WINDOW + (rank << 24) + 4 * lane for lane in range(32)})
            if (n, warp) == (block, 1) else State(load))
    return launch


@case
def cluster_rank_beyond():
    """34: four blocks are ranks 0 to 3."""
    launch = remote(4)
    return said(coredump.write(launch.process.dump(615), Options(driver=615)), 34,
                ["the address of lane 0 is in the shared memory of rank 4; the cluster has 4"],
                ["likely: a rank computed past the size of the cluster"])


@case
def cluster_rank_inside():
    """34: the last rank that there is."""
    launch = remote(3)
    return said(coredump.write(launch.process.dump(615), Options(driver=615)), 34,
                ["in the shared memory of rank 3; the cluster has 4"], ["possible: a rank computed past the size of the cluster"],
                text=[r"base +shared memory of block 3 of the cluster \(certain"])


@case
def cluster_rank_of_the_own_block():
    """34: block 5 is of rank 1."""
    launch = remote(1, 5)
    return said(coredump.write(launch.process.dump(615), Options(driver=615)), 34, ["the block is rank 1 of a cluster of 4"],
                text=[r"base +shared memory of the block \(certain"])


def two_ranks(driver):
    """In a block of rank 1 one lane loads from that block, the others from another one."""
    planted = Planted("shared_past", cluster=(4, 1, 1), shared=1024 + 256 + 128)
    load = planted.at(0x170)
    planted.launch.place(2, (5, 0, 0), lambda warp: State(load, error=load, exception=5,
                                                          address={lane: (2 if lane else 1) << 24 | 0x404 for lane in range(32)}))
    return said(planted, 5, text=["address +lane 1: 0x2000404, 335540[0-9]+ bytes past the end of", "suspects +31 of 32 lanes, 0xfffffffe"],
                options=Options(driver=driver))


@case
def address_of_another_rank():
    """5: a load of shared memory that is not by a generic address reaches only that of the own block."""
    return two_ranks(615)


@case
def address_of_another_rank_by_the_row_of_the_grid():
    """5: the same where only the grid's row has the size of the cluster."""
    return two_ranks(550)


def lost_base(driver):
    """5: a load that overwrites its own address, in a block that is rank 1 of its cluster: the code says how it was computed."""
    planted = Planted("shared_past", cluster=(4, 1, 1), shared=1024 + 256 + 128, params=struct.pack("<QQi", HEAP, HEAP, 9))
    load = planted.at(0x170)
    planted.launch.place(2, (5, 0, 0), lambda warp: State(load.later(1), error=load, exception=5))
    return said(planted, 5, options=Options(driver=driver))


@case
def address_by_the_rank_of_the_block():
    """5: addresses of shared memory begin with the block's rank in its cluster, which is no part of the offset."""
    return {**lost_base(615), "text": ["address +lane 4: 0x590, 16 bytes past the end of the 1408 bytes of shared memory of the block",
                                       "suspects +28 of 32 lanes, 0xfffffff0"]}


@case
def address_by_the_rank_in_the_cluster_of_the_grid():
    """5: dumps of before 565 do not say how large the cluster of a block is; the grid's row does."""
    return {**lost_base(550), "text": ["address +lane 4: 0x590, 16 bytes past the end"]}


@case
def address_by_a_rank_that_is_not_known():
    """5: dumps of before 525 have no size of a cluster, so no rank and no address."""
    return {**lost_base(400), "text": ["addresses +the addresses are computed from the current registers; at the fault they may have been different"]}


@case
def cluster_poison():
    """32: a memory error: what decides is outside of the dump."""
    return said(cluster(32, None), 32, ["all 4 blocks of the cluster are still resident"], ["possible: a memory error of the hardware"],
                ["nvidia-smi -q -d ECC"])


def arrived(word, form="li.sm_90", offset=0x110, options=None, at=0x400, count=4):
    planted = Planted("arrives", form, block=64, params=struct.pack("<Qi", HEAP, count), shared=at + 8)
    place = planted.at(offset)
    planted.place(State(place.later(1), error=place, exception=31))
    planted.cta.shared = planted.cta.shared[:at] + struct.pack("<Q", word)
    planted.uregs(UR6=at)
    return said(planted, 31, options=options)


def word_90(expected, pending, phase=0):
    return (0x100000 - expected) << 1 | (0x100000 - pending) << 43 | phase << 63


@case
def barrier_of_too_few():
    """31: initialised for 4, a block of 64 arrives."""
    return {**arrived(word_90(4, 1, 1)), "findings": ["phase 1, 4 arrivals expected, 1 pending$", "4 arrivals are expected; the block has 64"],
            "causes": ["likely: more threads arrive than the memory barrier was initialised for"], "next": ["synccheck"]}


@case
def barrier_sm_80():
    """31: the other layout of sm_80."""
    return {**arrived(0x40000000 - 5 | (0x80000000 - 3) << 32, "li.sm_80", 0xa0, at=0),
            "findings": ["phase 0, 5 arrivals expected, 3 pending$"]}


@case
def barrier_never_initialised():
    """31"""
    return {**arrived(0), "findings": ["is 0, which no initialised barrier holds"], "causes": ["likely: the memory barrier was never initialised"]}


@case
def barrier_overwritten():
    """31: floats in its place."""
    return {**arrived(0x3f8000003f800000), "findings": ["cannot be that of a barrier in use"],
            "causes": ["likely: the word of the memory barrier was overwritten"]}


@case
def barrier_misplaced():
    """31: a barrier lies at a multiple of 8."""
    return {**arrived(word_90(4, 1), at=0x404), "findings": ["the barrier's address 0x404 is not a multiple of 8"]}


@case
def barrier_without_shared_memory():
    """31: shared memory left out."""
    return {**arrived(word_90(4, 4), options=Options(driver=615, flags=FLAG_SKIP_SHARED)),
            "findings": ["the barrier's word at 0x400 of shared memory is left out of the dump"], "next": ["without `skip_shared_memory`"]}


# ---- tensor maps and tensor memory ----

def tensor_map(address=HEAP, dims=(1024, 512), strides=(2048,), box=(64, 32), kind=6, swizzle=3, steps=(1, 1)):
    """128 bytes, by the description in docs/formats/objects.md."""
    words = [0] * 32
    words[0], words[1] = address & 0xffffffff, address >> 32
    words[2] = len(dims) - 1 << 4 | kind << 7 | swizzle << 13
    for i, stride in enumerate(strides):
        words[3 + i] = stride >> 4 & 0xffffffff
        words[7] |= (stride >> 36 & 15) << 4 * i
    for i, dim in enumerate(dims):
        words[8 + i] = dim - 1
    words[13] = box[0] - 1 << 24 | sum(step - 1 << 3 * i for i, step in enumerate(steps))
    words[14] = sum(side - 1 << 8 * i for i, side in enumerate(box[1:]))
    return struct.pack("<32I", *words)


def copies(code, content, where="memory", map_at=HEAP + 0x10000, tile=0x400, form="li.sm_90", options=None, later=0):
    """A tensor map in memory or in the parameters; the tensor has 1 MiB at HEAP."""
    if where == "memory":
        planted = Planted("tma_memory", form, params=struct.pack("<QQi", map_at, HEAP, 0), shared=0x810)
        place = planted.at(0xf0)
    else:
        sm_100 = "100" in form
        planted = Planted("tma_param", form, params=bytes(0 if sm_100 else 0x30) + content, shared=0x810)
        place = planted.at(0xf0 if sm_100 else 0x110)
        word, start = (0x348, 0x380) if sm_100 else (0x198, 0x210)
        planted.bank(word, "Q", 0x7f0500010000 + start)
        map_at = 0x7f0500010000 + start + (0 if sm_100 else 0x30)
        planted.process.memory[0] = (0x7f0600000000, planted.process.memory[0][1])  # the bank is at no address that code uses
        planted.launch.node.banks[0]["addr"] = 0x7f0600000000
    planted.process.memory.append((HEAP, bytes(1024 * 1024)) if where != "memory" else (HEAP, bytes(0x10000)))
    if where == "memory" and content is not None:
        planted.process.memory.append((map_at, content))
    planted.place(State(place.later(1 + later), error=place, exception=code))
    planted.uregs(UR8_64=map_at, UR4=tile, UR5=0x800)
    return said(planted, code, options=options)


@case
def tensor_map_that_is_right():
    """36: nothing is wrong with the map: it is decoded, and no cause is called likely."""
    return {**copies(36, tensor_map(), "parameter"), "findings": [r"tensor map of `UTMALDG.2D \[UR4\], \[UR8\]` is at 0x7f0500010240, byte 48 of the kernel's",
                                                                 "1024 x 512 elements of type f16 at 0x7f3a00000000, in boxes of 64 x 32, swizzle 128B", "!must be"],
            "causes": ["!likely"], "next": ["cuTensorMapEncodeTiled", "memcheck"]}


@case
def tensor_map_sm_100():
    """36: the parameters' address is another word of the bank from sm_100 on."""
    return {**copies(36, tensor_map(), "parameter", form="li.sm_100a"), "findings": ["byte 0 of the kernel's parameters", "1024 x 512 elements of type f16"]}


@case
def tensor_map_all_zero():
    """27"""
    return {**copies(27, bytes(128)), "findings": ["all of its 128 bytes are 0"], "causes": ["likely: the tensor map was never filled in"]}


@case
def tensor_map_with_a_wide_box():
    """27: a row of 256 bytes in a swizzle of 128."""
    return {**copies(27, tensor_map(box=(128, 16))), "findings": ["a row of its box has 256 bytes, more than its swizzle of 128 bytes allows"],
            "causes": ["likely: the tensor map holds a value that the hardware does not accept"]}


@case
def tensor_map_with_an_odd_box():
    """27: a row of the box that is not a multiple of 16 bytes."""
    return {**copies(27, tensor_map(box=(20, 16), swizzle=0)), "findings": ["a row of its box has 40 bytes, which must be a multiple of 16"]}


def with_word_2(clear, bits):
    """A tensor map with other bits in the word that has its rank, element type and interleaving."""
    content = bytearray(tensor_map())
    struct.pack_into("<I", content, 8, struct.unpack_from("<I", content, 8)[0] & ~clear | bits)
    return bytes(content)


REFUSED = ["likely: the tensor map holds a value that the hardware does not accept"]


@case
def tensor_map_of_six_dimensions():
    """27: the rank is one more than there can be."""
    return {**copies(27, with_word_2(7 << 4, 5 << 4)), "findings": ["it has 6 dimensions; the maximum is 5"], "causes": REFUSED}


@case
def tensor_map_of_no_type():
    """27: a number that is no element type."""
    return {**copies(27, with_word_2(15 << 7, 15 << 7)), "findings": ["its element type, 15, is not a known one"], "causes": REFUSED}


@case
def tensor_map_of_no_interleaving():
    """27: of the four values for interleaving one is not used."""
    return {**copies(27, with_word_2(0, 3 << 11)), "findings": ["its interleaving mode does not exist"], "causes": REFUSED}


@case
def tensor_at_an_odd_address():
    """27: the tensor begins at a multiple of 16."""
    return {**copies(27, tensor_map(address=HEAP + 8)), "causes": REFUSED,
            "findings": ["the tensor's address 0x7f3a00000008 is not a multiple of 16, as it must be"]}


@case
def interleaved_tensor_at_an_odd_address():
    """27: interleaved by 32 bytes, it begins at a multiple of 32."""
    content = bytearray(with_word_2(0, 2 << 11))
    struct.pack_into("<Q", content, 0, HEAP + 16)
    return {**copies(27, bytes(content)), "causes": REFUSED,
            "findings": ["the tensor's address 0x7f3a00000010 is not a multiple of 32, as it must be"]}


@case
def tensor_nowhere():
    """36: the map is where it should be, and the tensor is in no memory."""
    return {**copies(36, tensor_map(address=0x55d000000000)), "findings": ["the tensor's address 0x55d000000000 is in no known memory"],
            "causes": ["likely: the tensor map describes more memory than there is"]}


@case
def tensor_map_past_the_end():
    """36: more rows than there is memory."""
    return {**copies(36, tensor_map(dims=(1024, 600), strides=(2048,)), "parameter"),
            "findings": ["the tensor reaches 180224 bytes past the end of the 1048576 bytes at 0x7f3a00000000"],
            "causes": ["likely: the tensor map describes more memory than there is"]}


@case
def tensor_map_misplaced():
    """36: the map's own address."""
    return {**copies(36, tensor_map(), map_at=HEAP + 0x10010), "findings": ["0x7f3a00010010 is not a multiple of 64"],
            "causes": ["likely: the tensor map lies at an address that is not a multiple of 64"]}


@case
def tensor_map_nowhere():
    """36: the map's address leads to no memory."""
    return {**copies(36, None, map_at=0x55d000000040), "findings": ["it is in no known memory"],
            "causes": ["possible: the address of the tensor map points nowhere"]}


@case
def tensor_map_in_a_bank_left_out():
    """36: constant banks left out: the flag is named."""
    return {**copies(36, tensor_map(), "parameter", options=Options(driver=615, flags=FLAG_SKIP_CONSTBANK)),
            "next": ["memcheck"]}


@case
def tile_misplaced():
    """27: where the tile goes."""
    return {**copies(27, tensor_map(), tile=0x440), "findings": ["tile's address in shared memory, 0x440, is not a multiple of 128", "!map must be"],
            "causes": ["likely: the tile in shared memory is not aligned"]}


def tensor_memory(code, kernel, offset, address, columns=3):
    planted = Planted(kernel, "li.sm_100a", block=64, shared=0x410)
    place = planted.at(offset)
    planted.place(State(place, error=place, exception=code))
    planted.cta.shared = bytes(0x54) + struct.pack("<I", columns) + bytes(0x410 - 0x58)
    planted.uregs(UR4=address)
    return said(planted, code)


@case
def tensor_memory_column_beyond():
    """20"""
    return {**tensor_memory(20, "tensor_memory", 0x370, 0x00200240), "findings": [r"`LDTM R5, tmem\[UR4\]` addresses lane 32, column 576"],
            "causes": ["likely: the address is past the end of tensor memory"], "next": ["tcgen05.dealloc"]}


@case
def tensor_memory_column_inside():
    """20: the column exists, so it was not allocated."""
    return {**tensor_memory(20, "tensor_memory", 0x370, 0x00200040), "findings": ["lane 32, column 64", "the block has allocated: 0 to 63$"], "causes": ["!likely", "beyond what the block allocated"]}


@case
def tensor_memory_leak():
    """21: a kernel without a release."""
    return {**tensor_memory(21, "tensor_leak", 0x320, 0), "findings": ["its code has 2 instructions that allocate tensor memory and 0 that release it"],
            "causes": ["likely: the kernel does not release the tensor memory that it allocates"]}


@case
def tensor_memory_leak_on_a_path():
    """21: a kernel with a release."""
    return {**tensor_memory(21, "tensor_memory", 0x3a0, 0, 0x10c), "findings": ["allocated: 64 to 127, 256 to 287$", "2 instructions that allocate tensor memory and 1 that releases it"],
            "causes": ["likely: some path to the end"]}


# ---- what is no kind ----

@case
def unknown_number():
    """77: not in the list: it is said, and nothing is made of it."""
    return {**loads(77), "causes": ["newer than this driver or this program"], "meaning": ["The list of exceptions of this version ends at 36"],
            "next": ["dmesg"], "text": ["exception 77 \\(not known to this version\\)"]}


@case
def all_ones():
    """The driver could not classify it."""
    return {**loads(0xffffffff), "causes": ["hardware or driver fault"], "next": ["dmesg"], "text": ["cuda-gdb: CUDA_EXCEPTION_0"]}


@case
def seen_after_the_warp_left():
    """Only the SM's row is left: no thread, but the instruction."""
    planted = Planted("const_past")
    planted.process.devices[0].blame(77, 29, planted.at(0x80))
    return said(planted, 29, precision=["the instruction is known", "the threads had exited before the fault was detected"], attribution="sm")


# ---- the tests ----

class Wrong(Exception):
    pass


def run(*command):
    done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    if done.returncode:
        raise Wrong(f"exit status {done.returncode}: {done.stderr.decode(errors='replace')[:300]}")
    return done.stdout.decode()


def hold(what, patterns, sentences):
    for pattern in patterns:
        found = any(re.search(pattern.lstrip("!"), sentence, re.M) for sentence in sentences)
        if found == pattern.startswith("!"):
            raise Wrong(f"{what}: {'' if found else 'no '}match of {pattern!r} in {sentences}")


def spoken(claims):
    return [f"{c['confidence']}: {c['text']} ({c['evidence']})" for c in claims]


def check_pages(program, path, focus):
    """Text, Markdown and HTML say each finding and cause. Returns the text."""
    claims = focus["findings"] + focus["likely_causes"]
    pages = {form: run(program, "report", "--no-source", "--format", form, path) for form in ("text", "md", "html")}
    for form, page in pages.items():
        plain = re.sub(r"<[^>]*>", "", page) if form == "html" else page.replace("\\", "")
        plain = html.unescape(plain)
        if "(null)" in plain:
            raise Wrong(f"the {form} page has a part without text")
        for claim in claims:
            sentence = claim["text"].replace("`", "") if form == "html" else claim["text"].replace("\\", "")
            if sentence not in plain:
                raise Wrong(f"the {form} page does not say {sentence!r}")
    return pages["text"]


def check(program, path, expected):
    report = json.loads(run(program, "report", "--json", "--no-source", path))
    if why := schemas.misfit(report):
        raise Wrong(why)
    hold("next", expected["next"], report["next"])
    if expected["code"] is None:
        return
    focus = report["focus"]
    for what in ("code", "attribution"):
        if what in expected and focus[what] != expected[what]:
            raise Wrong(f"{what} {focus[what]}")
    for what, held in (("assertion", focus["assertion"]), ("access", (focus["accesses"] or [None])[0])):
        got = {key: held[key] for key in expected.get(what, ())}
        if got != expected.get(what, {}):
            raise Wrong(f"{what} {got}")
    findings = [re.sub(r" \([^()]*\)$", "", sentence) for sentence in spoken(focus["findings"])]
    hold("findings", expected["findings"], findings)
    hold("causes", expected["causes"], spoken(focus["likely_causes"]))
    hold("precision", expected["precision"], [focus["precision"]["text"]])
    hold("meaning", expected.get("meaning", [r"\.\)?$"]), [focus["meaning"]])
    if not focus["likely_causes"] or not focus["commands"]:
        raise Wrong("no cause, or nothing to run")
    hold("text", expected.get("text", []), [check_pages(program, path, focus)])


def main():
    program = sys.argv[1]
    failed = 0
    codes = set()
    print(f"1..{len(CASES) + 1}")
    with tempfile.TemporaryDirectory() as folder:
        for number, function in enumerate(CASES, 1):
            path = os.path.join(folder, function.__name__ + ".nvcudmp")
            wrong = None
            try:
                expected = function()
                codes.add(expected["code"])
                with open(path, "wb") as handle:
                    handle.write(expected["dump"])
                check(program, path, expected)
            except (Wrong, subprocess.TimeoutExpired, KeyError) as error:
                wrong = repr(error)
            failed += wrong is not None
            print(f"{'not ok' if wrong else 'ok'} {number} - {function.__name__}: {function.__doc__.strip()}")
            if wrong:
                print("# " + wrong)
    missing = {*range(1, 37), 0xffffffff} - codes
    failed += bool(missing)
    print(f"{'not ok' if missing else 'ok'} {len(CASES) + 1} - every kind has a case{': ' + str(sorted(missing)) if missing else ''}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
