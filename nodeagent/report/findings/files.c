/* SPDX-License-Identifier: BSD-3-Clause */
/* Input and output, by MPI and as the program has told of it. */
#include "nodeagent/report/findings/internal.h"

#include <stdlib.h>
#include <string.h>

/* What MPI does with files is told of by look_mpi_io(); what it does with others is its own. */
static bool is_of_mpi(const struct facts *facts, uint32_t stack)
{
	const struct profile *p = facts->p;

	for (; stack != PROFILE_NONE; stack = facts->r->parent[stack])
		if (!strncmp(p->names[p->stacks[stack].name], "MPI_", 4))
			return true;
	return false;
}

bool look_io(const struct facts *facts, struct finding *f)
{
	const struct profile *p = facts->p;
	const struct profile_io *most = NULL;
	uint64_t ns = 0;
	char *path, *where;

	for (size_t i = 0; i < p->n_io; i++) {
		if (is_of_mpi(facts, p->io[i].stack))
			continue;
		ns += p->io[i].ns;
		if (!most || p->io[i].ns > most->ns)
			most = &p->io[i];
	}
	if (!ns)
		return false;
	f->seconds = s_of(ns);
	path = short_path(facts->r, most->stack);
	where = part_in((double)most->ns, (double)ns, path);
	finding_say(f, "Input and output take %s%s: %s in %s operations.",
		amount_of(facts, f->seconds).text, where, quantity_bytes((double)most->bytes).text,
		quantity_count((double)most->operations).text);
	free(where);
	free(path);
	prove_stack(f, facts->r, most->stack);
	prove_seconds(f, "t_s", s_of(most->ns));
	prove_count(f, "operations", most->operations);
	prove_count(f, "bytes", most->bytes);
	return true;
}

bool look_mpi_io(const struct facts *facts, struct finding *f)
{
	const struct profile *p = facts->p;
	const struct profile_function *most = NULL;
	uint64_t ns = 0;
	char *where;

	EACH(const struct profile_function, is, p->functions, p->n_functions) {
		if (strncmp(report_function(is), "MPI_File_", strlen("MPI_File_")))
			continue;
		ns += is->ns;
		if (!most || is->ns > most->ns)
			most = is;
	}
	if (!ns)
		return false;
	f->seconds = s_of(ns);
	where = part_in((double)most->ns, (double)ns, report_function(most));
	finding_say(f, "Input and output by MPI take %s%s: %s calls of %s on average.",
		amount_of(facts, f->seconds).text, where, quantity_count((double)most->calls).text,
		quantity_seconds(s_of(most->ns) / (double)most->calls).text);
	free(where);
	prove_text(f, "function", report_function(most));
	prove_seconds(f, "t_s", s_of(most->ns));
	prove_count(f, "calls", most->calls);
	return true;
}
