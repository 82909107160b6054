/* SPDX-License-Identifier: Apache-2.0 */
/* Launches that are run in pieces, each of them twice: from a snapshot, and from it again. */
#include "job.h"

#include <warpscope/sim_target.h>
#include <warpscope/write.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PIECES = 4, MOST = 20 * 1000 * 1000 };

/* What can be told apart after a piece. */
struct state {
	enum ws_sim_outcome outcome;
	uint64_t instructions, dump, printed;
	struct ws_sim_fault fault;
};

static uint64_t add_bytes(uint64_t hash, const void *bytes, size_t len)
{
	const unsigned char *at = bytes;
	for (; len >= 8; at += 8, len -= 8) {
		uint64_t word;
		memcpy(&word, at, 8);
		hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* All that a dump of the device holds. */
static uint64_t dump_hash(struct job *j)
{
	char path[64];
	struct ws_error err = { 0 };
	struct ws_target *target = NULL;
	uint64_t hash = 0;
	snprintf(path, sizeof path, "/tmp/warpscope-rewind.%ld", (long)getpid());
	enum ws_status st = ws_sim_target(j->sim, &target, &err);
	if (st == WS_OK)
		st = ws_write_target(target, path, NULL, &err);
	ws_target_close(target);
	FILE *in = st == WS_OK ? fopen(path, "rb") : NULL;
	if (!in) {
		job_fail(j, "dump: %s", err.message);
		return 0;
	}
	static unsigned char bytes[1 << 16];
	for (size_t n = 1; n > 0;) {
		n = fread(bytes, 1, sizeof bytes, in);
		hash = add_bytes(hash, bytes, n);
	}
	fclose(in);
	remove(path);
	return hash;
}

static struct state run_piece(struct job *j, uint64_t n)
{
	struct state state;
	struct ws_error err = { 0 };
	memset(&state, 0, sizeof state);
	if (ws_sim_run(j->sim, n, &state.outcome, &err) != WS_OK)
		job_fail(j, "run: %s", err.message);
	struct ws_span printed = ws_sim_printed(j->sim);
	state.instructions = ws_sim_instructions(j->sim);
	state.printed = add_bytes(1, printed.ptr, printed.len);
	state.dump = dump_hash(j);
	ws_sim_fault(j->sim, &state.fault);
	return state;
}

static void compare(struct job *j, const char *when, const struct state *a, const struct state *b)
{
	if (a->outcome != b->outcome || a->instructions != b->instructions)
		job_fail(j, "%s: outcome %d after %llu instructions, not %d after %llu", when,
			 (int)b->outcome, (unsigned long long)b->instructions, (int)a->outcome,
			 (unsigned long long)a->instructions);
	else if (a->dump != b->dump)
		job_fail(j, "%s: another dump after %llu instructions", when,
			 (unsigned long long)b->instructions);
	else if (a->printed != b->printed || memcmp(&a->fault, &b->fault, sizeof a->fault) != 0)
		job_fail(j, "%s: printed something else, or another fault", when);
}

static struct ws_sim_snapshot *take(struct job *j)
{
	struct ws_sim_snapshot *snapshot = NULL;
	struct ws_error err = { 0 };
	if (ws_sim_snapshot(j->sim, &snapshot, &err) != WS_OK)
		job_fail(j, "snapshot: %s", err.message);
	return snapshot;
}

static void go_back(struct job *j, const struct ws_sim_snapshot *snapshot)
{
	struct ws_error err = { 0 };
	if (snapshot && ws_sim_restore(j->sim, snapshot, &err) != WS_OK)
		job_fail(j, "restore: %s", err.message);
}

enum ws_sim_outcome rewind_run(struct job *j)
{
	struct ws_sim_snapshot *taken[PIECES + 1] = { take(j) };
	uint64_t length[PIECES], random = j->random;
	struct state first[PIECES];
	unsigned n = 0;
	do {
		length[n] = n + 1 == PIECES ? MOST : 1 + job_random(j) % (100u << 3 * n);
		first[n] = run_piece(j, length[n]);
		taken[n + 1] = take(j);
		go_back(j, taken[n]);
		struct state again = run_piece(j, length[n]);
		compare(j, "again", &first[n], &again);
	} while (!j->failed && first[n].outcome == WS_SIM_LIMIT && ++n < PIECES);
	n -= n == PIECES;
	go_back(j, taken[0]); /* the oldest, then all that came after it, then the newest */
	for (unsigned i = 0; i <= n && !j->failed; i++) {
		struct state again = run_piece(j, length[i]);
		compare(j, "from the start", &first[i], &again);
	}
	go_back(j, taken[0]);
	go_back(j, taken[n + 1]);
	if (!j->failed && dump_hash(j) != first[n].dump)
		job_fail(j, "the newest snapshot is another state");
	for (unsigned i = 0; i <= PIECES; i++)
		ws_sim_snapshot_free(taken[i]);
	j->random = random;
	return first[n].outcome;
}
