/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the device, for the host. */
#define _GNU_SOURCE /* memfd seals, MADV_REMOVE */
#include "agent.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Rows: where they begin, from one to the next, bytes of each, how many. */
struct memory_rows {
	uint64_t at, pitch, n_bytes, n;
};

static struct memory_rows rows_of(const struct exchange *x)
{
	const uint64_t *word = x->request->word;
	return (struct memory_rows){ word[0], word[1], word[2], word[3] };
}

/* Whether all of it is `n_bytes` in one piece. */
static bool is_piece(const struct memory_rows *rows, uint64_t n_bytes)
{
	return rows->n_bytes <= WIRE_PIECE && rows->n <= WIRE_PIECE && n_bytes <= WIRE_PIECE &&
	       rows->n_bytes * rows->n == n_bytes;
}

/* Maps what a descriptor came for, from a place in it on. */
static enum ws_cuda_result map(const struct exchange *x, uint64_t at, uint64_t n_bytes,
			       void **ret_bytes)
{
	struct stat about;
	if (x->fd < 0 || n_bytes == 0 || fstat(x->fd, &about) != 0 ||
	    (uint64_t)about.st_size < n_bytes || (uint64_t)about.st_size - n_bytes < at)
		return WS_CUDA_ERROR_INVALID_VALUE;
	/* pages that are taken away from under the device would end the agent */
	if ((fcntl(x->fd, F_GET_SEALS) & F_SEAL_SHRINK) == 0)
		return WS_CUDA_ERROR_INVALID_VALUE;
	void *bytes = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, x->fd, (off_t)at);
	if (bytes == MAP_FAILED)
		return WS_CUDA_ERROR_OUT_OF_MEMORY;
	*ret_bytes = bytes;
	return WS_CUDA_SUCCESS;
}

enum ws_cuda_result agent_share(struct agent *agent, struct exchange *x)
{
	uint64_t address = x->request->word[0], n_bytes = x->request->word[1];
	struct ws_error err;
	void *bytes;
	enum ws_cuda_result result = map(x, x->request->word[2], n_bytes, &bytes);
	if (result != WS_CUDA_SUCCESS)
		return result;
	struct shared *shared = malloc(sizeof *shared);
	if (shared && ws_sim_map(agent->sim, address, bytes, n_bytes, &err) == WS_OK) {
		*shared = (struct shared){ agent->shared, address, bytes, (size_t)n_bytes };
		agent->shared = shared;
		return WS_CUDA_SUCCESS;
	}
	munmap(bytes, n_bytes);
	result = shared ? agent_result(&err) : WS_CUDA_ERROR_OUT_OF_MEMORY;
	free(shared);
	return result;
}

static void unmap_shared(struct shared **at)
{
	struct shared *gone = *at;
	*at = gone->next;
	munmap(gone->bytes, gone->n_bytes);
	free(gone);
}

enum ws_cuda_result agent_free(struct agent *agent, uint64_t address)
{
	struct ws_error err;
	if (ws_sim_free(agent->sim, address, &err) != WS_OK)
		return agent_result(&err);
	for (struct shared **at = &agent->shared; *at; at = &(*at)->next)
		if ((*at)->address == address) {
			unmap_shared(at);
			break;
		}
	return WS_CUDA_SUCCESS;
}

void agent_shared_fini(struct agent *agent)
{
	while (agent->shared)
		unmap_shared(&agent->shared);
}

/* ---- managed variables ---- */

enum ws_cuda_result agent_set_managed(struct agent *agent, struct exchange *x)
{
	uint64_t n_bytes = x->request->word[1];
	void *bytes;
	if (agent->managed.bytes)
		return WS_CUDA_ERROR_INVALID_VALUE;
	enum ws_cuda_result result = map(x, 0, n_bytes, &bytes);
	if (result != WS_CUDA_SUCCESS)
		return result;
	agent->managed.address = x->request->word[0];
	agent->managed.bytes = bytes;
	agent->managed.n_bytes = n_bytes;
	return WS_CUDA_SUCCESS;
}

bool agent_give_managed(void *user, uint64_t len, uint64_t *ret_address, void **ret_bytes)
{
	enum { ALIGNMENT = 4096 }; /* and something between two that nobody may touch */
	struct agent *agent = user;
	size_t left = agent->managed.n_bytes - agent->managed.n_used;
	if (len > left || left - len < 2 * ALIGNMENT)
		return false;
	*ret_address = agent->managed.address + agent->managed.n_used;
	*ret_bytes = agent->managed.bytes + agent->managed.n_used;
	agent->managed.n_used += (len + 2 * ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	return true;
}

void agent_managed_reset(struct agent *agent)
{
	if (agent->managed.n_used > 0)
		(void)madvise(agent->managed.bytes, agent->managed.n_used, MADV_REMOVE);
	agent->managed.n_used = 0;
}

enum ws_cuda_result agent_write(struct agent *agent, struct exchange *x)
{
	const struct memory_rows rows = rows_of(x);
	struct ws_error err;
	if (!is_piece(&rows, x->request->n_bytes))
		return WS_CUDA_ERROR_INVALID_VALUE;
	for (uint64_t i = 0; i < rows.n; i++)
		if (ws_sim_write(agent->sim, rows.at + i * rows.pitch, x->bytes + i * rows.n_bytes,
				 (size_t)rows.n_bytes, &err) != WS_OK)
			return agent_result(&err);
	return WS_CUDA_SUCCESS;
}

enum ws_cuda_result agent_read(struct agent *agent, struct exchange *x)
{
	const struct memory_rows rows = rows_of(x);
	struct ws_error err;
	uint64_t n_bytes = rows.n > 0 && rows.n_bytes <= WIRE_PIECE / rows.n ? rows.n_bytes * rows.n
									     : UINT64_MAX;
	if (n_bytes == 0 || !is_piece(&rows, n_bytes))
		return WS_CUDA_ERROR_INVALID_VALUE;
	x->more = malloc((size_t)n_bytes);
	if (!x->more)
		return WS_CUDA_ERROR_OUT_OF_MEMORY;
	for (uint64_t i = 0; i < rows.n; i++)
		if (ws_sim_read(agent->sim, rows.at + i * rows.pitch, x->more + i * rows.n_bytes,
				(size_t)rows.n_bytes, &err) != WS_OK)
			return agent_result(&err);
	x->reply.n_bytes = (uint32_t)n_bytes;
	return WS_CUDA_SUCCESS;
}

/* Moves bytes by way of a buffer: as memmove() if one row lies on itself. */
static enum ws_cuda_result move(struct agent *agent, uint64_t to, uint64_t from, uint64_t n_bytes,
				uint8_t *buffer)
{
	struct ws_error err;
	for (uint64_t done = 0; done < n_bytes;) {
		uint64_t n = n_bytes - done < WIRE_PIECE ? n_bytes - done : WIRE_PIECE;
		uint64_t at = to > from ? n_bytes - done - n : done;
		if (ws_sim_read(agent->sim, from + at, buffer, (size_t)n, &err) != WS_OK ||
		    ws_sim_write(agent->sim, to + at, buffer, (size_t)n, &err) != WS_OK)
			return agent_result(&err);
		done += n;
	}
	return WS_CUDA_SUCCESS;
}

enum ws_cuda_result agent_copy(struct agent *agent, struct exchange *x)
{
	const uint64_t *word = x->request->word;
	uint8_t *buffer = malloc(WIRE_PIECE);
	enum ws_cuda_result result = buffer ? WS_CUDA_SUCCESS : WS_CUDA_ERROR_OUT_OF_MEMORY;
	for (uint64_t i = 0; i < word[5] && result == WS_CUDA_SUCCESS; i++)
		result = move(agent, word[0] + i * word[1], word[2] + i * word[3], word[4], buffer);
	free(buffer);
	return result;
}

enum ws_cuda_result agent_fill(struct agent *agent, struct exchange *x)
{
	const uint64_t *word = x->request->word;
	uint64_t size = word[3], row_bytes = word[4] * size;
	struct ws_error err;
	enum ws_cuda_result result = WS_CUDA_SUCCESS;
	if ((size != 1 && size != 2 && size != 4) || word[4] > UINT64_MAX / 4)
		return WS_CUDA_ERROR_INVALID_VALUE;
	uint64_t piece = row_bytes < WIRE_PIECE ? row_bytes : WIRE_PIECE;
	uint8_t *buffer = malloc(piece ? (size_t)piece : 1);
	if (!buffer)
		return WS_CUDA_ERROR_OUT_OF_MEMORY;
	for (uint64_t at = 0; at < piece; at += size)
		memcpy(buffer + at, &word[2], (size_t)size);
	for (uint64_t i = 0; i < word[5] && result == WS_CUDA_SUCCESS; i++)
		for (uint64_t at = 0; at < row_bytes && result == WS_CUDA_SUCCESS; at += piece) {
			uint64_t n = row_bytes - at < piece ? row_bytes - at : piece;
			if (ws_sim_write(agent->sim, word[0] + i * word[1] + at, buffer, (size_t)n,
					 &err) != WS_OK)
				result = agent_result(&err);
		}
	free(buffer);
	return result;
}
