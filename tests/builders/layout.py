"""Entry structs of the dump format as the drivers grew them: the writer's own table.

Per table: (field, struct format character, first driver). Entries are padded to a multiple of 8 bytes at the end of each
driver's part, which is how every known struct grew. tests/builders/reader.py has its own tables on purpose.
"""

import struct

DRIVERS = (346, 400, 525, 550, 555, 565, 570, 575, 580, 590, 615)

TABLES = {
    "device": (
        ("devName", "Q", 346), ("devType", "Q", 346), ("smType", "Q", 346), ("devId", "I", 346),
        ("pciBusId", "I", 346), ("pciDevId", "I", 346), ("numSMs", "I", 346), ("numWarpsPerSM", "I", 346),
        ("numLanesPerWarp", "I", 346), ("numRegsPerLane", "I", 346), ("numPredicatesPrLane", "I", 346),
        ("smMajor", "I", 346), ("smMinor", "I", 346), ("instructionSize", "I", 346), ("status", "I", 346),
        ("numUniformRegsPrWarp", "I", 400), ("numUniformPredicatesPrWarp", "I", 400),
        ("numConvergenceBarriersPrWarp", "I", 575),
    ),
    "context": (
        ("contextId", "Q", 346), ("sharedWindowBase", "Q", 346), ("localWindowBase", "Q", 346),
        ("globalWindowBase", "Q", 346), ("deviceIdx", "I", 346), ("tid", "I", 346),
    ),
    "module": (("moduleHandle", "Q", 346),),
    "grid": (
        ("gridId64", "Q", 346), ("contextId", "Q", 346), ("function", "Q", 346), ("functionEntry", "Q", 346),
        ("moduleHandle", "Q", 346), ("parentGridId64", "Q", 346), ("paramsOffset", "Q", 346),
        ("kernelType", "I", 346), ("origin", "I", 346), ("gridStatus", "I", 346), ("numRegs", "I", 346),
        ("gridDimX", "I", 346), ("gridDimY", "I", 346), ("gridDimZ", "I", 346),
        ("blockDimX", "I", 346), ("blockDimY", "I", 346), ("blockDimZ", "I", 346),
        ("attrLaunchBlocking", "I", 346), ("attrHostTid", "I", 346),
        ("clusterDimX", "I", 525), ("clusterDimY", "I", 525), ("clusterDimZ", "I", 525),
        ("preferredClusterDimX", "I", 565), ("preferredClusterDimY", "I", 565), ("preferredClusterDimZ", "I", 565),
    ),
    "constbank": (("addr", "Q", 550), ("size", "I", 550), ("bankId", "I", 550)),
    "sm": (
        ("smId", "I", 346),
        ("exception", "I", 555), ("errorPCValid", "I", 555), ("errorPC", "Q", 555),
        ("clusterExceptionTargetBlockIdxValid", "I", 565), ("clusterExceptionTargetBlockIdxX", "I", 565),
        ("clusterExceptionTargetBlockIdxY", "I", 565), ("clusterExceptionTargetBlockIdxZ", "I", 565),
        ("exceptionString", "Q", 580),
    ),
    "cta": (
        ("gridId64", "Q", 346), ("blockIdxX", "I", 346), ("blockIdxY", "I", 346), ("blockIdxZ", "I", 346),
        ("clusterIdxX", "I", 525), ("clusterIdxY", "I", 525), ("clusterIdxZ", "I", 525),
        ("clusterDimX", "I", 565), ("clusterDimY", "I", 565), ("clusterDimZ", "I", 565),
    ),
    "warp": (
        ("errorPC", "Q", 346), ("warpId", "I", 346), ("validLanesMask", "I", 346), ("activeLanesMask", "I", 346),
        ("isWarpBroken", "I", 346), ("errorPCValid", "I", 346),
        ("numRegs", "I", 525),
        ("sharedMemSize", "I", 570),
        ("inSyscallLanesMask", "I", 575), ("cbuActiveLanesMask", "I", 575), ("cbuExitedLanesMask", "I", 575),
        ("cbuCollectiveLanesMask", "I", 575),
        ("barrierScope", "I", 590), ("additionalBarrierInfo", "Q", 590),
    ),
    "lane": (
        ("virtualPC", "Q", 346), ("physPC", "Q", 346), ("ln", "I", 346), ("threadIdxX", "I", 346),
        ("threadIdxY", "I", 346), ("threadIdxZ", "I", 346), ("exception", "I", 346), ("callDepth", "I", 346),
        ("syscallCallDepth", "I", 346), ("ccRegister", "I", 346),
        ("cbuThreadState", "I", 575),
        ("rpcLo", "I", 615), ("rpcHi", "I", 615),
    ),
    "frame": (("returnAddress", "Q", 346), ("virtualReturnAddress", "Q", 346), ("level", "I", 346)),
    "meta": (
        ("generatorName", "Q", 565), ("driverVersionMajor", "I", 565), ("driverVersionMinor", "I", 565),
        ("cudaDriverVersionMajor", "I", 565), ("cudaDriverVersionMinor", "I", 565), ("flags", "I", 565),
        ("timestamp", "I", 565),
    ),
}

# Fields whose value is an offset in .strtab; the model holds the text.
STRINGS = {"devName", "devType", "smType", "generatorName", "exceptionString", "additionalBarrierInfo"}


class Layout:
    """The packing of one table for one driver: struct format, field order, size."""

    def __init__(self, table, driver):
        self.fields, fmt, size, since = [], "<", 0, None
        for name, char, first in TABLES[table]:
            if first > driver:
                break
            width = 8 if char == "Q" else 4
            if since not in (None, first) and size % 8:
                fmt, size = fmt + "4x", size + 4
            if size % width:
                fmt, size = fmt + "4x", size + 4
            fmt, size, since = fmt + char, size + width, first
            self.fields.append(name)
        if size % 8:
            fmt, size = fmt + "4x", size + 4
        self.struct = struct.Struct(fmt)
        self.size = size

    def pack(self, row, strings):
        values = []
        for name in self.fields:
            value = row.get(name, 0)
            values.append(strings(value) if name in STRINGS and isinstance(value, str) else value)
        return self.struct.pack(*values)


def sizes(driver):
    """{table: entry size} for a driver (0 where the table does not exist yet)."""
    return {table: Layout(table, driver).size for table in TABLES}
