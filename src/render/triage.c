/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages about many dumps: what to read first, the bugs, the ranks of each job, GPUs that fault
 * again. The same elements as on the page of one dump (page.h).
 */
#include <warpscope/triage.h>

#include "render/html.h"
#include "render/words.h"

/* What the sections show, and where single pages are. */
struct pages {
	struct wsi_page page;
	const struct ws_triage_result *result;
	const struct ws_triage_page *options;
};

/* The name of a dump, with the address of its page. */
static void say_dump(struct pages *p, struct ws_str path)
{
	const char *address = p->page.form == &wsi_form_html && p->options && p->options->link
				      ? p->options->link(p->options->user, path)
				      : NULL;
	if (address)
		wsi_html_printf(&p->page, "<a href=\"%s\">", address);
	wsi_str(&p->page, WSI_CODE, path);
	if (address)
		wsi_html_raw(&p->page, "</a>");
}

static void say_elapsed_time(struct wsi_page *page, uint64_t seconds)
{
	char text[WSI_TIME_TEXT];
	if (seconds && seconds <= UINT32_MAX && wsi_time_text((uint32_t)seconds, text))
		wsi_say(page, "%s", text);
	else
		wsi_render_run(page, WSI_NONE, "?");
}

static void say_text(struct wsi_page *page, struct ws_str text)
{
	if (text.len)
		wsi_str(page, WSI_PLAIN, text);
	else
		wsi_render_run(page, WSI_NONE, "-");
}

static void more_of(struct wsi_page *page, uint32_t shown, uint32_t n)
{
	wsi_say_more(page, n - shown);
}

/* Whether a path can be pasted into a shell: nothing in it means something there. */
static bool is_page_path_plain(const char *path)
{
	for (const char *c = path; *c; c++)
		if (!wsi_is_alphanumeric(*c) && !strchr("/._-+,:=@", *c))
			return false;
	return *path != '-';
}

/* ---- sections ---- */

static void section_read(struct pages *p)
{
	const struct ws_triage_result *r = p->result;
	if (!r->read)
		return;
	wsi_section(&p->page, "read", "Read first", WSI_DETAIL);
	wsi_label(&p->page, "Dump");
	say_dump(p, ws_str_of(r->read));
	if (!is_page_path_plain(r->read))
		return;
	wsi_label(&p->page, "Command");
	wsi_say(&p->page, "warpscope report ");
	wsi_str(&p->page, WSI_PLAIN, ws_str_of(r->read));
}

/* ---- times ---- */

enum { MAX_LINES = 300 };

static const char *look_of(enum ws_triage_role role)
{
	switch (role) {
	case WS_TRIAGE_FAULT:
	case WS_TRIAGE_COLLECTIVE_FAULT:
		return "fault";
	case WS_TRIAGE_WAITS:
	case WS_TRIAGE_STUCK:
		return "wait";
	case WS_TRIAGE_RUNS:
	case WS_TRIAGE_IDLE:
	case WS_TRIAGE_UNREADABLE:
		break;
	}
	return "other";
}

/* When the dumps of a job were made. */
static void job_times(struct pages *p, const struct ws_triage_job *job)
{
	struct wsi_time_line lines[MAX_LINES];
	size_t n = wsi_min_u64(job->n_rows, MAX_LINES);
	for (size_t i = 0; i < n; i++) {
		const struct ws_triage_row *row = &job->rows[i];
		lines[i] = (struct wsi_time_line){ .name = row->name,
						   .first = row->time,
						   .last = row->time,
						   .look = look_of(row->role),
						   .words = ws_triage_role_text(row->role),
						   .marked = i == job->culprit };
	}
	wsi_figure_times(
		&p->page, "Times of dumps",
		"A time is that of the dump, of its name or of its file: when the dump was made, "
		"when its process began, or when the file was written. It does not say who was "
		"first.",
		lines, n);
}

/* From when to when the dumps of each bug are. */
static void bug_times(struct pages *p)
{
	const struct ws_triage_result *r = p->result;
	struct wsi_time_line lines[MAX_LINES];
	size_t n = wsi_min_u64(r->n_groups, MAX_LINES);
	for (size_t i = 0; i < n; i++) {
		const struct ws_triage_group *group = &r->groups[i];
		bool fault = ws_str_equal(group->verdict, ws_str_of("fault"));
		lines[i] = (struct wsi_time_line){
			.name = group->place.len ? group->place : group->signature,
			.first = group->first,
			.last = group->last,
			.look = fault ? "fault" : "wait",
			.words = !r->has_baseline ? fault ? "fault" : "hang"
				 : group->known   ? "known"
						  : "new",
		};
	}
	wsi_figure_times(&p->page, "Times of bugs", "From the first to the last dump of each bug.",
			 lines, n);
}

static void section_groups(struct pages *p)
{
	static const struct ws_column columns[] = {
		{ "Dumps", WS_ALIGN_RIGHT },    { "", WS_ALIGN_LEFT },
		{ "Ranks", WS_ALIGN_LEFT },     { "First", WS_ALIGN_LEFT },
		{ "Last", WS_ALIGN_LEFT },      { "Place", WS_ALIGN_LEFT },
		{ "Signature", WS_ALIGN_LEFT }, { "Example", WS_ALIGN_LEFT },
	};
	const struct ws_triage_result *r = p->result;
	struct wsi_page *page = &p->page;
	if (r->n_groups == 0)
		return;
	wsi_section(page, "bugs", "Bugs", WSI_DETAIL);
	wsi_render_table(page, &(struct wsi_page_table){ .id = "bugs-table",
							 .label = "Bugs",
							 .column = columns,
							 .n_columns = WSI_COUNT(columns) });
	uint32_t n = wsi_render_rows(page, r->n_groups);
	for (uint32_t i = 0; i < n; i++) {
		const struct ws_triage_group *group = &r->groups[i];
		wsi_cell(page, "");
		wsi_say(page, "%" PRIu64, group->n_dumps);
		wsi_cell(page, "");
		wsi_say(page, "%s", !r->has_baseline ? "" : group->known ? "known" : "new");
		wsi_cell(page, "");
		say_text(page, ws_str_of(group->ranks));
		wsi_cell(page, "");
		say_elapsed_time(page, group->first);
		wsi_cell(page, "");
		say_elapsed_time(page, group->last);
		wsi_cell(page, "");
		say_text(page, group->place);
		wsi_cell(page, "");
		wsi_str(page, WSI_CODE, group->signature);
		wsi_say(page, "%s", group->in_doubt ? " (in doubt)" : "");
		wsi_cell(page, "");
		say_dump(p, group->example);
	}
	more_of(page, n, r->n_groups);
	bug_times(p);
}

static void job_rows(struct pages *p, const struct ws_triage_job *job)
{
	static const struct ws_column columns[] = {
		{ "Process", WS_ALIGN_LEFT },  { "State", WS_ALIGN_LEFT },
		{ "What", WS_ALIGN_LEFT },     { "Kernel", WS_ALIGN_LEFT },
		{ "Place", WS_ALIGN_LEFT },    { "Dump", WS_ALIGN_LEFT },
		{ "Evidence", WS_ALIGN_LEFT },
	};
	bool any = false; /* evidence */
	for (uint32_t i = 0; i < job->n_rows; i++)
		any |= job->rows[i].evidence != NULL;
	struct wsi_page *page = &p->page;
	wsi_render_table(page, &(struct wsi_page_table){ .id = "ranks-table",
							 .label = "Ranks",
							 .column = columns,
							 .n_columns = WSI_COUNT(columns) - !any,
							 .named = true });
	uint32_t n = wsi_render_rows(page, job->n_rows);
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = k + 1 == n && job->read != WS_NONE && job->read > k ? job->read : k;
		const struct ws_triage_row *row = &job->rows[i];
		if (i == job->culprit)
			wsi_render_row_marked(page);
		wsi_cell(page, "");
		wsi_str(page, WSI_PLAIN, row->name);
		wsi_cell(page, "");
		wsi_say(page, "%s%s", ws_triage_role_text(row->role),
			i == job->culprit ? ", read first" : "");
		wsi_cell(page, "");
		say_text(page, row->what);
		wsi_cell(page, "");
		say_text(page, row->kernel);
		wsi_cell(page, "");
		say_text(page, row->place);
		wsi_cell(page, "");
		say_dump(p, wsi_report_file_name(row->path).len ? row->path : ws_str_of("-"));
		if (any)
			wsi_cell(page, "");
		if (any)
			say_text(page, ws_str_of(row->evidence));
	}
	more_of(page, n, job->n_rows);
	job_times(p, job);
}

static void section_jobs(struct pages *p)
{
	const struct ws_triage_result *r = p->result;
	struct wsi_page *page = &p->page;
	if (r->n_jobs == 0)
		return;
	wsi_section(page, "ranks", r->n_jobs_in_all == 1 ? "Ranks" : "Jobs", WSI_DETAIL);
	for (uint32_t i = 0; i < r->n_jobs; i++) {
		const struct ws_triage_job *job = &r->jobs[i];
		if (r->n_jobs_in_all > 1) {
			wsi_render_part(page, "Job", i);
			wsi_label(page, "Job");
			say_text(page, job->name);
			wsi_label(page, "Verdict");
			wsi_sentence(page, WSI_PLAIN, job->sentence);
		}
		for (uint32_t k = 0; k < job->n_reasons; k++) {
			wsi_label(page, k ? "" : "Because");
			wsi_sentence(page, WSI_PLAIN, job->reasons[k]);
		}
		if (*job->missing) {
			wsi_label(page, "No dump");
			wsi_say(page, "of rank%s %s (%s)", strpbrk(job->missing, ",-") ? "s" : "",
				job->missing, job->missing_why);
		}
		if (job->n_rows)
			job_rows(p, job);
	}
	if (r->n_jobs < r->n_jobs_in_all) {
		wsi_render_element(page, WSI_MORE);
		wsi_say(page, "%" PRIu64 " more job%s, smaller or without a failure (--limit)",
			r->n_jobs_in_all - r->n_jobs, wsi_plural(r->n_jobs_in_all - r->n_jobs));
	}
}

static void section_gpus(struct pages *p)
{
	const struct ws_triage_result *r = p->result;
	if (r->n_gpus == 0)
		return;
	wsi_section(&p->page, "gpus", "GPUs that fault in several jobs", WSI_DETAIL);
	uint32_t n = wsi_render_rows(&p->page, r->n_gpus);
	for (uint32_t i = 0; i < n; i++) {
		const struct ws_triage_gpu *gpu = &r->gpus[i];
		wsi_render_element(&p->page, WSI_ITEM);
		wsi_str(&p->page, WSI_PLAIN, gpu->name);
		wsi_say(&p->page, ": %" PRIu64 " faults in %u jobs, with %u signature%s",
			gpu->n_faults, gpu->n_jobs, gpu->n_signatures,
			wsi_plural(gpu->n_signatures));
		if (gpu->n_signatures > 1)
			wsi_say(&p->page, "; different bugs on one GPU: the GPU may be the cause");
	}
	more_of(&p->page, n, r->n_gpus);
}

static void section_dumps(struct pages *p)
{
	const struct ws_triage_result *r = p->result;
	struct wsi_page *page = &p->page;
	wsi_section(page, "facts", "Dumps", WSI_DETAIL);
	wsi_label(page, "Dumps");
	wsi_say(page,
		"%" PRIu64 ": %" PRIu64 " with a fault, %" PRIu64 " with a suspected hang, %" PRIu64
		" with neither, %" PRIu64 " too damaged to tell, %" PRIu64 " unreadable",
		r->n_dumps, r->n_faults, r->n_hangs, r->n_none, r->n_unknown, r->n_failed);
	wsi_label(page, "Jobs");
	wsi_say(page, "%" PRIu64, r->n_jobs_in_all);
	if (r->has_baseline) {
		wsi_label(page, "New");
		wsi_say(page, "%" PRIu64 " dump%s with a signature that is not in the baseline",
			r->n_new_dumps, wsi_plural(r->n_new_dumps));
	}
	if (r->n_again) {
		wsi_label(page, "Twice");
		wsi_say(page, "%" PRIu64 " record%s of dumps that had one already", r->n_again,
			wsi_plural(r->n_again));
	}
	if (r->n_not_records) {
		wsi_label(page, "Damaged");
		wsi_say(page, "%" PRIu64 " line%s in the records that cannot be read",
			r->n_not_records, wsi_plural(r->n_not_records));
	}
}

static void sections(struct pages *p)
{
	section_read(p);
	section_jobs(p);
	section_groups(p);
	section_gpus(p);
	section_dumps(p);
}

/* ---- pages ---- */

static enum ws_status start_page(struct pages *p, const struct wsi_page_form *form,
				 const struct ws_triage_result *result,
				 const struct ws_triage_page *options, struct ws_out *out,
				 struct ws_error *err)
{
	p->result = result;
	p->options = options;
	return wsi_page_init(&p->page, form, NULL, options ? options->text : NULL, out, err);
}

enum ws_status ws_triage_text(const struct ws_triage_result *result,
			      const struct ws_triage_page *page, struct ws_out *out,
			      struct ws_error *err)
{
	struct pages p;
	enum ws_status st = start_page(&p, &wsi_form_text, result, page, out, err);
	if (st != WS_OK)
		return st;
	wsi_sentence(&p.page, WSI_PLAIN, result->sentence);
	ws_out_text(out, ".\n");
	sections(&p);
	st = wsi_page_fini(&p.page, err);
	ws_out_printf(out, "\n%s\n", wsi_foot);
	return st;
}

enum ws_status ws_triage_markdown(const struct ws_triage_result *result,
				  const struct ws_triage_page *page, struct ws_out *out,
				  struct ws_error *err)
{
	struct pages p;
	enum ws_status st = start_page(&p, &wsi_form_markdown, result, page, out, err);
	if (st != WS_OK)
		return st;
	p.page.options.color = false;
	ws_out_text(out, "**");
	wsi_sentence(&p.page, WSI_PLAIN, result->sentence);
	ws_out_text(out, ".**\n");
	sections(&p);
	st = wsi_page_fini(&p.page, err);
	ws_out_printf(out, "\n<sub>Made by warpscope %s. %s</sub>\n", ws_version(), wsi_foot);
	return st;
}

enum ws_status ws_triage_html(const struct ws_triage_result *result,
			      const struct ws_triage_page *page, struct ws_out *out,
			      struct ws_error *err)
{
	struct pages p;
	enum ws_status st = start_page(&p, &wsi_form_html, result, page, out, err);
	if (st != WS_OK)
		return st;
	wsi_html_start(&p.page);
	wsi_html_title(&p.page, ws_str_of(result->sentence));
	wsi_html_printf(&p.page,
			"<header class=\"verdict %s\">\n<p class=\"kind\">%" PRIu64
			" dump%s</p>\n<h1>",
			result->n_faults  ? "fault"
			: result->n_hangs ? "hang"
					  : "none",
			result->n_dumps, wsi_plural(result->n_dumps));
	wsi_sentence(&p.page, WSI_PLAIN, result->sentence);
	wsi_html_raw(&p.page, ".</h1>\n</header>\n<main>\n");
	sections(&p);
	st = wsi_page_fini(&p.page, err);
	wsi_html_raw(&p.page, "</main>\n");
	wsi_html_end(&p.page);
	return st;
}
