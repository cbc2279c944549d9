/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/profile/script.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/base/words.h"
#include "nodeagent/profile/profile.h"

/* That, or it and a version: python3.11. */
static bool is_python(const char *program)
{
	static const char *const names[] = {"python", "pypy"};
	const char *name = basename(program);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const size_t n = strlen(names[i]);

		if (!strncmp(name, names[i], n) && !name[n + strspn(name + n, "0123456789.")])
			return true;
	}
	return false;
}

/* Behind the interpreter's name. */
static char *script_in(const char *list)
{
	char *module = NULL, *script = NULL, *word;
	bool is_module = false;

	while (!script && (word = words_next(&list))) {
		if (!strcmp(word, "-c")) {
			free(word);
			break;
		}
		if (*word != '-' && text_ends_with(word, ".py"))
			script = xstrdup(basename(word));
		else if (is_module && !module)
			module = xstrdup(word);
		is_module = !strcmp(word, "-m");
		free(word);
	}
	if (!script)
		return module;
	free(module);
	return script;
}

char *profile_script(const struct profile *p)
{
	const char *list = p->n_starts ? p->starts[0].command : NULL;
	bool found = false;
	char *word;

	if (!list || !p->application || !is_python(p->application))
		return NULL;
	while (!found && (word = words_next(&list))) {
		found = is_python(word);
		free(word);
	}
	return found ? script_in(list) : NULL;
}
