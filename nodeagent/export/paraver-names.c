/* SPDX-License-Identifier: BSD-3-Clause */
/* OUT.pcf: what types and values are called. OUT.row: what the rows are. */
#include <stdlib.h>
#include <string.h>

#include "nodeagent/export/internal.h"
#include "nodeagent/base/util.h"

int paraver_mpi_type(const struct export_region *r)
{
	if (r->family == MPI_FAMILY_MESSAGE || r->family == MPI_FAMILY_REQUEST)
		return PARAVER_MPI_MESSAGE;
	return r->family == MPI_FAMILY_COLLECTIVE ? PARAVER_MPI_COLLECTIVE : PARAVER_MPI_OTHER;
}

static void put_type(FILE *to, int type, const char *text)
{
	fprintf(to, "\nEVENT_TYPE\n0    %d    %s\n", type, text);
}

/* A line is an entry. */
static void put_name(FILE *to, const char *name)
{
	char *clean = export_cleaned(name);

	for (const char *c = clean ? clean : name; *c; c++)
		fputc((unsigned char)*c < ' ' ? ' ' : *c, to);
	free(clean);
}

/* 7: drawn as a gradient, not as a choice of colours */
static void put_counters(const struct exporter *x, FILE *to)
{
	for (size_t i = 0; i < x->n_counters; i++) {
		const struct export_counter *c = &x->counters[i];

		fprintf(to, "%s7  %zu ", i ? "" : "\nEVENT_TYPE\n", PARAVER_COUNTER + i);
		put_name(to, c->name);
		if (*c->unit) {
			fputs(" [", to);
			put_name(to, c->unit);
			fputc(']', to);
		}
		fputc('\n', to);
	}
}

static void put_regions(const struct exporter *x, FILE *to, int mpi)
{
	fprintf(to, "VALUES\n0      End\n");
	for (size_t i = 0; i < x->n_regions; i++) {
		const struct export_region *r = &x->regions[i];

		if (mpi && (r->kind != VFD_FUNCTION_MPI || paraver_mpi_type(r) != mpi))
			continue;
		fprintf(to, "%zu      ", i + 1);
		put_name(to, r->name);
		fputc('\n', to);
	}
	fputc('\n', to);
}

static void put_pcf(const struct exporter *x, FILE *to)
{
	fprintf(to,
		"DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\n"
		"LOOK_BACK           100\nSPEED               1\nFLAG_ICONS          ENABLED\n"
		"NUM_OF_STATE_COLORS 1000\nYMAX_SCALE          37\n\n"
		"DEFAULT_SEMANTIC\n\nTHREAD_FUNC          State As Is\n\n"
		"STATES\n0    Idle\n%d    Running\n\n"
		"STATES_COLOR\n0    {117,195,255}\n%d    {0,0,255}\n",
		PARAVER_RUNNING, PARAVER_RUNNING);
	put_type(to, PARAVER_FUNCTION, "Function");
	put_regions(x, to, 0);
	put_type(to, PARAVER_MPI_MESSAGE, "MPI Point-to-point");
	put_regions(x, to, PARAVER_MPI_MESSAGE);
	put_type(to, PARAVER_MPI_COLLECTIVE, "MPI Collective Comm");
	put_regions(x, to, PARAVER_MPI_COLLECTIVE);
	put_type(to, PARAVER_MPI_OTHER, "MPI Other");
	put_regions(x, to, PARAVER_MPI_OTHER);
	put_type(to, PARAVER_LOST, "Calls that were not recorded");
	put_type(to, PARAVER_LEFT_OUT, "Calls left out to keep the size of the file");
	put_type(to, PARAVER_GAP, "Not recorded until here");
	put_counters(x, to);
}

static void put_line(FILE *to, const char *name)
{
	put_name(to, name);
	fputc('\n', to);
}

static void put_row(const struct exporter *x, FILE *to)
{
	fprintf(to, "LEVEL NODE SIZE %zu\n", x->n_hosts);
	for (size_t i = 0; i < x->n_hosts; i++)
		put_line(to, x->hosts[i]);
	fprintf(to, "\nLEVEL TASK SIZE %zu\n", x->n_processes);
	for (size_t i = 0; i < x->n_processes; i++)
		put_line(to, x->processes[i].name);
	fprintf(to, "\nLEVEL THREAD SIZE %zu\n", x->n_threads);
	for (size_t i = 0; i < x->n_threads; i++) {
		put_name(to, x->threads[i].name);
		fputs(" of ", to);
		put_line(to, x->processes[x->threads[i].process].name);
	}
}

static void write_file(struct exporter *x, const char *stem, const char *suffix,
	void (*put)(const struct exporter *x, FILE *to))
{
	char *path = xasprintf("%s%s", stem, suffix);
	struct writing *tmp;
	FILE *f;
	int error = write_begin(&f, &tmp, path);

	if (!error) {
		put(x, f);
		error = write_end(f, tmp);
	}
	if (error)
		export_fail(x, "%s: can't be written: %s", path, strerror(-error));
	free(path);
}

void paraver_names(struct exporter *x, const char *stem)
{
	write_file(x, stem, ".pcf", put_pcf);
	write_file(x, stem, ".row", put_row);
}
