/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file beside dumps, as --log of the triage reads it: any bytes, packed or not. A job of two
 * ranks is judged by it; and by the same file packed once more, which must tell the same.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <warpscope/triage.h>

#include "base/base.h"
#include "fuzz.h"
#include "two_ranks.h"

#undef abort

enum { MOST = 1 << 20 }; /* bytes that a packed file may become */

/* ---- the file ---- */

static char folder[] = "/tmp/ws-fuzz-XXXXXX", path[sizeof folder + 20];

static void remove_folder(void)
{
	(void)!(unlink(path) || rmdir(folder));
}

static void write_log(const uint8_t *data, size_t size)
{
	if (!*path) {
		FUZZ_CHECK(mkdtemp(folder));
		snprintf(path, sizeof path, "%s/nccl_trace_rank_1", folder);
		atexit(remove_folder);
	}
	FILE *file = fopen(path, "wb");
	FUZZ_CHECK(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

static void write_packed_log(const uint8_t *data, size_t size)
{
	gzFile file = gzopen(path, "wb1");
	FUZZ_CHECK(file && gzwrite(file, data, (unsigned)size) == (int)size);
	FUZZ_CHECK(gzclose(file) == Z_OK);
}

/* Whether it is read as what it is packed into, or not at all. */
static bool is_packed_log(const uint8_t *data, size_t size)
{
	static const char *const magic[] = { "\x1f\x8b\x08",
					     "\x28\xb5\x2f\xfd",
					     "\xfd"
					     "7zX",
					     "BZh9",
					     "\x04\"M\x18",
					     "PK\3\4" };
	for (size_t i = 0; i < WSI_COUNT(magic); i++)
		if (size >= strlen(magic[i]) && memcmp(data, magic[i], strlen(magic[i])) == 0)
			return true;
	return false;
}

/* ---- what it tells ---- */

struct log_told {
	enum ws_status status;
	uint32_t culprit, n_reasons;
	char sentence[1000];
};

static struct log_told judge_by_log(void)
{
	struct ws_triage_options options = { .size = sizeof options };
	const struct ws_triage_result *result;
	struct ws_triage *triage;
	struct ws_error err;
	struct log_told told = { .culprit = WS_NONE };
	bool is_cut = false;
	FUZZ_CHECK(ws_triage_create(&options, &triage, NULL) == WS_OK);
	fuzz_add_two_ranks(triage, 1);
	FUZZ_CHECK(ws_triage_choose(triage, NULL) == WS_OK);
	told.status = ws_triage_read_log(triage, 0, path, MOST, &is_cut, &err);
	FUZZ_CHECK(told.status != WS_NO_MEMORY && told.status != WS_IO);
	FUZZ_CHECK(told.status == WS_OK || *err.message);
	fuzz_add_two_ranks(triage, 2);
	FUZZ_CHECK(ws_triage_judge(triage, &result, NULL) == WS_OK && result->n_jobs == 1);
	const bool unread = told.status != WS_OK && told.status != WS_ABSENT;
	FUZZ_CHECK(result->n_unread_logs == unread && !result->unread_why == !unread);
	told.culprit = result->jobs[0].culprit;
	told.n_reasons = result->jobs[0].n_reasons;
	snprintf(told.sentence, sizeof told.sentence, "%s", result->jobs[0].sentence);
	ws_triage_destroy(triage);
	return told;
}

int fuzz_target(const uint8_t *data, size_t size)
{
	write_log(data, size);
	struct log_told plain = judge_by_log();
	if (size == 0 || size > MOST || is_packed_log(data, size))
		return 0;
	write_packed_log(data, size);
	struct log_told packed = judge_by_log();
	FUZZ_CHECK(plain.status == packed.status && plain.culprit == packed.culprit);
	FUZZ_CHECK(plain.n_reasons == packed.n_reasons);
	FUZZ_CHECK(strcmp(plain.sentence, packed.sentence) == 0);
	return 0;
}
