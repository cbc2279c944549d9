/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/step/step.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"

#define ID_PARTS   3
#define BATCH_STEP 4294967290.0 /* from here on Slurm's numbers of steps are special ones */

/*
 * A launcher is known by its variable of the rank, the first row counts: those that start
 * tasks through another one's come before that.
 */
static const struct launcher_variables {
	const char *name, *rank, *size, *local_rank, *local_size;
	const char *id[ID_PARTS];
	const char *hosts;
	bool watches;
} launchers[] = {
	{"mpirun of Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
		"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", {"PMIX_NAMESPACE"},
		NULL, true},
	{"mpirun of MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE",
		"MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE", {"MPIRUN_ID"}, NULL,
		true},
	{"PALS", "PALS_RANKID", "PMI_SIZE", "PALS_LOCAL_RANKID", "PALS_LOCAL_SIZE", {"PALS_APID"},
		NULL, true},
	{"jsrun", "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_LOCAL_RANK",
		"JSM_NAMESPACE_LOCAL_SIZE", {"LSB_JOBID", "PMIX_NAMESPACE"}, NULL, false},
	{"flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_LOCAL_ID", NULL, {"FLUX_JOB_ID"},
		NULL, false},
	{"mpiexec of MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS",
		{"PMI_JOBID"}, NULL, true},
	{"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", NULL,
		{"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_RESTART_COUNT"}, "SLURM_STEP_NODELIST",
		false},
	{"aprun", "ALPS_APP_PE", "PMI_SIZE", "PMI_LOCAL_RANK", "PMI_LOCAL_SIZE", {"ALPS_APP_ID"},
		NULL, false},
	{"a launcher with PMI", "PMI_RANK", "PMI_SIZE", "PMI_LOCAL_RANK", "PMI_LOCAL_SIZE",
		{"PMI_JOBID"}, NULL, false},
	{"a launcher with PMIx", "PMIX_RANK", "PMIX_SIZE", "PMIX_LOCAL_RANK", "PMIX_LOCAL_SIZE",
		{"PMIX_NAMESPACE"}, NULL, false},
};

static int variable_number(const char *name)
{
	const char *v = name ? getenv(name) : NULL;

	return v && isdigit((unsigned char)v[0]) ? atoi(v) : STEP_UNKNOWN;
}

/* The script of a batch job has Slurm's variables, and is no task of a step. */
static bool is_task(const struct launcher_variables *l)
{
	const char *step;

	if (variable_number(l->rank) < 0)
		return false;
	if (!strcmp(l->rank, "SLURM_PROCID")) {
		step = getenv("SLURM_STEP_ID");
		return step && isdigit((unsigned char)step[0]) && atof(step) < BATCH_STEP;
	}
	/* two launchers set PMI_RANK: MPICH's own says which one is here, too */
	if (!strcmp(l->rank, "PMI_RANK"))
		return variable_number(l->local_rank) >= 0 || !l->watches;
	return true;
}

static void set_id(const struct launcher_variables *l, char *out, size_t bytes)
{
	size_t n = 0;

	out[0] = '\0';
	for (int i = 0; i < ID_PARTS && l->id[i]; i++) {
		const char *v = getenv(l->id[i]);

		if (v && v[0] && n < bytes - 1)
			n += (size_t)snprintf(out + n, bytes - n, "%s%.60s", n ? "." : "", v);
	}
	for (; *out; out++) /* it becomes part of file names */
		if (!isalnum((unsigned char)*out) && *out != '.' && *out != '-')
			*out = '_';
}

/* "2(x3),1": 2 tasks on each of the first three nodes. */
static int tasks_on_node(const char *text, int node)
{
	while (text && isdigit((unsigned char)text[0]) && node >= 0) {
		char *end;
		long n = strtol(text, &end, 10), times = 1;

		if (!strncmp(end, "(x", 2))
			times = strtol(end + 2, &end, 10);
		if (node < times)
			return (int)n;
		node -= (int)times;
		end += strcspn(end, ",");
		text = *end ? end + 1 : NULL;
	}
	return STEP_UNKNOWN;
}

void step_read(struct step *s)
{
	const struct launcher_variables *l = launchers, *end = l + ARRAY_SIZE(launchers);
	const char *hosts;

	*s = (struct step){.rank = STEP_UNKNOWN,
		.size = STEP_UNKNOWN,
		.local_rank = STEP_UNKNOWN,
		.local_size = STEP_UNKNOWN};
	while (l < end && !is_task(l))
		l++;
	if (l == end)
		return;
	s->launcher = l->name;
	s->watches = l->watches;
	s->rank = variable_number(l->rank);
	s->size = variable_number(l->size);
	s->local_rank = variable_number(l->local_rank);
	s->local_size = variable_number(l->local_size);
	if (s->local_size < 0 && !strcmp(l->rank, "SLURM_PROCID"))
		s->local_size = tasks_on_node(
			getenv("SLURM_STEP_TASKS_PER_NODE"), variable_number("SLURM_NODEID"));
	set_id(l, s->id, sizeof(s->id));
	hosts = l->hosts ? getenv(l->hosts) : NULL;
	if (hosts && strlen(hosts) < sizeof(s->hosts))
		strcpy(s->hosts, hosts);
}

bool step_has_others(void)
{
	struct step s;

	step_read(&s);
	return s.size > 1 && s.rank >= 0;
}

/* Slurm's plug-in has the freezer of version 1, or all of version 2. */
bool step_has_group(void)
{
	FILE *f = fopen("/proc/self/cgroup", "re");
	char line[4096];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = (strstr(line, ":freezer:") || !strncmp(line, "0::", 3)) &&
			strstr(line, "/step_");
	if (f)
		fclose(f);
	return found;
}

/* The next part of the list, up to a comma outside of brackets. */
static size_t part_length(const char *text)
{
	size_t n = 0;

	for (bool inside = false; text[n] && (inside || text[n] != ','); n++)
		inside = text[n] == '[' || (inside && text[n] != ']');
	return n;
}

/* The n-th name of "pre[1-3,07]post"; or *left: how many of n are still to be found. */
static bool name_of_part(
	const char *part, size_t bytes, unsigned n, unsigned *left, char *out, unsigned room)
{
	const char *open = memchr(part, '[', bytes), *shut = open ? memchr(part, ']', bytes) : NULL;
	const char *at = open ? open + 1 : part;

	*left = n;
	if (!open || !shut) {
		if (n)
			*left = n - 1;
		else
			snprintf(out, room, "%.*s", (int)bytes, part);
		return !n;
	}
	while (at < shut) {
		char *end;
		unsigned long first = strtoul(at, &end, 10), last = first;
		int width = (int)(end - at);

		if (end == at)
			return false;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (last < first)
			return false;
		if (*left <= last - first) {
			snprintf(out, room, "%.*s%0*lu%.*s", (int)(open - part), part, width,
				first + *left, (int)(part + bytes - shut - 1), shut + 1);
			return true;
		}
		*left -= (unsigned)(last - first + 1);
		at = *end == ',' ? end + 1 : end;
		if (at == end && end != shut)
			return false;
	}
	return false;
}

bool step_host(const char *hosts, unsigned n, char *out, unsigned bytes)
{
	while (*hosts) {
		size_t length = part_length(hosts);

		if (name_of_part(hosts, length, n, &n, out, bytes))
			return true;
		hosts += length;
		hosts += *hosts == ',';
	}
	return false;
}
