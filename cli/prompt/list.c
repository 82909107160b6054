/* SPDX-License-Identifier: Apache-2.0 */
/* Sources: list, and the line that a thread is at. */
#include "prompt/prompt.h"

#include "pattern.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 10 };

/* ---- where sources are ---- */

static void forget_listing(struct debugger *d)
{
	ws_source_destroy(d->listing.source);
	d->listing.source = NULL;
	d->listing.source_of = NULL;
}

void debug_list_fini(struct debugger *d)
{
	forget_listing(d);
	d->listing = (struct debug_listing){ 0 };
}

void debug_directory(struct debugger *d, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, ": ");
		char *one = cli_copy(text, n);
		if (*one && *one != '$') /* $cdir, $cwd: looked at anyway */
			cli_sources_dir(&d->sources, one);
		free(one);
		text += n + strspn(text + n, ": ");
	}
	forget_listing(d);
	debug_show_directories(d, "");
}

void debug_show_directories(struct debugger *d, const char *text)
{
	(void)text;
	ws_out_text(&d->cli->out, "Source directories searched: ");
	for (size_t i = 0; i < d->sources.n_dirs; i++) {
		ws_out_escaped(&d->cli->out, ws_str_of(d->sources.dirs[i]));
		ws_out_text(&d->cli->out, ":");
	}
	ws_out_text(&d->cli->out, "$cdir:$cwd\n");
}

void debug_substitute(struct debugger *d, const char *text)
{
	size_t n = strcspn(text, " ");
	const char *to = text + n + strspn(text + n, " ");
	if (!n || !*to || strchr(to, ' ')) {
		cli_say("set substitute-path FROM TO is expected.\n");
		return;
	}
	cli_sources_map(&d->sources, text, n, to);
	forget_listing(d);
}

/* The source of a file; never NULL. */
static const struct ws_source *source_of(struct debugger *d, const struct ws_line_file *file)
{
	static const struct ws_source none = { .status = WS_ABSENT };
	struct ws_report_options options = { .size = sizeof options };
	struct ws_error err;
	if (d->listing.source_of == file && d->listing.source)
		return d->listing.source;
	forget_listing(d);
	cli_sources_use(&d->sources, &options);
	if (ws_source_read(file, &options, &d->listing.source, &err) != WS_OK) {
		cli_fail(NULL, &err);
		return &none;
	}
	d->listing.source_of = file;
	if (d->listing.source->changed)
		cli_note("This source file is not the one that was compiled: %s.\n",
			 d->listing.source->why);
	return d->listing.source;
}

static void print_line(struct ws_out *out, const struct ws_source *source, uint32_t line)
{
	struct ws_str left = source->lines[line - 1];
	ws_out_printf(out, "%" PRIu32 "\t", line);
	while (left.len > 0) {
		const char *tab = memchr(left.ptr, '\t', left.len);
		const size_t n = tab ? (size_t)(tab - left.ptr) : left.len;
		ws_out_escaped(out, (struct ws_str){ left.ptr, n });
		ws_out_text(out, tab ? "\t" : "");
		left.ptr += n + (tab ? 1 : 0);
		left.len -= n + (tab ? 1 : 0);
	}
	ws_out_text(out, "\n");
}

/* ---- the line of a thread ---- */

/* Where the thread in focus is; in the frame that the user looks at. */
static bool here(struct debugger *d, struct ws_line_pos *ret_position)
{
	return debug_frame_position(d, ret_position) && ret_position->file && ret_position->line;
}

bool debug_list_line(struct debugger *d)
{
	struct ws_line_pos position;
	if (!here(d, &position))
		return false;
	const struct ws_source *source = source_of(d, position.file);
	bool found = source->status == WS_OK && position.line <= source->n_lines;
	if (found)
		print_line(&d->cli->out, source, position.line);
	return found;
}

void debug_list_missing(struct debugger *d)
{
	struct ws_line_pos position;
	if (!here(d, &position))
		return;
	ws_out_printf(&d->cli->out, "%" PRIu32 "\tin ", position.line);
	ws_path_text(&d->cli->out, position.file, false);
	ws_out_text(&d->cli->out, "\n");
}

void debug_list_here(struct debugger *d)
{
	d->listing.file = NULL;
	d->listing.first = d->listing.last = d->listing.around = 0;
}

/* Keys "path", where a source is on this machine, and "lines", how many it has. */
static void json_listed_source(struct ws_json *json, const struct ws_source *source)
{
	if (ws_json_key_given(json, "path", source->path ? WS_OK : WS_ABSENT))
		ws_json_text(json, source->path);
	if (!source->path && source->why)
		ws_json_key_text(json, "not_shown", source->why);
	ws_json_key_u64(json, "n_lines", source->path ? source->n_lines : 0);
}

bool debug_unit_at(const struct ws_target *target, uint64_t pc, struct ws_dwarf_unit *ret_unit)
{
	struct ws_cubin_set *set;
	struct ws_place place;
	const struct ws_dwarf *dwarf;
	const struct ws_dwarf_function *function;
	return ws_target_cubins(target, &set, NULL) == WS_OK &&
	       ws_cubin_set_find_address(set, pc, NULL, &place, NULL) == WS_OK && place.function &&
	       ws_cubin_dwarf(place.cubin, &dwarf, NULL) == WS_OK &&
	       ws_dwarf_find_function(dwarf, place.function->name, &function, NULL) == WS_OK &&
	       ws_dwarf_unit(dwarf, function->info_off, ret_unit, NULL) == WS_OK;
}

const char *debug_language(const struct ws_dwarf_unit *unit)
{
	/* [public doc: DWARF 5 section 7.12] */
	static const struct {
		uint8_t number;
		const char *name;
	} known[] = {
		{ 0x01, "c" },       { 0x02, "c" },       { 0x04, "c++" },     { 0x07, "fortran" },
		{ 0x08, "fortran" }, { 0x0c, "c" },       { 0x0e, "fortran" }, { 0x14, "python" },
		{ 0x1a, "c++" },     { 0x1d, "c" },       { 0x1f, "julia" },   { 0x1c, "rust" },
		{ 0x21, "c++" },     { 0x22, "fortran" }, { 0x23, "fortran" }, { 0x15, "opencl" },
	};
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (known[i].number == unit->language)
			return known[i].name;
	return "unknown";
}

bool debug_list_info(struct debugger *d, const char *text)
{
	(void)text;
	struct ws_out *out = &d->cli->out;
	struct ws_json *json = &d->json;
	struct ws_line_pos position;
	if (!here(d, &position)) {
		if (d->cli->json)
			cli_say("No current source file.\n");
		else
			ws_out_text(out, "No current source file.\n");
		return false;
	}
	const struct ws_source *source = source_of(d, position.file);
	if (d->cli->json) {
		debug_answer(d, "source");
		ws_json_object(json);
		ws_path_json(json, position.file);
		ws_json_key_text(json, "directory", position.file->dir);
		ws_json_key_u64(json, "line", position.line);
		json_listed_source(json, source);
		ws_json_end(json);
		return true;
	}
	ws_out_text(out, "Current source file is ");
	ws_path_text(out, position.file, false);
	ws_out_text(out, "\n");
	struct ws_dwarf_unit unit = { 0 };
	struct ws_error err;
	uint64_t pc;
	const bool has_unit = ws_debug_frame_pc(d->session, &pc, &err) == WS_OK &&
			      debug_unit_at(d->target, pc, &unit);
	if (unit.dir.len) {
		ws_out_text(out, "Compilation directory is ");
		ws_out_escaped(out, unit.dir);
		ws_out_text(out, "\n");
	}
	if (source->path) {
		ws_out_text(out, "Located in ");
		ws_out_escaped(out, ws_str_of(source->path));
		ws_out_printf(out, "\nContains %" PRIu32 " lines.\n", source->n_lines);
	} else if (source->why) {
		ws_out_printf(out, "It is not shown: %s\n", source->why);
	} else {
		ws_out_text(out, "It is not found here.\n");
	}
	ws_out_printf(out, "Source language is %s.\n",
		      has_unit ? debug_language(&unit) : "unknown");
	return true;
}

/* ---- list ---- */

/* The code of lines that have no source here; where the user named none, of the function of the
 * thread: other kernels may have the same line. */
static void list_source_code(struct debugger *d, const struct ws_line_file *file, uint32_t line)
{
	struct ws_debug_places at = { .n = 0 };
	size_t size = ws_line_path(file, NULL, 0) + 1;
	char *path = cli_alloc(size, 1);
	ws_line_path(file, path, size);
	(void)!ws_debug_locate_line(d->session, path, line, &at, NULL);
	const uint64_t in = d->listing.function;
	uint64_t start = 0, end = 0;
	size_t n = 0;
	for (size_t i = 0; i < at.n; i++) {
		const uint64_t pc = at.pc[i];
		if ((pc >= start && pc < end) || (in && debug_function_address(d, pc) != in))
			continue; /* shown already, or another's */
		start = pc;
		end = debug_print_line_code(d, pc);
		n++;
	}
	if (n == 0 && !d->cli->json)
		cli_say("No code belongs to line %" PRIu32 "%s.\n", line,
			in && at.n ? " in this function" : "");
	free(path);
}

static void say_missing_source(struct debugger *d, const struct ws_line_file *file,
			       const struct ws_source *source, uint32_t line)
{
	struct ws_out *out = &d->cli->out;
	ws_out_printf(out, "%" PRIu32 "\tin ", line);
	ws_path_text(out, file, false);
	if (source->why)
		ws_out_printf(out, ", which is not shown: %s Its code:\n", source->why);
	else
		ws_out_printf(out, ", which is not found here (%s); its code:\n",
			      strcmp(d->cli->verb, "list") == 0
				      ? "--source-dir DIR, or --source-map FROM=TO"
				      : "directory DIR, or set substitute-path FROM TO");
}

/* The lines as an array of objects, and where there are none, the code of one. */
static void show_listing_json(struct debugger *d, const struct ws_line_file *file,
			      const struct ws_source *source, uint32_t first, uint32_t last,
			      uint32_t middle)
{
	struct ws_json *json = &d->json;
	const bool found = source->status == WS_OK;
	debug_answer(d, "list");
	ws_json_object(json);
	ws_path_json(json, file);
	json_listed_source(json, source);
	ws_json_key_array(json, "lines");
	for (uint32_t line = first; found && line <= last && line <= source->n_lines; line++) {
		ws_json_object(json);
		ws_json_key_u64(json, "line", line);
		ws_json_key_str(json, "text", source->lines[line - 1]);
		ws_json_end(json);
	}
	ws_json_end(json);
	ws_json_key_u64(json, "line", middle ? middle : first);
	ws_json_key_array(json, "code");
	if (!found)
		list_source_code(d, file, middle ? middle : first);
	ws_json_end(json);
	ws_json_end(json);
}

/* False with a word to the user, as all that lists. */
static bool show_lines(struct debugger *d, const struct ws_line_file *file, uint32_t first,
		       uint32_t last, uint32_t middle)
{
	const struct ws_source *source = source_of(d, file);
	struct debug_listing *listing = &d->listing;
	if (source->status == WS_OK && first > source->n_lines) {
		cli_flush(d->cli);
		cli_say("Line number %" PRIu32 " out of range; the file has %" PRIu32 " lines.\n",
			first, source->n_lines);
		return false;
	}
	if (d->cli->json) {
		show_listing_json(d, file, source, first, last, middle);
		return true;
	}
	if (source->status != WS_OK) {
		uint32_t line = middle ? middle : first;
		say_missing_source(d, file, source, line);
		list_source_code(d, file, line);
	}
	listing->file = file;
	listing->first = first;
	listing->last = last;
	for (uint32_t line = first; source->status == WS_OK && line <= last; line++) {
		if (line > source->n_lines)
			break;
		print_line(&d->cli->out, source, line);
	}
	return true;
}

static uint32_t listing_size_of(const struct debugger *d)
{
	enum { MOST = 1 << 24 };
	const uint32_t size = d->gdb.settings.listsize ? d->gdb.settings.listsize : LINES;
	return size < MOST ? size : MOST;
}

static bool show_around(struct debugger *d, const struct ws_line_file *file, uint32_t line)
{
	uint32_t n = listing_size_of(d), first = line > n / 2 ? line - n / 2 : 1;
	return show_lines(d, file, first, first + n - 1, line);
}

/* The place of code that a location names. False with a word to the user. */
static bool listed_place_find(struct debugger *d, const char *text,
			      struct ws_line_pos *ret_position)
{
	struct ws_debug_places at = { .n = 0 };
	struct ws_debug_position position = { .n = 0 };
	const char *colon = strrchr(text, ':');
	uint64_t line;
	if (cli_number(text, &line) && line > 0 && line < UINT32_MAX) {
		ret_position->line = (uint32_t)line;
		ret_position->file = d->listing.file;
		struct ws_line_pos now;
		if (!ret_position->file && here(d, &now))
			ret_position->file = now.file;
		if (!ret_position->file)
			cli_say("Which file? There is no thread whose source is known.\n");
		return ret_position->file != NULL;
	}
	if (!debug_locate(d, text, false, &at))
		return false;
	ws_debug_position(d->session, at.pc[0], &position);
	if (position.n == 0 || !position.chain[0].file) {
		cli_say("No line is known for '%s'.\n", text);
		return false;
	}
	*ret_position = position.chain[0];
	if (colon && cli_number(colon + 1, &line) && line < UINT32_MAX) {
		const char *name = text;
		/* code of a line may begin with what is inlined there */
		for (size_t i = 0; i < position.n; i++)
			if (position.chain[i].file &&
			    debug_is_file(position.chain[i].file, name, (size_t)(colon - name)))
				*ret_position = position.chain[i];
		ret_position->line = (uint32_t)line;
	}
	return true;
}

/* FIRST,LAST with one of them left out perhaps. */
static bool list_range(struct debugger *d, const char *text, const char *comma)
{
	struct ws_line_pos first, last;
	const char *to = comma + 1 + strspn(comma + 1, " ");
	char *from = cli_copy(text, (size_t)(comma - text));
	const bool has_first = *from, has_last = *to;
	const uint32_t n = listing_size_of(d) - 1;
	bool good = false;
	if ((!has_first || listed_place_find(d, from, &first)) &&
	    (!has_last || listed_place_find(d, to, &last))) {
		if (has_first && !has_last)
			good = show_lines(d, first.file, first.line, first.line + n, 0);
		else if (has_last && !has_first)
			good = show_lines(d, last.file, last.line > n ? last.line - n : 1,
					  last.line, 0);
		else if (has_first && first.file == last.file && first.line <= last.line)
			good = show_lines(d, first.file, first.line, last.line, 0);
		else
			cli_say("FIRST,LAST of one file is expected, in this order.\n");
	}
	free(from);
	return good;
}

/* The lines after those that were shown, or before them. */
static bool list_lines_more(struct debugger *d, bool back)
{
	const struct debug_listing *listing = &d->listing;
	uint32_t n = listing_size_of(d);
	if (!back)
		return show_lines(d, listing->file, listing->last + 1, listing->last + n, 0);
	if (listing->first > 1)
		return show_lines(d, listing->file, listing->first > n ? listing->first - n : 1,
				  listing->first - 1, 0);
	cli_say("Already at the start of the file.\n");
	return false;
}

bool debug_list_lines(struct debugger *d, const char *text)
{
	struct ws_line_pos position;
	const char *comma = strchr(text, ',');
	const bool more = !*text || strcmp(text, "-") == 0;
	uint64_t pc;
	struct ws_error err;
	if (!more)
		d->listing.function = 0;
	else if (!d->listing.file && ws_debug_frame_pc(d->session, &pc, &err) == WS_OK)
		d->listing.function = debug_function_address(d, pc);
	if (comma)
		return list_range(d, text, comma);
	if (more && d->listing.file)
		return list_lines_more(d, *text == '-');
	if (more ? here(d, &position) : listed_place_find(d, text, &position))
		return show_around(d, position.file, position.line);
	if (more && debug_has_thread(d))
		cli_say("No line is known for this frame's code.\n");
	return false;
}

/* ---- search ---- */

void debug_search(struct debugger *d, const char *text, int back)
{
	struct debug_listing *listing = &d->listing;
	struct ws_line_pos position;
	struct pattern pattern;
	if (!listing->file && here(d, &position)) {
		listing->file = position.file;
		listing->first = listing->last = position.line;
	}
	const struct ws_source *source = listing->file ? source_of(d, listing->file) : NULL;
	if (!source || source->status != WS_OK) {
		if (listing->file)
			debug_list_missing(d);
		else
			cli_say("No line is known for this frame's code.\n");
		return;
	}
	if (!pattern_init(&pattern, text))
		return;
	uint32_t line = back ? listing->first - 1 : listing->last + 1;
	bool found = false;
	while (line >= 1 && line <= source->n_lines && !found) {
		const struct ws_str at = source->lines[line - 1];
		char *one = cli_copy(at.ptr, at.len);
		found = pattern_matches(&pattern, one);
		free(one);
		line += found ? 0 : back ? UINT32_MAX : 1;
	}
	pattern_fini(&pattern);
	if (!found) {
		cli_say("Expression not found\n");
		return;
	}
	const struct ws_value number = ws_value_int(line);
	debug_name(d, "_", &number);
	print_line(&d->cli->out, source, line);
	listing->first = listing->last = line;
}
