/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Symbol tables: of this program, and of small libraries that are compiled
 * into a temporary directory and then stripped, split, cut and spoilt.
 */
#include <check.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nodeagent/symbols/crc.h"
#include "nodeagent/symbols/elf.h"
#include "nodeagent/symbols/symtab.h"
#include "t/lib/suite.h"
#include "t/unit/symbols/build-id.h"

static char dir[] = "/tmp/vftr-u-sym-XXXXXX";

static const char one_c[] = "static int helper(int x) { return x + 1; }\n"
			    "static int alone(int x) { return x + 2; }\n"
			    "int shared(int x) { return x + 3; }\n"
			    "int (*one_table[])(int) = { helper, alone };\n"
			    "int plain(int x) { return x; }\n"
			    "int __under(int x) __attribute__((alias(\"plain\")));\n"
			    "int weakling(int x) __attribute__((weak, alias(\"plain\")));\n"
			    "int plain_long(int x) __attribute__((alias(\"plain\")));\n";
static const char two_c[] =
	"static int helper(int x) { return x - 1; }\n"
	"static int shared(int x) { return x - 3; }\n"
	"__attribute__((used)) static int (*two_table[])(int) = { helper, shared };\n";
static const char asm_s[] = "	.text\n"
			    "	.globl outer, inner, bare_function, bare_label\n"
			    "	.type outer, @function\n"
			    "outer:	.skip 16, 0\n"
			    "	.type inner, @function\n"
			    "inner:	.skip 16, 0\n"
			    "	.size inner, 16\n"
			    "label_inside:	.skip 32, 0\n"
			    "	.size outer, 64\n"
			    "	.type bare_function, @function\n"
			    "bare_function:	.skip 32, 0\n"
			    "bare_label:	.skip 32, 0\n"
			    "	.section .note.GNU-stack,\"\",@progbits\n";

static char *in(const char *name)
{
	static char path[4][128];
	static unsigned k;

	k = (k + 1) % 4;
	snprintf(path[k], sizeof(path[k]), "%s/%s", dir, name);
	return path[k];
}

static void put(const char *name, const char *text, size_t bytes)
{
	FILE *f = fopen(in(name), "w");

	if (!f || fwrite(text, 1, bytes, f) != bytes || fclose(f)) {
		perror(in(name));
		exit(1);
	}
}

/* In the directory; false if it fails. */
static bool shell(const char *command)
{
	char line[1024];

	snprintf(line, sizeof(line), "cd %s && (%s) >log 2>&1", dir, command);
	return !system(line);
}

/* What all tests need; false, with a line, if it cannot be made. */
static bool setup(void)
{
	if (!mkdtemp(dir) || mkdir(in("b"), 0755)) {
		perror(dir);
		return false;
	}
	put("one.c", one_c, strlen(one_c));
	put("two.c", two_c, strlen(two_c));
	put("asm.s", asm_s, strlen(asm_s));
	put("b/two.c", two_c, strlen(two_c));
	if (shell("cc -O0 -g -fPIC -shared -Wl,--build-id -o lib.so one.c two.c b/two.c asm.s") &&
		shell("cc -O0 -fPIC -shared -Wl,--build-id -o other.so two.c"))
		return true;
	fprintf(stderr, "u-sym: cc cannot make a library, see %s/log\n", dir);
	return false;
}

static void teardown(void)
{
	char line[128];

	snprintf(line, sizeof(line), "rm -rf %s", dir);
	if (system(line))
		fputs("# left a directory in /tmp\n", stderr);
}

/* Address of a name, by the tool everybody trusts; the n-th of that name. */
static uint64_t nm(const char *file, const char *name, int n)
{
	char line[512];
	unsigned long long address = 0;
	FILE *f;

	snprintf(line, sizeof(line), "nm %s/%s | awk '$3 == \"%s\" && ++n == %d { print $1 }'", dir,
		file, name, n);
	f = popen(line, "r");
	ck_assert_int_eq(fscanf(f, "%llx", &address), 1);
	pclose(f);
	return address;
}

static void is_named(struct symtab *t, uint64_t address, const char *name)
{
	uint64_t start = 0;

	ck_assert_pstr_eq(symtab_find(t, address, &start), name);
	ck_assert_pstr_eq(symtab_find(t, address + 1, NULL), name);
	ck_assert_uint_eq(start, address);
}

static int bias(struct dl_phdr_info *info, size_t bytes, void *out)
{
	(void)bytes;
	*(uint64_t *)out = info->dlpi_addr;
	return 1; /* the first is the program */
}

START_TEST(test_self)
{
	char *why = "";
	struct symtab *t = symtab_open("/proc/self/exe", NULL, 0, &why);
	uint64_t base = 0;

	dl_iterate_phdr(bias, &base);
	ck_assert_ptr_null(why);
	ck_assert_uint_gt(symtab_count(t), 10);
	is_named(t, (uintptr_t)test_self_fn - base, "test_self_fn");
	is_named(t, (uintptr_t)symtab_open - base, "symtab_open");
	ck_assert_ptr_null(symtab_find(t, 0, NULL));
	ck_assert_ptr_null(symtab_find(t, UINT64_MAX, NULL));
	symtab_close(t);
}
END_TEST

START_TEST(test_locals)
{
	struct symtab *t = symtab_open(in("lib.so"), NULL, 0, NULL);
	const char *names[3];

	is_named(t, nm("lib.so", "alone", 1), "alone");
	for (int i = 0; i < 3; i++)
		names[i] = symtab_find(t, nm("lib.so", "helper", i + 1), NULL);
	/* nm sorts equal names in any order: one of each must be there */
	for (int want = 0; want < 3; want++) {
		static const char *const wanted[] = {
			"helper@one.c", "helper@two.c", "helper@two.c:2"};
		int seen = 0;

		for (int i = 0; i < 3; i++)
			seen += !strcmp(names[i], wanted[want]);
		ck_assert_int_eq(seen, 1);
	}
	symtab_close(t);
}
END_TEST

START_TEST(test_global_keeps_its_name)
{
	struct symtab *t = symtab_open(in("lib.so"), NULL, 0, NULL);
	int global = 0, local = 0;

	for (int i = 1; i <= 3; i++) {
		const char *s = symtab_find(t, nm("lib.so", "shared", i), NULL);

		global += !strcmp(s, "shared");
		local += !strcmp(s, "shared@two.c") || !strcmp(s, "shared@two.c:2");
	}
	ck_assert_int_eq(global, 1);
	ck_assert_int_eq(local, 2);
	symtab_close(t);
}
END_TEST

START_TEST(test_aliases)
{
	struct symtab *t = symtab_open(in("lib.so"), NULL, 0, NULL);

	is_named(t, nm("lib.so", "plain", 1), "plain");
	symtab_close(t);
}
END_TEST

START_TEST(test_sizes)
{
	struct symtab *t = symtab_open(in("lib.so"), NULL, 0, NULL);
	uint64_t outer = nm("lib.so", "outer", 1), start = 0;

	is_named(t, outer, "outer");
	is_named(t, outer + 16, "inner");
	ck_assert_str_eq(symtab_find(t, outer + 40, &start), "outer");
	ck_assert_uint_eq(start, outer);
	is_named(t, outer + 64, "bare_function");
	ck_assert_str_eq(symtab_find(t, outer + 95, NULL), "bare_function");
	is_named(t, outer + 96, "bare_label");
	symtab_close(t);
}
END_TEST

START_TEST(test_stripped_keeps_exports)
{
	char *why = NULL;
	struct symtab *t;

	ck_assert(shell("strip -o stripped.so lib.so"));
	t = symtab_open(in("stripped.so"), NULL, 0, &why);
	ck_assert_ptr_null(why);
	is_named(t, nm("lib.so", "outer", 1), "outer");
	ck_assert_ptr_null(symtab_find(t, nm("lib.so", "alone", 1), NULL));
	symtab_close(t);
}
END_TEST

START_TEST(test_stripped_program)
{
	char *why = NULL;
	struct symtab *t;

	put("m.c", "int main(void) { return 0; }\n", 29);
	ck_assert(shell("cc -s -o program m.c"));
	t = symtab_open(in("program"), NULL, 0, &why);
	ck_assert_ptr_nonnull(why);
	ck_assert_ptr_nonnull(strstr(why, "is stripped"));
	ck_assert_uint_eq(symtab_count(t), 0);
	ck_assert_ptr_null(symtab_find(t, 0x1139, NULL));
	free(why);
	symtab_close(t);
}
END_TEST

START_TEST(test_debug_link)
{
	struct symtab *t;
	char *why = NULL;

	mkdir(in("split"), 0755);
	mkdir(in("split/.debug"), 0755);
	ck_assert(
		shell("objcopy --only-keep-debug lib.so split/lib.debug && cd split && "
		      "strip -o lib.so ../lib.so && objcopy --add-gnu-debuglink=lib.debug lib.so"));
	for (int i = 0; i < 2; i++) {
		if (i)
			ck_assert(shell("mv split/lib.debug split/.debug/"));
		t = symtab_open(in("split/lib.so"), NULL, 0, &why);
		ck_assert_ptr_null(why);
		is_named(t, nm("lib.so", "alone", 1), "alone");
		is_named(t, nm("lib.so", "plain", 1), "plain");
		symtab_close(t);
	}
	/* a debug file of another build is not ours */
	ck_assert(shell("cp other.so split/.debug/lib.debug"));
	t = symtab_open(in("split/lib.so"), NULL, 0, NULL);
	ck_assert_ptr_null(symtab_find(t, nm("lib.so", "alone", 1), NULL));
	is_named(t, nm("lib.so", "outer", 1), "outer");
	symtab_close(t);
}
END_TEST

START_TEST(test_debug_link_of_a_file_that_kept_some)
{
	struct symtab *t;

	mkdir(in("some"), 0755);
	ck_assert(shell("objcopy --only-keep-debug lib.so some/lib.debug && cd some && "
			"strip -s -K plain -o lib.so ../lib.so && "
			"objcopy --add-gnu-debuglink=lib.debug lib.so"));
	t = symtab_open(in("some/lib.so"), NULL, 0, NULL);
	is_named(t, nm("lib.so", "alone", 1), "alone");
	is_named(t, nm("lib.so", "plain", 1), "plain");
	symtab_close(t);
}
END_TEST

/* Without build-ids the CRC tells; that of lib.debug is of its first build. */
START_TEST(test_debug_link_of_another_build)
{
	struct symtab *t;

	mkdir(in("stale"), 0755);
	ck_assert(shell("cc -O0 -g -fPIC -shared -Wl,--build-id=none -o stale/lib.so one.c asm.s "
			"&& cd stale && "
			"objcopy --only-keep-debug lib.so lib.debug && "
			"objcopy --strip-all --add-gnu-debuglink=lib.debug lib.so lib2.so"));
	t = symtab_open(in("stale/lib2.so"), NULL, 0, NULL);
	is_named(t, nm("stale/lib.so", "alone", 1), "alone");
	symtab_close(t);
	ck_assert(shell("cc -O0 -g -fPIC -shared -Wl,--build-id=none -o stale/lib.debug two.c "
			"one.c asm.s"));
	t = symtab_open(in("stale/lib2.so"), NULL, 0, NULL);
	ck_assert_ptr_null(symtab_find(t, nm("stale/lib.so", "alone", 1), NULL));
	is_named(t, nm("stale/lib.so", "outer", 1), "outer");
	symtab_close(t);
}
END_TEST

/* Of 24 MiB, as on a disk that compresses: 4 MiB are on it. With another 200 MiB they are refused.
 */
START_TEST(test_debug_link_of_a_large_file)
{
	struct symtab *t;
	struct stat st;

	mkdir(in("large"), 0755);
	ck_assert(shell("cc -O0 -g -fPIC -shared -Wl,--build-id=none -o large/lib.so one.c asm.s "
			"&& cd large && "
			"objcopy --only-keep-debug lib.so lib.debug && "
			"head -c 4194304 /dev/urandom >>lib.debug && truncate -s 24M lib.debug && "
			"objcopy --strip-all --add-gnu-debuglink=lib.debug lib.so lib2.so"));
	t = symtab_open(in("large/lib2.so"), NULL, 0, NULL);
	is_named(t, nm("large/lib.so", "alone", 1), "alone");
	symtab_close(t);
	ck_assert(shell("cd large && truncate -s 224M lib.debug && "
			"objcopy --strip-all --add-gnu-debuglink=lib.debug lib.so lib2.so"));
	ck_assert_int_eq(stat(in("large/lib.debug"), &st), 0);
	t = symtab_open(in("large/lib2.so"), NULL, 0, NULL);
	if (st.st_blocks < 50000) /* it has holes here */
		ck_assert_ptr_null(symtab_find(t, nm("large/lib.so", "alone", 1), NULL));
	symtab_close(t);
}
END_TEST

static uint32_t crc_of(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint32_t crc = 0;
	struct stat st;

	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert(file_crc(fd, &st, &crc));
	close(fd);
	return crc;
}

START_TEST(test_crc)
{
	uint32_t crc = 0;
	struct stat st;

	put("nine", "123456789", 9);
	ck_assert_uint_eq(crc_of(in("nine")), 0xcbf43926);
	/* read once */
	ck_assert_int_eq(stat(in("nine"), &st), 0);
	ck_assert(file_crc(-1, &st, &crc));
	ck_assert_uint_eq(crc, 0xcbf43926);
	/* but for one that was written anew, and for others */
	st.st_ctim.tv_nsec ^= 1;
	ck_assert(!file_crc(-1, &st, &crc));
	put("none", "", 0);
	ck_assert_uint_eq(crc_of(in("none")), 0);
	st.st_size = INT64_MAX;
	ck_assert(!file_crc(-1, &st, &crc));
}
END_TEST

START_TEST(test_build_id)
{
	uint8_t id[ELF_BUILD_ID_MAX], other[ELF_BUILD_ID_MAX];
	size_t n = 0, m = 0;
	struct symtab *t;
	char *why = NULL;

	n = build_id_of(in("lib.so"), id);
	m = build_id_of(in("other.so"), other);
	ck_assert_uint_eq(n, 20);
	ck_assert_uint_eq(m, 20);
	ck_assert(memcmp(id, other, n));
	t = symtab_open(in("lib.so"), id, n, &why);
	ck_assert_ptr_null(why);
	ck_assert_uint_gt(symtab_count(t), 5);
	symtab_close(t);
	t = symtab_open(in("lib.so"), other, m, &why);
	ck_assert_uint_eq(symtab_count(t), 0);
	ck_assert_ptr_nonnull(strstr(why, "lib.so changed since it ran (build-id differs): its "
					  "functions are shown as addresses"));
	free(why);
	symtab_close(t);
	ck_assert(shell("objcopy --remove-section .note.gnu.build-id lib.so noid.so"));
	n = build_id_of(in("noid.so"), id);
	t = symtab_open(in("noid.so"), other, m, &why);
	ck_assert_uint_eq(symtab_count(t), 0);
	free(why);
	symtab_close(t);
}
END_TEST

START_TEST(test_not_pie)
{
	struct symtab *t;

	put("n.c", "static int local(void) { return 1; }\nint main(void) { return local(); }\n",
		72);
	ck_assert(shell("cc -O0 -no-pie -o nopie n.c && cc -O0 -pie -fPIE -o pie n.c"));
	t = symtab_open(in("nopie"), NULL, 0, NULL);
	is_named(t, nm("nopie", "local", 1), "local");
	ck_assert_uint_gt(nm("nopie", "local", 1), 0x10000);
	symtab_close(t);
	t = symtab_open(in("pie"), NULL, 0, NULL);
	is_named(t, nm("pie", "local", 1), "local");
	symtab_close(t);
}
END_TEST

START_TEST(test_unreadable)
{
	static const struct {
		const char *path, *why;
	} files[] = {
		{"missing", "no such file"},
		{"lib.so/x", "no such file"},
		{".", "is a directory"},
		{"fifo", "is no regular file"},
		{"one.c", "is no ELF file"},
		{"empty", "is no ELF file"},
		{"object.o", "is neither an executable nor a shared library"},
	};

	put("empty", "", 0);
	ck_assert_int_eq(mkfifo(in("fifo"), 0600), 0);
	ck_assert(shell("cc -c -o object.o one.c"));
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char *why = NULL;
		struct symtab *t = symtab_open(in(files[i].path), NULL, 0, &why);

		ck_assert_ptr_nonnull(t);
		ck_assert_ptr_nonnull(why);
		ck_assert_msg(strstr(why, files[i].why), "%s: %s", files[i].path, why);
		ck_assert_ptr_null(symtab_find(t, 0x1000, NULL));
		free(why);
		symtab_close(t);
	}
}
END_TEST

static size_t load(const char *name, char **bytes)
{
	FILE *f = fopen(in(name), "r");
	struct stat st;

	ck_assert_int_eq(stat(in(name), &st), 0);
	*bytes = malloc((size_t)st.st_size);
	ck_assert_uint_eq(fread(*bytes, 1, (size_t)st.st_size, f), (size_t)st.st_size);
	fclose(f);
	return (size_t)st.st_size;
}

static void survive(const char *name)
{
	struct symtab *t = symtab_open(in(name), NULL, 0, NULL);
	struct elf_facts facts;

	for (uint64_t a = 0; a < 0x5000; a += 0x101)
		symtab_find(t, a, NULL);
	symtab_close(t);
	if (!elf_facts_read(&facts, in(name), NULL))
		elf_facts_done(&facts);
}

START_TEST(test_truncated)
{
	char *bytes;
	size_t n = load("lib.so", &bytes);

	for (size_t cut = 0; cut < n; cut += cut < 0x400 ? 13 : n / 60) {
		put("cut.so", bytes, cut);
		survive("cut.so");
	}
	free(bytes);
}
END_TEST

START_TEST(test_spoilt)
{
	char *bytes, *spoilt;
	size_t n = load("lib.so", &bytes);
	uint64_t random = 0x9e3779b97f4a7c15ull;

	spoilt = malloc(n);
	for (int round = 0; round < 300; round++) {
		memcpy(spoilt, bytes, n);
		for (int k = 0; k < 1 << (round % 9); k++) {
			random = random * 6364136223846793005ull + 1442695040888963407ull;
			/* half of it where the headers are */
			size_t at = (random >> 33) % (k & 1 ? n : k & 2 ? 1024 : 4096);

			if (!(k & 1) && !(k & 2))
				at = n - 1 - at;
			if (at > 6)
				spoilt[at] = (char)(random >> 25);
		}
		put("spoilt.so", spoilt, n);
		survive("spoilt.so");
	}
	free(spoilt);
	free(bytes);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sym");
	TCase *c = tcase_create("symbols");
	int failed;

	if (!setup())
		return 1;
	tcase_set_timeout(c, 60);
	tcase_add_test(c, test_self);
	tcase_add_test(c, test_locals);
	tcase_add_test(c, test_global_keeps_its_name);
	tcase_add_test(c, test_aliases);
	tcase_add_test(c, test_sizes);
	tcase_add_test(c, test_stripped_keeps_exports);
	tcase_add_test(c, test_stripped_program);
	tcase_add_test(c, test_debug_link);
	tcase_add_test(c, test_debug_link_of_a_file_that_kept_some);
	tcase_add_test(c, test_debug_link_of_another_build);
	tcase_add_test(c, test_debug_link_of_a_large_file);
	tcase_add_test(c, test_crc);
	tcase_add_test(c, test_build_id);
	tcase_add_test(c, test_not_pie);
	tcase_add_test(c, test_unreadable);
	tcase_add_test(c, test_truncated);
	tcase_add_test(c, test_spoilt);
	suite_add_tcase(s, c);
	failed = run_suite(s);
	teardown();
	return failed;
}
