/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Logs for `vftr diff`, ours and those of Vftrace: the table "Runtime profile" with
 * whatever columns were wanted, and the list "Global call stacks:". Rank logs of
 * Vftrace number these two differently; then function and caller stand for the path.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/tool/diff/diff.h"
#include "nodeagent/base/util.h"

#define COLUMNS_MAX 32
#define ROUNDED_S   0.0005 /* three decimals */

enum cell {
	CELL_CALLS,
	CELL_EXCL,
	CELL_INCL,
	CELL_IMBALANCE,
	CELL_FUNCTION,
	CELL_CALLER,
	CELL_ID,
	CELL_PATH,
	CELL_MIN,
	CELL_MAX,
	CELL_MEAN,
	N_CELLS,
};

/* Times have their unit behind them: "t_excl[s]". */
static const char *const titles[N_CELLS] = {
	[CELL_CALLS] = "Calls",
	[CELL_EXCL] = "t_excl[",
	[CELL_INCL] = "t_incl[",
	[CELL_IMBALANCE] = "Imbalances[%]",
	[CELL_FUNCTION] = "Function",
	[CELL_CALLER] = "Caller",
	[CELL_ID] = "STID",
	[CELL_PATH] = "Callpath",
	[CELL_MIN] = "t_min[",
	[CELL_MAX] = "t_max[",
	[CELL_MEAN] = "t_avg[",
};

/* A row of the runtime profile; texts are places in log.text. */
struct log_row {
	uint64_t id, calls;
	double incl, excl, imbalance;
	size_t function, caller, path; /* path: SIZE_MAX if there is no such column */
};

struct log_path {
	uint64_t id;
	size_t path;
};

struct log_spread {
	uint64_t id;
	double mean, min, max;
};

struct log {
	FILE *f;
	char *line;
	size_t cap_line;
	unsigned long number; /* of the line */
	char *error;
	struct diff_profile *p;
	bool ours; /* not Vftrace's, where the min/max table counts rows as STIDs */
	bool any_imbalance, deviations;
	struct text_store text;
	struct log_row *rows;
	size_t n_rows, cap_rows;
	struct log_path *paths;
	size_t n_paths, cap_paths;
	struct log_spread *spreads;
	size_t n_spreads, cap_spreads;
	/* of the table that is being read */
	size_t edge[COLUMNS_MAX + 1]; /* columns in which a `|' stands */
	size_t n_columns;
	int column[N_CELLS];	/* -1: it is not in this table */
	double unit_s[N_CELLS]; /* of times */
	char *cell[N_CELLS];
};

static void fail_at_line(struct log *l, const char *why)
{
	if (!l->error)
		l->error = xasprintf("line %lu: %s", l->number, why);
}

static bool next_line(struct log *l)
{
	ssize_t n;

	if (l->error)
		return false;
	errno = 0;
	n = getline(&l->line, &l->cap_line, l->f);
	if (n < 0) {
		if (ferror(l->f))
			fail_at_line(l, strerror(errno));
		return false;
	}
	l->number++;
	while (n && strchr(" \t\r\n", l->line[n - 1]))
		n--;
	l->line[n] = '\0';
	return true;
}

static bool begins(const char *line, const char *with)
{
	return !strncmp(line, with, strlen(with));
}

/* The text between blanks, cut out of s in place. */
static char *trimmed(char *s)
{
	size_t n;

	s += strspn(s, " ");
	n = strlen(s);
	while (n && s[n - 1] == ' ')
		n--;
	s[n] = '\0';
	return s;
}

/* ---- tables ---------------------------------------------------------------------- */

/* "+---+-----+": where its corners are. */
static bool read_frame(struct log *l)
{
	l->n_columns = 0;
	for (size_t i = 0; l->line[i]; i++) {
		if (l->line[i] == '+' && l->n_columns <= COLUMNS_MAX)
			l->edge[l->n_columns++] = i;
		else if (l->line[i] != '-')
			return false;
	}
	if (l->n_columns < 2 || l->line[0] != '+')
		return false;
	l->n_columns--;
	return true;
}

/* Cuts the line into cells; an edge is found by characters, as names may be UTF-8. */
static bool cut_cells(struct log *l, char **cells)
{
	size_t column = 0, n = 0;

	for (char *s = l->line; *s && n <= l->n_columns; s++) {
		if (((unsigned char)*s & 0xc0) == 0x80)
			continue;
		if (column++ != l->edge[n])
			continue;
		if (*s != '|')
			return false;
		*s = '\0';
		cells[n++] = s + 1;
	}
	if (n != l->n_columns + 1)
		return false;
	for (size_t i = 0; i < l->n_columns; i++)
		cells[i] = trimmed(cells[i]);
	return true;
}

static double unit_of(const char *text)
{
	static const struct {
		const char *text;
		double s;
	} units[] = {{"s]", 1.0}, {"ms]", 1e-3}, {"us]", 1e-6}, {"ns]", 1e-9}};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(text, units[i].text))
			return units[i].s;
	return 0.0;
}

/* Is this the title of that cell? *unit_s: of a time, else 1. */
static bool is_title(const char *title, const char *wanted, double *unit_s)
{
	const size_t n = strlen(wanted);

	*unit_s = 1.0;
	if (wanted[n - 1] != '[')
		return !strcmp(title, wanted);
	return !strncmp(title, wanted, n) && (*unit_s = unit_of(title + n)) > 0.0;
}

static void find_column(struct log *l, const char *title, int k)
{
	double unit_s;

	for (int i = 0; i < N_CELLS; i++)
		if (l->column[i] < 0 && is_title(title, titles[i], &unit_s)) {
			l->column[i] = k;
			l->unit_s[i] = unit_s;
		}
}

/* The head of a table behind its title; false if there is none. */
static bool read_titles(struct log *l)
{
	char *cells[COLUMNS_MAX + 1];

	for (int i = 0; i < N_CELLS; i++)
		l->column[i] = -1;
	if (!next_line(l) || !read_frame(l) || !next_line(l) || !cut_cells(l, cells))
		return false;
	for (size_t k = 0; k < l->n_columns; k++)
		find_column(l, cells[k], (int)k);
	return next_line(l) && l->line[0] == '+';
}

/* The next row of the table, in l->cell[]; false behind the last. */
static bool read_row(struct log *l)
{
	char *cells[COLUMNS_MAX + 1];

	if (!next_line(l)) {
		fail_at_line(l, "the file ends inside of a table");
		return false;
	}
	if (l->line[0] == '+')
		return false;
	if (!cut_cells(l, cells)) {
		fail_at_line(l, "a row that does not fit the columns of its table");
		return false;
	}
	for (int i = 0; i < N_CELLS; i++)
		l->cell[i] = l->column[i] < 0 ? NULL : cells[l->column[i]];
	return true;
}

static bool has_columns(const struct log *l, unsigned wanted)
{
	return ALL(i, N_CELLS, !(wanted & 1u << i) || l->column[i] >= 0);
}

static double real_of(struct log *l, const char *cell)
{
	char *end;
	double value = strtod(cell, &end);

	if (end == cell || *end || !isfinite(value)) {
		fail_at_line(l, "a cell that is no number");
		return 0.0;
	}
	return value;
}

static double time_of(struct log *l, enum cell cell)
{
	return real_of(l, l->cell[cell]) * l->unit_s[cell];
}

/* Vftrace prints calls beyond 2^31 as negative numbers. */
static uint64_t count_of(struct log *l, const char *cell)
{
	char *end;
	uint64_t value = strtoull(cell, &end, 10);

	if (end == cell || *end) {
		fail_at_line(l, "a cell that is no number");
		return 0;
	}
	return cell[0] == '-' ? (uint32_t)value : value;
}

static size_t keep_text(struct log *l, const char *text)
{
	size_t at = l->text.n;

	text_store_add(&l->text, text, strlen(text) + 1);
	return at;
}

static size_t keep_path(struct log *l, char *text)
{
	diff_join_path(text);
	return keep_text(l, text);
}

static void read_profile(struct log *l)
{
	const unsigned wanted = 1u << CELL_CALLS | 1u << CELL_EXCL | 1u << CELL_FUNCTION |
				1u << CELL_CALLER | 1u << CELL_ID;

	if (!read_titles(l) || !has_columns(l, wanted)) {
		fail_at_line(l, "a runtime profile that has not the columns of one");
		return;
	}
	while (read_row(l)) {
		struct log_row row = {.path = SIZE_MAX};

		row.calls = count_of(l, l->cell[CELL_CALLS]);
		row.excl = time_of(l, CELL_EXCL);
		row.incl = l->cell[CELL_INCL] ? time_of(l, CELL_INCL) : row.excl;
		row.id = strcmp(l->cell[CELL_ID], "----") ? count_of(l, l->cell[CELL_ID])
							  : DIFF_NO_ID;
		if (l->cell[CELL_IMBALANCE]) {
			row.imbalance = real_of(l, l->cell[CELL_IMBALANCE]);
			l->any_imbalance = true;
		}
		row.function = keep_text(l, l->cell[CELL_FUNCTION]);
		row.caller = keep_text(l, l->cell[CELL_CALLER]);
		if (l->cell[CELL_PATH])
			row.path = keep_path(l, l->cell[CELL_PATH]);
		*LIST_ADD(l, rows) = row;
	}
}

static void read_minmax(struct log *l)
{
	const unsigned wanted = 1u << CELL_ID | 1u << CELL_MIN | 1u << CELL_MAX | 1u << CELL_MEAN;

	if (!l->ours || !read_titles(l) || !has_columns(l, wanted))
		return;
	while (read_row(l)) {
		struct log_spread s = {.id = DIFF_NO_ID};

		if (strcmp(l->cell[CELL_ID], "----"))
			s.id = count_of(l, l->cell[CELL_ID]);
		s.mean = time_of(l, CELL_MEAN);
		s.min = time_of(l, CELL_MIN);
		s.max = time_of(l, CELL_MAX);
		*LIST_ADD(l, spreads) = s;
	}
}

/* "   STID12   foo<bar<main<init", up to a line that is none. */
static void read_paths(struct log *l)
{
	next_line(l);
	while (next_line(l)) {
		char *s = l->line + strspn(l->line, " "), *end;
		struct log_path path;

		if (!begins(s, "STID") || s[4] < '0' || s[4] > '9')
			return;
		path.id = strtoull(s + 4, &end, 10);
		path.path = keep_path(l, trimmed(end));
		*LIST_ADD(l, paths) = path;
	}
}

/* ---- the lines between ------------------------------------------------------------ */

static void read_line(struct log *l)
{
	static const char formula[] = "\"imbalance_formula\":";
	const char *s = l->line + strspn(l->line, " \t");

	if ((!strcmp(s, "Runtime profile") || begins(s, "Runtime profile (sum over ")) &&
		!l->n_rows)
		read_profile(l);
	else if (begins(s, "Summary: Min/Max runtime"))
		read_minmax(l);
	else if (!strcmp(s, "Global call stacks:"))
		read_paths(l);
	else if (begins(s, "Nr. of MPI ranks:") || begins(s, "Nr. of processes:")) {
		l->p->ranks = strtoull(strchr(s, ':') + 1, NULL, 10);
		l->p->has_no_mpi = begins(s, "Nr. of processes:");
	} else if (begins(s, "in other MPI jobs:"))
		l->p->ranks += strtoull(strchr(s, ':') + 1, NULL, 10);
	else if (begins(s, "Total runtime:"))
		l->p->runtime_s = strtod(strchr(s, ':') + 1, NULL);
	else if (begins(s, formula) && !strstr(s, "\"deviation\""))
		l->deviations = false;
}

/* ---- rows and paths together ------------------------------------------------------ */

ORDER_BY(by_id, struct log_path, RISING(id))

ORDER_BY(spread_by_id, struct log_spread, RISING(id))

static const char *path_of(const struct log *l, uint64_t id)
{
	struct log_path key = {.id = id};
	struct log_path *found =
		l->n_paths ? bsearch(&key, l->paths, l->n_paths, sizeof(key), by_id) : NULL;

	return found ? l->text.bytes + found->path : NULL;
}

/* Tables shorten long names by "..." in the middle. */
static bool is_short_for(const char *cell, const char *name, size_t bytes)
{
	const char *gap = strstr(cell, "...");
	size_t n = strlen(cell), head, tail;

	if (n == bytes && !strncmp(cell, name, n))
		return true;
	if (!gap)
		return false;
	head = (size_t)(gap - cell);
	tail = n - head - 3;
	return head + tail <= bytes && !strncmp(cell, name, head) &&
	       !strncmp(gap + 3, name + bytes - tail, tail);
}

/*
 * Bytes of a path's innermost name, 0 if that is not the function. Names of C++ may
 * have a `<' of their own.
 */
static size_t name_bytes(const char *path, const char *function)
{
	for (const char *s = path; *s; s++)
		if ((s[1] == '<' || !s[1]) && is_short_for(function, path, (size_t)(s + 1 - path)))
			return (size_t)(s + 1 - path);
	return 0;
}

static bool list_fits(const struct log *l)
{
	for (size_t i = 0; i < l->n_rows; i++) {
		const char *path = path_of(l, l->rows[i].id);

		if (!path || !name_bytes(path, l->text.bytes + l->rows[i].function))
			return false;
	}
	return true;
}

static void add_path(struct log *l, const struct log_row *row, bool list)
{
	const char *path = list ? path_of(l, row->id) : NULL;
	const char *text = l->text.bytes;

	if (!path && row->path != SIZE_MAX)
		path = text + row->path;
	if (path) {
		struct diff_stack *s = diff_add(l->p, path, strlen(path));

		s->function_bytes = name_bytes(path, text + row->function);
		if (!s->function_bytes)
			s->function_bytes = strcspn(path, "<");
		return;
	}

	char *both = xasprintf("%s<%s", text + row->function, text + row->caller);

	diff_add(l->p, both, strlen(both))->function_bytes = strlen(text + row->function);
	free(both);
}

static void set_deviation(const struct log *l, struct diff_stack *s, const struct log_row *row)
{
	struct log_spread key = {.id = row->id}, *found = NULL;
	double ranks = l->p->ranks > 1 ? (double)l->p->ranks : 1.0;

	if (l->n_spreads)
		found = bsearch(&key, l->spreads, l->n_spreads, sizeof(key), spread_by_id);
	if (found)
		diff_set_deviation(
			l->p, s, diff_deviation_most(found->mean, found->min, found->max));
	else if (l->any_imbalance && l->deviations)
		diff_set_deviation(l->p, s, fabs(row->imbalance) / 100.0 * s->excl_s / ranks);
}

static void make_stacks(struct log *l)
{
	bool list;

	if (l->n_paths)
		qsort(l->paths, l->n_paths, sizeof(*l->paths), by_id);
	if (l->n_spreads)
		qsort(l->spreads, l->n_spreads, sizeof(*l->spreads), spread_by_id);
	list = list_fits(l);
	if (!l->p->ranks)
		l->p->ranks = 1;
	for (size_t i = 0; i < l->n_rows; i++) {
		const struct log_row *row = &l->rows[i];
		struct diff_stack *s;

		add_path(l, row, list);
		s = &l->p->stacks[l->p->n_stacks - 1];
		s->id = row->id;
		s->calls = row->calls;
		s->incl_s = row->incl;
		s->excl_s = row->excl;
		set_deviation(l, s, row);
	}
}

int diff_read_log(FILE *f, struct diff_profile *p, char **error)
{
	struct log l = {.f = f, .p = p, .deviations = true};

	p->kind = "log";
	p->rounded_s = ROUNDED_S;
	while (next_line(&l)) {
		if (l.number == 1) {
			l.ours = begins(l.line, "vftr ");
			p->kind = begins(l.line, "Vftrace ") ? "log of Vftrace" : "log";
		}
		read_line(&l);
	}
	if (!l.error && !l.n_rows)
		l.error = xasprintf(
			"it has no runtime profile (a log, BASE_all.json and node profiles have)");
	if (!l.error)
		make_stacks(&l);
	*error = l.error;
	free(l.line);
	free(l.text.bytes);
	free(l.rows);
	free(l.paths);
	free(l.spreads);
	return *error ? -1 : 0;
}
