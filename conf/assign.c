/* SPDX-License-Identifier: BSD-3-Clause */
/* KEY=VALUE, as on a command line and in the environment. */
#include <stdlib.h>
#include <string.h>

#include "conf/internal.h"

int conf_assign(struct conf *c, const char *assignment, char **error)
{
	const char *equals = strchr(assignment, '=');
	char *key, buf[QUOTE_BYTES];
	int e;

	*error = NULL;
	if (!equals) {
		*error = text_of("\"%s\" is not of the form KEY=VALUE",
			quoted(buf, assignment, strlen(assignment)));
		return -1;
	}
	key = strndup(assignment, (size_t)(equals - assignment));
	if (!key)
		return -1;
	e = conf_set(c, key, equals + 1, error);
	free(key);
	return e;
}

static const char blanks[] = " \t\n";

char *conf_next_assignment(const char **list)
{
	while (*list) {
		const char *from = *list + strspn(*list, blanks);
		size_t bytes = strcspn(from, ";");

		*list = from[bytes] ? from + bytes + 1 : NULL;
		while (bytes && strchr(blanks, from[bytes - 1]))
			bytes--;
		if (bytes)
			return strndup(from, bytes);
	}
	return NULL;
}

int conf_assign_all(struct conf *c, const char *list, char **error)
{
	char *one, *why = NULL;

	*error = NULL;
	while ((one = conf_next_assignment(&list))) {
		int e = conf_assign(c, one, &why);

		free(one);
		if (e < 0) {
			*error = text_of("VFTR_SET: %s", why ? why : "out of memory");
			free(why);
			return -1;
		}
	}
	return 0;
}
