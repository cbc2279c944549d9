/* SPDX-License-Identifier: BSD-3-Clause */
/* vftr config: print, check and explain configuration files. See vftr-config(5). */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/tool/cmd.h"
#include "nodeagent/report/observables.h"
#include "nodeagent/base/table.h"
#include "nodeagent/base/util.h"

static int run_default(const char *unused)
{
	struct conf *c = conf_default();

	if (!c)
		die(1, "out of memory");
	conf_print(c, stdout);
	conf_free(c);
	return 0;
}

static void print_line(const char *line, void *unused)
{
	char *plain = text_plain(line);

	fprintf(stderr, "%s\n", plain);
	free(plain);
}

static int check_file(const char *file, bool lenient)
{
	const struct conf_reading how = {.lenient = lenient, .warn = print_line};
	struct conf *c;
	char *error = NULL;
	int e = conf_load(&c, file, &error, &how);

	if (e == 0)
		e = conf_check_paths(c, true, &error);
	if (e == 0)
		e = conf_scenario(c, &error, &how);
	if (e == 0)
		e = hwprof_check(c, &error);
	if (e < 0)
		print_line(error ? error : "out of memory", NULL);
	if (e == 0)
		printf("Checking of config file %s is complete\n", file);
	free(error);
	conf_free(c);
	return e < 0 ? 1 : 0;
}

static int run_check(const char *file)
{
	return check_file(file, false);
}

static int run_check_leniently(const char *file)
{
	return check_file(file, true);
}

/* The value on one line; lists are empty. */
static char *default_shown(const struct conf *c, size_t id)
{
	enum conf_type type = conf_options[id].type;
	char *value = type == CONF_COUNTERS || type == CONF_OBSERVABLES
			      ? xstrdup("[]")
			      : conf_value_text(c, (enum conf_id)id);

	if (!value)
		die(1, "out of memory");
	return value;
}

static void explain_option(const struct conf *c, size_t id)
{
	const struct conf_option *o = &conf_options[id];
	char *value = default_shown(c, id), *accepted = conf_accepted(o);

	printf("%s\n", o->path);
	printf("   type:     %s\n", conf_type_name(o->type));
	printf("   default:  %s\n", value);
	printf("   accepted: %s\n", accepted ? accepted : "");
	if (conf_also_accepted(o->type))
		printf("   also:     %s, with --set and in VFTR_SET\n",
			conf_also_accepted(o->type));
	printf("   meaning:  %s\n", o->text);
	free(accepted);
	free(value);
}

static void list_option(const struct conf *c, size_t id)
{
	char *value = default_shown(c, id);

	printf("%-47s %-11s  %s\n", conf_options[id].path, value, conf_options[id].text);
	free(value);
}

/* Lists the keys of a section ("" is all); false if there is none of that name. */
static bool list_section(const struct conf *c, const char *section)
{
	size_t bytes = strlen(section);
	bool found = false;

	for (size_t id = 0; id < CONF_N_OPTIONS; id++) {
		const char *path = conf_options[id].path;

		if (bytes && (strncasecmp(path, section, bytes) != 0 || path[bytes] != '.'))
			continue;
		list_option(c, id);
		found = true;
	}
	return found;
}

static int run_explain(const char *key)
{
	struct conf *c = conf_default();
	enum conf_id id = conf_find(key);
	int status = 0;

	if (!c)
		die(1, "out of memory");
	if (id < CONF_N_OPTIONS) {
		explain_option(c, id);
	} else if (!*key || !list_section(c, key)) {
		char *nearest = conf_nearest(key);

		complain("\"%s\" is not a valid vftrace option%s%s%s", key,
			nearest ? "; did you mean \"" : "", nearest ? nearest : "",
			nearest ? "\"?" : "");
		free(nearest);
		status = 1;
	}
	conf_free(c);
	return status;
}

static int run_list(const char *unused)
{
	struct conf *c = conf_default();

	if (!c)
		die(1, "out of memory");
	list_section(c, "");
	conf_free(c);
	return 0;
}

static const struct action {
	const char *name;
	const char *argument; /* NULL if it takes none */
	int (*run)(const char *argument);
	int (*leniently)(const char *argument); /* with --lenient, or NULL */
	const char *text;
} actions[] = {
	{"default", NULL, run_default, NULL, "print a file with every key at its default"},
	{"check", "FILE", run_check, run_check_leniently,
		"check a file, and the paths named in it"},
	{"explain", "KEY", run_explain, NULL,
		"say what a key means and accepts; or list a section"},
	{"list", NULL, run_list, NULL, "list all keys with default and meaning"},
};

static int print_usage(FILE *f, int status)
{
	fprintf(f, "usage: vftr config ACTION [ARGUMENT]\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(actions); i++)
		fprintf(f, "   %-8s %-5s  %s\n", actions[i].name,
			actions[i].argument ? actions[i].argument : "", actions[i].text);
	fprintf(f, "\nOption of check:\n"
		   "  --lenient  only warn of keys that are not known\n"
		   "\nThe keys are described in vftr-config(5).\n");
	return status;
}

static bool is_help(const char *s)
{
	return strcmp(s, "--help") == 0 || strcmp(s, "-h") == 0;
}

/* Whether it is there; it may stand before or behind the argument, and is taken out. */
static bool take_option(int *argc, char **argv, const char *option)
{
	const int before = *argc;
	int n = 0;

	for (int i = 0; i < before; i++)
		if (strcmp(argv[i], option))
			argv[n++] = argv[i];
	argv[n] = NULL;
	*argc = n;
	return n < before;
}

int cmd_config(int argc, char **argv)
{
	bool lenient;

	for (int i = 1; i < argc; i++)
		if (is_help(argv[i]))
			return print_usage(stdout, 0);
	lenient = take_option(&argc, argv, "--lenient");
	if (argc < 2)
		return print_usage(stderr, 2);
	EACH(const struct action, a, actions, ARRAY_SIZE(actions)) {
		if (strcmp(argv[1], a->name) != 0)
			continue;
		if (argc != (a->argument ? 3 : 2)) {
			complain("config %s takes %s", a->name,
				a->argument ? a->argument : "no argument");
			return print_usage(stderr, 2);
		}
		if (lenient && !a->leniently) {
			complain("config %s has no option --lenient", a->name);
			return print_usage(stderr, 2);
		}
		return (lenient ? a->leniently : a->run)(argv[2]);
	}
	complain("config: there is no action \"%s\"", argv[1]);
	return print_usage(stderr, 2);
}
