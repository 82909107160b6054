/* SPDX-License-Identifier: Apache-2.0 */
/* When a line was written, and by which rank, as its start says. */
#include "log/cursor.h"
#include "log/internal.h"

enum { FRONT = 160 /* bytes in which both stand */ };

static bool take_digits(struct ws_str *text, size_t n, uint64_t *ret_number)
{
	struct ws_str digits = { text->ptr, n };
	if (text->len < n || !wsi_take_number(&digits, 10, ret_number) || digits.len)
		return false;
	*text = wsi_str_skip(*text, n);
	return true;
}

/* HH:MM:SS and a fraction. */
static bool take_clock(struct ws_str *text, uint64_t *ret_ns)
{
	uint64_t hour, minute, second, scale = 100000000, ns = 0;
	if (!take_digits(text, 2, &hour) || !wsi_take_char(text, ':') ||
	    !take_digits(text, 2, &minute) || !wsi_take_char(text, ':') ||
	    !take_digits(text, 2, &second) || hour > 23 || minute > 59 || second > 60)
		return false;
	if (text->len > 1 && (*text->ptr == '.' || *text->ptr == ',') &&
	    wsi_is_digit(text->ptr[1])) {
		*text = wsi_str_skip(*text, 1);
		for (; text->len && wsi_is_digit(*text->ptr); scale /= 10) {
			ns += scale * (uint64_t)(*text->ptr - '0');
			*text = wsi_str_skip(*text, 1);
		}
	}
	*ret_ns = ((hour * 60 + minute) * 60 + second) * UINT64_C(1000000000) + ns;
	return true;
}

/* Months are as long as they may be: only the order counts. */
static uint64_t in_year(uint64_t month, uint64_t day, uint64_t clock_ns)
{
	return (month * 32 + day) * UINT64_C(86400000000000) + clock_ns;
}

/* "2025-06-26T05:14:36.5", "2025-06-26 05:14:36,500", "2025/06/26 ..." */
static bool take_iso(struct ws_str *text, uint64_t *ret_ns)
{
	uint64_t year, month, day, clock;
	if (!take_digits(text, 4, &year) || !text->len)
		return false;
	const char between = *text->ptr;
	if ((between != '-' && between != '/') || !wsi_take_char(text, between) ||
	    !take_digits(text, 2, &month) || !wsi_take_char(text, between) ||
	    !take_digits(text, 2, &day) ||
	    (!wsi_take_char(text, 'T') && !wsi_take_char(text, ' ')) || !take_clock(text, &clock))
		return false;
	*ret_ns = in_year(month, day, clock);
	return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

/* "Jun 26 05:14:36" */
static bool take_syslog(struct ws_str *text, uint64_t *ret_ns)
{
	static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	uint64_t month = 0, day, clock;
	while (month < 12 && (text->len < 3 || memcmp(text->ptr, names + 3 * month, 3) != 0))
		month++;
	if (month == 12)
		return false;
	*text = wsi_str_skip(*text, 3);
	if (!wsi_take_char(text, ' '))
		return false;
	(void)wsi_take_char(text, ' ');
	if (!wsi_take_number(text, 10, &day) || day < 1 || day > 31 || !wsi_take_char(text, ' ') ||
	    !take_clock(text, &clock))
		return false;
	*ret_ns = in_year(month + 1, day, clock);
	return true;
}

/* glog and PyTorch: "E0626 06:24:44.906457", "E626 06:24:44.906457629" */
static bool take_glog(struct ws_str *text, uint64_t *ret_ns)
{
	uint64_t date, clock;
	if (!text->len || !memchr("IWEF", *text->ptr, 4))
		return false;
	*text = wsi_str_skip(*text, 1);
	const size_t before = text->len;
	if (!wsi_take_number(text, 10, &date) || before - text->len < 3 || before - text->len > 4 ||
	    !wsi_take_char(text, ' ') || !take_clock(text, &clock))
		return false;
	*ret_ns = in_year(date / 100, date % 100, clock);
	return date / 100 >= 1 && date / 100 <= 12 && date % 100 >= 1 && date % 100 <= 31;
}

/* Seconds since the machine started: "[86400.123456]", "[  660.553]" */
static bool take_boot(struct ws_str *text)
{
	uint64_t seconds, fraction;
	if (!wsi_take_char(text, '['))
		return false;
	while (wsi_take_char(text, ' '))
		;
	return wsi_take_number(text, 10, &seconds) && wsi_take_char(text, '.') &&
	       wsi_take_number(text, 10, &fraction) && text->len && *text->ptr == ']';
}

void wsi_log_stamp(struct ws_str line, struct wsi_stamp *ret_stamp)
{
	bool (*const forms[])(struct ws_str * text, uint64_t * ret_ns) = { take_iso, take_syslog,
									   take_glog };
	const size_t front = (size_t)wsi_min_u64(line.len, FRONT);
	struct ws_str boot = { 0 };
	*ret_stamp = (struct wsi_stamp){ .wall_ns = WSI_NO_NUMBER };
	for (size_t i = 0; i < front; i++) {
		if (i > 0 && wsi_is_alphanumeric(line.ptr[i - 1]))
			continue;
		for (size_t form = 0; form < WSI_COUNT(forms); form++) {
			struct ws_str rest = wsi_str_skip(line, i);
			uint64_t ns;
			if (!forms[form](&rest, &ns))
				continue;
			ret_stamp->wall_ns = ns;
			snprintf(ret_stamp->text, sizeof ret_stamp->text, "%.*s",
				 (int)(line.len - i - rest.len), line.ptr + i);
			return;
		}
		struct ws_str rest = wsi_str_skip(line, i);
		if (!boot.len && take_boot(&rest))
			boot = (struct ws_str){ line.ptr + i, line.len - i - rest.len + 1 };
	}
	if (boot.len)
		snprintf(ret_stamp->text, sizeof ret_stamp->text, "%.*s",
			 (int)wsi_min_u64(boot.len, sizeof ret_stamp->text - 1), boot.ptr);
}

/* "[rank3]:" of torchrun, "[Rank 3]" and "Rank 3]" of PyTorch, workers of inference servers. */
uint64_t wsi_log_rank(struct ws_str line)
{
	static const char *const starts[] = { "[rank", "[Rank ", " Rank " };
	struct ws_str front = { line.ptr, (size_t)wsi_min_u64(line.len, 2 * FRONT) };
	struct wsi_server_worker worker;
	for (size_t i = 0; i < WSI_COUNT(starts); i++) {
		struct ws_str rest = front;
		uint64_t rank;
		if (wsi_behind(&rest, starts[i]) && wsi_take_number(&rest, 10, &rank) &&
		    wsi_take_char(&rest, ']'))
			return rank;
	}
	return wsi_log_worker(front, &worker) ? worker.rank : WSI_NO_NUMBER;
}
