/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Source lines: of a small library that is compiled in several ways, split,
 * spoilt and cut. Whatever becomes of its debug information, there is a line
 * or none, soon.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "nodeagent/process/codemap.h"
#include "nodeagent/symbols/elf.h"
#include "nodeagent/symbols/lines.h"
#include "nodeagent/base/util.h"
#include "t/lib/suite.h"
#include "t/unit/symbols/build-id.h"

static char dir[] = "/tmp/vftr-u-lines-XXXXXX";
static struct source_lines *l;

static const char one_c[] = "int one(int x)\n{\n\treturn x + 1;\n}\n";
static const char two_c[] = "\n\n\n\n\n\n\n\n\nint two(int x)\n{\n\treturn x + 2;\n}\n";

static char *in(const char *name)
{
	static char path[8][128];
	static unsigned k;

	k = (k + 1) % 8;
	snprintf(path[k], sizeof(path[k]), "%s/%s", dir, name);
	return path[k];
}

static void put(const char *name, const char *text)
{
	FILE *f = fopen(in(name), "w");

	if (!f || fputs(text, f) < 0 || fclose(f)) {
		perror(in(name));
		exit(1);
	}
}

static bool shell(const char *command)
{
	char line[1024];

	snprintf(line, sizeof(line), "cd %s && (%s) >log 2>&1", dir, command);
	return !system(line);
}

static bool make(void)
{
	if (!mkdtemp(dir) || mkdir(in("sub"), 0755)) {
		perror(dir);
		return false;
	}
	put("one.c", one_c);
	put("sub/two.c", two_c);
	if (shell("cc -O0 -g -fPIC -shared -Wl,--build-id -o lib.so one.c sub/two.c"))
		return true;
	fprintf(stderr, "u-lines: cc cannot make a library, see %s/log\n", dir);
	return false;
}

static void setup(void)
{
	l = source_lines_new();
}

static void teardown(void)
{
	source_lines_free(l);
}

static uint64_t nm(const char *file, const char *name)
{
	char line[512];
	unsigned long long address = 0;
	FILE *f;

	snprintf(line, sizeof(line), "nm %s/%s | awk '$3 == \"%s\" { print $1 }'", dir, file, name);
	f = popen(line, "r");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fscanf(f, "%llx", &address), 1);
	pclose(f);
	return address;
}

static const char *line_at(const char *file, uint64_t address)
{
	struct code_location location = {.path = in(file), .address = address};

	source_lines_read(l, &location, 1, SOURCE_LINES_S);
	return source_lines_find(l, &location);
}

START_TEST(of_functions)
{
	ck_assert_str_eq(line_at("lib.so", nm("lib.so", "one")), "one.c:2");
	ck_assert_str_eq(line_at("lib.so", nm("lib.so", "two") + 4), "two.c:11");
	ck_assert_ptr_null(line_at("lib.so", 1));
	ck_assert_ptr_null(line_at("lib.so", UINT64_MAX));
}
END_TEST

START_TEST(many_at_once)
{
	static const char *const files[] = {"lib.so", "nothing.so", "one.c", "lib.so", NULL};
	struct code_location locations[50] = {0};
	uint64_t two = nm("lib.so", "two");
	char *lib = xstrdup(in("lib.so"));

	for (size_t i = 0; i < ARRAY_SIZE(locations); i++) {
		locations[i].path = files[i % ARRAY_SIZE(files)] ? lib : NULL;
		locations[i].address = two + (i % 10);
	}
	locations[3].path = in("nothing.so");
	locations[5].path = in("one.c");
	source_lines_read(l, locations, ARRAY_SIZE(locations), SOURCE_LINES_S);
	for (size_t i = 0; i < ARRAY_SIZE(locations); i++) {
		const char *text = locations[i].path ? source_lines_find(l, &locations[i]) : NULL;

		if (locations[i].path == lib)
			ck_assert_str_eq(text, i % 10 < 7 ? "two.c:11" : "two.c:12");
		else
			ck_assert_ptr_null(text);
	}
	free(lib);
}
END_TEST

static const char *file_of(const char *file, const char *function, uint32_t *line)
{
	struct code_location location = {.path = in(file), .address = nm(file, function)};
	struct source_place place;

	ck_assert(source_lines_read(l, &location, 1, SOURCE_LINES_S));
	place = source_lines_place(l, &location);
	*line = place.line;
	return place.file;
}

START_TEST(whole_paths)
{
	static const char *const ways[] = {"cc -gdwarf-4", "cc -gdwarf-5", "clang -g"};
	char line[256], *one = xstrdup(in("one.c")), *two = xstrdup(in("sub/two.c"));
	uint32_t number;

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		snprintf(line, sizeof(line), "%s -fPIC -shared -o path%zu.so one.c %s", ways[i], i,
			two);
		if (!shell(line)) { /* there may be no clang */
			ck_assert_str_eq(ways[i], "clang -g");
			continue;
		}
		snprintf(line, sizeof(line), "path%zu.so", i);
		ck_assert_str_eq(file_of(line, "one", &number), one);
		ck_assert(number == 1 || number == 2);
		ck_assert_str_eq(file_of(line, "two", &number), two);
		ck_assert(number == 10 || number == 11);
	}
	free(one);
	free(two);
}
END_TEST

/* Some files have 100 000 lines and more; each function is to take the logarithm of that. */
START_TEST(thousands_of_functions)
{
	enum { FUNCTIONS = 5000 };
	struct code_location *all = xcalloc(FUNCTIONS, sizeof(*all));
	unsigned long long address;
	unsigned k, found = 0;
	char line[160];
	FILE *f = fopen(in("many.c"), "w");

	for (k = 0; f && k < FUNCTIONS; k++)
		fprintf(f, "int f%u(int x)\n{\n\tx++;\n\tx += %u;\n\treturn x;\n}\n", k, k);
	ck_assert(f && !fclose(f));
	ck_assert(shell("cc -g -O0 -fPIC -shared -o many.so many.c"));
	snprintf(line, sizeof(line), "nm %s | awk '$3 ~ /^f[0-9]/ { print $1, substr($3, 2) }'",
		in("many.so"));
	f = popen(line, "r");
	while (f && fscanf(f, "%llx %u", &address, &k) == 2 && k < FUNCTIONS)
		all[k] = (struct code_location){.path = in("many.so"), .address = address};
	pclose(f);
	for (k = 0; k < FUNCTIONS; k++)
		all[k].path = all[0].path;
	ck_assert(source_lines_read(l, all, FUNCTIONS, 10));
	for (k = 0; k < FUNCTIONS; k++) {
		const struct source_place place = source_lines_place(l, &all[k]);

		found += place.file && place.line == 6 * k + 2;
	}
	ck_assert_uint_eq(found, FUNCTIONS);
	free(all);
}
END_TEST

START_TEST(no_time_at_all)
{
	struct code_location location = {.path = in("lib.so"), .address = nm("lib.so", "one")};

	ck_assert(!source_lines_read(l, &location, 1, 0));
	ck_assert_ptr_null(source_lines_place(l, &location).file);
}
END_TEST

START_TEST(ways_of_compiling)
{
	static const char *const ways[] = {"cc -gdwarf-2", "cc -gdwarf-4", "cc -gdwarf-5",
		"cc -g -gz", "cc -g -gsplit-dwarf", "cc -g -O2", "clang -g", "clang -g -gdwarf-4"};
	char line[256];

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		snprintf(line, sizeof(line), "%s -fPIC -shared -o way%zu.so one.c sub/two.c",
			ways[i], i);
		if (!shell(line)) { /* there may be no clang */
			ck_assert_str_ne(ways[i], "cc -g -O2");
			continue;
		}
		snprintf(line, sizeof(line), "way%zu.so", i);
		ck_assert_msg(line_at(line, nm(line, "two")) != NULL, "no line: %s", ways[i]);
		ck_assert_int_eq(strncmp(line_at(line, nm(line, "two")), "two.c:1", 7), 0);
	}
}
END_TEST

START_TEST(separate_debug_file)
{
	uint64_t one = nm("lib.so", "one");

	ck_assert(shell("objcopy --only-keep-debug lib.so split.debug && cp lib.so split.so &&"
			"strip --strip-all split.so &&"
			"objcopy --add-gnu-debuglink=split.debug split.so"));
	ck_assert_str_eq(line_at("split.so", one), "one.c:2");
	ck_assert(shell("rm split.debug && cp split.so alone.so"));
	ck_assert_ptr_null(line_at("alone.so", one));
}
END_TEST

START_TEST(another_file_than_ran)
{
	struct code_location location = {.path = in("lib.so"), .address = nm("lib.so", "one")};
	uint8_t id[ELF_BUILD_ID_MAX];

	location.build_id_bytes = build_id_of(location.path, id);
	location.build_id = id;
	id[3] ^= 1;
	source_lines_read(l, &location, 1, SOURCE_LINES_S);
	ck_assert_ptr_null(source_lines_find(l, &location));
	id[3] ^= 1;
	source_lines_read(l, &location, 1, SOURCE_LINES_S);
	ck_assert_str_eq(source_lines_find(l, &location), "one.c:2");
}
END_TEST

START_TEST(names_that_would_break_a_path)
{
	ck_assert(shell("cp one.c 'a<b\n\x01.c' && cc -g -fPIC -shared -o odd.so 'a<b\n\x01.c'"));
	ck_assert_str_eq(line_at("odd.so", nm("odd.so", "one")), "a?b??.c:2");
}
END_TEST

/* Bytes of the debug sections become others: a line, another, or none. */
START_TEST(spoilt)
{
	static unsigned char bytes[1 << 16];
	FILE *f = fopen(in("lib.so"), "r");
	size_t n = fread(bytes, 1, sizeof(bytes), f);
	uint64_t one = nm("lib.so", "one");

	fclose(f);
	ck_assert_uint_gt(n, 1000);
	for (unsigned k = 0; k < 60; k++) {
		char name[32];

		snprintf(name, sizeof(name), "spoilt%u.so", k);
		f = fopen(in(name), "w");
		for (size_t i = 0; i < n; i++) {
			bool hit = i > 0x1000 && (i * 2654435761u + k * 40503u) % 97 == 0;

			fputc(hit ? (int)(bytes[i] ^ (k * 37 + i) % 255) : bytes[i], f);
		}
		fclose(f);
		line_at(name, one);
	}
	for (unsigned k = 0; k < 20; k++) {
		char name[32];

		snprintf(name, sizeof(name), "cut%u.so", k);
		f = fopen(in(name), "w");
		fwrite(bytes, 1, n * (k + 1) / 22, f);
		fclose(f);
		line_at(name, one);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {of_functions, many_at_once, whole_paths,
		thousands_of_functions, no_time_at_all, ways_of_compiling, separate_debug_file,
		another_file_than_ran, names_that_would_break_a_path, spoilt};
	Suite *s = suite_create("lines");
	TCase *c = tcase_create("lines");
	char line[64];
	int failed;

	if (!make())
		return 1;
	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 60);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	failed = run_suite(s);
	snprintf(line, sizeof(line), "rm -rf %s", dir);
	if (system(line))
		fputs("# left a directory in /tmp\n", stderr);
	return failed;
}
