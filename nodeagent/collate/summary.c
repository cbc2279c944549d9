/* SPDX-License-Identifier: BSD-3-Clause */
/* The summary of a job as the list of its node profiles. */
#include "nodeagent/collate/collate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodeagent/base/json-read.h"
#include "nodeagent/base/util.h"

struct named {
	struct text_store hosts; /* one after the other */
	bool pruned;
};

/* An element of `agents'. One without processes has written no profile. */
static void read_agent(struct json_in *j, struct named *to)
{
	const size_t before = to->hosts.n;
	bool none = false;
	const char *key;

	json_in_object(j);
	while ((key = json_in_member(j))) {
		if (!strcmp(key, "host"))
			json_in_text(j, &to->hosts);
		else if (!strcmp(key, "missing"))
			none |= json_in_value(j, &to->hosts).integer != 0;
		else if (!strcmp(key, "processes"))
			none |= json_in_value(j, &to->hosts).integer == 0;
		else
			json_in_skip(j);
	}
	if (none)
		to->hosts.n = before;
}

/* NULL, or an error, which the caller frees. */
static char *read_named(FILE *f, struct named *to)
{
	struct json_in j;
	const char *key;

	json_in_begin(&j, f);
	json_in_object(&j);
	while ((key = json_in_member(&j))) {
		to->pruned |= !strcmp(key, "pruned");
		if (strcmp(key, "agents")) {
			json_in_skip(&j);
			continue;
		}
		json_in_array(&j);
		while (json_in_element(&j))
			read_agent(&j, to);
	}
	return json_in_end(&j);
}

/* The file of a host, beside the summary. NULL: it is not there, which is said. */
static char *node_profile(const struct result_parsed *summary, const char *dir, const char *host)
{
	const struct result r = {summary->base, RESULT_NODE_PROFILE, host, NULL};
	char *path = result_path(summary->layout, dir, &r);

	if (!access(path, F_OK))
		return path;
	complain("%s: %s; what ran on node %s is missing", path, strerror(errno), host);
	free(path);
	return NULL;
}

static void find_files(const struct named *named, const char *path, struct collate_summary *s)
{
	struct result_parsed parsed;
	char *dir = file_directory(path);
	size_t cap = 0;

	if (!result_parse(basename(path), &parsed) || parsed.kind != RESULT_PROFILE) {
		complain("%s: not the name of a summary, BASE_all.json or profile.json, so that "
			 "its node profiles are not known",
			path);
		s->n_missing++;
	} else {
		for (size_t at = 0; at < named->hosts.n;) {
			const char *host = named->hosts.bytes + at;
			char *file = strchr(host, '/') ? NULL : node_profile(&parsed, dir, host);

			if (file)
				*APPEND(s->paths, s->n, cap) = file;
			else
				s->n_missing++;
			at += strlen(host) + 1;
		}
	}
	result_parsed_free(&parsed);
	free(dir);
}

int collate_summary(const char *path, struct collate_summary *s, char **error)
{
	struct named named = {0};
	FILE *f = fopen(path, "re");
	char *why;

	*s = (struct collate_summary){0};
	*error = NULL;
	if (!f) {
		*error = xasprintf("%s: %s", path, strerror(errno));
		return -1;
	}
	why = read_named(f, &named);
	fclose(f);
	if (why)
		*error = xasprintf("%s: %s", path, why);
	else if (named.pruned)
		find_files(&named, path, s);
	s->pruned = named.pruned;
	free(why);
	free(named.hosts.bytes);
	return *error ? -1 : 0;
}

void collate_summary_free(struct collate_summary *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->paths[i]);
	free(s->paths);
	*s = (struct collate_summary){0};
}
