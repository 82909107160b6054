/* SPDX-License-Identifier: Apache-2.0 */
/* What records of dumps, and logs beside the dumps, say together: of jobs, bugs and GPUs. */
#include "unit.h"

#include "triage/internal.h"

enum { MOST = 80, BYTES = 2000 };

/* Words for a dump; the members of its record. */
static const struct {
	const char *word, *members;
} kinds[] = {
	{ "fault",
	  "\"status\":\"read\",\"verdict\":\"fault\",\"signature\":\"s\",\"complete\":true,"
	  "\"signature_what\":\"illegal memory access\",\"kernel\":\"k\"" },
	{ "waits",
	  "\"status\":\"read\",\"verdict\":\"hang\",\"signature\":\"hang | n\",\"complete\":true,"
	  "\"signature_what\":\"hang\",\"kernel\":\"n\",\"waits_for\":\"memory\","
	  "\"collective\":\"NCCL all-reduce\"" },
	{ "stuck",
	  "\"status\":\"read\",\"verdict\":\"hang\",\"signature\":\"hang | k\",\"complete\":true,"
	  "\"signature_what\":\"hang\",\"kernel\":\"k\",\"waits_for\":\"barrier\"" },
	{ "runs",
	  "\"status\":\"read\",\"verdict\":\"none\",\"resident_warps\":1,\"kernel\":\"k\"" },
	{ "idle", "\"status\":\"read\",\"verdict\":\"none\",\"resident_warps\":0" },
	{ "damaged",
	  "\"status\":\"read\",\"verdict\":\"unknown\",\"summary\":\"It cannot be told\"" },
	{ "lost", "\"status\":\"failed\",\"why\":\"the file is empty\"" },
	{ "collective", "\"collective\":\"NCCL all-reduce\"" },
	{ "lane", "\"blame\":\"lane\"" },
};

struct bench {
	struct ws_triage *triage;
	const struct ws_triage_result *result;
	char lines[MOST][BYTES];
	size_t n;
};

/* A number is the rank, "key=value" a member. A later one replaces an earlier one. */
static int put_word(char *to, size_t room, const char *word)
{
	const char *equals = strchr(word, '=');
	for (size_t i = 0; i < WSI_COUNT(kinds); i++)
		if (strcmp(kinds[i].word, word) == 0)
			return snprintf(to, room, ",%s", kinds[i].members);
	if (!equals)
		return snprintf(to, room, ",\"rank\":%s", word);
	bool is_text = strspn(equals + 1, "0123456789") < strlen(equals + 1) || !equals[1];
	const char *quote = is_text && strcmp(equals + 1, "false") != 0 ? "\"" : "";
	return snprintf(to, room, ",\"%.*s\":%s%s%s", (int)(equals - word), word, quote, equals + 1,
			quote);
}

/* The first look at a dump, "a/0", "a/1", ... if the words do not name it. */
static void add(struct bench *b, const char *words)
{
	char copy[BYTES], *next = copy;
	assert_true(b->n < MOST && strlen(words) < sizeof copy);
	char *line = b->lines[b->n];
	int n = snprintf(line, BYTES,
			 "{\"schema\":\"warpscope-triage-1\",\"key\":\"%032zx\",\"path\":\"a/%zu\"",
			 b->n, b->n);
	snprintf(copy, sizeof copy, "%s", words);
	for (char *word; (word = strtok_r(next, " ", &next));)
		n += put_word(line + n, BYTES - (size_t)n, word);
	assert_true(n + 2 < BYTES);
	line[n++] = '}';
	line[n] = 0;
	snprintf(copy, sizeof copy, "%s", line);
	b->n++;
	assert_int_equal(ws_triage_add(b->triage, copy, strlen(copy), NULL), WS_OK);
}

static void begin(struct bench *b, const char *baseline, uint32_t max_jobs)
{
	struct ws_triage_options options = { .size = sizeof options,
					     .baseline = baseline,
					     .baseline_len = baseline ? strlen(baseline) : 0,
					     .max_jobs = max_jobs };
	b->n = 0;
	assert_int_equal(ws_triage_create(&options, &b->triage, NULL), WS_OK);
}

/* Each of a list with semicolons between them. */
static void each(struct bench *b, const char *list, void (*take)(struct bench *b, const char *one))
{
	char copy[2 * BYTES], *next = copy;
	assert_true(strlen(list) < sizeof copy);
	snprintf(copy, sizeof copy, "%s", list);
	for (char *one; (one = strtok_r(next, ";", &next));)
		take(b, one);
}

static void say(struct bench *b, const char *line)
{
	assert_int_equal(ws_triage_log(b->triage, 0, line, strlen(line), NULL), WS_OK);
}

static void judge(struct bench *b)
{
	char copy[BYTES];
	assert_int_equal(ws_triage_choose(b->triage, NULL), WS_OK);
	for (size_t i = 0; i < b->n; i++) {
		memcpy(copy, b->lines[i], sizeof copy);
		assert_int_equal(ws_triage_look(b->triage, copy, strlen(copy), NULL), WS_OK);
	}
	assert_int_equal(ws_triage_judge(b->triage, &b->result, NULL), WS_OK);
}

static void judge_all(struct bench *b, const char *dumps, const char *logs)
{
	begin(b, NULL, 0);
	each(b, dumps, add);
	each(b, logs, say);
	judge(b);
}

/* ---- jobs ---- */

/* The sentence of the first job, its reasons, and who left no dump, a line each. */
static const char *told(const struct bench *b)
{
	static char text[2000];
	const struct ws_triage_job *job = b->result->jobs;
	assert_true(b->result->n_jobs > 0);
	int n = snprintf(text, sizeof text, "%s\n", job->sentence);
	for (uint32_t i = 0; i < job->n_reasons; i++)
		n += snprintf(text + n, sizeof text - (size_t)n, "- %s\n", job->reasons[i]);
	if (*job->missing)
		snprintf(text + n, sizeof text - (size_t)n, "no dump of %s: %s\n", job->missing,
			 job->missing_why);
	return text;
}

#define UNORDERED                                                                            \
	"- times of files and in their names do not order faults: they say when a dump was " \
	"written "                                                                           \
	"or its process began\n"
#define NO_CALL                                                                                \
	"- the state of a GPU does not say which call of the operation it is in; logs of the " \
	"host "                                                                                \
	"program may (--log)\n"

static const struct {
	const char *dumps, *logs, *told;
} jobs[] = {
	/* one fault */
	{ "0 fault file=k.cu line=7", "",
	  "Read `0`: rank 0 faulted (illegal memory access in `k` at k.cu:7)\n" },
	{ "path=a/one fault file=k.cu line=7", "",
	  "Read `one`: it faulted (illegal memory access in `k` at k.cu:7)\n" },
	{ "0 fault function=k;1 waits", "",
	  "Read `0`: rank 0 faulted (illegal memory access in `k`); 1 other waits in NCCL "
	  "all-reduce\n"
	  "- no other dump shows a fault outside collective operations\n"
	  "- rank 1 only waits\n" },
	{ "1 fault kernel= function=f;0 waits;2 waits", "",
	  "Read `0`: rank 1 faulted (illegal memory access at f); 2 others wait in NCCL "
	  "all-reduce\n"
	  "- no other dump shows a fault outside collective operations\n"
	  "- rank 0 and rank 2 only wait\n" },
	{ "0 fault;1 fault collective;2 waits", "",
	  "Read `0`: rank 0 faulted (illegal memory access in `k`); 1 other waits in NCCL "
	  "all-reduce\n"
	  "- no other dump shows a fault outside collective operations\n"
	  "- rank 1 faulted inside a collective operation, as ranks do when another one dies\n"
	  "- rank 2 only waits\n" },
	{ "0 fault;1 lost", "",
	  "Cannot tell which was first: rank 0 faulted (illegal memory access in `k`), and what "
	  "rank 1 left is too damaged to tell; start with `0`\n" },
	{ "0 fault;1 stuck", "",
	  "Cannot tell which was first: rank 0 faulted (illegal memory access in `k`), and rank 1 "
	  "hangs, waiting for its own threads; start with `0`\n" },
	{ "0 fault;1 stuck waits_for=cluster;2 stuck waits_for=memory", "",
	  "Cannot tell which was first: rank 0 faulted (illegal memory access in `k`), and rank 1 "
	  "and rank 2 hang, waiting for their own threads; start with `0`\n" },
	{ "0 fault;1 stuck waits_for=memory", "",
	  "Read `0`: rank 0 faulted (illegal memory access in `k`)\n"
	  "- no other dump shows a fault outside collective operations\n" },
	/* several */
	{ "0 fault;1 fault;2 waits", "",
	  "Cannot tell which was first: rank 0 and rank 1 have the same fault (illegal memory "
	  "access in `k`); start with `0`\n" UNORDERED "- rank 2 only waits\n" },
	{ "0 fault;1 fault signature=t;2 fault signature=t", "",
	  "Cannot tell which was first: rank 0, rank 1 and rank 2 have different faults; start "
	  "with `0`\n" UNORDERED },
	{ "0 fault signature=;1 fault signature=", "",
	  "Cannot tell which was first: rank 0 and rank 1 have different faults; start with "
	  "`0`\n" UNORDERED },
	/* processes of one GPU are one event, and no others are */
	{ "fault host=h pid=7 pci=1b:00;fault host=h pid=8 pci=1b:00 lane;fault host=h pid=9 "
	  "pci=1b:00",
	  "",
	  "Read `1`: h:8:1b:00 faulted (illegal memory access in `k`)\n"
	  "- no other dump shows a fault outside collective operations\n" },
	{ "fault host=h pid=7 pci=1b:00;fault host=h pid=8 pci=1b:00", "",
	  "Cannot tell which was first: h:7:1b:00 and h:8:1b:00 faulted on one GPU, as all clients "
	  "of an MPS server do when one of them faults; start with `0`\n" },
	{ "fault host=h pid=7 pci=1b:00 lane;fault host=h pid=8 pci=1b:00 lane", "",
	  "Cannot tell which was first: h:7:1b:00 and h:8:1b:00 faulted on one GPU, as all clients "
	  "of an MPS server do when one of them faults; start with `0`\n" },
	{ "fault host=h pid=7 pci=1b:00;fault host=h pid=8 pci=1c:00 signature=t", "",
	  "Cannot tell which was first: h:7:1b:00 and h:8:1c:00 have different faults; start with "
	  "`0`\n" UNORDERED },
	{ "fault host=g pid=7 pci=1b:00;fault host=h pid=8 pci=1b:00 signature=t", "",
	  "Cannot tell which was first: g:7:1b:00 and h:8:1b:00 have different faults; start with "
	  "`0`\n" UNORDERED },
	{ "fault host=h pid=7 pci=1b:00;fault host=h pid=7 pci=1b:00 signature=t", "",
	  "Cannot tell which was first: h:7:1b:00 and h:7:1b:00 have different faults; start with "
	  "`0`\n" UNORDERED },
	{ "fault host=h pid=7;fault host=h pid=8 signature=t", "",
	  "Cannot tell which was first: h:7:? and h:8:? have different faults; start with "
	  "`0`\n" UNORDERED },
	{ "fault pid=7 pci=1b:00;fault pid=8 pci=1b:00 signature=t", "",
	  "Cannot tell which was first: ?:7:1b:00 and ?:8:1b:00 have different faults; start with "
	  "`0`\n" UNORDERED },
	/* the kernel log of one host orders all of them, or none */
	{ "0 fault host=h pid=7 pci=1b:00;1 fault host=h pid=8 pci=c1:02 signature=t",
	  "Jun 26 05:14:36 h kernel: [1.2] NVRM: Xid (PCI:0000:c1:02): 31, pid=8, name=x;"
	  "h kernel: NVRM: Xid (PCI:0000:1b:00): 31, pid=7",
	  "Read `1`: rank 1 faulted (illegal memory access in `k`)\n"
	  "- rank 0 and rank 1 faulted, and the kernel log of their host lists this one first\n" },
	{ "0 fault host=h pid=7 pci=1b:00;1 fault host=h pid=8 pci=c1:02 signature=t",
	  "h kernel: NVRM: Xid (PCI:0000:1b:00): 31, pid=7;"
	  "h kernel: NVRM: Xid (PCI:0000:c1:02): 31, pid=8",
	  "Read `0`: rank 0 faulted (illegal memory access in `k`)\n"
	  "- rank 0 and rank 1 faulted, and the kernel log of their host lists this one first\n" },
	{ "0 fault host=h pid=7 pci=1b:00;1 fault host=h pid=8 pci=c1:02 signature=t",
	  "h kernel: NVRM: Xid (PCI:0000:1b:00): 31, pid=7;"
	  "h kernel: NVRM: Xid (PCI:0000:c1:02): 43, pid=8",
	  "Cannot tell which was first: rank 0 and rank 1 have different faults; start with "
	  "`0`\n" UNORDERED },
	{ "0 fault host=h pid=7 pci=1b:00;1 fault host=h pid=8 pci=c1:02 signature=t;2 lost",
	  "h kernel: NVRM: Xid (PCI:0000:1b:00): 31, pid=7;"
	  "h kernel: NVRM: Xid (PCI:0000:c1:02): 31, pid=8",
	  "Cannot tell which was first: rank 0 and rank 1 have different faults; start with "
	  "`0`\n" UNORDERED },
	{ "0 fault host=h pid=7 pci=1b:00;1 fault host=g pid=8 pci=c1:02 signature=t",
	  "h kernel: NVRM: Xid (PCI:0000:1b:00): 31, pid=7;"
	  "g kernel: NVRM: Xid (PCI:0000:c1:02): 31, pid=8",
	  "Cannot tell which was first: rank 0 and rank 1 have different faults; start with "
	  "`0`\n" UNORDERED },
	/* faults in collective operations only */
	{ "0 fault collective;1 waits", "",
	  "Read `0`: rank 0 faulted (illegal memory access in `k`); 1 other waits in NCCL "
	  "all-reduce\n"
	  "- it is the only fault, and all others wait\n" },
	{ "0 fault collective", "",
	  "Cannot tell which was first: rank 0 faulted inside a collective operation (illegal "
	  "memory access in `k`), whose cause may be another rank; start with `0`\n" },
	{ "0 fault collective;1 waits;2 idle", "",
	  "Cannot tell which was first: rank 0 faulted inside a collective operation (illegal "
	  "memory access in `k`), whose cause may be another rank; start with `0`\n" },
	{ "0 fault collective;2 waits", "",
	  "Cannot tell which was first: rank 0 faulted inside a collective operation (illegal "
	  "memory access in `k`), whose cause may be another rank; start with `0`\n"
	  "- rank 1 left no dump\n"
	  "no dump of 1: higher ranks left one\n" },
	{ "0 fault collective;1 fault collective;2 waits", "",
	  "Cannot tell which was first: rank 0 and rank 1 faulted inside a collective operation "
	  "(illegal memory access in `k`), whose cause may be another rank; start with `0`\n" },
	/* waits in collective operations */
	{ "0 idle;1 waits;2 waits", "",
	  "Read `0`: rank 0 has no kernel on its GPU, so look at its host program; 2 others wait "
	  "in NCCL all-reduce\n"
	  "- it is the only rank that is not in a collective operation\n" },
	{ "0 runs;1 waits", "",
	  "Read `0`: rank 0 runs `k`; 1 other waits in NCCL all-reduce\n"
	  "- it is the only rank that is not in a collective operation\n" },
	{ "0 stuck file=k.cu line=9;1 waits", "",
	  "Read `0`: rank 0 waits in `k` at k.cu:9; 1 other waits in NCCL all-reduce\n"
	  "- it is the only rank that is not in a collective operation\n" },
	{ "0 stuck function=k;1 waits", "",
	  "Read `0`: rank 0 waits in `k`; 1 other waits in NCCL all-reduce\n"
	  "- it is the only rank that is not in a collective operation\n" },
	{ "0 idle;1 waits;2 runs", "",
	  "Cannot tell which was first: 1 waits in NCCL all-reduce, rank 0 and rank 2 do not; "
	  "start with `0`\n" },
	{ "0 idle;2 waits;3 waits", "",
	  "Cannot tell which was first: 2 wait in NCCL all-reduce, rank 0 does not, and rank 1 "
	  "left no dump; start with `0`\n"
	  "- rank 1 left no dump\n"
	  "no dump of 1: higher ranks left one\n" },
	{ "0 idle;1 waits;2 damaged", "",
	  "Cannot tell which was first: 1 waits in NCCL all-reduce, rank 0 does not, and what rank "
	  "2 left is too damaged to tell; start with `0`\n" },
	{ "0 waits;1 waits;2 lost", "",
	  "Cannot tell which rank is missing: all 2 with a readable dump wait in NCCL all-reduce, "
	  "and what rank 2 left is too damaged to tell\n" NO_CALL },
	{ "0 waits", "",
	  "Cannot tell which rank is missing: the 1 with a readable dump waits in NCCL "
	  "all-reduce\n" NO_CALL },
	{ "0 waits ranks=2", "",
	  "Cannot tell which rank is missing: the 1 with a readable dump waits in NCCL all-reduce, "
	  "and rank 1 left no dump\n" NO_CALL "- rank 1 left no dump\n"
	  "no dump of 1: logs or exec say how many ranks there are\n" },
	{ "0 waits ranks=4;1 waits ranks=3", "",
	  "Cannot tell which rank is missing: all 2 with a readable dump wait in NCCL all-reduce, "
	  "and ranks 2-3 left no dump\n" NO_CALL "- ranks 2-3 left no dump\n"
	  "no dump of 2-3: logs or exec say how many ranks there are\n" },
	/* hangs of their own */
	{ "0 stuck;1 idle", "",
	  "Read `0`: rank 0 waits in `k`\n"
	  "- it is the only dump in which threads wait for something\n" },
	{ "0 stuck;1 lost", "",
	  "Cannot tell which was first: rank 0 hangs (rank 0 waits in `k`); start with `0`\n" },
	{ "0 stuck;1 stuck", "",
	  "Cannot tell which was first: rank 0 and rank 1 hang (rank 0 waits in `k`); start with "
	  "`0`\n" },
	/* nothing, and more than one run */
	{ "0 lost;1 idle", "", "Cannot tell: no dump shows a fault or a wait\n" },
	{ "0 fault;0 idle", "",
	  "Cannot tell which was first: some rank has two dumps, so the folder holds more than one "
	  "run (--name with %j tells them apart); start with `0`\n" },
	{ "3 waits;3 waits", "",
	  "Cannot tell: some rank has two dumps, so the folder holds more than one run (--name "
	  "with %j tells them apart)\n"
	  "- ranks 0-2 left no dump\n"
	  "no dump of 0-2: higher ranks left one\n" },
	{ "waits;waits", "",
	  "Cannot tell which rank is missing: all 2 with a readable dump wait in NCCL "
	  "all-reduce\n" NO_CALL },
	/* names of few and of many; those without a rank come last, by path */
	{ "path=a/b stuck;path=a/a stuck host=h pid=5 pci=1b:00;1 stuck;0 stuck", "",
	  "Cannot tell which was first: rank 0, rank 1, h:5:1b:00 and b hang (rank 0 waits in "
	  "`k`); start with `3`\n" },
	{ "0 stuck;1 stuck;2 stuck;3 stuck;4 stuck;5 stuck;6 stuck;7 stuck", "",
	  "Cannot tell which was first: rank 0, rank 1, rank 2, rank 3, rank 4, rank 5, rank 6 and "
	  "rank 7 hang (rank 0 waits in `k`); start with `0`\n" },
	{ "0 stuck;1 stuck;2 stuck;3 stuck;4 stuck;5 stuck;6 stuck;7 stuck;9 stuck", "",
	  "Cannot tell which was first: ranks 0-7,9 hang (rank 0 waits in `k`); start with `0`\n"
	  "- rank 8 left no dump\n"
	  "no dump of 8: higher ranks left one\n" },
	{ "stuck;1 stuck;2 stuck;3 stuck;4 stuck;5 stuck;6 stuck;7 stuck;0 stuck", "",
	  "Cannot tell which was first: rank 0, rank 1, rank 2, rank 3, rank 4, rank 5, rank 6, "
	  "rank 7 and 1 more hang (rank 0 waits in `k`); start with `8`\n" },
	{ "65 waits", "",
	  "Cannot tell which rank is missing: the 1 with a readable dump waits in NCCL all-reduce, "
	  "and ranks 0-63,... left no dump\n" NO_CALL "- ranks 0-63,... left no dump\n"
	  "no dump of 0-63,...: higher ranks left one\n" },
	{ "64 waits", "",
	  "Cannot tell which rank is missing: the 1 with a readable dump waits in NCCL all-reduce, "
	  "and ranks 0-63 left no dump\n" NO_CALL "- ranks 0-63 left no dump\n"
	  "no dump of 0-63: higher ranks left one\n" },
	{ "0 waits ranks=65", "",
	  "Cannot tell which rank is missing: the 1 with a readable dump waits in NCCL all-reduce, "
	  "and ranks 1-64 left no dump\n" NO_CALL "- ranks 1-64 left no dump\n"
	  "no dump of 1-64: logs or exec say how many ranks there are\n" },
	{ "0 waits ranks=66", "",
	  "Cannot tell which rank is missing: the 1 with a readable dump waits in NCCL all-reduce, "
	  "and ranks 1-64,... left no dump\n" NO_CALL "- ranks 1-64,... left no dump\n"
	  "no dump of 1-64,...: logs or exec say how many ranks there are\n" },
	/* NCCL tells ranks of processes, where names do not */
	{ "0 waits host=h pid=7;1 waits host=h pid=8",
	  "h:7:9 [0] NCCL INFO comm 0x1 rank 1 nranks 2;"
	  "h:8:9 [0] NCCL INFO comm 0x1 rank 1 nranks 3",
	  "Cannot tell which rank is missing: all 2 with a readable dump wait in NCCL all-reduce, "
	  "and rank 2 left no dump\n" NO_CALL "- rank 2 left no dump\n"
	  "no dump of 2: logs or exec say how many ranks there are\n" },
	{ "0 waits host=h pid=7;1 waits host=h pid=8",
	  "h:7:9 [0] NCCL INFO comm 0x1 rank 1 nranks 4",
	  "Cannot tell which rank is missing: all 2 with a readable dump wait in NCCL "
	  "all-reduce\n" NO_CALL },
	{ "waits host=h pid=7;waits host=h pid=8",
	  "h:7:9 [0] NCCL INFO comm 0x1 rank 0 nranks 3;"
	  "h:8:9 [0] NCCL INFO comm 0x1 rank 2 nranks 3;"
	  "h:8:9 [0] NCCL INFO comm 0x2 rank 1 nranks 2",
	  "Cannot tell which rank is missing: all 2 with a readable dump wait in NCCL all-reduce, "
	  "and rank 1 left no dump\n" NO_CALL "- rank 1 left no dump\n"
	  "no dump of 1: logs or exec say how many ranks there are\n" },
	{ "waits host=h pid=7;idle host=h pid=8",
	  "h:8:9 [0] NCCL INFO comm 0x1 rank 0 nranks 2;"
	  "h:8:9 [0] NCCL INFO comm 0x2 rank 1 nranks 2;"
	  "g:7:9 [0] NCCL INFO comm 0x1 rank 1 nranks 2",
	  "Read `1`: h:8:? has no kernel on its GPU, so look at its host program; 1 other waits in "
	  "NCCL all-reduce\n"
	  "- it is the only rank that is not in a collective operation\n" },
	/* and servers */
	{ "waits host=h pid=7;idle host=h pid=8",
	  "(VllmWorker rank=1 pid=8) INFO x;"
	  "(Worker_DP0_TP1 pid=7) INFO y",
	  "Cannot tell which was first: 1 waits in NCCL all-reduce, rank 1 does not, and rank 0 "
	  "left no dump; start with `1`\n"
	  "- rank 0 left no dump\n"
	  "no dump of 0: higher ranks left one\n" },
	{ "waits host=h pid=7;idle host=h pid=8",
	  "(VllmWorker TP0 pid=7) x;"
	  "(VllmWorker TP1 pid=8) x",
	  "Read `1`: rank 1 has no kernel on its GPU, so look at its host program; 1 other waits "
	  "in NCCL all-reduce\n"
	  "- it is the only rank that is not in a collective operation\n" },
	/* how far each rank came */
	{ "0 waits;1 waits;2 waits",
	  "[PG 0 Rank 0] last enqueued NCCL work: 9, last completed NCCL work: 8.;"
	  "[PG 0 Rank 1] last enqueued NCCL work: 7, last completed NCCL work: 7.;"
	  "[PG 0 Rank 2] last enqueued NCCL work: 9, last completed NCCL work: 8.",
	  "Read `1`: rank 1 is behind: it enqueued 7 collectives, others up to 9; 2 others wait in "
	  "NCCL all-reduce\n"
	  "- PyTorch's watchdog reports how many collectives each rank enqueued\n" },
	{ "0 waits;2 waits",
	  "[PG 0 Rank 0] last enqueued NCCL work: 9, last completed NCCL work: 8.;"
	  "[PG 0 Rank 1] last enqueued NCCL work: 7, last completed NCCL work: 7.;"
	  "[PG 0 Rank 2] last enqueued NCCL work: 9, last completed NCCL work: 8.",
	  "Rank 1 left no dump and is behind: it enqueued 7 collectives, others up to 9; 2 others "
	  "wait in NCCL all-reduce\n"
	  "- PyTorch's watchdog reports how many collectives each rank enqueued\n"
	  "- rank 1 left no dump\n"
	  "no dump of 1: higher ranks left one\n" },
	{ "0 idle;1 waits",
	  "[PG 0 Rank 0] last enqueued NCCL work: 9, last completed NCCL work: 8.;"
	  "[PG 0 Rank 1] last enqueued NCCL work: 7, last completed NCCL work: 7.",
	  "Cannot tell which was first: rank 0 does not wait, and rank 1 is behind: it enqueued 7 "
	  "collectives, others up to 9; start with `0`\n" },
	{ "0 idle;1 waits",
	  "[PG 0 Rank 0] last enqueued NCCL work: 7, last completed NCCL work: 7.;"
	  "[PG 0 Rank 1] last enqueued NCCL work: 9, last completed NCCL work: 8.",
	  "Read `0`: rank 0 is behind: it enqueued 7 collectives, others up to 9; 1 other waits in "
	  "NCCL all-reduce\n"
	  "- PyTorch's watchdog reports how many collectives each rank enqueued\n" },
	{ "0 idle;1 runs;2 waits",
	  "[PG 0 Rank 0] last enqueued NCCL work: 9, last completed NCCL work: 8.;"
	  "[PG 0 Rank 1] last enqueued NCCL work: 9, last completed NCCL work: 7.;"
	  "[PG 0 Rank 2] last enqueued NCCL work: 8, last completed NCCL work: 7.",
	  "Cannot tell which was first: rank 0 and rank 1 do not wait, and rank 2 is behind: it "
	  "enqueued 8 collectives, others up to 9; start with `0`\n" },
	{ "0 waits;1 waits;2 waits",
	  "[PG 0 Rank 0] last enqueued NCCL work: 9, last completed NCCL work: 8.;"
	  "[PG 0 Rank 1] last enqueued NCCL work: 8, last completed NCCL work: 7.;"
	  "[PG 0 Rank 2] last enqueued NCCL work: 8, last completed NCCL work: 7.",
	  "Cannot tell which rank is missing: all 3 with a readable dump wait in NCCL all-reduce\n"
	  "- 2 ranks are behind\n"
	  "- PyTorch's watchdog reports how many collectives each rank enqueued\n" NO_CALL },
	{ "0 waits;1 waits",
	  "[PG 0 Rank 0] last enqueued NCCL work: 9, last completed NCCL work: 8.;"
	  "[PG 0 Rank 1] last enqueued NCCL work: 9, last completed NCCL work: 7.",
	  "Cannot tell which rank is missing: all 2 with a readable dump wait in NCCL all-reduce\n"
	  "- all 2 ranks enqueued the same amount of work (9): none is behind, so a kernel, a host "
	  "or the network is stuck\n" NO_CALL },
	{ "0 waits;1 waits",
	  "[PG 0 Rank 0] last enqueued NCCL work: 9, last completed NCCL work: 8.",
	  "Cannot tell which rank is missing: all 2 with a readable dump wait in NCCL all-reduce\n"
	  "- PyTorch's watchdog reports on 1 ranks and not on 1\n" NO_CALL },
	{ "0 waits;1 waits;2 waits",
	  "[PG 0 Rank 0] last enqueued NCCL work: 9, last completed NCCL work: 8.;"
	  "[PG 0 Rank 1] last enqueued NCCL work: 8, last completed NCCL work: 7.",
	  "Cannot tell which rank is missing: all 3 with a readable dump wait in NCCL all-reduce\n"
	  "- PyTorch's watchdog reports on 2 ranks and not on 1\n" NO_CALL },
	{ "0 waits;path=b/1 1 waits",
	  "[PG 0 Rank 0] last enqueued NCCL work: 9, last completed NCCL work: 8.;"
	  "[PG 0 Rank 1] last enqueued NCCL work: 8, last completed NCCL work: 8.",
	  "Cannot tell which rank is missing: the 1 with a readable dump waits in NCCL "
	  "all-reduce\n" NO_CALL },
};

static void jobs_are_told_in_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(jobs); i++) {
		struct bench b;
		judge_all(&b, jobs[i].dumps, jobs[i].logs);

		assert_string_equal(told(&b), jobs[i].told);
		ws_triage_destroy(b.triage);
	}
}

/* So many of one letter. */
static const char *many(char letter, size_t n)
{
	static char texts[8][512];
	static unsigned next;
	char *text = texts[next++ % 8];
	assert_true(n < sizeof texts[0]);
	memset(text, letter, n);
	text[n] = 0;
	return text;
}

static void long_texts_are_cut_in_sentences(void **state)
{
	(void)state;
	char words[BYTES], sentence[BYTES];
	struct bench b;
	begin(&b, NULL, 0);
	snprintf(words, sizeof words, "0 fault signature_what=%s kernel=%s file=/x/%s line=7",
		 many('w', 300), many('k', 300), many('f', 300));
	add(&b, words);
	snprintf(words, sizeof words, "1 waits collective=%s", many('c', 300));
	add(&b, words);
	judge(&b);
	snprintf(sentence, sizeof sentence,
		 "Read `0`: rank 0 faulted (%s in `%s` at %s); 1 other waits in %s", many('w', 200),
		 many('k', 200), many('f', 200), many('c', 100));
	assert_string_equal(b.result->sentence, sentence);
	ws_triage_destroy(b.triage);

	begin(&b, NULL, 0);
	snprintf(words, sizeof words, "path=a/%s stuck host=%s pid=7 pci=%s kernel=%s file=/x/%s",
		 many('p', 400), many('h', 300), many('b', 40), many('k', 300), many('f', 300));
	add(&b, words);
	add(&b, "lost");
	judge(&b);
	snprintf(sentence, sizeof sentence,
		 "Cannot tell which was first: %s hangs (%s:7:%s waits in `%s` at %s); start with "
		 "`%s`",
		 many('h', 60), many('h', 256), many('b', 32), many('k', 200), many('f', 200),
		 many('p', 300));
	assert_string_equal(b.result->sentence, sentence);
	ws_triage_destroy(b.triage);

	begin(&b, NULL, 0);
	snprintf(words, sizeof words, "path=a/0 runs kernel=%s", many('k', 300));
	add(&b, words);
	snprintf(words, sizeof words, "path=a/1 waits host=h collective=%s", many('c', 300));
	add(&b, words);
	judge(&b);
	snprintf(sentence, sizeof sentence, "Read `0`: it runs `%s`; 1 other waits in %s",
		 many('k', 200), many('c', 100));
	assert_string_equal(b.result->sentence, sentence);
	ws_triage_destroy(b.triage);

	begin(&b, NULL, 0);
	snprintf(words, sizeof words, "path=a/0 fault signature_what=%s kernel=%s", many('w', 300),
		 many('k', 300));
	add(&b, words);
	add(&b, "path=b/0 idle");
	judge(&b);
	snprintf(sentence, sizeof sentence, "2 dumps of 2 jobs show 1 bug: %s in `%s`, 1 dump",
		 many('w', 200), many('k', 200));
	assert_string_equal(b.result->sentence, sentence);
	ws_triage_destroy(b.triage);
}

/* A row in words: its name, role, what, place and evidence. */
static void row_is(const struct bench *b, uint32_t at, const char *expected)
{
	char text[400];
	assert_true(b->result->n_jobs > 0 && at < b->result->jobs->n_rows);
	const struct ws_triage_row *row = &b->result->jobs->rows[at];
	snprintf(text, sizeof text, "%.*s: %s, %.*s, %.*s, %s", (int)row->name.len, row->name.ptr,
		 ws_triage_role_text(row->role), (int)row->what.len, row->what.ptr,
		 (int)row->place.len, row->place.ptr, row->evidence ? row->evidence : "-");
	assert_string_equal(text, expected);
}

static void rows_say_what_each_dump_shows(void **state)
{
	(void)state;
	static const char *const rows[] = {
		"rank 0: fault, illegal memory access, k.cu:7, -",
		"rank 1: fault in a collective, illegal memory access, f, -",
		"rank 2: waits, NCCL all-reduce, n.cu, -",
		"rank 3: stuck, barrier, , -",
		"rank 4: runs, , , -",
		"rank 5: idle, , , -",
		"rank 6: idle, , , -",
		"rank 7: cannot tell, It cannot be told, , -",
		"rank 8: cannot tell, a-table-is-cut, , -",
		"rank 9: cannot tell, the file is empty, , -",
		"a.nvcudmp: idle, , , -",
		"h:?:1b:00: idle, , , -",
		"?:7:?: idle, , , -",
		"h:0:?: idle, , , -",
	};
	struct bench b;
	judge_all(&b,
		  "0 fault file=/src/k.cu line=7 function=f;1 fault collective function=f;"
		  "2 waits file=/src/n.cu;3 stuck;4 runs;5 idle;6 stuck verdict=none;"
		  "7 damaged;8 damaged damage=a-table-is-cut;9 lost;path=a/a.nvcudmp idle;"
		  "path=a/b idle host=h pci=1b:00;path=a/c idle pid=7;path=a/d idle host=h pid=0",
		  "");
	for (uint32_t i = 0; i < WSI_COUNT(rows); i++)
		row_is(&b, i, rows[i]);
	assert_int_equal(b.result->jobs->n_rows, WSI_COUNT(rows));
	assert_int_equal(b.result->jobs->rows[0].event, 1);
	assert_int_equal(b.result->jobs->rows[1].event, 2);
	assert_int_equal(b.result->jobs->rows[2].event, 0);
	assert_true(b.result->n_dumps == 14 && b.result->n_faults == 2 && b.result->n_hangs == 2 &&
		    b.result->n_none == 7 && b.result->n_unknown == 2 && b.result->n_failed == 1);
	ws_triage_destroy(b.triage);
}

/* Of the first dump; what the evidence says of it. */
static void evidence_is(const char *dumps, const char *logs, const char *expected)
{
	struct bench b;
	judge_all(&b, dumps, logs);
	const char *is = b.result->jobs->rows[0].evidence;
	if (expected)
		assert_string_equal(is ? is : "-", expected);
	else
		assert_null(is);
	ws_triage_destroy(b.triage);
}

#define XID "kernel: NVRM: Xid (PCI:0000:"

static void lines_of_logs_are_of_the_process_that_they_name(void **state)
{
	(void)state;
	static const char one[] = "fault host=h pid=7 pci=c1:02", unnamed[] = "fault pci=c1:02";
	static const struct {
		const char *dumps, *logs, *evidence;
	} cases[] = {
		{ one, "May 1 h " XID "c1:02): 31, pid=7, x", "Xid 31" },
		{ one, "h " XID "C1:02.0): 119, pid='<unknown>', x", "Xid 119" },
		{ one, "h " XID "c1:02): 31, name=x", "Xid 31" },
		{ one, "h " XID "c1:02): 31, pid=8", NULL },
		{ one, "h " XID "c1:03): 31, pid=7", NULL },
		{ one, "h " XID "c2:02): 31, pid=7", NULL },
		{ one, "g " XID "c1:02): 31, pid=7", NULL },
		{ one, "[1.2] NVRM: Xid (PCI:0000:c1:02): 31, pid=7", "Xid 31" },
		{ one, "[1.2] NVRM: Xid (PCI:0000:c1:02): 31", NULL },
		{ one, "h " XID "c1:02): 43, pid=7;h " XID "c1:02): 45, pid=7", NULL },
		{ one, "h " XID "c1:02): 45, pid=7;h " XID "c1:02): 44, pid=7", "Xid 44" },
		{ one, "h " XID "c1:02): 31, pid=7;h " XID "c1:02): 13, pid=7", "Xid 31" },
		{ one, "h " XID "c1-02): 31, pid=7;h " XID "c1:02: 31, pid=7", NULL },
		{ one, "h " XID ":c1:02): 31, pid=7;h NVRM: Xid (PCI:c1:02): 31, pid=7", NULL },
		{ unnamed, "h " XID "c1:02): 31, pid=7", NULL },
		{ unnamed, "NVRM: Xid (PCI:0000:c1:02): 31", NULL },
		{ "fault host=h pci=c1:02", "h " XID "c1:02): 31, pid=7", "Xid 31" },
		/* how far a rank came: the last line counts */
		{ "0 waits;1 waits",
		  "[PG 0 Rank 0] last enqueued NCCL work: 7, last completed NCCL work: 5.;"
		  "[PG 0 Rank 0] last enqueued NCCL work: 9, last completed NCCL work: 8.",
		  "enqueued 9, completed 8" },
		{ "0 waits",
		  "[PG ID 3 PG GUID 3(tp) Rank 0] last enqueued NCCL work: 9, last completed "
		  "NCCL work: 8.",
		  NULL },
		{ "0 waits", "[PG 0 Rank 0] last enqueued NCCL work: 9", NULL },
		{ "0 waits;path=b/1 1 waits",
		  "[PG 0 Rank 0] last enqueued NCCL work: 9, last completed NCCL work: 8.", NULL },
		/* servers */
		{ "1 waits", "[2025-05-27 04:36:06 TP1] Scheduler hit an exception: x",
		  "its scheduler hit an exception" },
		{ "1 waits", "[2025-05-27 04:36:06 TP2] Scheduler hit an exception: x", NULL },
		{ "1 waits", "[2025-05-27 04:36:06 DP1 TP1] Scheduler hit an exception: x", NULL },
		{ "1 waits", "[2025-05-27 04:36:06 TP1] Scheduler is fine", NULL },
		{ "1 waits host=h pid=7 pci=c1:02",
		  "[PG 0 Rank 1] last enqueued NCCL work: 9, last completed NCCL work: 8.;"
		  "[2025-05-27 04:36:06 TP1] Scheduler hit an exception: x;h " XID
		  "c1:02): 31, pid=7",
		  "Xid 31; enqueued 9, completed 8; its scheduler hit an exception" },
		{ "1 waits",
		  "[PG 0 Rank 1] last enqueued NCCL work: 9, last completed NCCL work: 8.;"
		  "[2025-05-27 04:36:06 TP1] Scheduler hit an exception: x",
		  "enqueued 9, completed 8; its scheduler hit an exception" },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++)
		evidence_is(cases[i].dumps, cases[i].logs, cases[i].evidence);
}

/* What the process 7 of h is called, by a log. */
static void processes_have_the_ranks_of_logs(void **state)
{
	(void)state;
	static const struct {
		const char *logs, *name;
	} cases[] = {
		{ "h:7:9 [0] NCCL INFO comm 0x1 rank 0 nranks 2 cudaDev 0", "rank 0" },
		{ "0: h:7:9 [0] NCCL INFO comm 0x1 rank 1 nranks 2", "rank 1" },
		{ "h:7:9 [0] NCCL INFO comm 0x1 rank 2 nranks 2", "h:7:?" },
		{ "h:7:9 [0] NCCL INFO comm 0x1 rank 1", "h:7:?" },
		{ "h:8:9 [0] NCCL INFO comm 0x1 rank 1 nranks 2", "h:7:?" },
		{ "g:7:9 [0] NCCL INFO comm 0x1 rank 1 nranks 2", "h:7:?" },
		{ ":7:9 [0] NCCL INFO comm 0x1 rank 1 nranks 2", "h:7:?" },
		{ "h7 [0] NCCL INFO comm 0x1 rank 1 nranks 2", "h:7:?" },
		{ "h:7:9 [0] NCCL WARN comm 0x1 rank 1 nranks 2", "h:7:?" },
		/* the largest communicator is that of all; of two of one size neither is */
		{ "h:7:9 [0] NCCL INFO rank 1 nranks 2;h:7:9 [0] NCCL INFO rank 3 nranks 4;"
		  "h:7:9 [0] NCCL INFO rank 0 nranks 2",
		  "rank 3" },
		{ "h:7:9 [0] NCCL INFO rank 1 nranks 2;h:7:9 [0] NCCL INFO rank 0 nranks 2",
		  "h:7:?" },
		{ "h:7:9 [0] NCCL INFO rank 1 nranks 2;h:7:9 [0] NCCL INFO rank 1 nranks 2",
		  "rank 1" },
		{ "h:7:9 [0] NCCL INFO rank 1 nranks 2;h:7:9 [0] NCCL INFO rank 0 nranks 2;"
		  "h:7:9 [0] NCCL INFO rank 2 nranks 4",
		  "rank 2" },
		/* workers: one label of one process */
		{ "(VllmWorker rank=3 pid=7) INFO", "rank 3" },
		{ "x (VllmWorker TP2 pid=7) INFO", "rank 2" },
		{ "(Worker_DP0_TP1 pid=7) INFO", "DP0 TP1" },
		{ "(Worker_EP4_TP1 pid=7) INFO", "rank 1" },
		{ "(EngineCore_DP1 pid=7) INFO", "rank 1" },
		{ "(Worker_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAA1_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAA1 pid=7) "
		  "x",
		  "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAA1 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAA1" },
		{ "(Worker_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAA1_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAA12 pid=7) "
		  "x",
		  "h:7:?" }, /* longer than a label is */
		{ "(Worker_TP1 pid=8) INFO", "h:7:?" },
		{ "(Worker_TP pid=7) INFO", "h:7:?" },
		{ "(Worker_1 pid=7) INFO", "h:7:?" },
		{ "(Worker_TP1x pid=7) INFO", "h:7:?" },
		{ "(Worker_ pid=7) INFO", "h:7:?" },
		{ "Worker_TP1 pid=7 INFO", "h:7:?" },
		{ "(Other_TP1 pid=7) INFO", "h:7:?" },
		{ "(Worker_TP1 pid=7) a;(Worker_TP1 pid=7) b", "rank 1" },
		{ "(Worker_TP1 pid=7) a;(Worker_TP2 pid=7) b", "h:7:?" },
		{ "(Worker_TP1 pid=7) a;(Worker_TP1 pid=8) b", "h:7:?" },
		{ "(Worker_TP1 pid=7) a;(Worker_TP2 pid=8) b", "rank 1" },
		{ "(Worker_TP1 pid=7) a;[2025-05-27 04:36:06 TP1] Scheduler hit an exception",
		  "rank 1" },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct bench b;
		judge_all(&b, "fault host=h pid=7", cases[i].logs);
		struct ws_str name = b.result->jobs->rows[0].name;
		if (!ws_str_equal(name, ws_str_of(cases[i].name)))
			fail_msg("%s: %.*s", cases[i].logs, (int)name.len, name.ptr);
		bool has_rank = strncmp(cases[i].name, "rank", 4) == 0;
		assert_int_equal(b.result->jobs->rows[0].rank >= 0, has_rank);
		ws_triage_destroy(b.triage);
	}
	struct bench b; /* which of two processes with one number the line is of, nobody knows */
	judge_all(&b, "fault host=h pid=7;fault host=g pid=7", "(Worker_TP1 pid=7) INFO");
	assert_true(b.result->jobs->rows[0].rank < 0 && b.result->jobs->rows[1].rank < 0);
	ws_triage_destroy(b.triage);
}

/* ---- bugs, jobs and GPUs ---- */

static void group_is(const struct bench *b, uint32_t at, const char *expected)
{
	char text[400];
	assert_true(at < b->result->n_groups);
	const struct ws_triage_group *group = &b->result->groups[at];
	snprintf(text, sizeof text, "%.*s: %" PRIu64 " of %s, %.*s at %.*s, %" PRIu64 "-%" PRIu64,
		 (int)group->signature.len, group->signature.ptr, group->n_dumps, group->ranks,
		 (int)group->example.len, group->example.ptr, (int)group->place.len,
		 group->place.ptr, group->first, group->last);
	assert_string_equal(text, expected);
}

static void bugs_have_their_dumps(void **state)
{
	(void)state;
	struct bench b;
	begin(&b, NULL, 0);
	/* the example is sound, and of the sound ones the first by name */
	add(&b, "5 fault path=a/aa complete=false file=/x/no.cu line=1 time=50");
	add(&b, "4 fault path=a/bc file=/x/c.cu line=2 time=70");
	add(&b, "3 fault path=a/b file=/x/b.cu line=3 written=60");
	add(&b, "5 fault path=a/bb function=f time=55");
	add(&b, "fault path=a/a complete=false");
	add(&b, "7 waits");
	add(&b, "1 fault signature=few path=a/x function=g");
	add(&b, "1 fault signature=also path=b/x function=g");
	judge(&b);
	assert_int_equal(b.result->n_groups, 4);
	group_is(&b, 0, "s: 5 of 3-5, a/b at b.cu:3, 50-70");
	group_is(&b, 1, "also: 1 of 1, b/x at g, 0-0");
	group_is(&b, 2, "few: 1 of 1, a/x at g, 0-0");
	group_is(&b, 3, "hang | n: 1 of 7, a/5 at , 0-0"); /* waits only, for another rank */
	assert_true(b.result->n_new_dumps == 8 && !b.result->has_baseline);
	ws_triage_destroy(b.triage);
}

static void known_bugs_come_last(void **state)
{
	(void)state;
	static const char known[] = "# s2\n\n \ts1 \t\r\ns3\\n";
	struct bench b;
	begin(&b, known, 0);
	add(&b, "fault signature=s1");
	add(&b, "fault signature=s1");
	add(&b, "fault signature=s2");
	add(&b, "fault signature=s3\\\\n"); /* as it is shown */
	judge(&b);
	assert_true(b.result->has_baseline && b.result->n_groups == 3);
	assert_true(!b.result->groups[0].known &&
		    ws_str_equal(b.result->groups[0].signature, ws_str_of("s2")));
	assert_true(b.result->groups[1].known && b.result->groups[2].known);
	assert_int_equal(b.result->n_new_dumps, 1);
	ws_triage_destroy(b.triage);
}

/* { dumps, known bugs, the sentence on top, the dump to read } */
static void many_jobs_are_told_in_one_sentence(void **state)
{
	(void)state;
	static const struct {
		const char *dumps, *known, *sentence, *read;
	} cases[] = {
		{ "", NULL, "No dump was found", NULL },
		{ "idle", NULL, "1 dump, and no failure", NULL },
		{ "idle;idle", NULL, "2 dumps, and no failure", NULL },
		{ "path=a/0 idle;path=b/0 runs", NULL, "2 dumps, and no failure", NULL },
		{ "path=a/0 idle;path=b/0 damaged", NULL,
		  "2 dumps, and no failure in those that can be read", NULL },
		{ "path=a/0 lost;path=b/0 damaged", NULL,
		  "2 dumps, and no failure in those that can be read", NULL },
		{ "path=a/0 lost;path=b/0 idle", NULL,
		  "2 dumps, and no failure in those that can be read", NULL },
		{ "path=a/0 fault;path=b/0 idle", NULL,
		  "2 dumps of 2 jobs show 1 bug: illegal memory access in `k`, 1 dump", "a/0" },
		{ "path=a/0 fault;path=b/0 fault", NULL,
		  "2 dumps of 2 jobs show 1 bug: illegal memory access in `k`, 2 dumps", "a/0" },
		{ "path=a/0 fault kernel=;path=b/0 fault signature=t;path=b/1 fault", NULL,
		  "3 dumps of 2 jobs show 2 bugs; read first: illegal memory access, 2 dumps",
		  "a/0" },
		{ "path=a/0 fault;path=b/0 fault signature=t", "s",
		  "2 dumps of 2 jobs show 2 bugs; read first of the new ones: illegal memory "
		  "access "
		  "in `k`, 1 dump",
		  "b/0" },
		{ "path=a/0 fault;path=b/0 fault signature=t", "s\nt",
		  "2 dumps of 2 jobs show 2 bugs, all known; read first: illegal memory access in "
		  "`k`, 1 dump",
		  "a/0" },
		{ "path=a/0 fault;path=b/0 fault", "s",
		  "2 dumps of 2 jobs show 1 bug, which is known: illegal memory access in `k`, 2 "
		  "dumps",
		  "a/0" },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct bench b;
		begin(&b, cases[i].known, 0);
		each(&b, cases[i].dumps, add);
		judge(&b);
		assert_string_equal(b.result->sentence, cases[i].sentence);
		if (cases[i].read)
			assert_string_equal(b.result->read, cases[i].read);
		else
			assert_null(b.result->read);
		ws_triage_destroy(b.triage);
	}
}

/* The names of the jobs that are shown, one after the other. */
static void jobs_are(uint32_t most, const char *dumps, const char *expected)
{
	char names[400] = "";
	struct bench b;
	begin(&b, NULL, most);
	each(&b, dumps, add);
	judge(&b);
	for (uint32_t i = 0, n = 0; i < b.result->n_jobs; i++)
		n += (uint32_t)snprintf(names + n, sizeof names - n, "%s%.*s", i ? ", " : "",
					(int)b.result->jobs[i].name.len,
					b.result->jobs[i].name.ptr);
	assert_string_equal(names, expected);
	ws_triage_destroy(b.triage);
}

static void jobs_are_folders_the_largest_first(void **state)
{
	(void)state;
	static const char dumps[] = "path=c/0 fault;path=b/0 idle;path=b/1 idle;path=b/2 idle;"
				    "path=d/0 idle;path=d/1 waits;path=a/0 fault;fault path=c/1 "
				    "job=one";
	jobs_are(0, dumps, "d/, a/, c/, c/ job one");
	jobs_are(2, dumps, "d/, a/");
	jobs_are(0, "path=here idle", "");
	jobs_are(0, "path=here fault", "");
}

static void a_gpu_that_faults_in_several_jobs_is_listed(void **state)
{
	(void)state;
	struct bench b;
	begin(&b, NULL, 0);
	add(&b, "path=a/0 fault host=h pci=1b:00");
	add(&b, "path=b/0 fault host=h pci=1b:00 signature=t");
	add(&b, "path=b/1 fault host=h pci=1b:00");
	add(&b, "path=a/1 fault host=h pci=1c:00"); /* in one job only */
	add(&b, "path=a/2 fault host=h pci=1c:00");
	add(&b, "path=a/3 waits host=h pci=1d:00"); /* no fault */
	add(&b, "path=b/3 waits host=h pci=1d:00");
	add(&b, "path=a/4 fault pci=1b:00"); /* of no host */
	add(&b, "path=b/4 fault pci=1b:00");
	add(&b, "path=a/5 fault host=g"); /* of no place there */
	add(&b, "path=b/5 fault host=g");
	add(&b, "path=a/6 fault host=g pci=1b:00");
	add(&b, "path=b/6 fault host=g pci=1b:00");
	add(&b, "path=c/6 fault host=g pci=1b:00");
	judge(&b);
	assert_int_equal(b.result->n_gpus, 2);
	const struct ws_triage_gpu *one = &b.result->gpus[0], *other = &b.result->gpus[1];
	assert_true(ws_str_equal(one->name, ws_str_of("g 1b:00")));
	assert_true(one->n_faults == 3 && one->n_jobs == 3 && one->n_signatures == 1);
	assert_true(ws_str_equal(other->name, ws_str_of("h 1b:00")));
	assert_true(other->n_faults == 3 && other->n_jobs == 2 && other->n_signatures == 2);
	ws_triage_destroy(b.triage);
}

/* A folder with more dumps than a job has shows none of them. */
static void a_folder_may_have_too_many_dumps(void **state)
{
	(void)state;
	enum { LIMIT = 4096 };
	for (size_t n = LIMIT; n <= LIMIT + 1; n++) {
		struct ws_triage_options options = { .size = sizeof options };
		const struct ws_triage_result *result;
		struct ws_triage *triage;
		assert_int_equal(ws_triage_create(&options, &triage, NULL), WS_OK);
		for (int look = 0; look < 2; look++) {
			if (look)
				assert_int_equal(ws_triage_choose(triage, NULL), WS_OK);
			for (size_t i = 0; i < n; i++) {
				char line[200];
				int len = snprintf(line, sizeof line,
						   "{\"schema\":\"warpscope-triage-1\","
						   "\"key\":\"%032zx\",\"path\":\"a/%zu\","
						   "\"status\":\"failed\"}",
						   i, i);
				assert_int_equal((look ? ws_triage_look : ws_triage_add)(
							 triage, line, (size_t)len, NULL),
						 WS_OK);
			}
		}
		assert_int_equal(ws_triage_judge(triage, &result, NULL), WS_OK);
		assert_int_equal(result->jobs[0].n_rows, n == LIMIT ? LIMIT : 0);
		assert_int_equal(result->jobs[0].n_dumps, n);
		if (n > LIMIT)
			assert_string_equal(result->jobs[0].sentence,
					    "Too many dumps in one folder for one job: --name with "
					    "%j tells jobs apart");
		ws_triage_destroy(triage);
	}
}

static void ranks_are_written_as_ranges(void **state)
{
	(void)state;
	static const struct {
		uint64_t ranks[6];
		size_t n;
		bool more;
		const char *text;
	} cases[] = {
		{ { 0 }, 0, false, "" },
		{ { 4 }, 1, false, "4" },
		{ { 3, 1, 2, 0 }, 4, false, "0-3" },
		{ { 7, 1, 2, 2, 5 }, 5, false, "1-2,5,7" },
		{ { 1, 3 }, 2, true, "1,3,..." },
	};
	struct bench b;
	begin(&b, NULL, 0);
	for (size_t i = 0; i < WSI_COUNT(cases); i++)
		assert_string_equal(
			wsi_ranks_text(&b.triage->arena, cases[i].ranks, cases[i].n, cases[i].more),
			cases[i].text);
	uint64_t apart[64];
	for (size_t i = 0; i < WSI_COUNT(apart); i++) /* 13 characters each: 31 of them */
		apart[i] = 100000000000 + 2 * i;
	const char *text = wsi_ranks_text(&b.triage->arena, apart, WSI_COUNT(apart), false);
	assert_int_equal(strlen(text), 31 * 13 - 1 + strlen(",..."));
	assert_string_equal(text + strlen(text) - 9, "00060,...");
	text = wsi_ranks_text(&b.triage->arena, apart, 31, false);
	assert_int_equal(strlen(text), 31 * 13 - 1);
	ws_triage_destroy(b.triage);
}

static void all_memory_is_freed(void **state)
{
	(void)state;
	assert_frees_all(jobs_are_told_in_words);
	assert_frees_all(lines_of_logs_are_of_the_process_that_they_name);
	assert_frees_all(known_bugs_come_last);
	assert_frees_all(a_gpu_that_faults_in_several_jobs_is_listed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_are_told_in_words),
		cmocka_unit_test(long_texts_are_cut_in_sentences),
		cmocka_unit_test(rows_say_what_each_dump_shows),
		cmocka_unit_test(lines_of_logs_are_of_the_process_that_they_name),
		cmocka_unit_test(processes_have_the_ranks_of_logs),
		cmocka_unit_test(bugs_have_their_dumps),
		cmocka_unit_test(known_bugs_come_last),
		cmocka_unit_test(many_jobs_are_told_in_one_sentence),
		cmocka_unit_test(jobs_are_folders_the_largest_first),
		cmocka_unit_test(a_gpu_that_faults_in_several_jobs_is_listed),
		cmocka_unit_test(a_folder_may_have_too_many_dumps),
		cmocka_unit_test(ranks_are_written_as_ranges),
		cmocka_unit_test(all_memory_is_freed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
