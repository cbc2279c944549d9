/* SPDX-License-Identifier: BSD-3-Clause */
/* vftr doctor PROGRAM: will it be traced when it is run, and if not, why not? doctor.c knows. */
#include "nodeagent/tool/cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/doctor/doctor.h"
#include "nodeagent/base/util.h"

static void print_diagnosis(const struct diagnosis *d, const char *name)
{
	static const char *const lead[] = {
		[FINDING_OK] = "  ok    ",
		[FINDING_NOTE] = "  note  ",
		[FINDING_NO] = "  no    ",
		[FINDING_DO] = "        -> ",
	};

	if (d->refused)
		printf("%s: will not be traced\n", name);
	else if (d->limits)
		printf("%s: only %s will be traced\n", name, d->limits);
	else
		printf("%s: will be traced\n", name);
	for (size_t i = 0; i < d->n; i++)
		printf("%s%s\n", lead[d->lines[i].finding], d->lines[i].text);
}

/* 0, 1 if it will not be traced, or 2 if there is nothing to examine. */
static int doctor(const char *name, const char *config)
{
	struct diagnosis d = {0};
	char *path = doctor_find(name);
	const char *why = doctor_examine(
		&d, &(struct doctor_question){
			    .name = name, .path = path, .host = true, .config = config});
	int rc = why ? 2 : d.refused;

	if (why)
		complain("doctor: %s: %s", name, why);
	else
		print_diagnosis(&d, name);
	diagnosis_free(&d);
	free(path);
	return rc;
}

static const char usage[] =
	"usage: vftr doctor [OPTION...] PROGRAM\n"
	"\n"
	"Says whether PROGRAM will be traced when it is run as it is, here, and if not,\n"
	"why not. It is not run.\n"
	"\n"
	"  -c, --config FILE  check this configuration, too; default: $VFTR_CONFIG\n"
	"  -h, --help         this text\n"
	"\n"
	"Exit status: 0 it will, 1 it will not, 2 it cannot be read, or wrong usage.\n";

static bool is_config(const char *option)
{
	return !strcmp(option, "-c") || !strcmp(option, "--config");
}

int cmd_doctor(int argc, char **argv)
{
	const char *config = NULL;
	int i = 1;

	for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			fputs(usage, stdout);
			return 0;
		}
		if (!strcmp(argv[i], "--")) {
			i++;
			break;
		}
		if (is_config(argv[i]) && i + 1 < argc) {
			config = argv[++i];
		} else if (!strncmp(argv[i], "--config=", 9)) {
			config = argv[i] + 9;
		} else {
			complain("doctor: %s `%s'",
				is_config(argv[i]) ? "no file after" : "unknown option", argv[i]);
			return 2;
		}
	}
	if (argc - i != 1) {
		complain("doctor: give one program: vftr doctor [--config FILE] PROGRAM");
		return 2;
	}
	return doctor(argv[i], config);
}
