/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Xids mean; line.c and take_xid.c read their lines. Numbers, and what is usually done about
 * them: [public doc: NVIDIA, "Analyzing Xid Errors with the Xid Catalog"; nverror.h of
 * open-gpu-kernel-modules]. Sentences are our own.
 */
#include "log/topic.h"

#define FAULT WS_LOG_ROLE_FAULT, WSI_ADVICE_KERNEL
#define BROKEN WS_LOG_ROLE_HARDWARE, WSI_ADVICE_HARDWARE
#define DRIVER WS_LOG_ROLE_HARDWARE, WSI_ADVICE_DRIVER
#define LINK WS_LOG_ROLE_HARDWARE, WSI_ADVICE_LINK
#define FOLLOWS WS_LOG_ROLE_AFTER, WSI_ADVICE_EARLIER
#define NOTE WS_LOG_ROLE_NOTE, WSI_ADVICE_HARDWARE

#define NOT_THE_PROGRAM "No kernel can cause it, so no dump explains it"
#define WHICH_END \
	"It does not say which end is at fault: a GPU that fails takes the links of others down"

static const struct wsi_log_topic table[] = {
	{ 13, 0, FAULT, "exception in a kernel",
	  "An SM or the compute engine reported an exception while a kernel ran: mostly an error "
	  "of "
	  "the program, such as a wrong address, or an instruction that cannot be executed",
	  "It names no kernel and no line. It is broken hardware only if the same GPC, TPC and SM "
	  "come again and again, with programs that are right elsewhere" },
	{ 31, 0, FAULT, "memory page fault",
	  "The GPU used an address that is not mapped, or not for that kind of access: mostly a "
	  "wrong pointer or index of the program, or memory that was freed too early",
	  "It names no kernel, and its address does not say which buffer was meant. It is no error "
	  "of the memory cells (those are Xid 48, 63, 64, 94, 95)" },
	{ 32, 0, DRIVER, "invalid commands in a push buffer",
	  "Commands arrived damaged at the GPU: mostly the PCIe link, or the driver",
	  "It is hardly an error in a kernel" },
	{ 37, 38, DRIVER, "error in the GPU's firmware", NULL, NULL },
	{ 39, 41, DRIVER, "copy engine exception",
	  "A copy between memories failed: a bad address that a copy was given, or hardware",
	  NULL },
	{ 43, 0, FOLLOWS, "work of a program was taken off the GPU",
	  "A program hit an error and must end. The line follows that error",
	  "It is not the cause, and the GPU is healthy" },
	{ 44, 0, DRIVER, "fault while contexts were switched", NULL, NULL },
	{ 45, 0, FOLLOWS, "work was removed: its process ended, or an error came before",
	  "The driver cleaned up after an earlier error, or after a process that was killed or "
	  "ended "
	  "with work on the GPU",
	  "Alone, it is no fault of the GPU: Ctrl-C is enough" },
	{ 46, 0, DRIVER, "GPU stopped processing", NULL, NULL },
	{ 48, 0, BROKEN, "double-bit ECC error",
	  "Memory of the GPU lost data that ECC could not restore. The GPU must be reset",
	  NOT_THE_PROGRAM },
	{ 54, 0, BROKEN, "power connector of the board", NULL, NOT_THE_PROGRAM },
	{ 61, 62, DRIVER, "a microcontroller of the GPU stopped",
	  "Firmware inside the GPU halted. The GPU must be reset", NOT_THE_PROGRAM },
	{ 63, 0, NOTE, "memory row remapped, or page retired",
	  "A memory error was handled: the row or page is replaced, often at the next reset",
	  "It is no failure by itself; Xid 48, 94 or 95 of the same time say who was hit" },
	{ 64, 0, BROKEN, "memory row could not be remapped",
	  "A memory error could not be handled for good. The GPU must be reset, and may have to be "
	  "replaced",
	  NOT_THE_PROGRAM },
	{ 66, 67, DRIVER, "illegal access by the driver", NULL, NULL },
	{ 69, 0, FAULT, "error in commands to the compute engine", NULL,
	  "It names no kernel and no line" },
	{ 70, 72, DRIVER, "copy engine exception", NULL, NULL },
	{ 74, 0, LINK, "NVLink error",
	  "A connection to another GPU or to an NVSwitch failed. The GPU must be reset",
	  WHICH_END },
	{ 75, 77, DRIVER, "copy engine exception", NULL, NULL },
	{ 79, 0, BROKEN, "GPU has fallen off the bus",
	  "The driver cannot reach the GPU over PCIe: power, heat, slot, cable, or the GPU itself. "
	  "The machine must be restarted",
	  NOT_THE_PROGRAM " and none can be taken: the GPU does not answer" },
	{ 80, 0, DRIVER, "damaged data arrived at the GPU", NULL, NULL },
	{ 85, 0, DRIVER, "copy engine exception", NULL, NULL },
	{ 92, 0, NOTE, "many single-bit ECC errors",
	  "ECC corrected them, but memory of this GPU is getting worse", NULL },
	{ 94, 0, BROKEN, "memory error, contained to one program",
	  "ECC could not restore data of one program, which ended. Others were not affected; reset "
	  "the GPU when convenient",
	  NOT_THE_PROGRAM },
	{ 95, 0, BROKEN, "memory error, not contained",
	  "ECC could not restore data, and several programs may be hit. The GPU must be reset "
	  "first",
	  NOT_THE_PROGRAM },
	{ 109, 0, DRIVER, "context switch timed out",
	  "The work of a program could not be taken off the GPU in time: a kernel that does not "
	  "end, "
	  "or firmware or hardware that is stuck. Xid 13 or 31 seconds before it are then the "
	  "cause",
	  "It does not say which kernel was on the GPU" },
	{ 110, 0, BROKEN, "security fault", NULL, NOT_THE_PROGRAM },
	{ 119, 120, DRIVER, "the GPU's firmware processor (GSP) does not answer",
	  "The driver waited for the GSP, or code on it failed. The GPU must be reset, sometimes "
	  "the "
	  "machine",
	  "It is no error in a kernel; what other programs saw after it is a consequence" },
	{ 121, 0, NOTE, "corrected errors of the link to the CPU (C2C)", NULL, NULL },
	{ 136, 0, LINK, "NVLink training failed", NULL, WHICH_END },
	{ 137, 0, FAULT, "access to another GPU's memory refused",
	  "A kernel used an address of another GPU over NVLink that is not mapped there: mostly a "
	  "wrong pointer, or memory that its owner freed",
	  "It names no kernel, and not the rank that owned the memory" },
	{ 140, 0, BROKEN, "memory errors that could not be handled",
	  "Uncorrectable memory errors kept the driver from replacing the rows. The GPU must be "
	  "reset",
	  NOT_THE_PROGRAM },
	{ 143, 0, BROKEN, "GPU could not be initialised", NULL, NOT_THE_PROGRAM },
	{ 144, 150, LINK, "NVLink error (fifth generation)",
	  "144 to 150 are units of an NVLink; 149 is mostly a link that went down", WHICH_END },
	{ 154, 0, FOLLOWS, "the driver recommends another recovery",
	  "It summarises what an earlier Xid asks for: a reset of the GPU, of the node, or none",
	  "It is not the cause" },
	{ 155, 0, LINK, "NVLink went down, by software", NULL, WHICH_END },
	{ 156, 0, NOTE, "part of the GPU was retired", NULL, NULL },
	{ 157, 0, BROKEN, "part of the GPU could not be retired", NULL, NOT_THE_PROGRAM },
	{ 158, 0, DRIVER, "fatal time-out of the GPU", "The GPU must be reset", NULL },
	{ 167, 0, BROKEN, "fatal time-out of PCIe", NULL, NOT_THE_PROGRAM },
	{ 171, 172, BROKEN, "uncorrectable memory error",
	  "Details of an Xid 48: 171 is DRAM, 172 SRAM", NOT_THE_PROGRAM },
};

static const struct wsi_log_topic any = {
	.role = WS_LOG_ROLE_UNKNOWN,
	.advice = WSI_ADVICE_DRIVER,
	.title = "no explanation in this version",
	.means = "NVIDIA's Xid catalogue explains this number",
};

const struct wsi_log_topic *wsi_xid_topic(uint64_t number)
{
	for (size_t i = 0; i < WSI_COUNT(table); i++)
		if (number >= table[i].code &&
		    number <= (table[i].last ? table[i].last : table[i].code))
			return &table[i];
	return &any;
}
