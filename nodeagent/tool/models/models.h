/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values of functions, or call paths, in several runs of one program, and the models of how they
 * grow with a parameter of the runs.
 */
#ifndef VFTR_NODEAGENT_TOOL_MODELS_MODELS_H
#define VFTR_NODEAGENT_TOOL_MODELS_MODELS_H

#include <stdbool.h>
#include <stddef.h>

#include "nodeagent/tool/models/fit.h"

enum model_metric { MODEL_TIME, MODEL_CALLS, MODEL_MESSAGES, MODEL_BYTES, MODEL_METRICS };

/* By metric: "time", its unit ("s", or ""), and what it is called in tables. */
extern const struct model_words {
	const char *name, *unit, *title;
} model_words[MODEL_METRICS];

/* What is asked for; its texts must stay as long as the models. */
struct model_request {
	const char *parameter; /* a tag of the runs, or NULL: their number of ranks */
	const char *base;      /* only runs of this name, or NULL */
	bool by_path;	       /* rows are call paths, not functions */
	bool per_rank;	       /* values are divided by the number of ranks; else sums over them */
	double at;	       /* p to which models are extrapolated; 0: 4 times the greatest p */
};

struct model_run {
	const char *path; /* as named, not copied */
	double p;	  /* the parameter */
	double ranks;
};

struct model_row {
	/* of a function its name; of a call path the names from the caller to the called, with
	 * "->" between them */
	char *name;
	double *values[MODEL_METRICS]; /* by run; 0: it was not called there. Times are s */
	double *points[MODEL_METRICS]; /* by point: the median of runs with the same p */
	bool has[MODEL_METRICS];       /* a value is not 0 */
	struct fit fit[MODEL_METRICS];
	double at[MODEL_METRICS];    /* the model's value at models.at; never below 0 */
	double share[MODEL_METRICS]; /* part of at[] in its sum over all rows, 0 to 1; or NAN */
};

struct models {
	const char *parameter;	/* its name: "p", or that of the tag */
	struct model_run *runs; /* by rising p, those of one p in the order of arguments */
	size_t n_runs, cap_runs;
	double *p; /* points: values of p, rising, each once */
	size_t n_points;
	double at;
	struct model_row *rows; /* by name */
	size_t n_rows, cap_rows;
};

/*
 * Reads the n runs (folders or node profiles, as run_open() does); models_fit() sets at, points[],
 * fit[], at[] and share[]. Returns 0; 1: without those that could not be read; 2: none could.
 * Messages are printed. The caller calls models_free() in all cases.
 */
int models_read(struct models *m, const struct model_request *r, char **paths, size_t n);
/* Makes points of runs, and a model for each row and metric. False after a message: too few. */
bool models_fit(struct models *m, const struct model_request *r);
void models_free(struct models *m);

/*
 * The *n rows that have the metric, as indices into rows[]: those first whose model grows most from
 * the last point to m->at. The caller frees.
 */
size_t *models_order(const struct models *m, enum model_metric metric, size_t *n);

/* print.c: on standard output. limit: most rows of a table; 0: all. only: bits 1 << metric. */
void models_print(
	const struct models *m, const struct model_request *r, unsigned only, size_t limit);
void models_print_csv(const struct models *m, const struct model_request *r, unsigned only);
void models_print_json(const struct models *m, const struct model_request *r, unsigned only);

/*
 * extrap.c: writes the runs' values as a text file of Extra-P; "-" is the standard output. False
 * after a message: the file can't be written.
 */
bool models_write_extrap(const struct models *m, unsigned only, const char *file);

#endif
