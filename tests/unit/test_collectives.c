/* SPDX-License-Identifier: Apache-2.0 */
/* Files about collectives beside dumps: what is read of them, and which rank is behind by it. */
#include "unit.h"

#include "triage/internal.h"

/* "'" stands for a quotation mark, as JSON has many. */
static enum ws_status take(struct ws_triage *triage, const char *name, const char *text)
{
	static char copy[4096];
	size_t len = strlen(text);
	assert_true(len < sizeof copy);
	for (size_t i = 0; i < len; i++)
		copy[i] = (char)(text[i] == '\'' ? '"' : text[i]);
	return ws_triage_snapshot(triage, name, copy, len, NULL);
}

static struct ws_triage *triage_make(void)
{
	struct ws_triage_options options = { .size = sizeof options };
	struct ws_triage *triage;
	assert_int_equal(ws_triage_create(&options, &triage, NULL), WS_OK);
	return triage;
}

/* The groups with their ranks, and each count: "name [0 1]; rank: enqueued completed operation". */
static const char *evidence(const struct ws_triage *triage)
{
	static char text[1000];
	const struct wsi_evidence *e = &triage->evidence;
	size_t n = 0;
	text[0] = 0;
	for (size_t i = 0; i < e->n_groups; i++) {
		const struct wsi_rank_group *group = &e->groups[i];
		n += (size_t)snprintf(text + n, sizeof text - n, "%.*s [", (int)group->name.len,
				      group->name.ptr);
		for (uint32_t k = 0; k < group->n_ranks; k++)
			n += (size_t)snprintf(text + n, sizeof text - n, "%s%" PRIu64, k ? " " : "",
					      group->ranks[k]);
		n += (size_t)snprintf(text + n, sizeof text - n, "]");
		for (uint64_t rank = 0; rank < 100; rank++) {
			const struct wsi_count *count = wsi_count_of(triage, i, rank);
			if (!count)
				continue;
			n += (size_t)snprintf(text + n, sizeof text - n, "; %" PRIu64 ": %" PRIu64,
					      rank, count->enqueued);
			if (count->completed != WSI_NO_NUMBER)
				n += (size_t)snprintf(text + n, sizeof text - n, " %" PRIu64,
						      count->completed);
			if (count->operation.len)
				n += (size_t)snprintf(text + n, sizeof text - n, " %.*s",
						      (int)count->operation.len,
						      count->operation.ptr);
		}
		n += (size_t)snprintf(text + n, sizeof text - n, "\n");
	}
	assert_true(n < sizeof text);
	return text;
}

/* ---- the flight recorder ---- */

#define WORLD "'pg_config':{'0':{'desc':'default_pg','ranks':'[0, 1]'}}"
#define CALL(group, place, more) \
	"{'process_group':['" group "','default_pg'],'collective_seq_id':" #place more "}"
#define DONE ",'state':'completed'"
#define STARTED(operation) ",'state':'started','profiling_name':'" operation "'"

static void recorders_say_how_far_a_rank_came(void **state)
{
	(void)state;
	static const struct {
		const char *text, *evidence;
	} cases[] = {
		/* calls: the highest, the highest that is complete, the first that is not */
		{ "{" WORLD
		  ",'entries':[" CALL("0", 7, STARTED("b")) "," CALL("0", 5, DONE) "," CALL(
			  "0", 8, STARTED("c")) "," CALL("0", 6, STARTED("a")) "," CALL("0", 4,
											DONE) "]}",
		  " [0 1]; 3: 8 5 a\n" },
		{ "{" WORLD ",'entries':[" CALL("0", 7, STARTED("b")) "," CALL("0", 5, DONE) "]}",
		  " [0 1]; 3: 7 5\n" }, /* the call between them is not there */
		{ "{" WORLD ",'entries':[" CALL("0", 0, STARTED("a")) "]}", " [0 1]; 3: 0 0\n" },
		{ "{" WORLD ",'entries':[" CALL("0", 1, STARTED("a")) "]}", " [0 1]; 3: 1 0 a\n" },
		{ "{" WORLD ",'entries':[" CALL("0", -1, DONE) "]}", " [0 1]\n" },
		{ "{" WORLD ",'entries':[" CALL("0", 4, DONE) "," CALL(
			  "0", 5,
			  ",'is_p2p':true" DONE) ",{'collective_seq_id':6},"
						 "{'process_group':['0'],'state':'completed'}]}",
		  " [0 1]; 3: 4 4\n" },
		/* the status of a group, by its number here, of which entries may not be all */
		{ "{" WORLD ",'pg_status':{'0':{'last_enqueued_collective':9,"
		  "'last_completed_collective':8}}}",
		  " [0 1]; 3: 9 8\n" },
		{ "{" WORLD ",'pg_status':{'0':{'last_enqueued_collective':'1',"
		  "'last_completed_collective':'-1'}}}",
		  " [0 1]; 3: 1 0\n" },
		{ "{" WORLD ",'pg_status':{'0':{'last_enqueued_collective':2,"
		  "'last_completed_collective':1}},'entries':[" CALL("0", 9, STARTED("a")) "," CALL(
			  "0", 8, DONE) "]}",
		  " [0 1]; 3: 9 8 a\n" },
		{ "{" WORLD ",'pg_status':{'0':{'last_enqueued_collective':2}}}", " [0 1]\n" },
		{ "{" WORLD ",'pg_status':{'1':{'last_enqueued_collective':2,"
		  "'last_completed_collective':1}}}",
		  " [0 1]\n" },
		{ "{'pg_config':{'0':{'desc':'default_pg','ranks':'[0,1]'},'5':{'desc':'tp',"
		  "'ranks':'[1, 3]'}},'pg_status':{'1':{'last_enqueued_collective':4,"
		  "'last_completed_collective':3}},'entries':[{'process_group':['5','tp'],'pg_id':"
		  "1,"
		  "'collective_seq_id':2,'state':'completed'}]}",
		  " [0 1]\ntp 5 [1 3]; 3: 4 3\n" },
		/* who has no description: the group 0 is that of all */
		{ "{'pg_config':{'1':{'ranks':'[0, 12]'},'0':{'ranks':'[12, 0, 345]'}}}",
		  " [12 0 345]\n1 [0 12]\n" },
		{ "{'pg_config':{'0':{'desc':'tp','ranks':'[0]'}}}", " []\ntp 0 [0]\n" },
		{ "{'entries':[" CALL("7", 4, DONE) "]}", " []; 3: 4 4\n" },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct ws_triage *triage = triage_make();
		assert_int_equal(take(triage, "nccl_trace_rank_3", cases[i].text), WS_OK);
		assert_string_equal(evidence(triage), cases[i].evidence);
		ws_triage_destroy(triage);
	}
}

static void the_name_of_a_recorder_ends_in_its_rank(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		uint64_t rank;
	} cases[] = { { "a/nccl_trace_rank_12", 12 },
		      { "rank_7.json", 7 },
		      { "9.pickle", 9 },
		      { "x9/r0.pkl", 0 },
		      { "r1.pt", 1 },
		      { "r123456789", 123456789 },
		      { "r1234567890", WSI_NO_NUMBER },
		      { "7/r", WSI_NO_NUMBER },
		      { "r7.txt", WSI_NO_NUMBER },
		      { "7_r.json", WSI_NO_NUMBER } };
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct ws_triage *triage = triage_make();
		bool good = cases[i].rank != WSI_NO_NUMBER;
		assert_int_equal(
			take(triage, cases[i].name, "{'entries':[" CALL("0", 4, DONE) "]}"),
			good ? WS_OK : WS_MALFORMED);
		assert_int_equal(good, wsi_count_of(triage, 0, cases[i].rank) != NULL);
		ws_triage_destroy(triage);
	}
}

/* ---- the status of NCCL's RAS ---- */

#define PLACE(rank, pid, more) "{'rank':" #rank ",'host':'h','pid':" #pid more "}"
#define CALLS(n) ",'collective_counts':{'AllReduce':" #n ",'SendRecv':50,'Recv':60,'Broadcast':1}"
#define DEAD(what) ",'status':{'" what "':true}"

static void ras_counts_calls_of_communicators(void **state)
{
	(void)state;
	struct ws_triage *triage = triage_make();
	/* ranks of the smaller one are told by process; one with a process that nobody knows is of
	 * another job */
	assert_int_equal(
		take(triage, "ras",
		     "{'communicators':["
		     "{'hash':'0xb','size':2,'ranks':[" PLACE(
			     0, 9,
			     CALLS(2)) "],'missing_ranks':[" PLACE(1, 8,
								   "") "]},"
								       "{'hash':'0xc','size':1,'"
								       "ranks':[" PLACE(
									       0, 6,
									       CALLS(3)) "]},"
											 "{'hash':'"
											 "0xa','"
											 "size':3,'"
											 "ranks':"
											 "[" PLACE(0, 7, CALLS(1)) "," PLACE(2, 9, CALLS(0)) "," PLACE(
												 3,
												 5,
												 "") "," PLACE(-1,
													       5,
													       "") "," PLACE(1,
															     -5,
															     "") "],'missing_ranks':[" PLACE(1,
																			     8,
																			     DEAD("unresponsive")) "]}]}"),
		WS_OK);
	assert_string_equal(evidence(triage), " []\nNCCL 0xb [2 1]; 2: 3\n");
	assert_int_equal(triage->evidence.n_members, 3);
	assert_true(triage->evidence.n_gone == 1 && triage->evidence.gone[0] == 1);
	ws_triage_destroy(triage);
}

/* Two devices of one process, and who is gone. */
static void ras_tells_devices_and_the_dead(void **state)
{
	(void)state;
	struct ws_triage *triage = triage_make();
	assert_int_equal(
		take(triage, "ras",
		     "{'communicators':[{'hash':'0xa','size':5,'ranks':[" PLACE(0, 7, ",'nvml_dev':1" CALLS(1)) "," PLACE(
			     1, 7,
			     ",'nvml_dev':2" CALLS(2) DEAD(
				     "unresponsive")) "],'missing_ranks':"
						      "[" PLACE(
							      2, 8,
							      DEAD("conside"
								   "red_"
								   "dead")) "," PLACE(3, 9,
										      DEAD("unres"
											   "ponsi"
											   "ve")) "," PLACE(4,
													    10,
													    "") "]}]}"),
		WS_OK);
	assert_string_equal(evidence(triage), " []\nNCCL 0xa [0 1 2 3 4]; 0: 2; 1: 3\n");
	assert_true(triage->evidence.n_gone == 2 && triage->evidence.gone[0] == 2 &&
		    triage->evidence.gone[1] == 3);
	ws_triage_destroy(triage);
}

static void a_file_about_collectives_is_known_by_its_start(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool is;
	} cases[] = { { "{", true },       { " \t\r\n{", true }, { "\x80\x02", true },
		      { "\n \x80", true }, { "x{", false },      { "", false },
		      { " \t", false },    { "[", false } };
	for (size_t i = 0; i < WSI_COUNT(cases); i++)
		assert_int_equal(
			wsi_triage_is_snapshot((struct ws_span){
				.ptr = (const uint8_t *)cases[i].text, strlen(cases[i].text) }),
			cases[i].is);
}

/* ---- who is behind ---- */

/* A file of each rank: its counts in groups of "name ranks enqueued completed operation". */
struct group {
	const char *description, *ranks, *counts[4];
};

static void recorders_take(struct ws_triage *triage, const struct group *groups, size_t n_groups)
{
	for (unsigned rank = 0; rank < 4; rank++) {
		char text[2000], name[16];
		int n = snprintf(text, sizeof text, "{'pg_config':{");
		for (size_t i = 0; i < n_groups; i++)
			n += snprintf(text + n, sizeof text - (size_t)n,
				      "%s'%zu':{'desc':'%s','ranks':'%s'}", i ? "," : "", i,
				      groups[i].description, groups[i].ranks);
		n += snprintf(text + n, sizeof text - (size_t)n, "},'entries':[{}");
		for (size_t i = 0; i < n_groups; i++) {
			int enqueued, completed;
			char operation[20];
			if (!groups[i].counts[rank] ||
			    sscanf(groups[i].counts[rank], "%d %d %19s", &enqueued, &completed,
				   operation) != 3)
				continue;
			for (int place = completed; place <= enqueued; place++)
				n += snprintf(text + n, sizeof text - (size_t)n,
					      ",{'pg_id':%zu,'process_group':['%zu','%s'],"
					      "'collective_seq_id':%d,'profiling_name':'%s','state'"
					      ":'%s'}",
					      i, i, groups[i].description, place, operation,
					      place <= completed ? "completed" : "scheduled");
		}
		snprintf(text + n, sizeof text - (size_t)n, "]}");
		snprintf(name, sizeof name, "rank_%u", rank);
		assert_int_equal(take(triage, name, text), WS_OK);
	}
}

static void ranks_are_behind_in_groups(void **state)
{
	(void)state;
#define ALL "default_pg", "[0, 1, 2, 3]"
#define REPORT "PyTorch's flight recorder reports how many collectives each rank enqueued"
#define EVEN                                                                                 \
	"even 0: -, all 4 ranks enqueued the same amount of work (9): none is behind, so a " \
	"kernel, "                                                                           \
	"a host or the network is stuck"
	static const struct {
		struct group groups[3];
		uint64_t n_ranks;
		const char *told; /* "kind rank: words, reason" */
	} cases[] = {
		{ { { ALL, { "9 8 a", "9 8 a", "7 7 a", "9 8 a" } } },
		  4,
		  "behind 2: is behind: it enqueued 7 collectives, others up to 9, " REPORT },
		{ { { ALL, { "9 8 a", "9 8 a", "9 8 a", "9 8 a" } } }, 4, EVEN },
		{ { { ALL, { "9 8 a", "8 8 a", "8 8 a", "9 8 a" } } },
		  4,
		  "several 1: 2 ranks are behind, " REPORT },
		{ { { ALL, { "9 8 a", NULL, "7 7 a", "9 8 a" } } },
		  4,
		  "part 0: -, PyTorch's flight recorder reports on 3 ranks and not on 1" },
		{ { { ALL, { "9 8 a", NULL, NULL, NULL } } },
		  4,
		  "part 0: -, PyTorch's flight recorder reports on 1 ranks and not on 3" },
		{ { { ALL, { NULL, NULL, NULL, NULL } } }, 4, "untold 0: -, -" },
		/* others */
		{ { { ALL, { "9 8 a", "9 8 a", "9 8 b", "9 8 a" } } },
		  4,
		  "other 2: calls b as collective 9, where 3 others call a, -" },
		{ { { ALL, { "9 8 b", "9 8 a", "9 8 a", "9 8 a" } } },
		  4,
		  "other 0: calls b as collective 9, where 3 others call a, -" },
		{ { { ALL, { "9 8 a", "9 8 b", "9 8 b", "9 8 a" } } },
		  4,
		  "mismatch 0: ranks call different operations as collective 9: rank 0 a, rank 1 "
		  "b, -" },
		{ { { ALL, { "9 8 a", "9 8 b", "9 8 c", "9 8 a" } } },
		  4,
		  "mismatch 0: ranks call different operations as collective 9: rank 0 a, rank 1 "
		  "b, -" },
		{ { { "default_pg", "[0, 1]", { "9 8 a", "9 8 b" } } },
		  2,
		  "mismatch 0: ranks call different operations as collective 9: rank 0 a, rank 1 "
		  "b, -" },
		{ { { ALL, { "9 8 a", "9 8 b", "9 7 a", "9 8 a" } } }, 4, EVEN },
		{ { { ALL, { "9 8 a", "9 8 b", "9 9 a", "9 8 a" } } }, 4, EVEN },
		/* groups */
		{ { { ALL, { "9 8 a", "9 8 a", "9 8 a", "9 8 a" } },
		    { "tp", "[1, 3]", { NULL, "5 4 a", NULL, "4 4 a" } } },
		  4,
		  "behind 3: is behind: it enqueued 4 collectives of group tp 1, others up to "
		  "5, " REPORT },
		{ { { ALL, { "9 8 a", "9 8 a", "9 8 a", "8 8 a" } },
		    { "tp", "[1, 3]", { NULL, "4 4 a", NULL, "5 4 a" } } },
		  4,
		  "several 0: 2 ranks wait for each other, each in another group: they call the "
		  "collectives of these groups in different orders, " REPORT },
		{ { { ALL, { "9 8 a", "8 8 a", "9 8 a", "9 8 a" } },
		    { "tp", "[1, 3]", { NULL, "5 4 a", NULL, "4 4 a" } } },
		  4,
		  "several 0: 2 ranks wait for each other, each in another group: they call the "
		  "collectives of these groups in different orders, " REPORT },
		{ { { ALL, { "9 9 a", "9 9 a", "9 9 a", "9 9 a" } },
		    { "tp", "[1, 3]", { NULL, "5 4 a", NULL, NULL } } },
		  4,
		  "part 0: -, PyTorch's flight recorder reports on 4 ranks and not on 1" },
		{ { { ALL, { "9 9 a", "9 9 a", "9 9 a", "9 9 a" } },
		    { "tp", "[1, 3]", { NULL, "5 5 a", NULL, NULL } } },
		  4,
		  EVEN },
		{ { { "default_pg", "[0]", { NULL } },
		    { "tp", "[1, 3]", { NULL, "5 4 a", NULL, "5 4 b" } } },
		  4,
		  "mismatch 0: ranks call different operations as collective 5 of group tp 1: rank "
		  "1 a, rank 3 b, -" },
		{ { { "default_pg", "", { "9 8 a", "7 7 a" } } },
		  2,
		  "behind 1: is behind: it enqueued 7 collectives, others up to 9, " REPORT },
		{ { { "default_pg", "", { "9 8 a", "7 7 a" } } },
		  3,
		  "part 0: -, PyTorch's flight recorder reports on 2 ranks and not on 1" },
	};
	static const char *const kinds[] = { "untold", "part",    "even",    "behind",
					     "other",  "several", "mismatch" };
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct ws_triage *triage = triage_make();
		struct wsi_progress p;
		char text[400];
		size_t n = 0;
		while (n < WSI_COUNT(cases[i].groups) && cases[i].groups[n].description)
			n++;
		recorders_take(triage, cases[i].groups, n);
		assert_true(wsi_progress_of(triage, cases[i].n_ranks, &p));
		snprintf(text, sizeof text, "%s %" PRIu64 ": %s, %s", kinds[p.kind], p.rank,
			 p.words ? p.words : "-", p.reason ? p.reason : "-");
		assert_string_equal(text, cases[i].told);
		ws_triage_destroy(triage);
	}
}

static void all_memory_is_freed(void **state)
{
	(void)state;
	assert_frees_all(recorders_say_how_far_a_rank_came);
	assert_frees_all(ras_counts_calls_of_communicators);
	assert_frees_all(ranks_are_behind_in_groups);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recorders_say_how_far_a_rank_came),
		cmocka_unit_test(the_name_of_a_recorder_ends_in_its_rank),
		cmocka_unit_test(ras_counts_calls_of_communicators),
		cmocka_unit_test(ras_tells_devices_and_the_dead),
		cmocka_unit_test(a_file_about_collectives_is_known_by_its_start),
		cmocka_unit_test(ranks_are_behind_in_groups),
		cmocka_unit_test(all_memory_is_freed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
