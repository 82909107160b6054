/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines borrowed from another build: among all candidates with a function of that name, the one
 * whose code section is equal byte for byte, except for addresses.
 *
 * Files of folders are opened when something is first looked for; images of another architecture
 * are never unpacked. What a search found is remembered for each code section.
 */
#include <warpscope/image.h>
#include <warpscope/store.h>

#include "cubin/internal.h"

#include "base/folder.h"

struct candidate {
	char *path;                 /* owned */
	struct ws_image_file *file; /* owned; NULL: not opened yet, or of no use */
	bool tried;
};

struct borrow_answer {
	const struct ws_cubin *cubin;
	uint32_t section;
	struct ws_borrowed borrowed;
};

struct ws_borrow_pool {
	struct candidate *candidates; /* owned */
	size_t n_candidates, cap_candidates;
	struct borrow_answer *answers; /* owned */
	size_t n_answers, cap_answers;
	pthread_mutex_t lock; /* held during a search */
};

enum ws_status ws_borrow_create(struct ws_borrow_pool **ret_pool, struct ws_error *err)
{
	struct ws_borrow_pool *pool = wsi_zalloc(sizeof *pool);
	if (!pool || pthread_mutex_init(&pool->lock, NULL) != 0) {
		wsi_free(pool);
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "a pool of images");
	}
	*ret_pool = pool;
	return WS_OK;
}

void ws_borrow_destroy(struct ws_borrow_pool *pool)
{
	if (!pool)
		return;
	for (size_t i = 0; i < pool->n_candidates; i++) {
		ws_image_file_close(pool->candidates[i].file);
		wsi_free(pool->candidates[i].path);
	}
	wsi_free(pool->candidates);
	wsi_free(pool->answers);
	pthread_mutex_destroy(&pool->lock);
	wsi_free(pool);
}

static enum ws_status candidate_add(void *user, const char *path, struct ws_error *err)
{
	struct ws_borrow_pool *pool = user;
	if (pool->n_candidates >= WS_BORROW_MAX_FILES)
		return wsi_fail(err, WS_LIMIT, WS_NO_OFFSET, "more than %d files to look at",
				WS_BORROW_MAX_FILES);
	char *copy = wsi_strdup(path);
	if (!copy || !wsi_grow(&pool->candidates, &pool->cap_candidates, pool->n_candidates,
			       sizeof *pool->candidates, WS_BORROW_MAX_FILES)) {
		wsi_free(copy);
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "files of %s", path);
	}
	pool->candidates[pool->n_candidates++] = (struct candidate){ .path = copy };
	return WS_OK;
}

enum ws_status ws_borrow_add_path(struct ws_borrow_pool *pool, const char *path,
				  struct ws_error *err)
{
	pool->n_answers = 0; /* a better one may be in it */
	if (wsi_folder_exists(path))
		return wsi_folder_walk(path, candidate_add, pool, err);
	struct ws_image_file *file;
	enum ws_status st = ws_image_file_open(path, &file, err);
	if (st != WS_OK)
		return st;
	st = candidate_add(pool, path, err);
	if (st != WS_OK) {
		ws_image_file_close(file);
		return st;
	}
	pool->candidates[pool->n_candidates - 1].file = file;
	pool->candidates[pool->n_candidates - 1].tried = true;
	return WS_OK;
}

/* ---- searching ---- */

struct borrow_search {
	struct ws_cubin *cubin;
	const struct ws_function *owner;
	uint32_t sm;
	struct ws_borrowed best;
};

static bool section_has_lines(struct ws_cubin *cubin, const struct ws_function *f)
{
	struct ws_section section;
	size_t n;
	if (ws_cubin_section(cubin, f->section, &section, NULL) != WS_OK)
		return false;
	for (uint64_t off = 0; off < section.size; off += WSI_INSTRUCTION_BYTES) {
		enum ws_status st = ws_cubin_line_find(cubin, f->section, off, NULL, 0, &n, NULL);
		if (st == WS_OK)
			return true;
		if (st != WS_ABSENT || !cubin->lines)
			return false;
	}
	return false;
}

static bool is_better_source(const struct ws_borrowed *a, const struct ws_borrowed *b)
{
	if (a->verdict != b->verdict)
		return a->verdict < b->verdict;
	return a->verdict == WS_BORROW_DIFFERS && a->diff.n_instructions < b->diff.n_instructions;
}

static void function_consider(struct borrow_search *search, const struct candidate *from,
			      struct ws_cubin *cubin, const struct ws_function *f)
{
	struct ws_borrowed found = {
		.verdict = WS_BORROW_NO_LINES,
		.cubin = cubin,
		.function = f,
		.section = f->section,
		.path = from->path,
	};
	if (section_has_lines(cubin, f)) {
		if (ws_code_compare(search->cubin, search->owner, cubin, f, &found.diff, NULL) !=
		    WS_OK)
			return;
		found.verdict = found.diff.equal ? WS_BORROW_EQUAL : WS_BORROW_DIFFERS;
	}
	if (is_better_source(&found, &search->best))
		search->best = found;
}

static void module_search(struct borrow_search *search, const struct candidate *from,
			  struct ws_cubin *cubin)
{
	size_t n;
	const struct wsi_name_ref *names = wsi_cubin_names(cubin, search->owner->name, &n);
	for (size_t i = 0; i < n && search->best.verdict != WS_BORROW_EQUAL; i++) {
		const struct ws_function *f = &cubin->functions[names[i].function];
		if (f->section != 0 && !f->is_inner)
			function_consider(search, from, cubin, f);
	}
}

/* How many images a candidate has. */
static size_t candidate_open(struct candidate *candidate)
{
	if (!candidate->tried) {
		candidate->tried = true;
		if (ws_image_file_open(candidate->path, &candidate->file, NULL) != WS_OK)
			candidate->file = NULL;
	}
	return candidate->file ? ws_image_file_count(candidate->file) : 0;
}

/* The `i`th image of a candidate, if it is a cubin of the architecture; else NULL. */
static struct ws_cubin *candidate_cubin(const struct candidate *candidate, size_t i, uint32_t sm)
{
	const struct ws_image_entry *entry = ws_image_file_at(candidate->file, i);
	struct ws_cubin *cubin;
	if (entry->kind != WS_IMAGE_CUBIN || entry->sm != sm ||
	    ws_image_file_cubin(candidate->file, i, &cubin, NULL) != WS_OK ||
	    cubin->code_overlaps || wsi_cubin_need_symbols(cubin, NULL) != WS_OK)
		return NULL;
	return cubin;
}

static void candidate_search(struct borrow_search *search, struct candidate *candidate)
{
	size_t n = candidate_open(candidate);
	for (size_t i = 0; i < n && search->best.verdict != WS_BORROW_EQUAL; i++) {
		struct ws_cubin *cubin = candidate_cubin(candidate, i, search->sm);
		if (cubin)
			module_search(search, candidate, cubin);
	}
}

static enum ws_status pool_search(struct ws_borrow_pool *pool, struct borrow_search *search,
				  struct ws_error *err)
{
	for (size_t i = 0; i < pool->n_answers; i++) {
		const struct borrow_answer *a = &pool->answers[i];
		if (a->cubin == search->cubin && a->section == search->owner->section) {
			search->best = a->borrowed;
			return WS_OK;
		}
	}
	for (size_t i = 0; i < pool->n_candidates && search->best.verdict != WS_BORROW_EQUAL; i++)
		candidate_search(search, &pool->candidates[i]);
	if (!wsi_grow(&pool->answers, &pool->cap_answers, pool->n_answers, sizeof *pool->answers,
		      SIZE_MAX / sizeof *pool->answers))
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "answers of a pool");
	pool->answers[pool->n_answers++] =
		(struct borrow_answer){ search->cubin, search->owner->section, search->best };
	return WS_OK;
}

enum ws_status ws_borrow_find(struct ws_borrow_pool *pool, struct ws_cubin *cubin,
			      const struct ws_function *function, struct ws_borrowed *ret_borrowed,
			      struct ws_error *err)
{
	struct ws_cubin_facts facts;
	ws_cubin_facts(cubin, &facts);
	const struct ws_function *owner = wsi_cubin_owner(cubin, function);
	if (!owner)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET,
				"no function owns the code, so it has no name to look for");
	struct borrow_search search = {
		.cubin = cubin,
		.owner = owner,
		.sm = facts.sm,
		.best = { .verdict = WS_BORROW_NO_FUNCTION },
	};
	wsi_hold(&pool->lock);
	enum ws_status st = pool_search(pool, &search, err);
	if (st == WS_OK)
		*ret_borrowed = search.best;
	return st;
}

/* Whether a cubin has the function with the same code. */
static bool has_equal(struct ws_cubin *cubin, struct ws_cubin *wanted,
		      const struct ws_function *owner)
{
	size_t n;
	const struct wsi_name_ref *names = wsi_cubin_names(cubin, owner->name, &n);
	for (size_t i = 0; i < n; i++) {
		const struct ws_function *f = &cubin->functions[names[i].function];
		struct ws_code_diff diff;
		if (f->section != 0 && !f->is_inner &&
		    ws_code_compare(wanted, owner, cubin, f, &diff, NULL) == WS_OK && diff.equal)
			return true;
	}
	return false;
}

void wsi_borrow_each_equal(struct ws_borrow_pool *pool, struct ws_cubin *cubin,
			   const struct ws_function *function, wsi_borrow_equal_fn *take,
			   void *user)
{
	struct ws_cubin_facts facts;
	ws_cubin_facts(cubin, &facts);
	const struct ws_function *owner = wsi_cubin_owner(cubin, function);
	wsi_hold(&pool->lock);
	for (size_t i = 0; i < pool->n_candidates && owner; i++) {
		bool equal = false;
		for (size_t n = candidate_open(&pool->candidates[i]); n > 0 && !equal; n--) {
			struct ws_cubin *other =
				candidate_cubin(&pool->candidates[i], n - 1, facts.sm);
			equal = other && has_equal(other, cubin, owner);
		}
		if (equal)
			take(user, pool->candidates[i].path);
	}
}
