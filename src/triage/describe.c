/* SPDX-License-Identifier: Apache-2.0 */
/* The record of a dump, from its report and its name. */
#include "triage/internal.h"

#include "wait/wait.h"

/* Texts of a record that nothing else holds. */
struct texts {
	char pci[16], driver[32], cuda[32], code_id[WS_CODE_ID_TEXT];
};

static struct ws_str text_of(const char *text)
{
	return text ? ws_str_of(text) : (struct ws_str){ NULL, 0 };
}

/* A text that is missing when it is empty. */
static struct ws_str some(struct ws_str text)
{
	return text.len ? text : (struct ws_str){ NULL, 0 };
}

#define ATTEMPT "attempt " /* of a launcher that starts a job again */

/* What exec's record says of a process whose rank is not in the name. */
static void take_record_process(struct wsi_triage_record *record,
				struct ws_triage_processes *processes)
{
	struct wsi_process process;
	if (!record->host.ptr || record->pid == WSI_NO_NUMBER)
		return;
	enum wsi_triage_known known =
		wsi_process_find(processes, record->host, record->pid, &process);
	if (known == WSI_KNOWN) {
		record->ranks = process.n_ranks;
		if (!record->job.ptr && process.attempt != 0 && process.attempt < UINT32_MAX) {
			snprintf(record->attempt, sizeof record->attempt, ATTEMPT "%" PRIu64,
				 process.attempt);
			record->job = ws_str_of(record->attempt);
		}
	}
	if (record->rank != WSI_NO_NUMBER)
		return;
	if (known == WSI_KNOWN && process.rank != WSI_NO_NUMBER) {
		record->rank = process.rank;
		record->rank_from = text_of("exec");
		record->rank_why = text_of(NULL);
		return;
	}
	record->rank_why =
		text_of(known == WSI_KNOWN     ? "exec recorded the process without a rank"
			: known == WSI_UNKNOWN ? "exec has not recorded the process"
					       : "exec recorded two processes with its number");
}

void wsi_triage_record_name(struct wsi_triage_record *record, const char *pattern,
			    struct ws_triage_processes *processes)
{
	struct wsi_dump_name name;
	bool is_recorded = ws_str_equal(record->rank_from, ws_str_of("exec"));
	struct wsi_triage_record before = *record;
	bool fits = wsi_dump_name_read(pattern, record->path, &name);
	record->host = some(name.host);
	record->job = some(name.job);
	record->pid = name.pid;
	record->rank = name.rank;
	record->rank_from = text_of(name.rank != WSI_NO_NUMBER ? "name" : NULL);
	record->rank_why = text_of(name.rank != WSI_NO_NUMBER ? NULL
				   : !pattern                 ? "no pattern of names was given"
				   : !fits ? "the name is not as the pattern says"
					   : "the pattern of names has no rank");
	if (processes) {
		take_record_process(record, processes);
	} else if (is_recorded && name.rank == WSI_NO_NUMBER) {
		record->rank = before.rank;
		record->rank_from = before.rank_from;
		record->rank_why = before.rank_why;
	}
	if (!record->job.ptr && !processes && wsi_str_begins(before.job, ATTEMPT))
		record->job = before.job;
	if (name.time != WSI_NO_NUMBER && !record->time_from.ptr) {
		record->time = name.time;
		record->time_from = text_of("name");
	}
}

static void describe_place(struct wsi_triage_record *record, const struct ws_report_frame *frames,
			   uint32_t n, uint32_t user)
{
	const struct ws_report_frame *frame = user != WS_NONE ? &frames[user] : n ? frames : NULL;
	if (!frame)
		return;
	if (frame->function_status == WS_OK)
		record->function = some(frame->function_short);
	if (frame->line_status == WS_OK) {
		record->file = some(frame->file);
		if (frame->line)
			record->line = frame->line;
	}
}

static void describe_kernel(struct wsi_triage_record *record, const struct ws_report *report,
			    uint32_t kernel)
{
	bool grid;
	if (kernel >= report->n_kernels || report->kernels[kernel].name_status != WS_OK)
		return;
	const struct ws_report_kernel *k = &report->kernels[kernel];
	record->kernel = some(k->name_short);
	record->kernel_mangled = some(k->name_mangled);
	const char *collective = wsi_wait_known(k->name, &grid);
	if (!collective)
		collective = wsi_wait_known(k->name_mangled, &grid);
	if (collective && !grid && !record->collective.ptr)
		record->collective = text_of(collective);
}

static void describe_device(struct wsi_triage_record *record, const struct ws_report *report,
			    uint32_t id, struct texts *texts)
{
	record->devices = report->n_devices;
	for (uint32_t i = 0; i < report->n_devices; i++) {
		const struct ws_report_device *device = &report->devices[i];
		if (device->status != WS_OK || (id != WS_NONE && device->state.id != id))
			continue;
		record->device = device->state.id;
		record->device_name = some(device->state.name);
		record->device_type = some(device->state.sm_type);
		snprintf(texts->pci, sizeof texts->pci, "%02x:%02x", device->state.pci_bus,
			 device->state.pci_device);
		record->pci = ws_str_of(texts->pci);
		return;
	}
}

static void describe_fault(struct wsi_triage_record *record, const struct ws_report *report,
			   struct texts *texts)
{
	static const char *const blames[] = {
		[WS_BLAME_LANE] = "lane", [WS_BLAME_SUSPECT] = "suspect", [WS_BLAME_SM] = "sm",
		[WS_BLAME_TRAP] = "trap", [WS_BLAME_NOBODY] = NULL,
	};
	const struct ws_report_exception *e = report->focus;
	record->exception = text_of(e->name ? e->name : e->label);
	record->blame = text_of(blames[e->blame]);
	describe_kernel(record, report, e->kernel);
	if (!record->kernel.ptr && e->n_frames &&
	    e->frames[e->n_frames - 1].function_status == WS_OK) /* no grid is left of it */
		record->kernel = some(e->frames[e->n_frames - 1].function_short);
	describe_place(record, e->frames, e->n_frames, e->user_frame);
	describe_device(record, report, e->at.device, texts);
}

static void describe_wait(struct wsi_triage_record *record, const struct ws_report *report,
			  struct texts *texts)
{
	const struct ws_report_wait *wait = report->root_wait;
	if (!wait)
		return;
	record->collective = text_of(wait->collective);
	record->waits_for = text_of(ws_wait_kind_text(wait->kind));
	describe_kernel(record, report, wait->kernel);
	describe_place(record, wait->frames, wait->n_frames, wait->user_frame);
	describe_device(record, report, wait->example.device, texts);
}

/* What runs, where nothing is wrong. */
static void describe_running(struct wsi_triage_record *record, const struct ws_report *report)
{
	uint32_t best = WS_NONE;
	for (uint32_t i = 0; i < report->n_kernels; i++) {
		const struct ws_report_kernel *k = &report->kernels[i];
		if (k->resident_warps &&
		    (best == WS_NONE || k->resident_warps > report->kernels[best].resident_warps))
			best = i;
	}
	describe_kernel(record, report, best);
}

static void describe_dump(struct wsi_triage_record *record, const struct ws_report *report,
			  struct texts *texts)
{
	const struct ws_dump_facts *dump = &report->dump;
	if (report->dump_status != WS_OK)
		return;
	record->complete = dump->complete;
	record->cut = dump->cut;
	if (dump->have_metadata) {
		snprintf(texts->driver, sizeof texts->driver, "%u.%u", dump->driver_major,
			 dump->driver_minor);
		snprintf(texts->cuda, sizeof texts->cuda, "%u.%u", dump->cuda_major,
			 dump->cuda_minor);
		record->driver = some(ws_str_of(dump->driver_major ? texts->driver : ""));
		record->cuda = some(ws_str_of(dump->cuda_major ? texts->cuda : ""));
	}
	if (dump->have_time) {
		record->time = dump->timestamp;
		record->time_from = text_of("dump");
	}
}

static void describe_build(struct wsi_triage_record *record, const struct ws_report *report,
			   struct texts *texts)
{
	const struct ws_report_image *image = &report->image;
	if (report->image_status != WS_OK)
		return;
	if (image->facts.sm)
		record->sm = image->facts.sm;
	record->compiler = some(image->facts.tool_version);
	record->lines = image->facts.has_lines;
	if (image->code_id_status == WS_OK) {
		ws_code_id_text(&image->code_id, texts->code_id);
		record->code_id = ws_str_of(texts->code_id);
	}
}

static void describe_signature(struct wsi_triage_record *record, const struct ws_report *report)
{
	record->signature = text_of(report->signature);
	if (!report->signature)
		return;
	record->signature_version = WS_SIGNATURE_VERSION;
	record->signature_what = some(report->signature_part[0]);
	record->signature_kernel = some(report->signature_part[1]);
	record->signature_functions = some(report->signature_part[2]);
	record->signature_last = some(report->signature_part[3]);
}

static void describe_file(struct wsi_triage_record *record, const struct ws_triage_file *file)
{
	const int64_t second = 1000000000;
	wsi_triage_record_init(record);
	ws_triage_key(file, record->key);
	record->path = ws_str_of(file->path);
	record->bytes = file->bytes;
	if (file->written_ns >= 0)
		record->written = (uint64_t)(file->written_ns / second);
}

void ws_triage_record(const struct ws_report *report, const struct ws_triage_file *file, bool whole,
		      struct ws_out *out)
{
	struct wsi_triage_record record;
	struct texts texts;
	describe_file(&record, file);
	record.status = text_of("read");
	record.verdict = text_of(ws_verdict_kind_text(report->verdict));
	record.summary = text_of(report->summary);
	record.resident_warps = report->n_warps;
	describe_signature(&record, report);
	describe_dump(&record, report, &texts);
	if (report->verdict == WS_VERDICT_FAULT && report->focus)
		describe_fault(&record, report, &texts);
	else if (report->verdict == WS_VERDICT_HANG)
		describe_wait(&record, report, &texts);
	else
		describe_running(&record, report);
	if (!record.pci.ptr)
		describe_device(&record, report, WS_NONE, &texts);
	describe_build(&record, report, &texts);
	record.diagnostics = report->n_diagnostics;
	if (report->n_diagnostics)
		record.damage = text_of(report->diagnostics[0].message);
	if (report->doubt)
		record.doubt = text_of(report->doubt);
	wsi_triage_record_name(&record, file->pattern, file->processes);
	wsi_triage_record_write(&record, whole, out);
}

void ws_triage_record_failed(const struct ws_triage_file *file, const char *why, bool whole,
			     struct ws_out *out)
{
	struct wsi_triage_record record;
	describe_file(&record, file);
	record.status = text_of("failed");
	record.why = text_of(why);
	wsi_triage_record_name(&record, file->pattern, file->processes);
	wsi_triage_record_write(&record, whole, out);
}
