/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/launch/launcher-options.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* The options' reader, at the word argv[i]. */
struct reader {
	const struct launcher_options *options;
	bool letters; /* one dash: letters that may be glued together, as srun's */
	char *const *argv;
	int i;
	void (*see)(void *ctx, const struct launcher_seen *s);
	void *ctx;
};

static bool is_executable_word(const char *word)
{
	char path[PATH_MAX];

	return launcher_resolve(word, path);
}

/* The next option of a table, which begins at options->names. False: there is none. */
static bool next_option(
	const struct launcher_options **group, const char **at, struct launcher_option *o)
{
	size_t word, name;

	if (!**at)
		*at = (++*group)->names;
	if (!*at)
		return false;
	word = strcspn(*at, " ");
	name = strcspn(*at, " /");
	*o = (struct launcher_option){.letter = name < word ? (*at)[name + 1] : 0,
		.words = (*group)->words,
		.role = (*group)->role};
	snprintf(o->name, sizeof(o->name), "%.*s", (int)name, *at);
	*at += word;
	*at += strspn(*at, " ");
	return true;
}

/* Finds an option by its name or a beginning of it; of several, the first of the table. */
static bool find_name(
	const struct reader *r, const char *name, size_t n, struct launcher_option *found)
{
	const struct launcher_options *group = r->options;
	const char *at = group->names;
	struct launcher_option o;
	bool begins = false;

	while (next_option(&group, &at, &o)) {
		if (strncmp(o.name, name, n) || (o.name[n] && (begins || !r->letters)))
			continue;
		*found = o;
		if (!o.name[n])
			return true;
		begins = true;
	}
	return begins;
}

static bool find_letter(const struct reader *r, char letter, struct launcher_option *found)
{
	const struct launcher_options *group = r->options;
	const char *at = group->names;

	while (next_option(&group, &at, found))
		if (found->letter == letter)
			return true;
	return false;
}

/* Hands on an option whose first value is glued, or NULL; r->i is behind its words then. */
static void take_option(struct reader *r, const struct launcher_option *o, const char *glued)
{
	struct launcher_seen s = {.option = o, .values = {glued}};
	int n = o->words == WORDS_GLUED ? 0 : (int)o->words, have = glued != NULL;

	r->i++;
	for (; have < n && r->argv[r->i]; have++)
		s.values[have] = r->argv[r->i++];
	r->see(r->ctx, &s);
}

/* Unknown options may have values, up to the next option or a program. */
static void skip_unknown(struct reader *r, bool has_value)
{
	r->i++;
	while (!has_value && r->argv[r->i] && r->argv[r->i][0] != '-' &&
		!is_executable_word(r->argv[r->i]))
		r->i++;
}

static void take_long(struct reader *r, const char *name)
{
	size_t n = strcspn(name, "=");
	struct launcher_option o;

	if (n && find_name(r, name, n, &o))
		take_option(r, &o, name[n] ? name + n + 1 : NULL);
	else
		skip_unknown(r, name[n]);
}

/* "-lN3": l has no value, N has the rest of the word. */
static void take_letters(struct reader *r, const char *letter)
{
	for (; *letter; letter++) {
		struct launcher_option o;

		if (!find_letter(r, *letter, &o)) {
			skip_unknown(r, letter[1]);
			return;
		}
		if (o.words != WORDS_0) {
			take_option(r, &o, letter[1] ? letter + 1 : NULL);
			return;
		}
		r->see(r->ctx, &(struct launcher_seen){.option = &o});
	}
	r->i++;
}

int launcher_read_options(enum launcher_kind kind, char *const *argv,
	void (*see)(void *ctx, const struct launcher_seen *s), void *ctx)
{
	struct reader r = {.options = launcher_options(kind),
		.letters = kind == LAUNCHER_SLURM,
		.argv = argv,
		.i = 1,
		.see = see,
		.ctx = ctx};

	while (argv[r.i] && argv[r.i][0] == '-' && argv[r.i][1]) {
		const char *word = argv[r.i];

		if (!strcmp(word, "--")) {
			r.i++;
			break;
		}
		if (word[1] == '-')
			take_long(&r, word + 2);
		else if (r.letters)
			take_letters(&r, word + 1);
		else
			take_long(&r, word + 1);
	}
	return r.i;
}
