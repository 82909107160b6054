/* SPDX-License-Identifier: Apache-2.0 */
/* Entry points by name. */
#include "entry.h"

#include "driver.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static const struct driver_entry *entry_find(const char *name)
{
	size_t low = 0, high = n_entries;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(entries[middle].name, name);
		if (order == 0)
			return &entries[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

enum { NEWEST = 4, FOUND = 0, NOT_FOUND = 1 };

/* Functions whose newest form takes other arguments than before a version of CUDA. */
static const struct {
	const char *name;
	int version; /* from which on it is the newest */
	const char *before;
} changed[] = {
	{ "cuCtxCreate", 13000, "cuCtxCreate_v2" },
	{ "cuGetProcAddress", 12000, "cuGetProcAddress" },
	{ "cuGraphAddDependencies", 13000, "cuGraphAddDependencies" },
	{ "cuGraphGetEdges", 13000, "cuGraphGetEdges" },
	{ "cuGraphInstantiate", INT_MAX, "cuGraphInstantiateWithFlags" },
	{ "cuGraphNodeGetDependencies", 13000, "cuGraphNodeGetDependencies" },
	{ "cuGraphNodeGetDependentNodes", 13000, "cuGraphNodeGetDependentNodes" },
	{ "cuGraphRemoveDependencies", 13000, "cuGraphRemoveDependencies" },
	{ "cuMemAdvise", 13000, "cuMemAdvise" },
	{ "cuMemPrefetchAsync", 13000, "cuMemPrefetchAsync" },
	{ "cuStreamGetCaptureInfo", 13000, "cuStreamGetCaptureInfo_v2" },
	{ "cuStreamUpdateCaptureDependencies", 13000, "cuStreamUpdateCaptureDependencies" },
};

/* The form of a function for programs of a version of CUDA: the newest that is there, else any. */
static const struct driver_entry *newest(const char *name, int version)
{
	char full[128];
	const struct driver_entry *any = entry_find(name);
	for (size_t i = 0; i < sizeof changed / sizeof changed[0]; i++)
		if (strcmp(changed[i].name, name) == 0 && version < changed[i].version)
			return entry_find(changed[i].before);
	for (int v = NEWEST; v >= 2; v--) {
		int n = snprintf(full, sizeof full, "%s_v%d", name, v);
		const struct driver_entry *one =
			n > 0 && (size_t)n < sizeof full ? entry_find(full) : NULL;
		if (one && (one->is_there || !any))
			return one;
	}
	return any;
}

CU_API(cuGetProcAddress_v2)
(const char *name, void **ret_function, int version, uint64_t flags, int *ret_status)
{
	(void)flags; /* which default stream is meant: there is one */
	if (!name || !*name || !ret_function)
		DONE(CUDA_ERROR_INVALID_VALUE);
	const struct driver_entry *entry = newest(name, version);
	*ret_function = NULL;
	if (entry)
		memcpy(ret_function, &entry->function, sizeof *ret_function);
	if (ret_status)
		*ret_status = entry ? FOUND : NOT_FOUND;
	DONE(entry ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND);
}

CU_API(cuGetProcAddress)(const char *name, void **ret_function, int version, uint64_t flags)
{
	DONE_BY(cuGetProcAddress_v2(name, ret_function, version, flags, NULL));
}

/* Tables of functions without documentation: none is imitated. */
CU_API(cuGetExportTable)(const void **ret_table, const CUuuid *id)
{
	(void)id;
	if (ret_table)
		*ret_table = NULL;
	DONE(CUDA_ERROR_NOT_SUPPORTED);
}
