/* SPDX-License-Identifier: Apache-2.0 */
/* What to do next, in the order that a person on call needs: first what is lost if it waits. */
#include "log/internal.h"

enum { MOST_STEPS = 10 };

static void add_advice_step(struct ws_log *log, const char *why, const char *command)
{
	struct ws_log_result *result = &log->result;
	struct ws_log_step *steps = (struct ws_log_step *)(uintptr_t)result->steps;
	if (steps && result->n_steps < MOST_STEPS)
		steps[result->n_steps++] = (struct ws_log_step){ why, command };
}

/* Whether a path is safe in a line that is pasted into a shell. */
static bool is_advice_path_plain(const char *path)
{
	for (const char *c = path; *c; c++)
		if (!wsi_is_alphanumeric(*c) && !memchr("/._-+:,=@%", *c, 10))
			return false;
	return *path && *path != '-';
}

static bool has_kind(const struct ws_log *log, enum ws_log_kind kind)
{
	for (size_t i = 0; i < log->n_rows; i++)
		if (log->row[i].kind == kind)
			return true;
	return false;
}

/* triage, with the logs that were read. */
static const char *triage_of(struct ws_log *log)
{
	enum { MOST = 4 };
	const char *text = "warpscope triage DIR";
	size_t n = 0;
	for (size_t i = 0; i < log->n_files && n < MOST && text; i++)
		if (is_advice_path_plain(log->file[i])) {
			text = wsi_log_format(log, "%s --log %s", text, log->file[i]);
			n++;
		}
	return n ? text : "warpscope triage DIR --log LOG";
}

/* A dump that the log names. */
static void read_dump(struct ws_log *log)
{
	for (size_t i = 0; i < log->n_rows; i++) {
		const struct wsi_told_row *row = &log->row[i];
		if (row->kind != WS_LOG_DUMP)
			continue;
		add_advice_step(log,
				row->count > 1
					? "Dumps were written: read them together, where they are"
					: "A dump was written: read it",
				row->count > 1 ? triage_of(log)
				: is_advice_path_plain(row->detail)
					? wsi_log_format(log, "warpscope report %s", row->detail)
					: "warpscope report DUMP");
	}
}

static void kernel_log(struct ws_log *log)
{
	if (!has_kind(log, WS_LOG_XID))
		add_advice_step(log,
				"No line of the driver is among these: the kernel log of that host "
				"may name "
				"the GPU, the process and the address",
				"dmesg -T | warpscope log -");
}

static void take_dumps(struct ws_log *log)
{
	add_advice_step(
		log,
		"Run it again so that a fault leaves a dump: it has the kernel, line, thread and "
		"address",
		"warpscope exec --dumps DIR -- PROGRAM ARGUMENT...");
	add_advice_step(
		log,
		"Where something else starts the program (a container, Slurm, Ray), set CUDA's "
		"variables there",
		"eval \"$(warpscope env --for fault --dumps DIR)\"");
	add_advice_step(log, "Then read what it left", triage_of(log));
}

static void advise_kernel(struct ws_log *log, const struct wsi_told_row *root)
{
	if (root->kind == WS_LOG_CUDA || root->kind == WS_LOG_NCCL)
		kernel_log(log);
	if (!has_kind(log, WS_LOG_DUMP))
		take_dumps(log);
	add_advice_step(
		log,
		"Without a dump: launches that wait make the call that reports an error the one "
		"that failed",
		"CUDA_LAUNCH_BLOCKING=1 PROGRAM ARGUMENT...");
	add_advice_step(
		log,
		"For an address: the first wrong access, even one that does no harm (10 to 100 "
		"times slower)",
		"compute-sanitizer --tool memcheck PROGRAM ARGUMENT...");
}

static void advise_hang(struct ws_log *log)
{
	add_advice_step(
		log,
		"If it still hangs, and was started with exec or env --for hang: ask for dumps "
		"before it is killed",
		"warpscope trigger PID");
	add_advice_step(log, "Run it again so that a hang leaves dumps of all ranks",
			"warpscope exec --on-hang 300 --dumps DIR -- PROGRAM ARGUMENT...");
	add_advice_step(
		log,
		"Where something else starts the program, set CUDA's variables there, and "
		"PyTorch's flight recorder",
		"eval \"$(warpscope env --for hang --dumps DIR)\"; export "
		"TORCH_NCCL_TRACE_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1 NCCL_DEBUG=INFO");
	add_advice_step(log, "Then ask which rank is behind, with the logs of all ranks",
			triage_of(log));
	kernel_log(log);
}

static void advise_hardware(struct ws_log *log)
{
	add_advice_step(log, "Take the node out of the schedule; what the program did is no clue",
			NULL);
	add_advice_step(log,
			"Memory errors that the GPU has counted, and rows that wait for a reset",
			"nvidia-smi -q -d ECC,ROW_REMAPPER");
	add_advice_step(log, "What the vendor asks for; run it before a reset",
			"nvidia-bug-report.sh");
	add_advice_step(log, "After a reset of the GPU or a restart of the node, test it",
			"dcgmi diag -r 3");
}

static void advise_link(struct ws_log *log)
{
	add_advice_step(log, "Take the node out of the schedule; what the program did is no clue",
			NULL);
	add_advice_step(log, "Errors of each link, and its state",
			"nvidia-smi nvlink -e; nvidia-smi nvlink -s");
	add_advice_step(log, "Which other GPU, or NVSwitch, reported something first",
			"journalctl -k | grep -E 'Xid|SXid'");
	add_advice_step(log, "What the vendor asks for; run it before a reset",
			"nvidia-bug-report.sh");
}

static void advise_driver(struct ws_log *log)
{
	add_advice_step(log, "Lines of the driver around it, from the machine's start on",
			"journalctl -k | grep NVRM");
	add_advice_step(log, "What the vendor asks for; run it before a reset",
			"nvidia-bug-report.sh");
	add_advice_step(log, "Does the GPU answer? Does it ask for a reset?", "nvidia-smi -q");
}

static void advise_call(struct ws_log *log, enum wsi_advice advice)
{
	if (advice == WSI_ADVICE_MEMORY) {
		add_advice_step(log, "Who has the memory of the GPU",
				"nvidia-smi --query-compute-apps=pid,process_name,used_memory "
				"--format=csv");
		add_advice_step(log,
				"With PyTorch, record who allocates: "
				"torch.cuda.memory._record_memory_history() at the start, "
				"torch.cuda.memory._dump_snapshot(FILE) when it fails",
				NULL);
	} else if (advice == WSI_ADVICE_BUILD) {
		add_advice_step(
			log, "The GPU's architecture, and the driver",
			"nvidia-smi --query-gpu=name,compute_cap,driver_version --format=csv");
		add_advice_step(log, "The architectures that the program has code for",
				"warpscope lines PROGRAM");
	} else {
		add_advice_step(
			log,
			"Launches that wait: the call that reports an error is then the one that "
			"failed",
			"CUDA_LAUNCH_BLOCKING=1 PROGRAM ARGUMENT...");
		add_advice_step(log, "If a kernel failed after all, this leaves a dump",
				"warpscope exec --dumps DIR -- PROGRAM ARGUMENT...");
	}
}

static void advise_earlier(struct ws_log *log, enum wsi_advice advice)
{
	if (advice == WSI_ADVICE_NETWORK) {
		add_advice_step(log,
				"Look at the log of the rank that went away: all ranks together",
				"warpscope log LOG...");
		add_advice_step(log, "Lines of NCCL say which peer and which interface",
				"NCCL_DEBUG=INFO");
	} else {
		add_advice_step(
			log,
			"What came before is not in these logs: look at those of all ranks, and at "
			"the kernel log from before that time",
			"journalctl -k | warpscope log - LOG...");
	}
	add_advice_step(log, "Run it again so that a fault leaves a dump",
			"warpscope exec --dumps DIR -- PROGRAM ARGUMENT...");
}

static void advise_nothing(struct ws_log *log)
{
	if (log->n_rows && has_kind(log, WS_LOG_DUMP))
		return;
	add_advice_step(
		log,
		"The kernel log has what the driver says, and lines of the program are on its "
		"standard error",
		"dmesg -T | warpscope log -");
	add_advice_step(log, "Run it again so that a fault or a hang leaves dumps",
			"warpscope exec --on-hang 300 --dumps DIR -- PROGRAM ARGUMENT...");
}

/* Hardware that failed besides: whatever came first, it needs care. */
static void advise_besides(struct ws_log *log, const struct wsi_told_row *root)
{
	for (size_t i = 0; i < log->n_rows; i++) {
		const struct wsi_told_row *one = &log->row[i];
		if (one == root || one->topic->role != WS_LOG_ROLE_HARDWARE ||
		    root->topic->role == WS_LOG_ROLE_HARDWARE)
			continue;
		add_advice_step(log,
				wsi_log_format(log,
					       "The GPU or driver failed, too (%s:%" PRIu64
					       "): whatever came first, look after it",
					       log->file[one->file], one->line),
				"nvidia-smi -q -d ECC,ROW_REMAPPER; nvidia-bug-report.sh");
		return;
	}
}

void wsi_log_advise(struct ws_log *log, const struct wsi_told_row *root)
{
	log->result.steps =
		wsi_arena_zalloc_array(&log->arena, MOST_STEPS, sizeof(struct ws_log_step));
	log->no_memory |= !log->result.steps;
	read_dump(log);
	if (!root) {
		advise_nothing(log);
		return;
	}
	switch (root->topic->advice) {
	case WSI_ADVICE_KERNEL:
		advise_kernel(log, root);
		break;
	case WSI_ADVICE_HANG:
		advise_hang(log);
		break;
	case WSI_ADVICE_HARDWARE:
		advise_hardware(log);
		break;
	case WSI_ADVICE_LINK:
		advise_link(log);
		break;
	case WSI_ADVICE_DRIVER:
		advise_driver(log);
		break;
	case WSI_ADVICE_MEMORY:
	case WSI_ADVICE_BUILD:
	case WSI_ADVICE_CALL:
		advise_call(log, root->topic->advice);
		break;
	case WSI_ADVICE_NETWORK:
	case WSI_ADVICE_EARLIER:
		advise_earlier(log, root->topic->advice);
		break;
	case WSI_ADVICE_DUMP:
		break;
	case WSI_ADVICE_AMD:
		add_advice_step(log, "AMD's debugger has the kernel and the thread",
				"rocgdb PROGRAM");
		break;
	}
	advise_besides(log, root);
}
