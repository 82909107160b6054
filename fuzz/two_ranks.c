/* SPDX-License-Identifier: Apache-2.0 */
#include "two_ranks.h"

#include <string.h>

#include "fuzz.h"

#undef abort

static const char job[2][400] = {
	"{\"schema\":\"warpscope-triage-1\",\"key\":\"00000000000000000000000000000000\","
	"\"path\":\"a\",\"status\":\"read\",\"verdict\":\"hang\",\"collective\":\"x\",\"host\":"
	"\"h\","
	"\"pid\":10,\"rank\":0,\"pci\":\"18:00\"}",
	"{\"schema\":\"warpscope-triage-1\",\"key\":\"00000000000000000000000000000001\","
	"\"path\":\"b\",\"status\":\"read\",\"verdict\":\"hang\",\"collective\":\"x\",\"host\":"
	"\"h\","
	"\"pid\":11,\"pci\":\"20:00\"}",
};

void fuzz_add_two_ranks(struct ws_triage *triage, int look)
{
	for (int i = 0; i < 2; i++) {
		char line[sizeof job[0]];
		memcpy(line, job[i], sizeof line);
		enum ws_status st = look == 2 ? ws_triage_look(triage, line, strlen(line), NULL)
					      : ws_triage_add(triage, line, strlen(line), NULL);
		FUZZ_CHECK(st == WS_OK);
	}
}
