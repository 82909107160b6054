/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshot is known by the keys of its maps. Each map and list becomes a thing of twelve bytes as
 * soon as it has its items; what it tells about the places is taken at that moment.
 *
 *   root -> list of segments -> list of blocks -> list of frames
 *     '---> list of lists of events ------------>'
 *
 * Nothing may change once it is part of something else, and all blocks and events of the file must
 * be the root's: a file with two snapshots in it would mix two processes.
 */
#include "torch/memory.h"

#include "text/pickle_read.h"

enum {
	MAX_VALUES = 1 << 25,
	MAX_FRAMES = 1 << 22,
	MAX_REFS = 1 << 25,
	MAX_SEGMENTS = 1 << 20,
	MAX_STACK = 64, /* frames that are kept of a stack */
	ROUNDING = 512, /* a block has a multiple of it; events tell what was asked for */
};

enum thing_kind {
	OTHER,
	EMPTY_LIST,
	EMPTY_MAP,
	FRAME, /* first: index of the frame */
	BLOCK,
	EVENT,
	SEGMENT,  /* n: blocks */
	FRAMES,   /* first, n: of refs */
	BLOCKS,   /* n */
	EVENTS,   /* n */
	SEGMENTS, /* first: how many; n: their blocks */
	TRACES,   /* n: events */
	ROOT,
};

/* A map or a list. */
struct wsi_torch_thing {
	uint8_t kind;
	bool is_map;
	bool taken; /* it is part of another one */
	uint32_t first, n;
};

enum key {
	ACTION,
	ADDR,
	ADDRESS,
	BLOCKS_OF,
	FILENAME,
	FRAMES_OF,
	LINE,
	NAME,
	REQUESTED_SIZE,
	SEGMENTS_OF,
	SIZE,
	STATE,
	TIME_US,
	TOTAL_SIZE,
	TRACES_OF,
	N_KEYS,
};

#define NAME_OF(text)                  \
	{                              \
		text, sizeof(text) - 1 \
	}

static const struct ws_str key_names[N_KEYS] = {
	[ACTION] = NAME_OF("action"),
	[ADDR] = NAME_OF("addr"),
	[ADDRESS] = NAME_OF("address"),
	[BLOCKS_OF] = NAME_OF("blocks"),
	[FILENAME] = NAME_OF("filename"),
	[FRAMES_OF] = NAME_OF("frames"),
	[LINE] = NAME_OF("line"),
	[NAME] = NAME_OF("name"),
	[REQUESTED_SIZE] = NAME_OF("requested_size"),
	[SEGMENTS_OF] = NAME_OF("segments"),
	[SIZE] = NAME_OF("size"),
	[STATE] = NAME_OF("state"),
	[TIME_US] = NAME_OF("time_us"),
	[TOTAL_SIZE] = NAME_OF("total_size"),
	[TRACES_OF] = NAME_OF("device_traces"),
};

/* The values of a map by their keys; NULL: it does not have that one. */
struct torch_fields {
	const struct wsi_pickle_value *at[N_KEYS];
};

static void fields_find(struct torch_fields *fields, const struct wsi_pickle_value *items, size_t n)
{
	*fields = (struct torch_fields){ { NULL } };
	for (size_t i = 0; i < n; i += 2) {
		struct ws_str key = wsi_pickle_text(&items[i]);
		for (size_t k = 0; k < N_KEYS; k++) {
			if (key.len != key_names[k].len ||
			    memcmp(key.ptr, key_names[k].ptr, key.len) != 0)
				continue;
			fields->at[k] = &items[i + 1];
			break;
		}
	}
}

static bool field_number_of(const struct torch_fields *fields, enum key key, uint64_t *ret_number)
{
	const struct wsi_pickle_value *value = fields->at[key];
	if (!value || value->kind != WSI_PICKLE_NUMBER || value->number < 0)
		return false;
	*ret_number = (uint64_t)value->number;
	return true;
}

static struct ws_str text_of(const struct torch_fields *fields, enum key key)
{
	return fields->at[key] ? wsi_pickle_text(fields->at[key]) : ws_str_of("");
}

/* The map or list of a key, or NULL. */
static const struct wsi_torch_thing *thing_of(const struct wsi_torch_memory *memory,
					      const struct torch_fields *fields, enum key key)
{
	const struct wsi_pickle_value *value = fields->at[key];
	return value && value->kind >= WSI_PICKLE_LIST ? &memory->things[value->container] : NULL;
}

static struct wsi_torch_stack stack_of(const struct wsi_torch_memory *memory,
				       const struct torch_fields *fields)
{
	const struct wsi_torch_thing *list = thing_of(memory, fields, FRAMES_OF);
	return list && list->kind == FRAMES ? (struct wsi_torch_stack){ list->first, list->n }
					    : (struct wsi_torch_stack){ 0, 0 };
}

static uint32_t word_index_of(const char *const *words, size_t n, struct ws_str word)
{
	uint32_t i = 0;
	while (i < n && !(words[i] && ws_str_equal(word, ws_str_of(words[i]))))
		i++;
	return i;
}

static bool is_in(uint64_t address, uint64_t start, uint64_t size)
{
	return address >= start && address - start < size;
}

/* ---- what a map tells ---- */

static enum ws_status take_frame(struct wsi_torch_memory *memory, const struct torch_fields *fields,
				 struct wsi_torch_thing *thing)
{
	struct wsi_torch_frame frame = { .file = text_of(fields, FILENAME),
					 .function = text_of(fields, NAME) };
	(void)field_number_of(fields, LINE, &frame.line);
	if (!wsi_grow(&memory->frames, &memory->cap_frames, memory->n_frames, sizeof frame,
		      MAX_FRAMES))
		return memory->n_frames < MAX_FRAMES ? WS_NO_MEMORY : WS_LIMIT;
	thing->kind = FRAME;
	thing->first = (uint32_t)memory->n_frames;
	memory->frames[memory->n_frames++] = frame;
	return WS_OK;
}

static enum wsi_block_state snapshot_state_of(struct ws_str word)
{
	/* PyTorch writes "pending", and documents "awaiting" */
	static const char *const words[] = { "active_allocated", "active_pending_free",
					     "active_awaiting_free", "inactive" };
	static const enum wsi_block_state states[] = { WSI_BLOCK_ALLOCATED, WSI_BLOCK_PENDING,
						       WSI_BLOCK_PENDING, WSI_BLOCK_INACTIVE,
						       WSI_BLOCK_OTHER };
	return states[word_index_of(words, WSI_COUNT(words), word)];
}

static enum ws_status take_memory_block(struct wsi_torch_memory *memory,
					const struct torch_fields *fields,
					struct wsi_torch_thing *thing)
{
	struct wsi_torch_block block = { .there = true,
					 .state = snapshot_state_of(text_of(fields, STATE)),
					 .stack = stack_of(memory, fields) };
	if (!field_number_of(fields, ADDRESS, &block.start) ||
	    !field_number_of(fields, SIZE, &block.size) || block.size > UINT64_MAX - block.start)
		return WS_MALFORMED;
	block.has_requested = field_number_of(fields, REQUESTED_SIZE, &block.requested);
	thing->kind = BLOCK;
	memory->n_blocks++;
	for (size_t i = 0; i < memory->n_places; i++) {
		struct wsi_torch_place *place = &memory->places[i];
		uint64_t end = block.start + block.size;
		if (is_in(place->address, block.start, block.size))
			place->in = block;
		else if (block.state == WSI_BLOCK_INACTIVE)
			continue;
		else if (end <= place->address &&
			 (!place->below.there || end > place->below.start + place->below.size))
			place->below = block;
		else if (block.start > place->address &&
			 (!place->above.there || block.start < place->above.start))
			place->above = block;
	}
	return WS_OK;
}

static enum wsi_event_kind event_kind(struct ws_str word)
{
	static const char *const words[] = { "alloc",         "free_requested", "free_completed",
					     "segment_alloc", "segment_map",    "segment_free",
					     "segment_unmap" };
	static const enum wsi_event_kind kinds[] = {
		WSI_EVENT_ALLOC,       WSI_EVENT_FREE_REQUESTED, WSI_EVENT_FREE_COMPLETED,
		WSI_EVENT_SEGMENT_IN,  WSI_EVENT_SEGMENT_IN,     WSI_EVENT_SEGMENT_OUT,
		WSI_EVENT_SEGMENT_OUT, WSI_EVENT_OTHER
	};
	return kinds[word_index_of(words, WSI_COUNT(words), word)];
}

static enum ws_status take_event(struct wsi_torch_memory *memory, const struct torch_fields *fields,
				 struct wsi_torch_thing *thing)
{
	struct wsi_torch_event event = { .number = ++memory->n_events,
					 .stack = stack_of(memory, fields) };
	enum wsi_event_kind kind = event_kind(text_of(fields, ACTION));
	thing->kind = EVENT;
	event.has_time = field_number_of(fields, TIME_US, &event.time_us);
	if (event.has_time) {
		memory->has_time = true;
		memory->last_time_us = wsi_max_u64(memory->last_time_us, event.time_us);
	}
	if (kind == WSI_EVENT_OTHER || !field_number_of(fields, ADDR, &event.start) ||
	    !field_number_of(fields, SIZE, &event.size))
		return WS_OK;
	uint64_t size = wsi_add_sat(event.size, ROUNDING - 1) / ROUNDING * ROUNDING;
	for (size_t i = 0; i < memory->n_places; i++)
		if (is_in(memory->places[i].address, event.start, size))
			memory->places[i].last[kind] = event;
	return WS_OK;
}

static enum ws_status take_segment(struct wsi_torch_memory *memory,
				   const struct torch_fields *fields, struct wsi_torch_thing *thing)
{
	const struct wsi_torch_thing *blocks = thing_of(memory, fields, BLOCKS_OF);
	struct wsi_torch_segment segment;
	if (!field_number_of(fields, ADDRESS, &segment.start) ||
	    !field_number_of(fields, TOTAL_SIZE, &segment.size) ||
	    (blocks->kind != BLOCKS && blocks->kind != EMPTY_LIST))
		return WS_MALFORMED;
	if (!wsi_grow(&memory->segments, &memory->cap_segments, memory->n_segments, sizeof segment,
		      MAX_SEGMENTS))
		return memory->n_segments < MAX_SEGMENTS ? WS_NO_MEMORY : WS_LIMIT;
	memory->segments[memory->n_segments++] = segment;
	thing->kind = SEGMENT;
	thing->n = blocks->n;
	return WS_OK;
}

/* The whole snapshot, if it has all that the file has. */
static enum ws_status take_snapshot_root(struct wsi_torch_memory *memory,
					 const struct torch_fields *fields,
					 struct wsi_torch_thing *thing)
{
	const struct wsi_torch_thing none = { .kind = EMPTY_LIST };
	const struct wsi_torch_thing *segments = thing_of(memory, fields, SEGMENTS_OF);
	const struct wsi_torch_thing *traces = thing_of(memory, fields, TRACES_OF);
	if (!traces)
		traces = &none;
	if ((segments->kind == SEGMENTS || segments->kind == EMPTY_LIST) &&
	    (traces->kind == TRACES || traces->kind == EMPTY_LIST) &&
	    segments->first == memory->n_segments && segments->n == memory->n_blocks &&
	    traces->n == memory->n_events)
		thing->kind = ROOT;
	return WS_OK;
}

static enum ws_status add_pairs(struct wsi_torch_memory *memory, struct wsi_torch_thing *thing,
				const struct wsi_pickle_value *items, size_t n)
{
	struct torch_fields fields;
	if (thing->kind != EMPTY_MAP) /* of those that are known all comes at once */
		return thing->kind == OTHER ? WS_OK : WS_MALFORMED;
	thing->kind = OTHER;
	fields_find(&fields, items, n);
	if (fields.at[FILENAME] && fields.at[LINE])
		return take_frame(memory, &fields, thing);
	if (fields.at[ACTION] && fields.at[SIZE])
		return take_event(memory, &fields, thing);
	if (fields.at[STATE] && fields.at[SIZE])
		return take_memory_block(memory, &fields, thing);
	if (fields.at[TOTAL_SIZE] && thing_of(memory, &fields, BLOCKS_OF))
		return take_segment(memory, &fields, thing);
	if (thing_of(memory, &fields, SEGMENTS_OF))
		return take_snapshot_root(memory, &fields, thing);
	return WS_OK;
}

/* ---- lists ---- */

/* What a list becomes by an item. */
static enum thing_kind list_kind(const struct wsi_torch_thing *item)
{
	static const uint8_t kinds[] = {
		[FRAME] = FRAMES,      [BLOCK] = BLOCKS,  [EVENT] = EVENTS, [SEGMENT] = SEGMENTS,
		[EMPTY_LIST] = TRACES, [EVENTS] = TRACES, [ROOT] = OTHER,
	};
	return item ? kinds[item->kind] : OTHER;
}

static enum ws_status add_frame(struct wsi_torch_memory *memory, struct wsi_torch_thing *list,
				uint32_t frame)
{
	/* of a long stack those that came together at first */
	if (list->n == MAX_STACK || (list->n && list->first + list->n != memory->n_refs))
		return WS_OK;
	if (!wsi_grow(&memory->refs, &memory->cap_refs, memory->n_refs, sizeof *memory->refs,
		      MAX_REFS))
		return memory->n_refs < MAX_REFS ? WS_NO_MEMORY : WS_LIMIT;
	if (list->n++ == 0)
		list->first = (uint32_t)memory->n_refs;
	memory->refs[memory->n_refs++] = frame;
	return WS_OK;
}

static enum ws_status add_item(struct wsi_torch_memory *memory, struct wsi_torch_thing *list,
			       const struct wsi_torch_thing *item)
{
	enum thing_kind kind = list_kind(item);
	uint64_t n = list->n;
	if (list->kind == EMPTY_LIST)
		list->kind = (uint8_t)kind;
	if (list->kind != kind)
		list->kind = OTHER;
	if (list->kind == FRAMES)
		return add_frame(memory, list, item->first);
	if (list->kind == BLOCKS || list->kind == EVENTS)
		n++;
	else if (list->kind == SEGMENTS || list->kind == TRACES)
		n += item->n;
	list->first += list->kind == SEGMENTS;
	list->n = (uint32_t)wsi_min_u64(n, UINT32_MAX);
	return WS_OK;
}

/* ---- the reader of the pickle ---- */

static enum ws_status snapshot_container_create(void *user, enum wsi_pickle_kind kind,
						uint32_t *ret_number)
{
	struct wsi_torch_memory *memory = user;
	if (!wsi_grow(&memory->things, &memory->cap_things, memory->n_things,
		      sizeof *memory->things, MAX_VALUES))
		return memory->n_things < MAX_VALUES ? WS_NO_MEMORY : WS_LIMIT;
	*ret_number = (uint32_t)memory->n_things++;
	bool is_map = kind == WSI_PICKLE_MAP;
	memory->things[*ret_number] =
		(struct wsi_torch_thing){ .kind = is_map ? EMPTY_MAP : EMPTY_LIST,
					  .is_map = is_map };
	return WS_OK;
}

static enum ws_status snapshot_items_add(void *user, uint32_t number,
					 const struct wsi_pickle_value *items, size_t n)
{
	struct wsi_torch_memory *memory = user;
	struct wsi_torch_thing *thing = &memory->things[number];
	if (thing->taken)
		return WS_MALFORMED;
	for (size_t i = 0; i < n; i++)
		if (items[i].kind >= WSI_PICKLE_LIST)
			memory->things[items[i].container].taken = true;
	if (thing->is_map)
		return add_pairs(memory, thing, items, n);
	for (size_t i = 0; i < n; i++) {
		const struct wsi_torch_thing *item = items[i].kind >= WSI_PICKLE_LIST
							     ? &memory->things[items[i].container]
							     : NULL;
		enum ws_status st = add_item(memory, thing, item);
		if (st != WS_OK)
			return st;
	}
	return WS_OK;
}

/* ---- the whole ---- */

static int compare_segments(const void *left, const void *right)
{
	const struct wsi_torch_segment *a = left, *b = right;
	return WSI_ORDER(a->start, b->start);
}

enum ws_status wsi_torch_memory_read(struct wsi_torch_memory *memory, struct ws_span bytes,
				     struct wsi_torch_place *places, size_t n_places,
				     struct ws_error *err)
{
	struct wsi_pickle_reader reader = { .user = memory,
					    .create = snapshot_container_create,
					    .add = snapshot_items_add,
					    .max_values = MAX_VALUES };
	struct wsi_pickle_value root;
	*memory = (struct wsi_torch_memory){ .places = places, .n_places = n_places };
	enum ws_status st = wsi_pickle_read(bytes, &reader, &root, err);
	if (st != WS_OK)
		return st;
	if (root.kind != WSI_PICKLE_MAP || memory->things[root.container].kind != ROOT)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET,
				"it is not one memory snapshot of PyTorch");
	if (memory->n_segments)
		qsort(memory->segments, memory->n_segments, sizeof *memory->segments,
		      compare_segments);
	return WS_OK;
}

void wsi_torch_memory_fini(struct wsi_torch_memory *memory)
{
	wsi_free(memory->segments);
	wsi_free(memory->frames);
	wsi_free(memory->refs);
	wsi_free(memory->things);
	*memory = (struct wsi_torch_memory){ 0 };
}

const struct wsi_torch_frame *wsi_torch_frame(const struct wsi_torch_memory *memory,
					      struct wsi_torch_stack stack, uint32_t i)
{
	assert(i < stack.n);
	return &memory->frames[memory->refs[stack.first + i]];
}

const struct wsi_torch_segment *wsi_torch_segment_at(const struct wsi_torch_memory *memory,
						     uint64_t address)
{
	const struct wsi_torch_segment *at = memory->segments;
	size_t after = WSI_BISECT(i, (size_t)0, memory->n_segments, at[i].start <= address);
	if (!after || !is_in(address, at[after - 1].start, at[after - 1].size))
		return NULL;
	return &at[after - 1];
}
