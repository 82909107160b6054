/* SPDX-License-Identifier: Apache-2.0 */
/* A software GPU with an image, buffers and launches, as the command line asks for them. */
#include "run/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool schedule_find(const char *name, enum ws_sim_schedule *ret)
{
	static const char *const names[] = {
		[WS_SIM_ROUND_ROBIN] = "round-robin",
		[WS_SIM_OLDEST] = "oldest",
		[WS_SIM_RANDOM] = "random",
		[WS_SIM_ADVERSARIAL] = "adversarial",
	};
	for (size_t i = 0; name && i < sizeof names / sizeof names[0]; i++) {
		if (strcmp(names[i], name) == 0) {
			*ret = (enum ws_sim_schedule)i;
			return true;
		}
	}
	return !name;
}

/* "sm_90", "90", "sm_90a" or "90a": the device of that architecture. NULL: none. */
static const char *device_of(const char *arch)
{
	const char *device = NULL;
	if (strncmp(arch, "sm_", 3) == 0)
		arch += 3;
	size_t n = strlen(arch);
	for (size_t i = 0; !device && (device = ws_sim_device_name(i)); i++) {
		const char *number = device + 3;
		if (strncmp(number, arch, n) != 0 || (number[n] && strcmp(number + n, "a") != 0))
			device = NULL;
		else
			return device;
	}
	return device;
}

const char *run_device_find(struct cli *cli, const char *arch)
{
	const char *device = device_of(arch);
	char names[200] = "";
	for (size_t i = 0, n = 0; !device && ws_sim_device_name(i) && n < sizeof names; i++)
		n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", i ? ", " : "",
				      ws_sim_device_name(i));
	if (!device)
		cli_usage(cli->verb, "there is no device for --arch %s; there are %s", arch, names);
	return device;
}

int run_fail(const char *what, const struct ws_error *err)
{
	return cli_fail_advise(
		what, err,
		err->status == WS_LIMIT ? "; --memory says how much a device may take" : "");
}

static int device_make(struct run_setup *setup, struct cli *cli)
{
	struct ws_sim_options options = {
		.size = sizeof options,
		.seed = setup->seed.value,
		.memory_bytes = setup->memory.value,
		.stack_bytes = (uint32_t)setup->stack.value,
		.late = (uint32_t)setup->late.value,
		.check = setup->check,
	};
	struct ws_error err;
	size_t len;
	if (setup->stack.value > UINT32_MAX || setup->late.value > UINT32_MAX)
		return cli_usage(cli->verb, "--stack and --late take less than 4 GiB");
	options.device = setup->device ? run_device_find(cli, setup->device) : NULL;
	if (setup->device && !options.device)
		return CLI_USAGE;
	if (!schedule_find(setup->schedule, &options.schedule))
		return cli_usage(cli->verb,
				 "--schedule takes round-robin, oldest, random or "
				 "adversarial, not '%s'",
				 setup->schedule);
	if (ws_sim_create(&options, &setup->sim, &err) != WS_OK)
		return cli_fail(NULL, &err);
	uint8_t *image = run_file_read(setup->image, &len);
	if (!image)
		return CLI_NO_ANSWER;
	cli->input_bytes = len;
	enum ws_status st = ws_sim_load(setup->sim, (struct ws_span){ image, len, 0 }, NULL, &err);
	free(image);
	return st == WS_OK ? CLI_ANSWERED : run_fail(setup->image, &err);
}

static bool everything_queued(struct run_setup *setup, struct cli *cli)
{
	for (size_t i = 0; i < setup->buffers.n; i++)
		if (!run_buffer_add(&setup->made, setup->sim, setup->buffers.item[i]))
			return false;
	if (setup->launches)
		return run_launch_file(cli, setup->launches, setup->sim, &setup->made);
	return run_launch(&setup->launch, setup->sim, &setup->made);
}

int run_setup_make(struct run_setup *setup, struct cli *cli)
{
	setup->made.cli = cli;
	int status = device_make(setup, cli);
	if (status != CLI_ANSWERED)
		return status;
	return everything_queued(setup, cli) ? CLI_ANSWERED : CLI_NO_ANSWER;
}

void run_setup_unmake(struct run_setup *setup)
{
	ws_sim_destroy(setup->sim);
	setup->sim = NULL;
	run_buffers_fini(&setup->made);
}

int run_setup_check(struct run_setup *setup, int argc, char **argv)
{
	const char *verb = setup->launch.cli->verb;
	if (argc != 1)
		return cli_usage(verb, "exactly one IMAGE is needed");
	if (!setup->launch.kernel == !setup->launches)
		return cli_usage(verb, "either --kernel or --launches is needed");
	setup->image = argv[0];
	return CLI_ANSWERED;
}

void run_setup_fini(struct run_setup *setup)
{
	run_setup_unmake(setup);
	run_launch_fini(&setup->launch);
	free(setup->buffers.item);
}
