/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths in JSON are put before what the last one had in common with them: they are as if not. */
#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/base/json-write.h"
#include "nodeagent/base/util.h"
#include "nodeagent/report/output.h"
#include "nodeagent/report/report.h"
#include "t/lib/dice.h"
#include "t/lib/suite.h"

#define STACKS 400u
#define NAMES  20u

/* How a tree grows: the caller of stack i, and when that was called first. */
enum { AT_RANDOM, A_CHAIN, IN_BREADTH, WITHOUT_TIMES, CALLERS_LAST, SHAPES };

static uint32_t caller_of(struct dice *d, unsigned shape, uint32_t i)
{
	return shape == A_CHAIN ? i - 1 : shape == IN_BREADTH ? (i - 1) / 3 : throw_dice(d, i);
}

static int64_t time_of(struct dice *d, unsigned shape, uint32_t i)
{
	return shape == WITHOUT_TIMES  ? 0
	       : shape == CALLERS_LAST ? STACKS - i
	       : shape == AT_RANDOM    ? 1 + throw_dice(d, 1000)
				       : 1 + i;
}

/* Empty, longer than is copied at once, to be escaped, no UTF-8, and common ones. */
static char *name_of(struct dice *d, uint32_t i)
{
	static const char *const odd[] = {"", "\"", "\\\x01<", "\xff\xc3", "gr\xc3\xbc\xc3\x9f<",
		"a name of more bytes than are copied at once, as templates of C++ have"};

	if (!i)
		return xstrdup("init");
	if (i <= ARRAY_SIZE(odd))
		return xstrdup(odd[i - 1]);
	return xasprintf("f%0*u", (int)throw_dice(d, 40), i);
}

static struct profile *tree_of(struct dice *d, unsigned shape)
{
	struct profile *p = profile_new();

	p->n_names = NAMES;
	p->names = xcalloc(NAMES, sizeof(*p->names));
	for (uint32_t i = 0; i < NAMES; i++)
		p->names[i] = name_of(d, i);
	p->n_stacks = STACKS;
	p->stacks = xcalloc(STACKS, sizeof(*p->stacks));
	for (uint32_t i = 0; i < STACKS; i++)
		p->stacks[i] = (struct profile_stack){
			.hash = i,
			.parent = i ? caller_of(d, shape, i) : PROFILE_NONE,
			.name = i ? 1 + throw_dice(d, NAMES - 1) : 0,
			.first_ns = time_of(d, shape, i),
		};
	return p;
}

static char *written;
static size_t bytes;

static char *json_of(const struct profile *p, const struct conf *c)
{
	FILE *f = open_memstream(&written, &bytes);

	output_json(p, c, f);
	ck_assert_int_eq(fclose(f), 0);
	return written;
}

/* The members of a stack up to its caller's id. */
static char *members_of(const struct report *r, uint32_t i)
{
	const uint32_t parent = r->parent[i];
	const struct profile_stack *stacks = r->p->stacks;
	char *path = report_path(r, i);
	struct json j;
	FILE *f = open_memstream(&written, &bytes);

	json_begin(&j, f, 0);
	json_object(&j, NULL);
	json_uint(&j, "id", r->id[i]);
	json_hex(&j, "hash", stacks[i].hash);
	json_string(&j, "path", path);
	json_string(&j, "function", r->shown[stacks[i].name]);
	json_string(&j, "caller", parent == PROFILE_NONE ? NULL : r->shown[stacks[parent].name]);
	json_int(&j, "parent", parent == PROFILE_NONE ? -1 : (int64_t)r->id[parent]);
	json_close(&j);
	ck_assert_int_eq(fclose(f), 0);
	written[bytes - 2] = ','; /* in place of the brace and a newline */
	written[bytes - 1] = '\0';
	free(path);
	return written;
}

START_TEST(paths_are_those_of_callers)
{
	struct dice d = {.state = (uint64_t)_i};
	struct profile *p = tree_of(&d, (unsigned)_i % SHAPES);
	struct conf *c = conf_default();
	char *all, *at;
	struct report r;

	report_init(&r, p, c, NULL, 0);
	all = json_of(p, c);
	at = strstr(all, "\"stacks\":[");
	ck_assert_ptr_nonnull(at);
	for (uint32_t i = 0; i < STACKS; i++) {
		char *wanted = members_of(&r, r.by_id[i]);
		char *next = strstr(at, wanted);

		ck_assert_msg(next, "not in its place: %s", wanted);
		at = next;
		free(wanted);
	}
	report_done(&r);
	free(all);
	conf_free(c);
	profile_free(p);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("json-paths");
	TCase *tc = tcase_create("json-paths");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, paths_are_those_of_callers, 0, 8 * SHAPES);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
