/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file that hwprof.default_scenario names: an object with `counters' and
 * `observables', or a configuration file with a section hwprof. It is read as a
 * configuration, so that its mistakes are found and named in the same way.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/internal.h"

static bool has_section(const char *text, size_t bytes)
{
	cJSON *root = cJSON_ParseWithLength(text, bytes);
	bool has = cJSON_GetObjectItem(root, "hwprof") != NULL;

	cJSON_Delete(root);
	return has;
}

/* The text as the section of a configuration; lines stay where they are. */
static char *wrap(const char *text, size_t *bytes)
{
	static const char before[] = "{\"hwprof\":", after[] = "}";
	char *longer = malloc(*bytes + sizeof(before) + sizeof(after));

	if (*bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		text += 3;
		*bytes -= 3;
	}

	if (!longer)
		return NULL;
	memcpy(longer, before, sizeof(before) - 1);
	memcpy(longer + sizeof(before) - 1, text, *bytes);
	memcpy(longer + sizeof(before) - 1 + *bytes, after, sizeof(after));
	*bytes += sizeof(before) + sizeof(after) - 2;
	return longer;
}

int conf_scenario(struct conf *c, char **error, const struct conf_reading *how)
{
	const char *file = c->hwprof_default_scenario;
	char *text, *config;
	struct conf *scenario = NULL;
	size_t bytes;
	int e = -1;

	*error = NULL;
	if (!file || !file[0])
		return 0;
	if (check_whole(c, error) < 0)
		return -1;
	text = file_text(file, &bytes);
	if (!text) {
		*error = text_of(
			"hwprof.default_scenario: \"%s\" can't be read: %s", file, strerror(errno));
		return -1;
	}
	config = has_section(text, bytes) ? text : wrap(text, &bytes);
	if (config)
		e = conf_load_text(&scenario, file, config, bytes, error, how);
	if (!e) {
		list_free(CONF_COUNTERS, &c->hwprof_counters);
		list_free(CONF_OBSERVABLES, &c->hwprof_observables);
		c->hwprof_counters = scenario->hwprof_counters;
		c->hwprof_observables = scenario->hwprof_observables;
		scenario->hwprof_counters = scenario->hwprof_observables = (struct conf_list){0};
		c->line[CONF_ID_hwprof_counters] = c->line[CONF_ID_hwprof_default_scenario];
		c->line[CONF_ID_hwprof_observables] = c->line[CONF_ID_hwprof_default_scenario];
		c->hwprof_default_scenario[0] = '\0'; /* what is printed can be read again */
		e = check_whole(c, error);
	}
	if (config != text)
		free(config);
	free(text);
	conf_free(scenario);
	return e;
}
