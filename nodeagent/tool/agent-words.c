/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/tool/agent-words.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodeagent/base/util.h"

#define AGENT "vftr-node-agent"

static char *agent_path(void)
{
	char path[PATH_MAX], *beside;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[n > 0 ? n : 0] = '\0';
	n = strrchr(path, '/') - path;
	beside = strrchr(path, '/') ? xasprintf("%.*s/" AGENT, (int)n, path) : xstrdup(AGENT);
	if (!access(beside, X_OK))
		return beside;
	free(beside);
	return xstrdup(AGENT);
}

void agent_words_begin(struct agent_words *w, const char *subcommand)
{
	agent_words_add(w, agent_path());
	agent_words_add(w, xasprintf("--as=%s", subcommand));
}

void agent_words_add(struct agent_words *w, char *word)
{
	w->v = grow(w->v, w->n + 1, &w->cap, sizeof(*w->v));
	w->v[w->n++] = word;
	w->v[w->n] = NULL;
}

void agent_words_add_key(struct agent_words *w, const char *key, const char *value)
{
	agent_words_add(w, xstrdup("--set"));
	agent_words_add(w, xasprintf("%s%s", key, value));
}

int agent_become(const struct agent_words *w, const char *subcommand)
{
	execvp(w->v[0], w->v);
	complain("cannot run %s, which does the work of `vftr %s': %s", w->v[0], subcommand,
		strerror(errno));
	return OWN_FAILURE;
}
