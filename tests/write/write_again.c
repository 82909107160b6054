/* SPDX-License-Identifier: Apache-2.0 */
/* write_again IN OUT [driver=N] [flags=N]: a dump written from what was read of another. Tests
 * only. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <warpscope/core.h>
#include <warpscope/write.h>

int main(int argc, char **argv)
{
	struct ws_write_options options = { .size = sizeof options };
	struct ws_error err;
	struct ws_target *target;
	if (argc < 3)
		return 2;
	for (int i = 3; i < argc; i++) {
		const char *value = strchr(argv[i], '=');
		if (value && strncmp(argv[i], "driver=", 7) == 0)
			options.driver = (uint32_t)strtoul(value + 1, NULL, 0);
		else if (value && strncmp(argv[i], "flags=", 6) == 0)
			options.flags = (uint32_t)strtoul(value + 1, NULL, 0);
		else
			return 2;
	}
	enum ws_status st = ws_core_open(argv[1], NULL, &target, &err);
	if (st == WS_OK) {
		st = ws_write_target(target, argv[2], &options, &err);
		ws_target_close(target);
	}
	if (st == WS_OK)
		return 0;
	fprintf(stderr, "%s: %s\n", ws_status_name(st), err.message);
	return 1;
}
