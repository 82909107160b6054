/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the program may still do once it reads foreign bytes: read what the user named, write to
 * what is open, compute. For the program only: a library does not take rights from its host.
 *
 * On Linux: a broker (base/broker.h) for the few things that need more, then Landlock for files and
 * seccomp for system calls, each where the kernel has it. Elsewhere nothing happens.
 */
#ifndef WSI_SANDBOX_H
#define WSI_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

struct wsi_sandbox_terms {
	const char *const
		*inputs; /* files and folders (with all below); what is not there is passed over */
	size_t n_inputs;
	const char *const *outputs; /* files */
	size_t n_outputs;
	const char *output_folder; /* for files below, also to be read; NULL: none */
};

struct wsi_sandbox_state {
	bool has_files;  /* only the files of the terms can be opened */
	bool has_calls;  /* only the system calls that the program needs */
	const char *why; /* static: why there is less than both; NULL: there are both */
};

/*
 * From now on, for this process and its threads; to be called once, before there are any. The terms
 * must stay.
 */
struct wsi_sandbox_state wsi_sandbox_enter(const struct wsi_sandbox_terms *terms);

#endif
