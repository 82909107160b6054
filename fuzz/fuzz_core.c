/* SPDX-License-Identifier: Apache-2.0 */
/* A dump out of any bytes: it opens or is refused, and an open one answers everything, twice alike.
 */
#include "../tests/dump/walk.h"
#include "fuzz.h"

int fuzz_target(const uint8_t *data, size_t size)
{
	struct ws_target *target = NULL;
	struct ws_error err = { 0 };
	enum ws_status st =
		ws_core_open_memory((struct ws_span){ data, size, 0 }, "fuzz", &target, &err);
	FUZZ_CHECK((st == WS_OK) == (target != NULL));
	if (st != WS_OK) {
		FUZZ_CHECK(err.status == st && err.message[0]);
		return 0;
	}
	FUZZ_CHECK(core_walk(target) == core_walk(target));
	ws_target_close(target);
	return 0;
}
