/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of exceptions. Numbers and names: [public doc: CUDA Debugger API manual 13.2 and its
 * release notes up to 13.4]; labels and cuda-gdb's codes: [public doc: CUDA-GDB manual 13.4,
 * section 11.2]. Sentences are our own.
 *
 * Codes 1, 2, 3, 11, 13, 15 and 16 are no longer written by current drivers; dumps that have them
 * are still around. Labels of 16 and 36 are ours: cuda-gdb prints 16 as its unknown exception, and
 * what it prints for 36 is not documented.
 */
#include <warpscope/exception.h>

#include "base/base.h"

#define GDB(number) "CUDA_EXCEPTION_" #number
#define LANE .scope = WS_SCOPE_LANE, .knows_instruction = true, .knows_lane = true, .retired = true
#define WARP .scope = WS_SCOPE_WARP, .knows_instruction = true
#define WARP_DOUBTFUL .scope = WS_SCOPE_WARP
#define CLUSTER .scope = WS_SCOPE_CLUSTER
#define DEVICE .scope = WS_SCOPE_DEVICE

#define ADDRESS_CAUSES                                                                         \
	"index past the end; wrong stride or grid size; memory freed too early; null or host " \
	"pointer; stale argument of a captured graph"
#define ADDRESS_CHECKS                                                                             \
	"the address operand at errorpc (not at pc) in each active lane; which lanes lie outside " \
	"every allocation; the kernel's arguments"
#define PC_CAUSES                                                                                \
	"null or dangling device function pointer; overwritten return address; virtual call on " \
	"an object that was built on the host"
#define PC_CHECKS \
	"where the call target was loaded from; the call stack; the object that held the pointer"
#define STACK_CAUSES "recursion; large local arrays; a small stack limit"
#define STACK_CHECKS                                                         \
	"repeating frames in the call stack; frame sizes; the limit set by " \
	"cudaDeviceSetLimit(cudaLimitStackSize)"
#define ENCODING_CAUSES                                                                            \
	"jump through a bad function pointer; overwritten code; a cubin for another architecture " \
	"variant; failing hardware"
#define ENCODING_CHECKS                                                                         \
	"whether errorpc lies in a known function and on an instruction boundary; the cubin's " \
	"architecture against the device; the same run on another GPU"

static const struct ws_exception table[] = {
	{ 1, "LANE_ILLEGAL_ADDRESS", "Lane Illegal Address", GDB(1), WS_FAMILY_ADDRESS, LANE,
	  .headline = "illegal memory access",
	  .meaning = "A thread accessed global memory outside any allocation.",
	  .causes = ADDRESS_CAUSES, .checks = ADDRESS_CHECKS },
	{ 2, "LANE_USER_STACK_OVERFLOW", "Lane User Stack Overflow", GDB(2), WS_FAMILY_STACK, LANE,
	  .headline = "stack overflow", .meaning = "A thread used more stack than its limit.",
	  .causes = STACK_CAUSES, .checks = STACK_CHECKS },
	{ 3, "DEVICE_HARDWARE_STACK_OVERFLOW", "Device Hardware Stack Overflow", GDB(3),
	  WS_FAMILY_STACK, DEVICE, .retired = true, .headline = "hardware stack overflow",
	  .meaning = "The device's stack for divergence and calls overflowed.",
	  .causes = "deep calls under heavy divergence; runaway recursion",
	  .checks = STACK_CHECKS },
	{ 4, "WARP_ILLEGAL_INSTRUCTION", "Warp Illegal Instruction", GDB(4), WS_FAMILY_INSTRUCTION,
	  WARP, .headline = "illegal instruction",
	  .meaning =
		  "A warp executed bits that are not a valid instruction here, or a valid one with "
		  "impossible operands.",
	  .causes = ENCODING_CAUSES, .checks = ENCODING_CHECKS },
	{ 5, "WARP_OUT_OF_RANGE_ADDRESS", "Warp Out-of-range Address", GDB(5), WS_FAMILY_SPACE,
	  WARP, .headline = "access outside shared or local memory",
	  .meaning =
		  "A local, shared or window address lies outside the valid range of its segment.",
	  .causes =
		  "shared index past the static and dynamic size; too little dynamic shared memory "
		  "at launch; corrupted stack pointer",
	  .checks = "the address against the block's shared size or the lane's local size; the "
		    "dynamic shared size of the launch" },
	{ 6, "WARP_MISALIGNED_ADDRESS", "Warp Misaligned Address", GDB(6), WS_FAMILY_ALIGNMENT,
	  WARP, .headline = "misaligned access",
	  .meaning = "An address was not a multiple of the access width.",
	  .causes = "vector load or store (64 or 128 bits) through a pointer offset by a smaller "
		    "type; packed struct; reinterpret_cast",
	  .checks =
		  "the access width of the instruction; the low bits of the address in each active "
		  "lane; the base pointer among the arguments" },
	{ 7, "WARP_INVALID_ADDRESS_SPACE", "Warp Invalid Address Space", GDB(7), WS_FAMILY_SPACE,
	  WARP, .headline = "access to the wrong memory space",
	  .meaning = "An instruction used an address in a memory space that it may not access.",
	  .causes = "generic pointer to local or shared memory given to an operation for global "
		    "memory (atomics, asynchronous copies); wrong address conversion",
	  .checks = "which window the address falls in (shared, local, global); the kind of "
		    "instruction" },
	{ 8, "WARP_INVALID_PC", "Warp Invalid PC", GDB(8), WS_FAMILY_CONTROL_FLOW, WARP_DOUBTFUL,
	  .headline = "jump to an invalid address",
	  .meaning = "The program counter left valid code.", .causes = PC_CAUSES,
	  .checks = PC_CHECKS },
	{ 9, "WARP_HARDWARE_STACK_OVERFLOW", "Warp Hardware Stack Overflow", GDB(9),
	  WS_FAMILY_STACK, WARP, .headline = "hardware stack overflow",
	  .meaning = "A warp's hardware stack failed.",
	  .causes = "runaway recursion; deep nested calls with divergence",
	  .checks = STACK_CHECKS },
	{ 10, "DEVICE_ILLEGAL_ADDRESS", "Device Illegal Address", GDB(10), WS_FAMILY_ADDRESS,
	  DEVICE, .headline = "illegal memory access",
	  .meaning = "The memory system refused an access that the SM could not check itself.",
	  .causes =
		  "use after free across kernels; bad pointer of a copy engine or a peer; unmapped "
		  "managed memory",
	  .checks = "which kernels were resident; a run with CUDA_LAUNCH_BLOCKING=1; a run under "
		    "compute-sanitizer; peer mappings" },
	{ 11, "LANE_MISALIGNED_ADDRESS", "Lane Misaligned Address", GDB(11), WS_FAMILY_ALIGNMENT,
	  LANE, .headline = "misaligned access",
	  .meaning = "A thread's address was not a multiple of the access width.",
	  .causes =
		  "vector load or store through a pointer offset by a smaller type; packed struct; "
		  "reinterpret_cast",
	  .checks = "the access width of the instruction; the low bits of the address; the base "
		    "pointer among the arguments" },
	{ 12, "WARP_ASSERT", "Warp Assert", GDB(12), WS_FAMILY_STOP, WARP,
	  .headline = "assertion failed", .meaning = "A device-side assert() failed.",
	  .causes = "a failed precondition, for instance an index check",
	  .checks = "the run's standard error: it holds file, line and expression; the frame that "
		    "called the assertion, and its arguments" },
	{ 13, "LANE_SYSCALL_ERROR", "Lane Syscall Error", GDB(13), WS_FAMILY_ATOMIC, LANE,
	  .headline = "failed device call", .meaning = "A device-side system call failed.",
	  .causes = "device malloc heap exhausted or corrupted; bad use of printf",
	  .checks = "the device heap limit; double frees in device code" },
	{ 14, "WARP_ILLEGAL_ADDRESS", "Warp Illegal Address", GDB(14), WS_FAMILY_ADDRESS, WARP,
	  .headline = "illegal memory access",
	  .meaning = "A thread of the warp accessed memory that is not mapped or not allowed.",
	  .causes = ADDRESS_CAUSES, .checks = ADDRESS_CHECKS },
	{ 15, "LANE_NONMIGRATABLE_ATOMSYS", "Non-migratable System-scoped Atomic Access", GDB(16),
	  WS_FAMILY_ATOMIC, LANE, .headline = "unsupported system-wide atomic",
	  .meaning = "A system-wide atomic was used on memory that cannot migrate.",
	  .causes = "system-wide atomics on pinned or peer memory without native atomics",
	  .checks = "the kind of memory behind the pointer; the link between the devices" },
	{ 16, "LANE_INVALID_ATOMSYS", "Invalid System-scoped Atomic Access", NULL, WS_FAMILY_ATOMIC,
	  LANE, .headline = "unsupported system-wide atomic",
	  .meaning = "A system-wide atomic is not valid for this memory.",
	  .causes = "system-wide atomics on pinned or peer memory without native atomics",
	  .checks = "the kind of memory behind the pointer; the link between the devices" },
	{ 17, "CLUSTER_OUT_OF_RANGE_ADDRESS", "Cluster out of range address", GDB(18),
	  WS_FAMILY_CLUSTER, CLUSTER, .headline = "access past another block's shared memory",
	  .meaning = "An access to another block's shared memory went beyond its size. (cuda-gdb "
		     "numbers this 18, the driver's log 17: the same fault.)",
	  .causes = "wrong offset into distributed shared memory; blocks that assume different "
		    "dynamic shared sizes",
	  .checks = "the cluster and block index of the warp; the target block, when known; the "
		    "shared size of the target" },
	{ 18, "CLUSTER_BLOCK_NOT_PRESENT", "Cluster target block not present", GDB(17),
	  WS_FAMILY_CLUSTER, CLUSTER, .headline = "access to a block that is not there",
	  .meaning = "An access went to a block that is not in the cluster or has already exited. "
		     "(cuda-gdb numbers this 17, the driver's log 18: the same fault.)",
	  .causes = "no cluster barrier before exit; block rank past the cluster size",
	  .checks = "whether the target block had exited; the cluster dimensions; a last "
		    "cluster.sync() in the kernel" },
	{ 19, "WARP_STACK_CANARY", "Warp Stack Canary", GDB(19), WS_FAMILY_STACK, WARP,
	  .headline = "stack overwritten", .meaning = "A guard value on the stack was changed.",
	  .causes = "overrun of a local array",
	  .checks = "the local arrays of the function that checks; local memory near the guard" },
	{ 20, "WARP_TMEM_ACCESS_CHECK", "Warp Tensor Memory Access Check", GDB(20),
	  WS_FAMILY_TENSOR, WARP, .headline = "access outside the allocated tensor memory",
	  .meaning = "A checked access to tensor memory was outside what the block had allocated.",
	  .causes = "wrong column or lane offset; access before allocation or after release",
	  .checks = "the size of the tensor memory allocation; the address operand" },
	{ 21, "WARP_TMEM_LEAK", "Warp Tensor Memory Leak", GDB(21), WS_FAMILY_TENSOR, WARP,
	  .headline = "tensor memory not released",
	  .meaning = "A block ended without releasing its tensor memory.",
	  .causes = "early return; no release by the warp that allocated",
	  .checks = "every exit path; which warp allocates and which releases" },
	{ 22, "WARP_CALL_REQUIRES_NEWER_DRIVER", "Warp Call Requires Newer Driver", GDB(22),
	  WS_FAMILY_INSTRUCTION, WARP, .headline = "call that needs a newer driver",
	  .meaning = "The code called a driver routine that this driver does not have.",
	  .causes = "a toolkit newer than the driver",
	  .checks = "the driver's version against the toolkit's; a newer driver" },
	{ 23, "WARP_MISALIGNED_PC", "Warp Misaligned PC", GDB(23), WS_FAMILY_CONTROL_FLOW, WARP,
	  .headline = "jump into the middle of an instruction",
	  .meaning = "A branch or call target was not on an instruction boundary.",
	  .causes = PC_CAUSES, .checks = PC_CHECKS },
	{ 24, "WARP_PC_OVERFLOW", "Warp PC Overflow", GDB(24), WS_FAMILY_CONTROL_FLOW,
	  WARP_DOUBTFUL, .headline = "program counter past the end of memory",
	  .meaning = "The program counter went past the address space.", .causes = PC_CAUSES,
	  .checks = PC_CHECKS },
	{ 25, "WARP_MISALIGNED_REG", "Warp Misaligned Register", GDB(25), WS_FAMILY_INSTRUCTION,
	  WARP, .headline = "misaligned register operand",
	  .meaning = "A pair or quad of registers was not aligned as the instruction needs.",
	  .causes = "patched or hand-written machine code; compiler bug",
	  .checks = "the instruction at errorpc; which tool made the cubin" },
	{ 26, "WARP_ILLEGAL_INSTR_ENCODING", "Warp Illegal Instruction Encoding", GDB(26),
	  WS_FAMILY_INSTRUCTION, WARP, .headline = "illegal instruction",
	  .meaning = "A warp executed an encoding that is not defined.", .causes = ENCODING_CAUSES,
	  .checks = ENCODING_CHECKS },
	{ 27, "WARP_ILLEGAL_INSTR_PARAM", "Warp Illegal Instruction Parameter", GDB(27),
	  WS_FAMILY_INSTRUCTION, WARP, .headline = "illegal instruction operand",
	  .meaning = "A valid instruction had an operand value that is not allowed.",
	  .causes = "bad matrix or tensor map descriptor; wrong barrier or mode number",
	  .checks = "the descriptor operands (uniform registers or memory) at errorpc" },
	{ 28, "WARP_OUT_OF_RANGE_REGISTER", "Warp Out-of-range Register", GDB(28),
	  WS_FAMILY_INSTRUCTION, WARP, .headline = "register that the warp does not have",
	  .meaning = "An instruction named a register above the warp's allocation.",
	  .causes = "mismatch when a warp changes its number of registers; patched machine code",
	  .checks = "registers of this warp against the highest one used at errorpc" },
	{ 29, "WARP_INVALID_CONST_ADDR_LDC", "Warp Illegal Constant Address Access", GDB(29),
	  WS_FAMILY_SPACE, WARP, .headline = "access outside constant memory",
	  .meaning = "A constant load went outside its bank or used a bad descriptor.",
	  .causes = "wrong bank offset; bad bindless header; fewer parameters than the kernel "
		    "expects",
	  .checks = "bank and offset of the operand; the sizes of the constant banks; the size of "
		    "the parameters" },
	{ 30, "WARP_MMU_FAULT", "Warp MMU Fault", GDB(30), WS_FAMILY_ADDRESS, WARP,
	  .headline = "illegal memory access",
	  .meaning = "The address of a warp's access could not be translated.",
	  .causes = ADDRESS_CAUSES,
	  .checks = ADDRESS_CHECKS "; Xid lines in the host's kernel log" },
	{ 31, "WARP_ARRIVE", "Warp Barrier Arrival Mismatch", GDB(31), WS_FAMILY_BARRIER, WARP,
	  .headline = "barrier arrival mismatch",
	  .meaning = "A barrier object was locked or got more arrivals than it expects.",
	  .causes = "wrong expected count at initialisation; reuse without a phase change; barrier "
		    "not initialised or overwritten",
	  .checks =
		  "the barrier's word in shared memory; the count at initialisation; the number of "
		  "threads that arrive" },
	{ 32, "CLUSTER_POISON", "Warp Shared Memory Issue", GDB(32), WS_FAMILY_CLUSTER, CLUSTER,
	  .headline = "uncorrectable data in shared memory",
	  .meaning = "An access within the cluster met data that could not be corrected.",
	  .causes = "memory error; block killed during the access",
	  .checks = "ECC counters; Xid lines in the host's kernel log; whether it is the same node "
		    "again" },
	{ 33, "WARP_API_STACK_ERROR", "Warp API Stack Error", GDB(33), WS_FAMILY_STACK, WARP,
	  .headline = "too many nested device calls",
	  .meaning = "The limit of the API call stack was exceeded.",
	  .causes = "deep device calls into the runtime", .checks = STACK_CHECKS },
	{ 34, "WARP_BLOCK_NOT_PRESENT", "Warp Block Not Present", GDB(34), WS_FAMILY_CLUSTER, WARP,
	  .headline = "access to a block that is not there",
	  .meaning = "A block was missing during a cluster or barrier operation.",
	  .causes = "a peer block exited early; wrong rank",
	  .checks = "whether the target block had exited; the cluster dimensions; a last "
		    "cluster.sync() in the kernel" },
	{ 35, "WARP_USER_STACK_OVERFLOW", "Warp User Stack Overflow", GDB(35), WS_FAMILY_STACK,
	  WARP, .headline = "stack overflow", .meaning = "A thread of the warp used up its stack.",
	  .causes = STACK_CAUSES, .checks = STACK_CHECKS },
	{ 36, "TMA_SYSCALL", "TMA System Call", NULL, WS_FAMILY_TENSOR, WARP_DOUBTFUL,
	  .headline = "failed tensor memory accelerator call",
	  .meaning = "A helper call of the tensor memory accelerator failed.",
	  .causes = "bad tensor map (alignment, strides, box); tensor map in unreadable memory",
	  .checks = "the tensor map and its address; the code that built it" },
	{ WS_EXCEPTION_UNKNOWN, "UNKNOWN", "Device Unknown Exception", GDB(0), WS_FAMILY_UNKNOWN,
	  WS_SCOPE_UNKNOWN, .headline = "GPU error that the driver could not classify",
	  .meaning = "The driver saw an error that it could not classify.",
	  .causes = "hardware or driver fault; an exception newer than the driver",
	  .checks = "Xid lines in the host's kernel log; the driver's version; a newer driver" },
};

const struct ws_exception *ws_exception_at(size_t index)
{
	return index < WSI_COUNT(table) ? &table[index] : NULL;
}

const struct ws_exception *ws_exception_find(uint32_t code)
{
	for (size_t i = 0; i < WSI_COUNT(table); i++) {
		if (table[i].code == code)
			return &table[i];
	}
	return NULL;
}

const char *ws_exception_family_text(enum ws_exception_family family)
{
	static const char *const texts[] = {
#define X(name, text) text,
		WS_EXCEPTION_FAMILY_LIST(X)
#undef X
	};
	return (size_t)family < WSI_COUNT(texts) ? texts[family] : texts[WS_FAMILY_UNKNOWN];
}
