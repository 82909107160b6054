/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of `warpscope run`: dimensions and arguments. */
#include "run/run.h"

#include "names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <warpscope/cubin.h>

enum { MAX_PARAMS = 1024, MAX_WORDS = 256 };

void run_launch_fini(struct run_launch *launch)
{
	free(launch->args.item);
}

/* ---- options ---- */

/* X, X,Y or X,Y,Z */
static int take_dim(const struct run_launch *launch, const char *option, const char *text,
		    struct ws_dim3 *ret_dim)
{
	uint64_t part[3] = { 1, 1, 1 };
	const char *at = text;
	for (unsigned i = 0; i < 3 && at; i++) {
		char digits[16] = "";
		size_t n = strcspn(at, ",x");
		if (n >= sizeof digits)
			break;
		memcpy(digits, at, n);
		if (!cli_number(digits, &part[i]) || part[i] == 0 || part[i] > INT32_MAX)
			break;
		at = at[n] ? at + n + 1 : NULL;
	}
	if (at)
		return cli_usage(launch->cli->verb, "--%s takes X, X,Y or X,Y,Z, not '%s'", option,
				 text);
	*ret_dim = (struct ws_dim3){ (uint32_t)part[0], (uint32_t)part[1], (uint32_t)part[2] };
	return CLI_ANSWERED;
}

int run_take_grid(void *launch, const char *text)
{
	return take_dim(launch, "grid", text, &((struct run_launch *)launch)->grid);
}

int run_take_block(void *launch, const char *text)
{
	return take_dim(launch, "block", text, &((struct run_launch *)launch)->block);
}

int run_take_cluster(void *launch, const char *text)
{
	return take_dim(launch, "cluster", text, &((struct run_launch *)launch)->cluster);
}

int run_take_preferred(void *launch, const char *text)
{
	struct ws_dim3 *preferred = &((struct run_launch *)launch)->preferred;
	return take_dim(launch, "preferred-cluster", text, preferred);
}

/* ---- arguments ---- */

/* &NAME or &NAME+BYTES */
static bool address_parse(const char *text, const struct run_buffers *buffers, uint64_t *ret)
{
	size_t n = strcspn(text + 1, "+");
	const struct run_buffer *buffer = run_buffer_find(buffers, text + 1, n);
	uint64_t offset = 0;
	if (!buffer || (text[1 + n] && !cli_number(text + n + 2, &offset))) {
		cli_warn("'%s': there is no such buffer", text);
		return false;
	}
	*ret = buffer->address + offset;
	return true;
}

/* One argument as it lies in memory; free() it. NULL: told why not. */
static uint8_t *argument_parse(const char *text, const struct ws_param *param, struct ws_sim *sim,
			       const struct run_buffers *buffers)
{
	size_t len = 8, n = strcspn(text, ":");
	uint64_t address;
	uint8_t value[8] = { 0 }, *bytes;
	if (text[0] == '@') {
		bytes = run_file_read(text + 1, &len);
	} else if (text[0] == '&' || run_is_texture(text)) {
		bool ok = text[0] == '&' ? address_parse(text, buffers, &address)
					 : run_texture_make(text, sim, buffers, &address);
		bytes = ok ? cli_alloc(8, 1) : NULL;
		for (unsigned i = 0; bytes && i < 8; i++)
			bytes[i] = (uint8_t)(address >> 8 * i);
	} else {
		const struct run_type *type = run_type_find(text, n);
		static const char names[][4] = { "", "s8", "s16", "", "s32", "", "", "", "s64" };
		if (!type && !text[n] && param->size_bytes <= 8)
			type = run_type_find(names[param->size_bytes],
					     strlen(names[param->size_bytes]));
		const char *number = text[n] ? text + n + 1 : text;
		bool plain = type && !text[n]; /* without a type: signed or not, as it fits */
		bool ok = type && run_value_parse(type, number, value);
		if (!ok && plain) {
			char of_bits[4] = { 'u', type->name[1], type->name[2], '\0' };
			type = run_type_find(of_bits, strlen(of_bits));
			ok = run_value_parse(type, number, value);
		}
		bytes = ok ? cli_alloc(8, 1) : NULL;
		if (!ok)
			cli_warn(
				"'%s' is not an argument: a number, TYPE:NUMBER, &BUFFER, tex:..., "
				"surf:... or "
				"@FILE is "
				"expected, for a parameter of %u bytes",
				text, param->size_bytes);
		if (ok) {
			memcpy(bytes, value, sizeof value);
			len = type->bytes;
		}
	}
	if (bytes && len != param->size_bytes) {
		cli_warn("'%s' has %zu bytes, parameter %u has %u", text, len, param->ordinal,
			 param->size_bytes);
		free(bytes);
		return NULL;
	}
	return bytes;
}

/* ---- which kernel ---- */

enum { MOST_NAMED = 10 /* kernels in a message */ };

/* Kernels that a name may mean. */
struct candidates {
	const char *name;
	char *found; /* owned: the first one's own name; NULL: none */
	uint32_t module;
	size_t n;
	bool is_exact;
	struct cli_bytes same, all; /* their names, and those of all kernels, for a message */
	size_t n_all;
};

static void name_add(struct cli_bytes *to, size_t n, const struct ws_function *function)
{
	char *full = name_copy(function->name, NAME_FULL);
	if (n < MOST_NAMED) {
		cli_bytes_write(to, n ? ", " : "", n ? 2 : 0);
		cli_bytes_write(to, full, strlen(full));
	} else if (n == MOST_NAMED) {
		cli_bytes_write(to, ", ...", 5);
	}
	free(full);
}

static void candidate_take(struct candidates *c, uint32_t module,
			   const struct ws_function *function)
{
	const bool is_exact = ws_str_equal(function->name, ws_str_of(c->name));
	name_add(&c->all, c->n_all++, function);
	if (!is_exact && !ws_name_is(function, c->name))
		return;
	name_add(&c->same, c->n++, function);
	if (!c->found || (is_exact && !c->is_exact)) {
		free(c->found);
		c->found = cli_copy(function->name.ptr, function->name.len);
		c->module = module;
	}
	c->is_exact |= is_exact;
}

/* The kernels of all modules: a program has one for each of its sources. */
static void candidates_take(struct candidates *c, struct ws_sim *sim)
{
	struct ws_span image;
	for (uint32_t module = 0; ws_sim_module_image(sim, module, &image, NULL) == WS_OK;
	     module++) {
		struct ws_cubin *cubin;
		const struct ws_function *functions;
		size_t n = 0;
		if (ws_cubin_open(image, &cubin, NULL) != WS_OK)
			continue;
		if (ws_cubin_functions(cubin, &functions, &n, NULL) != WS_OK)
			n = 0;
		for (size_t i = 0; i < n; i++)
			if (functions[i].is_kernel && functions[i].section != 0)
				candidate_take(c, module, &functions[i]);
		ws_cubin_close(cubin);
	}
}

/* The name of a kernel in its image, by that name or as it is written in C++; the caller's to free.
 * NULL with a word to the user. */
static char *kernel_find(struct ws_sim *sim, const char *name, uint32_t *ret_module)
{
	struct candidates c = { .name = name };
	candidates_take(&c, sim);
	cli_bytes_write(&c.same, "", 1);
	cli_bytes_write(&c.all, "", 1);
	if (c.n == 0)
		cli_warn("there is no kernel '%s'; there are: %s", name,
			 c.n_all ? c.all.ptr : "none");
	else if (c.n > 1 && !c.is_exact)
		cli_warn("'%s' is the name of %zu kernels: %s", name, c.n, c.same.ptr);
	if (c.n > 1 && !c.is_exact) {
		free(c.found);
		c.found = NULL;
	}
	free(c.same.ptr);
	free(c.all.ptr);
	*ret_module = c.module;
	return c.found;
}

/* What the arguments of a launch do not reach. */
static void untold_say(const char *kernel, const struct ws_function_info *info,
		       const struct ws_param *params, size_t n)
{
	uint32_t offset = 0, bytes = 0, total = 0;
	for (; ws_params_hidden(info, params, n, &offset, &bytes); offset += bytes)
		total += bytes;
	if (total)
		cli_warn("%s has %" PRIu32 " bytes of hidden parameters, which its front end fills "
			 "in at a launch: they are 0",
			 kernel, total);
	if (info->n_unknown)
		cli_warn("%s has an attribute that is not known here, 0x%" PRIx32
			 ": what it says of launches is not heeded",
			 kernel, info->first_unknown);
}

/* Parameters of a kernel of a module, as many as it has. */
static enum ws_status params_in(struct ws_span image, const char *kernel,
				struct ws_param *ret_params, size_t *ret_n, struct ws_error *err)
{
	struct ws_cubin *cubin = NULL;
	const struct ws_function *function;
	struct ws_function_info info;
	enum ws_status st = ws_cubin_open(image, &cubin, err);
	if (st == WS_OK)
		st = ws_cubin_find_function(cubin, ws_str_of(kernel), &function, err);
	if (st == WS_OK)
		st = ws_cubin_function_info(cubin, function, &info, ret_params, MAX_PARAMS, NULL, 0,
					    err);
	if (st == WS_OK) {
		*ret_n = info.n_params < MAX_PARAMS ? info.n_params : MAX_PARAMS;
		untold_say(kernel, &info, ret_params, *ret_n);
	}
	ws_cubin_close(cubin);
	return st;
}

static bool launch_params_of(struct ws_sim *sim, const char *kernel, uint32_t module,
			     struct ws_param *ret_params, size_t *ret_n)
{
	struct ws_span image;
	struct ws_error err;
	enum ws_status st = ws_sim_module_image(sim, module, &image, &err);
	if (st == WS_OK)
		st = params_in(image, kernel, ret_params, ret_n, &err);
	if (st != WS_OK)
		cli_fail(kernel, &err);
	return st == WS_OK;
}

bool run_launch(const struct run_launch *launch, struct ws_sim *sim,
		const struct run_buffers *buffers)
{
	struct ws_param *params = cli_alloc(MAX_PARAMS, sizeof *params);
	uint8_t **values = cli_alloc(launch->args.n + 1, sizeof *values);
	struct ws_error err;
	size_t n = 0, done = 0;
	uint32_t module = 0;
	char *kernel = kernel_find(sim, launch->kernel, &module);
	bool ok = kernel && launch_params_of(sim, kernel, module, params, &n);
	if (ok && n != launch->args.n) {
		cli_warn("%s has %zu parameters, %zu arguments are given", launch->kernel, n,
			 launch->args.n);
		ok = false;
	}
	for (; ok && done < n; done++) {
		values[done] = argument_parse(launch->args.item[done], &params[done], sim, buffers);
		ok = values[done] != NULL;
	}
	if (ok && launch->shared.value > UINT32_MAX) {
		cli_warn("--shared takes less than 4 GiB");
		ok = false;
	}
	struct ws_sim_launch what = {
		.size = sizeof what,
		.module = module,
		.kernel = kernel,
		.grid = launch->grid,
		.block = launch->block,
		.cluster = launch->cluster,
		.preferred_cluster = launch->preferred,
		.shared_bytes = (uint32_t)launch->shared.value,
		.args = (const void *const *)values,
		.n_args = n,
		.cooperative = launch->cooperative,
	};
	if (ok && ws_sim_launch(sim, &what, &err) != WS_OK)
		ok = run_fail(launch->kernel, &err) == CLI_ANSWERED;
	for (size_t i = 0; i < done; i++)
		free(values[i]);
	free(values);
	free(params);
	free(kernel);
	return ok;
}

/* ---- files of launches ---- */

static const struct cli_option line_options[] = {
	RUN_LAUNCH_OPTIONS,
	{ 0 },
};

static bool launch_line(struct cli *cli, char *line, struct ws_sim *sim,
			const struct run_buffers *buffers)
{
	char *words[MAX_WORDS] = { line }, *sorted[MAX_WORDS + 2], **argv = sorted;
	struct run_launch launch = { .cli = cli, .grid = { 1, 1, 1 }, .block = { 1, 1, 1 } };
	int n = 1;
	for (char *save, *word = strtok_r(line, " \t\r", &save); word && n < MAX_WORDS;
	     word = strtok_r(NULL, " \t\r", &save))
		words[n++] = word;
	bool ok = cli_options_sort(cli->verb, line_options, n, words, sorted) == CLI_ANSWERED;
	if (ok) {
		int argc = 0;
		while (sorted[argc])
			argc++;
		ok = cli_options_take(cli, line_options, &launch, &argc, &argv) == CLI_ANSWERED;
	}
	if (ok && !launch.kernel)
		ok = cli_usage(cli->verb, "a line of launches needs --kernel") == CLI_ANSWERED;
	ok = ok && run_launch(&launch, sim, buffers);
	run_launch_fini(&launch);
	return ok;
}

bool run_launch_file(struct cli *cli, const char *path, struct ws_sim *sim,
		     const struct run_buffers *buffers)
{
	size_t len;
	char *text = run_file_read(path, &len);
	if (!text)
		return false;
	bool ok = true;
	unsigned number = 0;
	for (char *at = text, *next; ok && at; at = next) {
		next = strchr(at, '\n');
		if (next)
			*next++ = '\0';
		number++;
		if (at[strspn(at, " \t\r")] == '\0' || *at == '#')
			continue;
		ok = launch_line(cli, at, sim, buffers);
		if (!ok)
			cli_warn("%s: line %u", path, number);
	}
	free(text);
	return ok;
}
