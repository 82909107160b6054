/* SPDX-License-Identifier: Apache-2.0 */
/* See memory.h. */
#include "sim/device/memory.h"

#define HEAP_END UINT64_C(0x7fff00000000)

static uint64_t n_pages(const struct wsi_region *region)
{
	return (region->reach + WSI_PAGE_BYTES - 1) >> WSI_PAGE_BITS;
}

static uint64_t page_bytes(const struct wsi_region *region, uint64_t index)
{
	return wsi_min_u64(WSI_PAGE_BYTES, region->reach - (index << WSI_PAGE_BITS));
}

static struct wsi_memory_page *page_create(const struct wsi_region *region, uint64_t index)
{
	uint64_t len = page_bytes(region, index);
	struct wsi_memory_page *page = wsi_zalloc(sizeof *page + (size_t)len);
	if (!page)
		return NULL;
	page->refs = 1;
	page->bytes = (uint8_t *)(page + 1);
	return page;
}

static void page_release(struct wsi_memory_page *page)
{
	if (page && --page->refs == 0)
		wsi_free(page);
}

static struct wsi_pages *pages_create(const struct wsi_region *region)
{
	struct wsi_pages *pages = wsi_zalloc_array((size_t)n_pages(region) + 1, sizeof(void *));
	if (pages)
		pages->refs = 1;
	return pages;
}

static void pages_release(const struct wsi_region *region)
{
	if (--region->pages->refs != 0)
		return;
	for (uint64_t i = 0; i < n_pages(region); i++)
		page_release(region->pages->page[i]);
	wsi_free(region->pages);
}

/* Something that others share is to be copied. */
static void spend_region(const struct wsi_region *region, uint64_t bytes)
{
	struct wsi_budget *budget = region->budget;
	if (!budget)
		return;
	budget->copied += bytes;
	if (budget->copied > budget->limit)
		budget->over(budget->user);
}

/* Makes the table of pages the region's alone. False: no memory. */
static bool pages_own(struct wsi_region *region)
{
	if (region->pages->refs == 1)
		return true;
	spend_region(region, n_pages(region) * sizeof(void *));
	if (region->pages->refs == 1)
		return true; /* nobody has it any more */
	struct wsi_pages *copy = pages_create(region);
	if (!copy)
		return false;
	for (uint64_t i = 0; i < n_pages(region); i++) {
		copy->page[i] = region->pages->page[i];
		if (copy->page[i])
			copy->page[i]->refs++;
	}
	pages_release(region);
	region->pages = copy;
	return true;
}

/* ---- what a device takes ---- */

bool wsi_account_has_room(struct wsi_account *account, const char *what, uint64_t bytes)
{
	uint64_t taken = account->used + account->fixed;
	bool fits = taken <= account->limit && bytes <= account->limit - taken;
	if (!fits) {
		account->what = what;
		account->asked = bytes;
		account->taken = taken;
	}
	return fits;
}

bool wsi_account_take(struct wsi_account *account, const char *what, uint64_t bytes)
{
	bool fits = wsi_account_has_room(account, what, bytes);
	account->used += fits ? bytes : 0;
	return fits;
}

void wsi_account_give(struct wsi_account *account, uint64_t bytes)
{
	account->used -= bytes;
}

bool wsi_account_fix(struct wsi_account *account, const char *what, uint64_t bytes)
{
	bool fits = wsi_account_has_room(account, what, bytes);
	account->fixed += fits ? bytes : 0;
	return fits;
}

enum ws_status wsi_account_fail(const struct wsi_account *account, struct ws_error *err)
{
	if (!account->what)
		return wsi_cuda_fail(err, WS_CUDA_ERROR_OUT_OF_MEMORY, "the host has none");
	return wsi_cuda_context(err,
				wsi_fail(err, WS_LIMIT, WS_NO_OFFSET,
					 "no room for %s, %" PRIu64
					 " bytes: the device takes %" PRIu64 " of %" PRIu64,
					 account->what, account->asked, account->taken,
					 account->limit),
				WS_CUDA_ERROR_OUT_OF_MEMORY);
}

/* What a region takes with its tables, all pages there. What is the caller's is not counted. */
static uint64_t region_cost(const struct wsi_region *region)
{
	uint64_t tables = sizeof *region +
			  n_pages(region) * (sizeof(void *) + sizeof(struct wsi_memory_page));
	return tables + (region->kind == WSI_REGION_MAPPED ? 0 : region->reach);
}

static bool region_count(const struct wsi_memory *memory, const struct wsi_region *region)
{
	static const char *const names[] = {
		[WSI_REGION_USER] = "a buffer",
		[WSI_REGION_HEAP] = "malloc() of a kernel",
		[WSI_REGION_MODULE] = "variables of an image",
		[WSI_REGION_MAPPED] = "tables of memory that is lent",
		[WSI_REGION_GRID] = "parameters of a launch",
	};
	return !memory->account ||
	       wsi_account_take(memory->account, names[region->kind], region_cost(region));
}

/* ---- regions ---- */

/* Index of the first region that starts above an address. */
static size_t region_above(const struct wsi_memory *memory, uint64_t address)
{
	return WSI_BISECT(i, 0, memory->n, memory->regions[i].start <= address);
}

struct wsi_region *wsi_memory_find(struct wsi_memory *memory, uint64_t address)
{
	for (unsigned i = 0; i < WSI_COUNT(memory->recent); i++) {
		if (memory->recent[i] >= memory->n)
			continue;
		struct wsi_region *region = &memory->regions[memory->recent[i]];
		if (address - region->start < region->reach)
			return region;
	}
	size_t above = region_above(memory, address);
	if (above == 0)
		return NULL;
	struct wsi_region *region = &memory->regions[above - 1];
	if (address - region->start >= region->reach)
		return NULL;
	memory->recent[1] = memory->recent[0];
	memory->recent[0] = above - 1;
	return region;
}

enum ws_status wsi_memory_add(struct wsi_memory *memory, const struct wsi_region *region,
			      struct ws_error *err)
{
	uint64_t end = region->start + region->reach;
	size_t at = region_above(memory, region->start);
	if (region->start == UINT64_MAX)
		return wsi_cuda_context(err,
					wsi_fail(err, WS_LIMIT, WS_NO_OFFSET,
						 "no addresses for %" PRIu64 " bytes",
						 region->reach),
					WS_CUDA_ERROR_OUT_OF_MEMORY);
	if (region->reach == 0 || end < region->start ||
	    (at < memory->n && memory->regions[at].start < end) ||
	    (at > 0 &&
	     region->start - memory->regions[at - 1].start < memory->regions[at - 1].reach))
		return wsi_cuda_fail(err, WS_CUDA_ERROR_INVALID_VALUE,
				     "%" PRIu64 " bytes at 0x%" PRIx64 " are not free",
				     region->reach, region->start);
	struct wsi_region added = *region;
	if (!region_count(memory, region))
		return wsi_account_fail(memory->account, err);
	added.pages = pages_create(region);
	if (!added.pages || !wsi_grow(&memory->regions, &memory->cap, memory->n,
				      sizeof *memory->regions, WSI_MAX_REGIONS)) {
		wsi_free(added.pages);
		if (memory->account)
			wsi_account_give(memory->account, region_cost(region));
		return wsi_cuda_fail(err, WS_CUDA_ERROR_OUT_OF_MEMORY,
				     "tables of %" PRIu64 " bytes", region->reach);
	}
	memmove(&memory->regions[at + 1], &memory->regions[at],
		(memory->n - at) * sizeof *memory->regions);
	memory->regions[at] = added;
	memory->regions[at].budget = memory->budget;
	memory->n++;
	return WS_OK;
}

enum ws_status wsi_memory_add_mapped(struct wsi_memory *memory, const struct wsi_region *region,
				     void *bytes, struct ws_error *err)
{
	enum ws_status st = wsi_memory_add(memory, region, err);
	if (st != WS_OK)
		return st;
	struct wsi_region *added = wsi_memory_find(memory, region->start);
	for (uint64_t i = 0; i < n_pages(added); i++) {
		struct wsi_memory_page *page = wsi_zalloc(sizeof *page);
		added->pages->page[i] = page;
		if (!page) {
			wsi_memory_remove(memory, added);
			return wsi_cuda_fail(err, WS_CUDA_ERROR_OUT_OF_MEMORY, "tables of pages");
		}
		page->refs = 1;
		page->bytes = (uint8_t *)bytes + (i << WSI_PAGE_BITS);
	}
	return WS_OK;
}

uint64_t wsi_memory_place(struct wsi_memory *memory, uint64_t size, uint64_t alignment)
{
	enum { GUARD = 4096 };
	uint64_t start =
		(wsi_max_u64(memory->next, WSI_HEAP_START) + alignment - 1) & ~(alignment - 1);
	if (size > HEAP_END - start) /* used up: nobody gets there in a test */
		return UINT64_MAX;
	for (;;) { /* regions that the caller placed may be in the way */
		size_t at = region_above(memory, start);
		bool before = at > 0 && start - memory->regions[at - 1].start <
						memory->regions[at - 1].reach + GUARD;
		bool behind = at < memory->n && memory->regions[at].start - start < size + GUARD;
		if (!before && !behind)
			break;
		const struct wsi_region *hit = &memory->regions[behind ? at : at - 1];
		start = (hit->start + hit->reach + GUARD + alignment - 1) & ~(alignment - 1);
	}
	memory->next = start + size + GUARD;
	return start;
}

void wsi_memory_remove(struct wsi_memory *memory, struct wsi_region *region)
{
	size_t at = (size_t)(region - memory->regions);
	if (memory->account)
		wsi_account_give(memory->account, region_cost(region));
	pages_release(region);
	memmove(region, region + 1, (memory->n - at - 1) * sizeof *region);
	memory->n--;
}

/* ---- bytes ---- */

/* Brings a page in that is absent; whoever shares the table gets it too, as it is what they would
 * read. False: no memory, or not recorded. */
static bool page_fetch(struct wsi_region *region, uint64_t index, bool *ret_no_memory)
{
	struct wsi_memory_page *page = page_create(region, index);
	if (!page) {
		*ret_no_memory = true;
		return false;
	}
	if (region->fetch && !region->fetch(region->user, region->start + (index << WSI_PAGE_BITS),
					    page->bytes, (size_t)page_bytes(region, index))) {
		page_release(page);
		return false;
	}
	region->pages->page[index] = page;
	return true;
}

uint8_t *wsi_region_read(struct wsi_region *region, uint64_t address, uint64_t *len,
			 bool *ret_no_memory)
{
	uint64_t off = address - region->start, index = off >> WSI_PAGE_BITS;
	uint64_t in_page = off & (WSI_PAGE_BYTES - 1);
	*ret_no_memory = false;
	*len = wsi_min_u64(*len, page_bytes(region, index) - in_page);
	if (!region->pages->page[index] && !page_fetch(region, index, ret_no_memory))
		return NULL;
	return region->pages->page[index]->bytes + in_page;
}

const uint8_t *wsi_memory_read(struct wsi_memory *memory, uint64_t address, uint64_t *len,
			       bool *ret_no_memory)
{
	struct wsi_region *region = wsi_memory_find(memory, address);
	*ret_no_memory = false;
	return region ? wsi_region_read(region, address, len, ret_no_memory) : NULL;
}

/* Makes a page the region's alone, whose table is. The caller's pages are shared by intent. */
static bool page_own(struct wsi_region *region, uint64_t index)
{
	struct wsi_memory_page *page = region->pages->page[index];
	if (page->refs == 1 || page->bytes != (uint8_t *)(page + 1))
		return true;
	size_t len = (size_t)page_bytes(region, index);
	spend_region(region, len);
	if (page->refs == 1)
		return true;
	struct wsi_memory_page *copy =
		wsi_realloc_array(NULL, 1, sizeof *copy + len); /* not zeroed */
	if (!copy)
		return false;
	*copy = (struct wsi_memory_page){ .refs = 1, .bytes = (uint8_t *)(copy + 1) };
	memcpy(copy->bytes, page->bytes, len);
	page_release(page);
	region->pages->page[index] = copy;
	return true;
}

uint8_t *wsi_region_write(struct wsi_region *region, uint64_t address, uint64_t *len,
			  bool *ret_no_memory)
{
	uint64_t index = (address - region->start) >> WSI_PAGE_BITS;
	if (!wsi_region_read(region, address, len, ret_no_memory))
		return NULL;
	*ret_no_memory = !pages_own(region) || !page_own(region, index);
	if (*ret_no_memory)
		return NULL;
	return region->pages->page[index]->bytes +
	       ((address - region->start) & (WSI_PAGE_BYTES - 1));
}

static uint8_t *memory_write(struct wsi_memory *memory, uint64_t address, uint64_t *len,
			     bool *ret_no_memory)
{
	struct wsi_region *region = wsi_memory_find(memory, address);
	*ret_no_memory = false;
	return region ? wsi_region_write(region, address, len, ret_no_memory) : NULL;
}

static enum ws_status bad_range(struct ws_error *err, uint64_t address, bool no_memory)
{
	if (no_memory)
		return wsi_cuda_fail(err, WS_CUDA_ERROR_OUT_OF_MEMORY, "page");
	return wsi_cuda_fail(err, WS_CUDA_ERROR_INVALID_VALUE, "nothing is allocated at 0x%" PRIx64,
			     address);
}

/* Whether all of a range is allocated. Advances from region to region. */
static bool is_allocated(struct wsi_memory *memory, uint64_t address, uint64_t len,
			 uint64_t *ret_bad)
{
	while (len > 0) {
		const struct wsi_region *region = wsi_memory_find(memory, address);
		*ret_bad = address;
		if (!region)
			return false;
		uint64_t n = wsi_min_u64(len, region->reach - (address - region->start));
		address += n;
		len -= n;
	}
	return true;
}

enum ws_status wsi_memory_copy_in(struct wsi_memory *memory, uint64_t address, const void *bytes,
				  size_t len, struct ws_error *err)
{
	bool no_memory;
	uint64_t bad;
	if (!is_allocated(memory, address, len, &bad))
		return bad_range(err, bad, false);
	for (size_t done = 0; done < len;) {
		uint64_t n = len - done;
		uint8_t *to = memory_write(memory, address + done, &n, &no_memory);
		if (!to)
			return bad_range(err, address + done, no_memory);
		memcpy(to, (const uint8_t *)bytes + done, (size_t)n);
		done += (size_t)n;
	}
	return WS_OK;
}

enum ws_status wsi_memory_copy_out(struct wsi_memory *memory, uint64_t address, void *ret_bytes,
				   size_t len, struct ws_error *err)
{
	bool no_memory;
	uint64_t bad;
	if (!is_allocated(memory, address, len, &bad))
		return bad_range(err, bad, false);
	for (size_t done = 0; done < len;) {
		uint64_t n = len - done;
		const uint8_t *from = wsi_memory_read(memory, address + done, &n, &no_memory);
		if (!from)
			return bad_range(err, address + done, no_memory);
		memcpy((uint8_t *)ret_bytes + done, from, (size_t)n);
		done += (size_t)n;
	}
	return WS_OK;
}

/* ---- snapshots ---- */

bool wsi_memory_share(const struct wsi_memory *memory, struct wsi_memory *ret_other)
{
	*ret_other = *memory;
	ret_other->cap = memory->n;
	ret_other->account = NULL;
	ret_other->regions = wsi_zalloc_array(memory->n, sizeof *memory->regions);
	if (!ret_other->regions) {
		*ret_other = (struct wsi_memory){ .n = 0 };
		return false;
	}
	for (size_t i = 0; i < memory->n; i++) {
		ret_other->regions[i] = memory->regions[i];
		memory->regions[i].pages->refs++;
	}
	return true;
}

uint64_t wsi_memory_apart(const struct wsi_memory *memory, const struct wsi_memory *other)
{
	uint64_t bytes = other->n * sizeof *other->regions;
	for (size_t i = 0; i < other->n; i++) {
		const struct wsi_region *region = &other->regions[i], *same = NULL;
		size_t above = region_above(memory, region->start);
		if (above > 0 && memory->regions[above - 1].start == region->start &&
		    memory->regions[above - 1].reach == region->reach)
			same = &memory->regions[above - 1];
		if (same && same->pages == region->pages)
			continue;
		bytes += n_pages(region) * sizeof(void *);
		for (uint64_t k = 0; k < n_pages(region); k++) {
			const struct wsi_memory_page *page = region->pages->page[k];
			if (page && page->bytes == (const uint8_t *)(page + 1) &&
			    (!same || same->pages->page[k] != page))
				bytes += page_bytes(region, k);
		}
	}
	return bytes;
}

void wsi_memory_fini(struct wsi_memory *memory)
{
	for (size_t i = 0; i < memory->n; i++)
		pages_release(&memory->regions[i]);
	wsi_free(memory->regions);
	*memory = (struct wsi_memory){ .n = 0 };
}
