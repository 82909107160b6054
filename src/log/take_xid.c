/* SPDX-License-Identifier: Apache-2.0 */
/* What a line of the driver tells besides the number of its Xid, which line.c reads. */
#include "log/cursor.h"
#include "log/internal.h"

/*
 * What the driver says of an SM in Xid 13, and the low byte of the error status register (ESR) in
 * the line that comes with it. [public doc: pairs of both lines in issues of relion (436), gpud
 * (46) and TensorRT-LLM (15610), and in reports about Windows; the rest by the driver's words
 * alone]
 */
static const struct wsi_sm_error sm_errors[] = {
	{ "Illegal Instruction Encoding", 0x09, "bits that are no instruction on this GPU" },
	{ "Illegal Instruction Parameter", 0x0b,
	  "an instruction with an operand that it does not accept" },
	{ "Out Of Range Address", 0x0e,
	  "an address outside the memory that the access may use; the program sees an illegal "
	  "memory access, or an unspecified launch failure" },
	{ "MMU Fault", 0x17, "an address that is not mapped" },
	{ "MMU NACK Errors", 0x20, "an address that is not mapped" },
	{ "Misaligned Address", 0, "an address that is no multiple of the access's width" },
	{ "Invalid Address Space", 0,
	  "an address of another kind of memory than the operation takes" },
	{ "Out Of Range Register", 0, "a register beyond those of the warp" },
	{ "Illegal Instruction", 0, "an instruction that this GPU cannot execute" },
	{ "Stack Error", 0, "a call stack that overflowed or was damaged" },
	{ "CTA not present", 0, "shared memory of a block of the cluster that had ended" },
};

const struct wsi_sm_error *wsi_sm_error_at(size_t index)
{
	return index < WSI_COUNT(sm_errors) ? &sm_errors[index] : NULL;
}

/* "Graphics SM Warp Exception on (GPC 1, TPC 3, SM 0): Out Of Range Address" */
static void take_sm(struct ws_log *log, struct ws_str rest)
{
	uint64_t gpc, tpc, sm;
	if (!wsi_behind(&rest, "SM Warp Exception on (GPC ") || !wsi_take_number(&rest, 10, &gpc) ||
	    !wsi_take_word(&rest, ", TPC ") || !wsi_take_number(&rest, 10, &tpc))
		return;
	if (!wsi_take_word(&rest, ", SM ") || !wsi_take_number(&rest, 10, &sm))
		sm = 0;
	if (!wsi_take_word(&rest, "): "))
		return;
	wsi_few_add(&log->sms.at, (gpc & 0xff) << 16 | (tpc & 0xff) << 8 | (sm & 0xff));
	for (size_t i = 0; i < WSI_COUNT(sm_errors); i++) {
		if (wsi_str_begins(rest, sm_errors[i].words)) {
			log->sms.words |= 1u << i;
			return;
		}
	}
}

/* "Graphics Exception: ESR 0x5167b0=0x80f0017 0x5167b4=0x20 ...": the first is what the warp did,
 * if the register is that of an SM. */
static void take_esr(struct ws_log *log, struct ws_str rest)
{
	uint64_t address, value;
	if (!wsi_behind(&rest, "Graphics Exception: ESR 0x") ||
	    !wsi_take_number(&rest, 16, &address) || !wsi_take_word(&rest, "=0x") ||
	    !wsi_take_number(&rest, 16, &value) || address >> 20 != 5 || (address & 0x77f) != 0x730)
		return;
	for (size_t i = 0; i < WSI_COUNT(sm_errors); i++)
		if (sm_errors[i].esr && sm_errors[i].esr == (value & 0xff))
			log->sms.words |= 1u << i;
}

/* "0x7f5a_e7504000" */
static bool take_log_address(struct ws_str *rest, uint64_t *ret_address)
{
	uint64_t high, low;
	if (!wsi_take_word(rest, "0x") || !wsi_take_number(rest, 16, &high))
		return false;
	if (wsi_take_char(rest, '_')) {
		if (!wsi_take_number(rest, 16, &low))
			return false;
		high = high << 32 | (low & 0xffffffff);
	}
	*ret_address = high;
	return true;
}

static const struct {
	const char *word, *means;
} fault_types[] = {
	{ "PDE", "nothing is mapped there" },
	{ "PTE", "no page is mapped there" },
	{ "RO_VIOLATION", "the memory is read-only" },
	{ "ATOMIC_VIOLATION", "atomics are not possible there" },
	{ "POISONED", "the data was lost to a memory error" },
};

static bool has(struct ws_str text, const char *word)
{
	return wsi_behind(&text, word);
}

/* "MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_6 faulted @ 0x7f5a_e7504000. Fault is of type FAULT_PDE
 * ACCESS_TYPE_VIRT_READ" */
static void mmu_detail(struct ws_str rest, char *detail, size_t size)
{
	struct ws_str engine = rest, type = rest, access = rest;
	uint64_t address;
	if (!wsi_behind(&rest, "faulted @ ") || !take_log_address(&rest, &address))
		return;
	engine = wsi_behind(&engine, "ENGINE ") ? wsi_log_name(engine, 24) : (struct ws_str){ 0 };
	type = wsi_behind(&type, "type FAULT_") ? wsi_log_name(type, 40) : (struct ws_str){ 0 };
	access = wsi_behind(&access, "ACCESS_TYPE_") ? wsi_log_name(access, 40)
						     : (struct ws_str){ 0 };
	const char *what = has(access, "ATOMIC")  ? "atomic access"
			   : has(access, "WRITE") ? "write"
			   : has(access, "READ")  ? "read"
						  : "access";
	const char *why = "";
	for (size_t i = 0; i < WSI_COUNT(fault_types); i++)
		if (ws_str_equal(type, ws_str_of(fault_types[i].word)))
			why = fault_types[i].means;
	const char *null =
		address < 65536 && !has(access, "PHYS") ? ", near 0: a null pointer" : "";
	const char *copy = wsi_str_begins(engine, "CE") ? ", by a copy and not by a kernel" : "";
	snprintf(detail, size, "%s at 0x%" PRIx64 "%s%s%s%s", what, address, null, copy,
		 *why ? ": " : "", why);
	const size_t used = strlen(detail);
	if (type.len)
		snprintf(detail + used, size - used, " (FAULT_%.*s, engine %.*s)", (int)type.len,
			 type.ptr, (int)engine.len, engine.ptr);
}

/* "154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)" */
static void recovery_detail(struct ws_str rest, char *detail, size_t size)
{
	static const char *const actions[] = { "None", "Drain P2P", "Drain and Reset",
					       "GPU Reset Required", "Node Reboot Required" };
	uint64_t number;
	if (!wsi_behind(&rest, " to 0x") || !wsi_take_number(&rest, 16, &number) ||
	    !wsi_take_word(&rest, " ("))
		return;
	for (size_t i = 0; i < WSI_COUNT(actions); i++)
		if (wsi_str_begins(rest, actions[i]))
			snprintf(detail, size, "%s", actions[i]);
}

/* Host names have few characters; what has others is not shown. */
static bool is_host(struct ws_str host)
{
	for (size_t i = 0; i < host.len; i++)
		if (!wsi_is_alphanumeric(host.ptr[i]) && !memchr("-._", host.ptr[i], 3))
			return false;
	return host.len > 0 && host.len <= 64;
}

static void take_sxid(struct ws_log *log)
{
	struct ws_str rest = log->piece.text;
	uint64_t number;
	char detail[WSI_LOG_DETAIL] = "";
	if (!wsi_behind(&rest, "SXid (PCI:") || !wsi_behind(&rest, "): ") ||
	    !wsi_take_number(&rest, 10, &number) || number > UINT32_MAX)
		return;
	const bool calm = wsi_str_begins(rest, ", Non-fatal");
	snprintf(detail, sizeof detail, "SXid %" PRIu64 "%s", number,
		 calm                              ? ", not fatal"
		 : wsi_str_begins(rest, ", Fatal") ? ", fatal"
						   : "");
	(void)wsi_log_tell(log, &(struct wsi_told){ .kind = WS_LOG_SXID,
						    .topic = wsi_other_topic(WS_LOG_SXID, 0),
						    .detail = detail });
}

void wsi_log_take_xid(struct ws_log *log)
{
	struct wsi_xid xid;
	char gpu[WSI_LOG_GPU_BYTES], process[32] = "", detail[WSI_LOG_DETAIL] = "";
	if (wsi_log_has(log, WSI_WORD_SXID, WSI_WORD_SXID))
		take_sxid(log);
	if (!wsi_log_xid(log->piece.text, &xid) || xid.number > UINT32_MAX)
		return;
	if (xid.pid != WSI_NO_NUMBER)
		snprintf(process, sizeof process, ", process %" PRIu64, xid.pid);
	const bool has_host = is_host(xid.host);
	snprintf(gpu, sizeof gpu, "GPU %04x:%02x:%02x%s%.*s%s", (unsigned)xid.domain & 0xffffffff,
		 (unsigned)xid.bus, (unsigned)xid.device, has_host ? " on " : "",
		 has_host ? (int)xid.host.len : 0, xid.host.ptr, process);
	if (xid.number == 31)
		mmu_detail(xid.rest, detail, sizeof detail);
	else if (xid.number == 154)
		recovery_detail(xid.rest, detail, sizeof detail);
	if (!wsi_log_tell(log, &(struct wsi_told){ .kind = WS_LOG_XID,
						   .code = (uint32_t)xid.number,
						   .topic = wsi_xid_topic(xid.number),
						   .gpu = gpu,
						   .detail = detail }) ||
	    xid.number != 13)
		return;
	take_sm(log, xid.rest);
	take_esr(log, xid.rest);
}
