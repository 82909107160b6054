/* SPDX-License-Identifier: Apache-2.0 */
/* src/base: folders, new files and their permissions, files that an input names, packed files. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "unit.h"

#include "base/file.h"
#include "base/folder.h"
#include "base/outfile.h"
#include "base/place.h"
#include "base/reader.h"
#include "base/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

static char folder[64]; /* of the test; the working directory */

static int folder_make(void **state)
{
	(void)state;
	snprintf(folder, sizeof folder, "/tmp/warpscope-test-XXXXXX");
	umask(022);
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static enum ws_status remove_it(void *user, const char *path, struct ws_error *err)
{
	(void)user;
	(void)err;
	return unlink(path) == 0 ? WS_OK : WS_IO;
}

static int folder_remove(void **state)
{
	char command[100];
	(void)state;
	snprintf(command, sizeof command, "rm -rf %s", folder);
	return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

static void put_file(const char *path, const void *bytes, size_t n, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0 && write(fd, bytes, n) == (ssize_t)n && fchmod(fd, mode) == 0);
	close(fd);
}

static mode_t mode_of(const char *path)
{
	struct stat at;
	return stat(path, &at) == 0 ? at.st_mode & 07777 : 0;
}

static void has(const char *path, const char *text)
{
	struct wsi_file file;
	assert_int_equal(wsi_file_open(path, &file, NULL), WS_OK);
	assert_int_equal(file.bytes.len, strlen(text));
	assert_memory_equal(file.bytes.ptr, text, file.bytes.len);
	wsi_file_close(&file);
}

/* ---- folders ---- */

struct seen {
	char text[400];
	unsigned n, most;
};

static enum ws_status note(void *user, const char *path, struct ws_error *err)
{
	struct seen *seen = user;
	size_t n = strlen(seen->text);
	snprintf(seen->text + n, sizeof seen->text - n, "%s ", path);
	return ++seen->n == seen->most ? wsi_fail(err, WS_LIMIT, WS_NO_OFFSET, "enough") : WS_OK;
}

static void a_walk_takes_files_in_order_of_names(void **state)
{
	(void)state;
	struct seen seen = { .most = 100 };
	struct ws_error err;
	assert_int_equal(wsi_folder_make_for("w/b/c/d/file", &err), WS_OK);
	assert_int_equal(wsi_folder_make_for("w/b/c/e/file", &err), WS_OK); /* some are there */
	assert_true(wsi_folder_exists("w/b/c/d") && !wsi_folder_exists("w/b/c/d/file"));
	put_file("w/z", "", 0, 0600);
	put_file("w/a", "", 0, 0600);
	put_file("w/b/c/d/x", "", 0, 0600);
	put_file("w/b/.hidden", "", 0, 0600);
	assert_int_equal(symlink("../z", "w/b/link"), 0);
	assert_int_equal(symlink("nowhere", "w/b/lost"), 0);
	assert_int_equal(symlink("b", "w/folder-link"), 0);
	assert_int_equal(mkfifo("w/fifo", 0600), 0);
	assert_int_equal(wsi_folder_walk("w", note, &seen, &err), WS_OK);
	assert_string_equal(seen.text, "w/a w/b/.hidden w/b/c/d/x w/b/link w/z ");
	seen = (struct seen){ .most = 2 };
	assert_int_equal(wsi_folder_walk("w/", note, &seen, &err), WS_LIMIT);
	assert_string_equal(seen.text, "w/a w/b/.hidden ");
	assert_int_equal(wsi_folder_walk("w/none", note, &seen, &err), WS_IO);
	assert_string_equal(err.message, "w/none: No such file or directory");
	assert_false(wsi_folder_exists("w/a") || wsi_folder_exists("w/none"));
	assert_int_equal(wsi_folder_make_for("w/a/b/file", &err), WS_IO);
	assert_string_equal(err.message, "w/a/b: Not a directory");
}

static void a_walk_goes_down_so_far(void **state)
{
	(void)state;
	char path[200] = "deep";
	struct seen seen = { .most = 100 };
	for (unsigned level = 1; level <= 33; level++) {
		size_t n = strlen(path);
		if (level >= 32) { /* "deep" is the first */
			snprintf(path + n, sizeof path - n, "/f");
			assert_int_equal(wsi_folder_make_for(path, NULL), WS_OK);
			put_file(path, "", 0, 0600);
		}
		snprintf(path + n, sizeof path - n, "/d");
	}
	assert_int_equal(wsi_folder_walk("deep", note, &seen, NULL), WS_OK);
	assert_int_equal(seen.n, 1);
	assert_int_equal(strlen(seen.text), strlen("deep") + 31 * 2 + strlen("/f "));
	seen = (struct seen){ .most = 0 };
	assert_int_equal(wsi_folder_walk("deep", remove_it, NULL, NULL), WS_OK);
	assert_int_equal(wsi_folder_walk("deep", note, &seen, NULL), WS_OK);
	assert_int_equal(seen.n, 0);
}

/* ---- new files ---- */

static enum ws_status replace(const char *path, const char *text, const char *source,
			      struct ws_error *err)
{
	struct ws_span bytes = { (const uint8_t *)text, strlen(text), 0 };
	return ws_file_replace(path, bytes, source, err);
}

static void a_new_file_is_no_more_open_than_its_source_and_the_old_one(void **state)
{
	(void)state;
	static const struct {
		mode_t source, old, new; /* 0: there is none */
	} cases[] = {
		{ 0, 0, 0600 },       { 0644, 0, 0644 },    { 0640, 0, 0640 },
		{ 0600, 0, 0600 },    { 0755, 0, 0644 },    { 0666, 0, 0644 /* the umask */ },
		{ 0, 0644, 0600 },    { 0644, 0600, 0600 }, { 0644, 0640, 0640 },
		{ 0640, 0644, 0640 }, { 0644, 0777, 0644 }, { 0400, 0444, 0600 },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		(void)unlink("new");
		if (cases[i].source)
			put_file("source", "s", 1, cases[i].source);
		if (cases[i].old)
			put_file("new", "old text", 8, cases[i].old);
		assert_int_equal(replace("new", "text", cases[i].source ? "source" : NULL, NULL),
				 WS_OK);
		has("new", "text");
		assert_int_equal(mode_of("new"), cases[i].new);
		if (cases[i].source)
			assert_int_equal(chmod("source", 0600), 0);
	}
}

static void what_cannot_be_replaced_is_told(void **state)
{
	(void)state;
	struct ws_error err;
	put_file("in", "input", 5, 0600);
	assert_int_equal(link("in", "same"), 0);
	assert_int_equal(replace("same", "x", "in", &err), WS_ARGUMENT);
	assert_string_equal(err.message, "same: is the input; choose another name for the output");
	has("in", "input");
	assert_int_equal(replace(".", "x", NULL, &err), WS_UNSUPPORTED);
	assert_string_equal(err.message,
			    ".: is not a regular file, and nothing else can be written");
	assert_int_equal(replace("none/x", "x", NULL, &err), WS_IO);
	assert_string_equal(err.message, "none/x: No such file or directory");
	assert_int_equal(replace("in/x", "x", NULL, &err), WS_IO);
	assert_string_equal(err.message, "in/x: Not a directory");
	assert_int_equal(replace("kept", "x", "none", &err), WS_OK); /* a source may be gone */
	assert_int_equal(mode_of("kept"), 0600);
	assert_int_equal(symlink("kept", "to-kept"), 0);
	assert_int_equal(replace("to-kept", "y", NULL, &err), WS_OK);
	has("to-kept", "y");
	has("kept", "x"); /* the link is replaced */
}

static void a_file_that_is_not_committed_leaves_nothing(void **state)
{
	(void)state;
	struct wsi_place place;
	struct seen seen = { .most = 100 };
	assert_int_equal(mkdir("p", 0700), 0);
	put_file("p/x", "old", 3, 0600);
	assert_int_equal(wsi_place_open("p/x", NULL, &place, NULL), WS_OK);
	assert_int_equal(write(place.fd, "new", 3), 3);
	int fd = place.fd;
	wsi_place_close(&place);
	assert_true(place.fd == -1 && !place.path && fcntl(fd, F_GETFD) < 0 && errno == EBADF);
	wsi_place_close(&place);
	assert_int_equal(wsi_folder_walk("p", note, &seen, NULL), WS_OK);
	assert_string_equal(seen.text, "p/x ");
	has("p/x", "old");
	assert_int_equal(wsi_place_open("p/y", NULL, &place, NULL), WS_OK);
	assert_int_equal(write(place.fd, "new", 3), 3);
	assert_true(wsi_place_commit(&place));
	assert_int_equal(place.fd, -1);
	wsi_place_close(&place);
	has("p/y", "new");
}

static void a_private_file_is_its_owners_alone(void **state)
{
	(void)state;
	static const mode_t before[] = { 0, 0644, 0777, 0600, 0666 };
	for (size_t i = 0; i < WSI_COUNT(before); i++) {
		(void)unlink("private");
		if (before[i])
			put_file("private", "old", 3, before[i]);
		int fd = wsi_file_private("private");
		assert_true(fd >= 0);
		assert_int_equal(mode_of("private"), 0600);
		assert_int_equal(write(fd, "text", 4), 4);
		assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		close(fd);
		has("private", "text");
	}
	assert_int_equal(wsi_file_private("none/private"), -1);
	/* what is no file has no bytes to hide */
	assert_int_equal(mkfifo("fifo", 0640), 0);
	int reader = open("fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC), fd = wsi_file_private("fifo");
	assert_true(reader >= 0 && fd >= 0);
	assert_int_equal(mode_of("fifo"), 0640);
	close(fd);
	close(reader);
	assert_int_equal(unlink("fifo"), 0);
}

static void a_temporary_file_has_no_name(void **state)
{
	(void)state;
	static const char *const places[] = { "t", "none", "", NULL };
	struct seen seen = { .most = 100 };
	assert_int_equal(mkdir("t", 0700), 0);
	for (size_t i = 0; i < WSI_COUNT(places); i++) {
		char self[40], path[200] = "";
		struct stat at;
		assert_int_equal(places[i] ? setenv("TMPDIR", places[i], 1) : unsetenv("TMPDIR"),
				 0);
		int fd = wsi_file_temporary();
		assert_true(fd >= 0 && fstat(fd, &at) == 0 && at.st_nlink == 0);
		assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDWR);
		snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
		if (readlink(self, path, sizeof path - 1) > 0) {
			const char *in = i == 0 ? folder : "/var/tmp/";
			assert_int_equal(strncmp(path, in, strlen(in)), 0);
		}
		close(fd);
	}
	assert_int_equal(wsi_folder_walk("t", note, &seen, NULL), WS_OK);
	assert_int_equal(seen.n, 0);
}

/* ---- files that an input names ---- */

static void regular_files_are_found_below_a_folder(void **state)
{
	(void)state;
	struct wsi_regular file;
	char root[PATH_MAX];
	assert_non_null(realpath(".", root));
	assert_int_equal(wsi_folder_make_for("r/in/x", NULL), WS_OK);
	assert_int_equal(mkdir("r/inside", 0700), 0);
	put_file("r/in/a.cu", "text", 4, 0600);
	put_file("r/inside/b.cu", "other", 5, 0600);
	assert_int_equal(symlink("../inside/b.cu", "r/in/out"), 0);
	assert_int_equal(symlink("a.cu", "r/in/own"), 0);
	assert_int_equal(mkfifo("r/in/fifo", 0600), 0);
	static const struct {
		const char *folder, *name;
		enum ws_status status;
	} cases[] = {
		{ "r/in", "a.cu", WS_OK },          { "r/in", "own", WS_OK },
		{ "r/in/", "../in/a.cu", WS_OK },   { "r/in", "out", WS_EXCLUDED },
		{ "r", "in/out", WS_OK },           { "r/in", "../inside/b.cu", WS_EXCLUDED },
		{ "r/in", "none", WS_ABSENT },      { "r/none", "a.cu", WS_ABSENT },
		{ "r/in", "fifo", WS_UNSUPPORTED }, { "r", "in", WS_UNSUPPORTED },
		{ NULL, "r/in/a.cu", WS_OK },       { NULL, "r/none", WS_ABSENT },
		{ NULL, "r/in", WS_UNSUPPORTED },   { "/", "dev/null", WS_UNSUPPORTED },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++)
		if (wsi_regular_find(cases[i].folder, cases[i].name, &file) != cases[i].status)
			fail_msg("%s", cases[i].name);
	assert_int_equal(wsi_regular_find("r/in", "own", &file), WS_OK);
	assert_true(file.size == 4 && file.mtime > 1700000000);
	assert_int_equal(strncmp(file.path, root, strlen(root)), 0);
	assert_string_equal(file.path + strlen(root), "/r/in/a.cu");
	assert_true(wsi_regular_is_below(&file, "r") && wsi_regular_is_below(&file, "r/in/"));
	assert_false(wsi_regular_is_below(&file, "r/inside") || wsi_regular_is_below(&file, "/"));
	assert_false(wsi_regular_is_below(&file, "none"));
	assert_false(wsi_regular_is_below(&file, "r/in/a.cu"));
}

static void only_what_was_found_is_read(void **state)
{
	(void)state;
	struct wsi_regular file;
	char *bytes;
	size_t n;
	put_file("q", "text", 4, 0600);
	assert_int_equal(wsi_regular_find(NULL, "q", &file), WS_OK);
	assert_int_equal(wsi_regular_read(&file, 3, &bytes, &n), WS_LIMIT);
	assert_true(!bytes && n == 0);
	assert_int_equal(wsi_regular_read(&file, 4, &bytes, &n), WS_OK);
	assert_true(n == 4 && memcmp(bytes, "text", 4) == 0);
	wsi_free(bytes);
	put_file("q", "longer", 6, 0600); /* another one since */
	assert_int_equal(wsi_regular_read(&file, 100, &bytes, &n), WS_ABSENT);
	assert_null(bytes);
	put_file("target", "text", 4, 0600);
	assert_true(unlink("q") == 0 && symlink("target", "q") == 0);
	assert_int_equal(wsi_regular_read(&file, 100, &bytes, &n), WS_ABSENT);
	assert_true(unlink("q") == 0 && mkdir("q", 0700) == 0);
	assert_int_equal(wsi_regular_read(&file, 100, &bytes, &n), WS_ABSENT);
	assert_int_equal(rmdir("q"), 0);
	put_file("q", "", 0, 0600);
	assert_int_equal(wsi_regular_find(NULL, "q", &file), WS_OK);
	assert_int_equal(wsi_regular_read(&file, 0, &bytes, &n), WS_OK);
	assert_true(!bytes && n == 0);
}

static void sources_are_known_by_their_ending(void **state)
{
	(void)state;
	static const char *const sources[] = { "a.cu", "/x/y.CPP", "a.b.h", ".py", "x.d/a.c++" };
	static const char *const others[] = { "a", "a.cud", "a.", "x.cu/a", "cu", "a.so", "" };
	for (size_t i = 0; i < WSI_COUNT(sources); i++)
		assert_true(wsi_regular_is_source(sources[i]));
	for (size_t i = 0; i < WSI_COUNT(others); i++)
		assert_false(wsi_regular_is_source(others[i]));
}

/* ---- packed files ---- */

enum { PLAIN_BYTES = 5 << 20 };

/* Numbers, then zeros, then numbers: nothing that packs to nothing. */
static uint8_t *plain_make(void)
{
	uint8_t *plain = wsi_zalloc(PLAIN_BYTES);
	uint32_t x = 1;
	assert_non_null(plain);
	for (size_t i = 0; i < PLAIN_BYTES; i++)
		if (i < PLAIN_BYTES / 3 || i > PLAIN_BYTES / 3 * 2)
			plain[i] = (uint8_t)((x = x * 1664525 + 1013904223) >> 24);
	return plain;
}

static size_t gzip(const uint8_t *bytes, size_t n, uint8_t *to, size_t room)
{
	z_stream z = { 0 };
	assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (z_const Bytef *)(uintptr_t)bytes;
	z.avail_in = (uInt)n;
	z.next_out = to;
	z.avail_out = (uInt)room;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return room - z.avail_out;
}

static uint8_t *plain, *packed;
static size_t n_packed;
enum { ROOM = PLAIN_BYTES + (1 << 16) };

static void packed_begin(void)
{
	plain = plain_make();
	packed = wsi_zalloc(2 * ROOM);
	assert_non_null(packed);
	n_packed = gzip(plain, PLAIN_BYTES, packed, ROOM);
}

static void packed_end(void)
{
	wsi_free(plain);
	wsi_free(packed);
}

static void is_start_of_plain(const struct wsi_file *file, size_t n)
{
	assert_int_equal(file->bytes.len, n);
	assert_memory_equal(file->bytes.ptr, plain, n);
}

static void packed_files_are_unpacked_as_far_as_they_go(void **state)
{
	(void)state;
	struct wsi_file file;
	struct ws_error err;
	packed_begin();
	put_file("g", packed, n_packed, 0600);
	assert_int_equal(wsi_file_open_any("g", NULL, &file, &err), WS_OK);
	is_start_of_plain(&file, PLAIN_BYTES);
	assert_string_equal(file.packing, "gzip");
	assert_false(file.is_cut || file.is_damaged || file.has_rest || file.is_enough);
	wsi_file_close(&file);

	put_file("cut", packed, n_packed / 2, 0600);
	assert_int_equal(wsi_file_open_any("cut", NULL, &file, &err), WS_OK);
	assert_true(file.is_cut && !file.is_damaged && file.packed_off == n_packed / 2);
	assert_true(file.bytes.len > PLAIN_BYTES / 4 && file.bytes.len < PLAIN_BYTES);
	is_start_of_plain(&file, file.bytes.len);
	wsi_file_close(&file);
	put_file("cut", packed, 5, 0600);
	assert_int_equal(wsi_file_open_any("cut", NULL, &file, &err), WS_TRUNCATED);
	assert_string_equal(err.message, "cut: gzip data that ends before its first byte");
	assert_int_equal(err.file_off, 5);

	memcpy(packed + n_packed, packed, n_packed); /* two members, and zeros after them */
	put_file("two", packed, 2 * n_packed + 600, 0600);
	assert_int_equal(wsi_file_open_any("two", NULL, &file, &err), WS_OK);
	assert_int_equal(file.bytes.len, 2 * PLAIN_BYTES);
	assert_memory_equal(file.bytes.ptr + PLAIN_BYTES, plain, PLAIN_BYTES);
	assert_false(file.is_cut || file.is_damaged || file.has_rest);
	wsi_file_close(&file);
	packed[2 * n_packed + 599] = 'x'; /* or something else */
	put_file("rest", packed, 2 * n_packed + 600, 0600);
	assert_int_equal(wsi_file_open_any("rest", NULL, &file, &err), WS_OK);
	assert_true(file.has_rest && file.packed_off == 2 * n_packed && !file.is_damaged);
	assert_int_equal(file.bytes.len, 2 * PLAIN_BYTES);
	wsi_file_close(&file);

	memset(packed + n_packed - 8, 0xff, 4); /* the checksum */
	put_file("bad", packed, n_packed, 0600);
	assert_int_equal(wsi_file_open_any("bad", NULL, &file, &err), WS_OK);
	assert_true(file.is_damaged && !file.is_cut && file.packed_off > n_packed - 10 &&
		    file.packed_off <= n_packed);
	is_start_of_plain(&file, PLAIN_BYTES);
	wsi_file_close(&file);
	memset(packed + 10, 0xff, 20);
	put_file("bad", packed, n_packed, 0600);
	assert_int_equal(wsi_file_open_any("bad", NULL, &file, &err), WS_MALFORMED);
	assert_string_equal(err.message, "bad: damaged gzip data: nothing can be unpacked");
	packed_end();
}

/* Whether memory that was made for something unpacked is mapped. */
static bool is_in_memory(void)
{
	char line[400];
	bool found = false;
	FILE *maps = fopen("/proc/self/maps", "r");
	assert_non_null(maps);
	while (fgets(line, sizeof line, maps))
		found = found || strstr(line, "/memfd:warpscope");
	fclose(maps);
	return found;
}

/* Into a file: 64 MiB of memory are the most, and zeros take none. */
static void much_that_is_unpacked_is_not_kept_in_memory(void **state)
{
	(void)state;
	struct wsi_file file;
	packed_begin();
	const size_t numbers = PLAIN_BYTES / 3 * 2, most = (64 << 20) / numbers;
	int fd = open("big", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	for (size_t i = 0; i < most; i++)
		assert_int_equal(write(fd, packed, n_packed), n_packed);
	assert_int_equal(wsi_file_open_any("big", NULL, &file, NULL), WS_OK);
	assert_true(file.bytes.len > 64 << 20 && is_in_memory());
	wsi_file_close(&file);
	assert_int_equal(write(fd, packed, n_packed), n_packed);
	close(fd);
	assert_int_equal(wsi_file_open_any("big", NULL, &file, NULL), WS_OK);
	assert_false(is_in_memory());
	assert_int_equal(file.bytes.len, (most + 1) * PLAIN_BYTES);
	for (size_t i = 0; i <= most; i++)
		assert_memory_equal(file.bytes.ptr + i * PLAIN_BYTES, plain, PLAIN_BYTES);
	wsi_file_close(&file);
	packed_end();
}

static uint64_t progress_calls, progress_most, needed;

static bool progress(void *user, uint64_t bytes_in, uint64_t total_in, uint64_t bytes_out)
{
	assert_ptr_equal(user, &progress_calls);
	assert_true(total_in == n_packed && bytes_in <= total_in && bytes_out <= PLAIN_BYTES);
	return ++progress_calls < progress_most;
}

static uint64_t needs(const struct wsi_input *so_far)
{
	assert_memory_equal(so_far->mapped.ptr, plain, so_far->mapped.len);
	return needed;
}

static void unpacking_has_its_limits(void **state)
{
	(void)state;
	struct wsi_file_options options = { .max_unpacked_bytes = PLAIN_BYTES };
	struct wsi_file file;
	struct ws_error err;
	packed_begin();
	put_file("g", packed, n_packed, 0600);
	assert_int_equal(wsi_file_open_any("g", &options, &file, &err), WS_OK);
	wsi_file_close(&file);
	options.max_unpacked_bytes--;
	assert_int_equal(wsi_file_open_any("g", &options, &file, &err), WS_LIMIT);
	assert_string_equal(err.message, "g: unpacks to more than the limit of 5242879 bytes");
	options = (struct wsi_file_options){ .progress = progress, .user = &progress_calls };
	progress_most = 100;
	assert_int_equal(wsi_file_open_any("g", &options, &file, &err), WS_OK);
	wsi_file_close(&file);
	assert_true(progress_calls >= 2 && progress_calls < 5); /* every 4 MiB of both */
	progress_calls = 0;
	progress_most = 2;
	assert_int_equal(wsi_file_open_any("g", &options, &file, &err), WS_LIMIT);
	assert_string_equal(err.message, "g: stopped while unpacking");
	assert_int_equal(progress_calls, 2);
	/* a MiB more than is enough */
	options = (struct wsi_file_options){ .needs = needs };
	needed = 1000;
	assert_int_equal(wsi_file_open_any("g", &options, &file, &err), WS_OK);
	assert_true(file.is_enough && !file.is_cut);
	assert_true(file.bytes.len >= (1 << 20) + 1000 && file.bytes.len < 2 << 20);
	is_start_of_plain(&file, file.bytes.len);
	wsi_file_close(&file);
	needed = PLAIN_BYTES;
	assert_int_equal(wsi_file_open_any("g", &options, &file, &err), WS_OK);
	assert_false(file.is_enough);
	is_start_of_plain(&file, PLAIN_BYTES);
	wsi_file_close(&file);
	packed_end();
}

static void what_is_no_packed_file_is_mapped_or_told(void **state)
{
	(void)state;
	struct wsi_file file;
	struct ws_error err;
	put_file("plain", "\x1f\x8b\x07text", 7, 0600); /* another method of packing */
	assert_int_equal(wsi_file_open_any("plain", NULL, &file, &err), WS_OK);
	assert_true(file.bytes.len == 7 && !file.packing && file.mapping);
	wsi_file_close(&file);
	assert_null(file.bytes.ptr);
	put_file("plain", "", 0, 0600);
	assert_int_equal(wsi_file_open_any("plain", NULL, &file, &err), WS_OK);
	assert_int_equal(file.bytes.len, 0);
	wsi_file_close(&file);
	assert_int_equal(wsi_file_open_any("none", NULL, &file, &err), WS_IO);
	assert_string_equal(err.message, "none: No such file or directory");
	assert_int_equal(wsi_file_open_any(".", NULL, &file, &err), WS_IO);
	assert_string_equal(err.message, ".: is a directory");
	assert_int_equal(wsi_file_open_any("/dev/null", NULL, &file, &err), WS_UNSUPPORTED);
	assert_string_equal(err.message, "/dev/null: is a device, not a file");
}

/* A stream comes in pieces; of standard input that is a file, what stands before the place is not
 * read. */
static void standard_input_is_read_from_where_it_is(void **state)
{
	(void)state;
	struct wsi_file file;
	int ends[2], before = dup(STDIN_FILENO);
	assert_true(before >= 0 && pipe(ends) == 0 && dup2(ends[0], STDIN_FILENO) == 0);
	assert_int_equal(write(ends[1], "stream", 6), 6);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(wsi_file_open_any("-", NULL, &file, NULL), WS_OK);
	assert_int_equal(file.bytes.len, 6);
	assert_memory_equal(file.bytes.ptr, "stream", 6);
	wsi_file_close(&file);
	for (off_t at = 0; at <= 4; at += 4) {
		put_file("s", "old new", 7, 0600);
		int fd = open("s", O_RDONLY);
		assert_true(fd >= 0 && lseek(fd, at, SEEK_SET) == at &&
			    dup2(fd, STDIN_FILENO) == 0);
		close(fd);
		assert_int_equal(wsi_file_open_any("-", NULL, &file, NULL), WS_OK);
		assert_int_equal(file.bytes.len, 7 - at);
		assert_memory_equal(file.bytes.ptr, &"old new"[at], file.bytes.len);
		wsi_file_close(&file);
	}
	assert_true(dup2(before, STDIN_FILENO) == 0 && close(before) == 0);
}

/* Whoever writes to a FIFO may take some time before each byte. */
static void a_fifo_is_waited_for(void **state)
{
	(void)state;
	const struct timespec pause = { .tv_nsec = 30 * 1000 * 1000 };
	struct wsi_file file;
	int status;
	assert_int_equal(mkfifo("fifo", 0600), 0);
	pid_t child = fork();
	if (child == 0) {
		nanosleep(&pause, NULL);
		int fd = open("fifo", O_WRONLY);
		for (const char *at = "stream"; *at; at++) {
			nanosleep(&pause, NULL);
			if (write(fd, at, 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	assert_int_equal(wsi_file_open_any("fifo", NULL, &file, NULL), WS_OK);
	assert_int_equal(file.bytes.len, 6);
	assert_memory_equal(file.bytes.ptr, "stream", 6);
	wsi_file_close(&file);
	assert_true(waitpid(child, &status, 0) == child && status == 0);
}

/* ---- files that are written in parts ---- */

static void a_head_is_written_when_the_rest_is_known(void **state)
{
	(void)state;
	static uint8_t head[1000];
	packed_begin();
	for (unsigned gzip_it = 0; gzip_it < 2; gzip_it++) {
		struct wsi_outfile_options options = { .head_bytes = sizeof head, .gzip = gzip_it };
		struct wsi_outfile *out;
		struct wsi_file file;
		assert_int_equal(wsi_outfile_open("out", &options, &out, NULL), WS_OK);
		for (size_t at = 0; at < PLAIN_BYTES; at += 99991)
			assert_int_equal(wsi_outfile_append(out, plain + at,
							    wsi_min_u64(99991, PLAIN_BYTES - at),
							    NULL),
					 WS_OK);
		memset(head, 'a' + (int)gzip_it, sizeof head);
		assert_int_equal(wsi_outfile_commit(out, head, NULL), WS_OK);
		wsi_outfile_close(out);
		assert_int_equal(wsi_file_open_any("out", NULL, &file, NULL), WS_OK);
		assert_int_equal(file.bytes.len, sizeof head + PLAIN_BYTES);
		assert_false(file.is_damaged || file.is_cut || file.has_rest);
		assert_int_equal(file.packing != NULL, gzip_it);
		assert_memory_equal(file.bytes.ptr, head, sizeof head);
		assert_memory_equal(file.bytes.ptr + sizeof head, plain, PLAIN_BYTES);
		wsi_file_close(&file);
	}
	wsi_outfile_close(NULL);
	packed_end();
}

static void new_files_again(void **state)
{
	struct seen seen = { .most = 100 };
	put_file("one", "1", 1, 0600);
	assert_int_equal(replace("again", "text", "one", NULL), WS_OK);
	assert_int_equal(replace("one", "text", "one", NULL), WS_ARGUMENT);
	assert_int_equal(wsi_folder_walk(".", note, &seen, NULL), WS_OK);
	(void)state;
}

static void all_memory_is_freed(void **state)
{
	(void)state;
	assert_frees_all(what_is_no_packed_file_is_mapped_or_told);

	assert_frees_all(new_files_again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_walk_takes_files_in_order_of_names),
		cmocka_unit_test(a_walk_goes_down_so_far),
		cmocka_unit_test(a_new_file_is_no_more_open_than_its_source_and_the_old_one),
		cmocka_unit_test(what_cannot_be_replaced_is_told),
		cmocka_unit_test(a_file_that_is_not_committed_leaves_nothing),
		cmocka_unit_test(a_private_file_is_its_owners_alone),
		cmocka_unit_test(a_temporary_file_has_no_name),
		cmocka_unit_test(regular_files_are_found_below_a_folder),
		cmocka_unit_test(only_what_was_found_is_read),
		cmocka_unit_test(sources_are_known_by_their_ending),
		cmocka_unit_test(packed_files_are_unpacked_as_far_as_they_go),
		cmocka_unit_test(much_that_is_unpacked_is_not_kept_in_memory),
		cmocka_unit_test(unpacking_has_its_limits),
		cmocka_unit_test(what_is_no_packed_file_is_mapped_or_told),
		cmocka_unit_test(standard_input_is_read_from_where_it_is),
		cmocka_unit_test(a_fifo_is_waited_for),
		cmocka_unit_test(a_head_is_written_when_the_rest_is_known),
		cmocka_unit_test(all_memory_is_freed),
	};
	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
