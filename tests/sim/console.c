/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The software GPU for scripts: commands on stdin, one answer line each on stdout. The script that
 * plants faults and hangs (tests/kernels/plant.py) drives devices by it, one after the other.
 *
 *     device NAME SCHEDULE SEED LATE SMS        a new one; SCHEDULE is its number
 *     load PATH
 *     alloc BYTES                               ADDRESS
 *     free ADDRESS
 *     symbol NAME                               ADDRESS BYTES
 *     write ADDRESS HEX
 *     launch KERNEL GX GY GZ BX BY BZ CX CY CZ SHARED COOPERATIVE [HEX]...
 *     run INSTRUCTIONS                          OUTCOME EXCEPTION ERRORPC ADDRESS SM WARP LANES
 *     dump PATH
 *
 * Answers begin with "ok", or with "error" and the reason. Numbers are hexadecimal in answers.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <warpscope/sim_target.h>
#include <warpscope/write.h>

enum { MAX_WORDS = 64, LINE = 1 << 20, MAX_IMAGE = 1 << 24 };

struct console {
	struct ws_sim *sim;
	size_t n;
	char *word[MAX_WORDS];
	uint8_t *bytes; /* room for what HEX says, or for an image */
};

static uint64_t number(const struct console *c, size_t i)
{
	return i < c->n ? strtoull(c->word[i], NULL, 0) : 0;
}

/* Bytes that a word of hexadecimal digits says, at `to`. */
static size_t unhex(const char *text, uint8_t *to)
{
	size_t n = 0;
	for (unsigned byte; sscanf(text + 2 * n, "%2x", &byte) == 1 && text[2 * n + 1]; n++)
		to[n] = (uint8_t)byte;
	return n;
}

static enum ws_status do_device(struct console *c, struct ws_error *err)
{
	struct ws_sim_options options = {
		.size = sizeof options,
		.device = c->word[1],
		.schedule = (enum ws_sim_schedule)number(c, 2),
		.seed = number(c, 3),
		.late = (uint32_t)number(c, 4),
		.n_sms = (uint32_t)number(c, 5),
	};
	ws_sim_destroy(c->sim);
	c->sim = NULL;
	enum ws_status st = ws_sim_create(&options, &c->sim, err);
	if (st == WS_OK)
		puts("ok");
	return st;
}

static enum ws_status do_load(struct console *c, struct ws_error *err)
{
	FILE *file = fopen(c->word[1], "rb");
	size_t n = file ? fread(c->bytes, 1, MAX_IMAGE, file) : 0;
	if (file)
		fclose(file);
	enum ws_status st = ws_sim_load(c->sim, (struct ws_span){ c->bytes, n, 0 }, NULL, err);
	if (st == WS_OK)
		puts("ok");
	return st;
}

static enum ws_status do_alloc(struct console *c, struct ws_error *err)
{
	uint64_t address;
	enum ws_status st = ws_sim_alloc(c->sim, number(c, 1), &address, err);
	if (st == WS_OK)
		printf("ok %" PRIx64 "\n", address);
	return st;
}

static enum ws_status do_free(struct console *c, struct ws_error *err)
{
	enum ws_status st = ws_sim_free(c->sim, number(c, 1), err);
	if (st == WS_OK)
		puts("ok");
	return st;
}

static enum ws_status do_symbol(struct console *c, struct ws_error *err)
{
	uint64_t address, bytes;
	enum ws_status st = ws_sim_symbol(c->sim, 0, c->word[1], &address, &bytes, err);
	if (st == WS_OK)
		printf("ok %" PRIx64 " %" PRIx64 "\n", address, bytes);
	return st;
}

static enum ws_status do_write(struct console *c, struct ws_error *err)
{
	size_t n = unhex(c->word[2], c->bytes);
	enum ws_status st = ws_sim_write(c->sim, number(c, 1), c->bytes, n, err);
	if (st == WS_OK)
		puts("ok");
	return st;
}

static struct ws_dim3 dim(const struct console *c, size_t i)
{
	return (struct ws_dim3){ (uint32_t)number(c, i), (uint32_t)number(c, i + 1),
				 (uint32_t)number(c, i + 2) };
}

static enum ws_status do_launch(struct console *c, struct ws_error *err)
{
	const void *args[MAX_WORDS];
	size_t first = 13;
	struct ws_sim_launch launch = {
		.size = sizeof launch,
		.kernel = c->word[1],
		.grid = dim(c, 2),
		.block = dim(c, 5),
		.cluster = dim(c, 8),
		.shared_bytes = (uint32_t)number(c, 11),
		.cooperative = number(c, 12) != 0,
		.args = args,
	};
	uint8_t *at = c->bytes;
	for (size_t i = first; i < c->n; i++) {
		args[launch.n_args++] = at;
		at += unhex(c->word[i], at);
	}
	enum ws_status st = ws_sim_launch(c->sim, &launch, err);
	if (st == WS_OK)
		puts("ok");
	return st;
}

static enum ws_status do_run(struct console *c, struct ws_error *err)
{
	enum ws_sim_outcome outcome;
	struct ws_sim_fault fault = { 0 };
	enum ws_status st = ws_sim_run(c->sim, number(c, 1), &outcome, err);
	if (st != WS_OK)
		return st;
	ws_sim_fault(c->sim, &fault);
	printf("ok %x %x %" PRIx64 " %" PRIx64 " %x %x %x\n", (unsigned)outcome, fault.exception,
	       fault.error_pc, fault.has_address ? fault.address : 0, fault.sm, fault.warp,
	       fault.lanes);
	return WS_OK;
}

static enum ws_status do_dump(struct console *c, struct ws_error *err)
{
	struct ws_write_options options = { .size = sizeof options };
	struct ws_target *target;
	enum ws_status st = ws_sim_target(c->sim, &target, err);
	if (st != WS_OK)
		return st;
	st = ws_write_target(target, c->word[1], &options, err);
	ws_target_close(target);
	if (st == WS_OK)
		puts("ok");
	return st;
}

static const struct command {
	const char *name;
	size_t n; /* words at least */
	enum ws_status (*run)(struct console *c, struct ws_error *err);
} commands[] = {
	{ "device", 6, do_device },  { "load", 2, do_load },     { "alloc", 2, do_alloc },
	{ "free", 2, do_free },      { "symbol", 2, do_symbol }, { "write", 3, do_write },
	{ "launch", 13, do_launch }, { "run", 2, do_run },       { "dump", 2, do_dump },
};

static void obey(struct console *c, char *line)
{
	struct ws_error err = { .message = "no such command, or too few words" };
	enum ws_status st = WS_ARGUMENT;
	c->n = 0;
	for (char *save, *word = strtok_r(line, " \n", &save); word && c->n < MAX_WORDS;
	     word = strtok_r(NULL, " \n", &save))
		c->word[c->n++] = word;
	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
		if (c->n >= commands[i].n && strcmp(c->word[0], commands[i].name) == 0 &&
		    (c->sim || commands[i].run == do_device))
			st = commands[i].run(c, &err);
	if (st != WS_OK)
		printf("error %s\n", err.message);
	fflush(stdout);
}

int main(void)
{
	struct console c = { .bytes = malloc(MAX_IMAGE) };
	char *line = malloc(LINE);
	while (c.bytes && line && fgets(line, LINE, stdin))
		obey(&c, line);
	ws_sim_destroy(c.sim);
	free(c.bytes);
	free(line);
	return 0;
}
