/* SPDX-License-Identifier: BSD-3-Clause */
/* SQLite's library, loaded when it is wanted, and tables that grow columns. */
#include "nodeagent/export/database.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodeagent/base/util.h"
#include "nodeagent/export/sqlite-api.h"

#define LIBRARY	    "libsqlite3.so.0"
#define TABLES_MOST 1000u

struct cell {
	bool set;
	struct json_in_value value; /* text: in the table's texts */
};

struct database_table {
	char *name;	 /* whole: of a nested one OUTER_NAME */
	const char *end; /* NAME in it */
	struct database_table *in;
	char **columns;
	struct cell *cells; /* of the open row, by column */
	size_t n_columns, cap_columns, cap_cells;
	size_t next;  /* the column that comes next if this row is like the one before */
	int64_t rows; /* that were begun */
	struct text_store texts;
	SQLITE_STATEMENT insert; /* NULL: there are new columns */
};

struct database {
	struct sqlite_api api;
	struct sqlite3 *db;
	char *path, *tmp, *error;
	struct database_table **tables;
	size_t n_tables, cap_tables;
};

/* ---- the library and the file ----------------------------------------------------------- */

static char *load_library(struct sqlite_api *api)
{
	static const struct {
		const char *name;
		size_t at;
	} symbols[] = {
#define SQLITE_SYMBOL(result, name, symbol, parameters)                                            \
	{#symbol, offsetof(struct sqlite_api, name)},
		SQLITE_FUNCTIONS(SQLITE_SYMBOL)
#undef SQLITE_SYMBOL
	};
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return xasprintf("SQLite's library (%s) can't be loaded; in Debian it is in "
				 "libsqlite3-0",
			LIBRARY);
	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
		void *found = dlsym(library, symbols[i].name);

		if (!found)
			return xasprintf("SQLite's library has no function %s", symbols[i].name);
		memcpy((char *)api + symbols[i].at, &found, sizeof(found));
	}
	return NULL;
}

static void fail_database(struct database *d)
{
	if (!d->error)
		d->error = xasprintf("%s: SQLite says: %s", d->path, d->api.error_text(d->db));
}

void database_run(struct database *d, const char *sql)
{
	if (!d->error && d->api.exec(d->db, sql, NULL, NULL, NULL) != OUR_SQL_GOOD)
		fail_database(d);
}

/* A new file of ours; SQLite makes of an empty one a database. */
static char *make_file(struct database *d, const char *path)
{
	char *suffix = write_suffix();
	int fd;

	d->path = xstrdup(path);
	d->tmp = xasprintf("%s%s", path, suffix);
	free(suffix);
	fd = open(d->tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0) {
		char *error = xasprintf("%s: can't be written: %s", path, strerror(errno));

		free(d->tmp);
		d->tmp = NULL;
		return error;
	}
	close(fd);
	return NULL;
}

struct database *database_new(const char *path, char **error)
{
	struct database *d = xcalloc(1, sizeof(*d));

	*error = load_library(&d->api);
	if (!*error)
		*error = make_file(d, path);
	if (*error) {
		free(d->path);
		free(d);
		return NULL;
	}
	if (d->api.open(d->tmp, &d->db, OUR_SQL_OPEN_WRITE, NULL) != OUR_SQL_GOOD)
		fail_database(d);
	/* nobody else sees the file, and a broken one is thrown away */
	database_run(d, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
			"PRAGMA locking_mode=EXCLUSIVE; BEGIN");
	return d;
}

static void free_table(struct database *d, struct database_table *t)
{
	d->api.finalize(t->insert);
	for (size_t i = 0; i < t->n_columns; i++)
		free(t->columns[i]);
	free(t->columns);
	free(t->cells);
	free(t->texts.bytes);
	free(t->name);
	free(t);
}

char *database_end(struct database *d, bool good)
{
	char *error;

	for (size_t i = 0; i < d->n_tables; i++)
		free_table(d, d->tables[i]);
	if (good)
		database_run(d, "COMMIT");
	if (d->api.close(d->db) != OUR_SQL_GOOD)
		fail_database(d);
	if (good && !d->error && rename(d->tmp, d->path))
		d->error = xasprintf("%s: can't be made: %s", d->path, strerror(errno));
	if (!good || d->error)
		unlink(d->tmp);
	error = d->error;
	free(d->tables);
	free(d->path);
	free(d->tmp);
	free(d);
	return error;
}

bool database_failed(const struct database *d)
{
	return d->error;
}

/* ---- tables ------------------------------------------------------------------------------ */

static void put_name(FILE *f, const char *name)
{
	fputc('"', f);
	for (; *name; name++) {
		if (*name == '"')
			fputc('"', f);
		fputc(*name, f);
	}
	fputc('"', f);
}

static void run_text(struct database *d, FILE *f, char **text)
{
	memory_end(f);
	database_run(d, *text);
	free(*text);
}

static void note_column(struct database_table *t, const char *name, size_t bytes)
{
	t->columns = grow(t->columns, t->n_columns, &t->cap_columns, sizeof(*t->columns));
	t->cells = grow(t->cells, t->n_columns, &t->cap_cells, sizeof(*t->cells));
	t->cells[t->n_columns] = (struct cell){0};
	t->columns[t->n_columns++] = xasprintf("%.*s", (int)bytes, name);
}

static void create_table(struct database *d, struct database_table *t, const char *columns)
{
	char *sql = NULL;
	size_t bytes;
	FILE *f = memory_begin(&sql, &bytes);

	note_column(t, "row", 3);
	if (t->in)
		note_column(t, "in_row", 6);
	for (const char *s = columns; s && *s; s += strspn(s, " ")) {
		note_column(t, s, strcspn(s, " "));
		s += strcspn(s, " ");
	}
	fputs("CREATE TABLE ", f);
	put_name(f, t->name);
	for (size_t i = 0; i < t->n_columns; i++) {
		fputs(i ? ", " : " (", f);
		put_name(f, t->columns[i]);
		if (!i)
			fputs(" INTEGER PRIMARY KEY", f);
	}
	fputs(")", f);
	run_text(d, f, &sql);
}

struct database_table *database_table(
	struct database *d, struct database_table *in, const char *name, const char *columns)
{
	struct database_table *t;

	for (size_t i = 0; i < d->n_tables; i++)
		if (d->tables[i]->in == in && !strcmp(d->tables[i]->end, name))
			return d->tables[i];
	if (d->n_tables == TABLES_MOST && !d->error)
		d->error = xasprintf("%s: more than %u tables", d->path, TABLES_MOST);
	t = xcalloc(1, sizeof(*t));
	t->name = in ? xasprintf("%s_%s", in->name, name) : xstrdup(name);
	t->end = t->name + strlen(t->name) - strlen(name);
	t->in = in;
	*LIST_ADD(d, tables) = t;
	create_table(d, t, columns);
	return t;
}

static void add_column(struct database *d, struct database_table *t, const char *name)
{
	char *sql = NULL;
	size_t bytes;
	FILE *f = memory_begin(&sql, &bytes);

	note_column(t, name, strlen(name));
	d->api.finalize(t->insert);
	t->insert = NULL;
	fputs("ALTER TABLE ", f);
	put_name(f, t->name);
	fputs(" ADD COLUMN ", f);
	put_name(f, name);
	run_text(d, f, &sql);
}

/* ---- rows -------------------------------------------------------------------------------- */

static void set_integer(struct cell *c, int64_t value)
{
	*c = (struct cell){true, {.kind = JSON_IN_INTEGER, .integer = value}};
}

void database_row_begin(struct database *d, struct database_table *t)
{
	for (size_t i = 0; i < t->n_columns; i++)
		t->cells[i].set = false;
	t->texts.n = 0;
	t->next = 1;
	set_integer(&t->cells[0], t->rows++);
	if (t->in)
		set_integer(&t->cells[t->next++], t->in->rows - 1);
}

static size_t find_column(struct database *d, struct database_table *t, const char *name)
{
	size_t i = t->next;

	if (i >= t->n_columns || strcmp(t->columns[i], name))
		for (i = 0; i < t->n_columns && strcmp(t->columns[i], name); i++)
			;
	if (i == t->n_columns)
		add_column(d, t, name);
	t->next = i + 1;
	return i;
}

void database_row_set(struct database *d, struct database_table *t, const char *column,
	const struct json_in_value *v, const char *text)
{
	struct cell *c;
	size_t i;

	if (d->error)
		return;
	i = find_column(d, t, column); /* may move the cells */
	c = &t->cells[i];
	*c = (struct cell){true, *v};
	if (v->kind != JSON_IN_TEXT)
		return;
	c->value.text = t->texts.n;
	text_store_add(&t->texts, text, strlen(text) + 1);
}

static void prepare_insert(struct database *d, struct database_table *t)
{
	char *sql = NULL;
	size_t bytes;
	FILE *f = memory_begin(&sql, &bytes);

	fputs("INSERT INTO ", f);
	put_name(f, t->name);
	for (size_t i = 0; i < t->n_columns; i++)
		fputs(i ? ",?" : " VALUES (?", f);
	fputs(")", f);
	memory_end(f);
	if (!d->error && d->api.prepare(d->db, sql, -1, &t->insert, NULL) != OUR_SQL_GOOD)
		fail_database(d);
	free(sql);
}

static int bind_cell(struct database *d, struct database_table *t, size_t i)
{
	const struct cell *c = &t->cells[i];
	const int at = (int)i + 1;

	switch (c->set ? c->value.kind : JSON_IN_NULL) {
	case JSON_IN_BOOL:
	case JSON_IN_INTEGER:
		return d->api.bind_integer(t->insert, at, c->value.integer);
	case JSON_IN_REAL:
		return d->api.bind_real(t->insert, at, c->value.real);
	case JSON_IN_TEXT:
		/* NULL: the text stays until the row is inserted */
		return d->api.bind_text(t->insert, at, t->texts.bytes + c->value.text, -1, NULL);
	default:
		return d->api.bind_null(t->insert, at);
	}
}

void database_row_end(struct database *d, struct database_table *t)
{
	if (!d->error && !t->insert)
		prepare_insert(d, t);
	for (size_t i = 0; i < t->n_columns && !d->error; i++)
		if (bind_cell(d, t, i) != OUR_SQL_GOOD)
			fail_database(d);
	if (d->error)
		return;
	if (d->api.step(t->insert) != OUR_SQL_DONE)
		fail_database(d);
	d->api.reset(t->insert);
}
