/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentences for the logs, each kept once. */
#include "nodeagent/agent.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "nodeagent/util.h"

#define WARNINGS_MAX 200 /* what comes after is on standard error at most */

void agent_warn(struct agent *a, bool urgent, const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	if (!text)
		return;
	if (urgent)
		complain("%s", text);
	if (a->n_warnings == WARNINGS_MAX) {
		free(text);
		return;
	}
	for (size_t i = 0; i < a->n_warnings; i++)
		if (!strcmp(a->warnings[i], text)) {
			free(text);
			return;
		}
	a->warnings = grow(a->warnings, a->n_warnings, &a->cap_warnings, sizeof(*a->warnings));
	a->warnings[a->n_warnings++] = text;
}
