/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that code calls and the device supplies: what the driver links in. Their addresses
 * are in a range of their own; a lane whose pc comes there has called one. The calling convention
 * is nvcc's: arguments and results from R4 on, the return address in R20 and R21.
 */
#include "sim/check/check.h"
#include "sim/exec/access.h"
#include "sim/exec/exec.h"

enum { LANE_SYSCALL_ERROR = 13 }; /* of old drivers: state/exception.c */
enum { ARGUMENT = 4, RETURN = 20, MAX_TEXT = 1024, MAX_HEAP_REGIONS = 1 << 16 };

uint64_t wsi_service_argument(const struct wsi_run *run, unsigned number, unsigned lane)
{
	return number + 1u < run->warp->n_regs ? wsi_reg64(run->warp, number, lane) : 0;
}

void wsi_service_result(struct wsi_run *run, unsigned lane, uint64_t value, unsigned words)
{
	for (unsigned k = 0; k < words && ARGUMENT + k < run->warp->n_regs; k++)
		wsi_reg(run->warp, ARGUMENT + k)[lane] = (uint32_t)(value >> 32 * k);
}

/* A text of device memory; false: it is not there, and the fault is recorded. */
static bool read_device_text(struct wsi_run *run, unsigned lane, uint64_t address, char *to,
			     size_t size)
{
	for (size_t i = 0; i + 1 < size; i++) {
		struct wsi_lane_spot spot;
		if (!wsi_sim_spot(run, WS_SASS_SPACE_GENERIC, lane, address + i, 1, false, &spot))
			return false;
		to[i] = (char)spot.bytes[0];
		if (to[i] == '\0')
			return true;
	}
	to[size - 1] = '\0';
	return true;
}

/* ---- printing ---- */

static bool service_print(struct ws_sim *sim, const char *bytes, size_t len)
{
	uint64_t room = sim->options.print_bytes;
	if (!sim->printed && wsi_account_fix(&sim->account, "what kernels print", room))
		sim->printed = wsi_zalloc((size_t)room);
	if (!sim->printed)
		return false;
	len = (size_t)wsi_min_u64(len, room - sim->n_printed); /* full: what comes is lost */
	memcpy(sim->printed + sim->n_printed, bytes, len);
	sim->n_printed += len;
	return true;
}

/* The arguments of one call: eight bytes each, or four, as varargs of device code. */
struct call_arguments {
	struct wsi_run *run;
	unsigned lane;
	uint64_t next;
};

static bool service_argument_take(struct call_arguments *args, unsigned bytes, uint64_t *ret_value)
{
	struct wsi_lane_spot spot;
	args->next = (args->next + bytes - 1) & ~(uint64_t)(bytes - 1);
	if (!wsi_sim_spot(args->run, WS_SASS_SPACE_GENERIC, args->lane, args->next, bytes, false,
			  &spot))
		return false;
	args->next += bytes;
	*ret_value = wsi_load_u32(spot.bytes);
	if (bytes == 8)
		*ret_value |= (uint64_t)wsi_load_u32(spot.bytes + spot.step) << 32;
	return true;
}

/* Formats are put together here, from flags that were read one by one. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

/* One conversion. */
static bool print_conversion(struct call_arguments *args, const char *flags, bool wide, char letter)
{
	char format[48], text[MAX_TEXT];
	uint64_t value = 0;
	int n = 0;
	if (strchr("di", letter)) {
		if (!service_argument_take(args, wide ? 8 : 4, &value))
			return false;
		wsi_format(format, "%%%s" PRId64, flags);
		n = snprintf(text, sizeof text, format, wide ? (int64_t)value : (int32_t)value);
	} else if (strchr("uoxX", letter)) {
		if (!service_argument_take(args, wide ? 8 : 4, &value))
			return false;
		wsi_format(format, "%%%sll%c", flags, letter);
		n = snprintf(text, sizeof text, format, (unsigned long long)value);
	} else if (strchr("aAeEfFgG", letter)) {
		double number;
		if (!service_argument_take(args, 8, &value))
			return false;
		memcpy(&number, &value, sizeof number);
		wsi_format(format, "%%%s%c", flags, letter);
		n = snprintf(text, sizeof text, format, number);
	} else if (letter == 'c') {
		if (!service_argument_take(args, 4, &value))
			return false;
		wsi_format(format, "%%%sc", flags);
		n = snprintf(text, sizeof text, format, (int)(unsigned char)value);
	} else if (letter == 's') {
		char string[MAX_TEXT];
		if (!service_argument_take(args, 8, &value) ||
		    !read_device_text(args->run, args->lane, value, string, sizeof string))
			return false;
		wsi_format(format, "%%%ss", flags);
		n = snprintf(text, sizeof text, format, string);
	} else if (letter == 'p') {
		if (!service_argument_take(args, 8, &value))
			return false;
		n = snprintf(text, sizeof text, "0x%" PRIx64, value);
	} else {
		text[0] = '%';
		text[1] = letter;
		n = letter == '%' ? 1 : 2;
	}
	size_t len = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
	args->run->no_memory |= !service_print(args->run->sim, text, len);
	return !args->run->no_memory;
}

#pragma GCC diagnostic pop

/* Reads "%-8.3lld" up to its letter; a width from an argument is taken. Numbers have at most three
 * digits: no line of a megabyte. */
static const char *conversion(struct call_arguments *args, const char *at, char *flags, size_t size,
			      bool *ret_wide, char *ret_letter)
{
	size_t n = 0;
	unsigned digits = 0;
	*ret_wide = false;
	for (; *at && strchr("-+ #0123456789.*", *at); at++) {
		uint64_t width;
		digits = *at >= '0' && *at <= '9' ? digits + 1 : 0;
		if (*at != '*') {
			if (n + 1 < size && digits <= 3)
				flags[n++] = *at;
			continue;
		}
		if (!service_argument_take(args, 4, &width))
			return NULL;
		int m = snprintf(flags + n, size - n, "%d", (int)((int32_t)width % 1000));
		n += m > 0 && (size_t)m < size - n ? (size_t)m : 0;
	}
	flags[n] = '\0';
	for (; *at && strchr("hljztL", *at); at++)
		*ret_wide |= *at != 'h' && *at != 'L';
	*ret_letter = *at;
	return *at ? at + 1 : at;
}

static enum wsi_step service_vprintf(struct wsi_run *run, unsigned lane)
{
	char format[MAX_TEXT];
	struct call_arguments args = { run, lane, wsi_service_argument(run, ARGUMENT + 2, lane) };
	uint64_t n = 0;
	if (!read_device_text(run, lane, wsi_service_argument(run, ARGUMENT, lane), format,
			      sizeof format))
		return WSI_STEP_FAULT;
	for (const char *at = format; *at;) {
		size_t plain = strcspn(at, "%");
		char flags[16], letter;
		bool wide;
		run->no_memory |= !service_print(run->sim, at, plain);
		at += plain;
		if (*at != '%')
			break;
		at = conversion(&args, at + 1, flags, sizeof flags, &wide, &letter);
		if (!at || (letter && !print_conversion(&args, flags, wide, letter)))
			return WSI_STEP_FAULT;
		n += letter != '%';
	}
	wsi_service_result(run, lane, n, 1);
	return WSI_STEP_NEXT;
}

/* ---- the heap ---- */

static enum wsi_step service_malloc(struct wsi_run *run, unsigned lane)
{
	struct ws_sim *sim = run->sim;
	uint64_t size = wsi_service_argument(run, ARGUMENT, lane), address = 0;
	if (size > 0 && size <= sim->options.heap_bytes - sim->heap_bytes &&
	    sim->n_heap < MAX_HEAP_REGIONS &&
	    wsi_account_has_room(&sim->account, "malloc()", size)) {
		struct wsi_region region = { .size = size, .reach = size, .kind = WSI_REGION_HEAP };
		region.start = wsi_memory_place(&sim->memory, size, 16);
		enum ws_status st = wsi_memory_add(&sim->memory, &region, NULL);
		run->no_memory |= st == WS_NO_MEMORY;
		if (st == WS_OK) {
			address = region.start;
			sim->heap_bytes += size;
			sim->n_heap++;
		}
	}
	sim->account.what = NULL; /* what has no room is NULL for the kernel, as in CUDA */
	wsi_service_result(run, lane, address, 2);
	return WSI_STEP_NEXT;
}

static enum wsi_step service_free(struct wsi_run *run, unsigned lane)
{
	struct ws_sim *sim = run->sim;
	uint64_t address = wsi_service_argument(run, ARGUMENT, lane);
	if (address == 0)
		return WSI_STEP_NEXT;
	struct wsi_region *region = wsi_memory_find(&sim->memory, address);
	if (!region || region->start != address || region->kind != WSI_REGION_HEAP)
		return wsi_fault_at(run, LANE_SYSCALL_ERROR, lane, address,
				    "free() of 0x%" PRIx64 ", which malloc() did not give",
				    address);
	sim->heap_bytes -= region->size;
	sim->n_heap--;
	wsi_memory_remove(&sim->memory, region);
	return WSI_STEP_NEXT;
}

/* ---- assert() ---- */

static enum wsi_step service_assert(struct wsi_run *run, unsigned lane)
{
	const struct wsi_block *block = run->warp->block;
	char expression[256], file[256], function[256], line[1200];
	if (!read_device_text(run, lane, wsi_service_argument(run, ARGUMENT, lane), expression,
			      sizeof expression) ||
	    !read_device_text(run, lane, wsi_service_argument(run, ARGUMENT + 2, lane), file,
			      sizeof file) ||
	    !read_device_text(run, lane, wsi_service_argument(run, ARGUMENT + 6, lane), function,
			      sizeof function))
		return WSI_STEP_FAULT;
	uint32_t number = wsi_lane_value(run->warp, ARGUMENT + 4, lane);
	struct ws_dim3 dim = block->grid->block;
	uint32_t thread = run->warp->id * WSI_LANES + lane;
	wsi_format(line,
		   "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
		   file, number, function, block->idx.x, block->idx.y, block->idx.z, thread % dim.x,
		   thread / dim.x % dim.y, thread / dim.x / dim.y, expression);
	run->no_memory |= !service_print(run->sim, line, strlen(line));
	return wsi_fault(run, CUDBG_EXCEPTION_WARP_ASSERT, 1u << lane, "assertion `%.100s` failed",
			 expression);
}

/* ---- calls ---- */

static const struct {
	const char *name;
	wsi_service *run;
	unsigned top;       /* registers that it looks at */
	bool stands_before; /* what an image has of that name */
} services[] = {
	/* without a function: unimplemented, told when it is called */
	{ "vprintf", service_vprintf, 8, false },
	{ "malloc", service_malloc, 6, false },
	{ "free", service_free, 6, false },
	{ "__assertfail", service_assert, 14, false },
	{ "__cudaCDP2GetParameterBufferV2", wsi_service_parameters, 13, true },
	{ "__cudaCDP2LaunchDeviceV2", wsi_service_launch, 8, true },
	{ "__cudaCDP2LaunchDeviceV2_ptsz", wsi_service_launch, 8, true },
	{ "__cudaCDP2GetLastError", wsi_service_get_error, 5, true },
	{ "__cudaCDP2PeekAtLastError", wsi_service_peek_error, 5, true },
	{ "__cuda_syscall_cp_async_bulk_unicast", NULL, 0, false },
	{ "__cuda_syscall_cp_async_bulk_multicast", NULL, 0, false },
	{ "__cuda_syscall_cp_async_bulk_tensor_1d_tile_unicast", NULL, 0, false },
	{ "__cuda_syscall_cp_async_bulk_tensor_2d_tile_unicast", NULL, 0, false },
	{ "__cuda_syscall_cp_async_bulk_tensor_3d_tile_unicast", NULL, 0, false },
	{ "__cuda_syscall_cp_async_bulk_tensor_4d_tile_unicast", NULL, 0, false },
	{ "__cuda_syscall_cp_async_bulk_tensor_5d_tile_unicast", NULL, 0, false },
};

uint64_t wsi_service_address(struct ws_str name, bool is_defined)
{
	for (size_t i = 0; i < WSI_COUNT(services); i++)
		if ((services[i].stands_before || !is_defined) &&
		    ws_str_equal(name, ws_str_of(services[i].name)))
			return WSI_SERVICE_BASE + (i + 1) * WS_SASS_BYTES;
	return 0;
}

/* All lanes of the group have called the same; they return to where each came from. */
enum wsi_step wsi_service_call(struct wsi_run *run)
{
	uint64_t index = (run->pc - WSI_SERVICE_BASE) / WS_SASS_BYTES - 1;
	if (index >= WSI_COUNT(services) || run->pc % WS_SASS_BYTES != 0 ||
	    run->warp->n_regs < RETURN + 2 || run->warp->n_regs < services[index].top)
		return wsi_fault(run, CUDBG_EXCEPTION_WARP_INVALID_PC, run->group,
				 "a jump to 0x%" PRIx64 ", which is not code", run->pc);
	if (!services[index].run)
		return wsi_fault(run, WS_SIM_UNIMPLEMENTED, run->group, "unimplemented function %s",
				 services[index].name);
	for (uint32_t left = run->group; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		if (services[index].run(run, lane) == WSI_STEP_FAULT)
			return WSI_STEP_FAULT;
	}
	if (run->warp->trace)
		wsi_trail_called(run->warp, run->group);
	for (uint32_t left = run->group; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		uint64_t back = wsi_reg64(run->warp, RETURN, lane);
		run->warp->pc[lane] = back;
		wsi_sim_leave(run->warp, lane, back);
	}
	return WSI_STEP_SPLIT;
}
