/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A profile as a SQLite database: its JSON, vftr-profile(5), is the contract, and each array
 * of it a table, so a member that is new there is new here without a line of code.
 */
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/json-read.h"
#include "nodeagent/base/util.h"
#include "nodeagent/export/database.h"
#include "nodeagent/export/internal.h"

#define FORMAT	"vftr-profile"
#define VERSION 1

#define NO_PROFILE "it is JSON, but no profile (BASE_all.json) of vftr"

/* Tables that are there even if they are empty, so that a question has an answer, not an error. */
static const struct {
	const char *name, *columns;
} tables[] = {
	{"run", "key value"},
	{"started", "key value"},
	{"builds", "path build_id compiler"},
	{"agents",
		"host missing cpu_s wall_s wakeups drained_bytes records processes place threads "
		"cpu_model cpus memory_bytes kernel"},
	{"dead", "rank pid executable end signal runtime_s events calls lost"},
	{"warnings", "value"},
	{"findings", "rule text seconds percent try manual"},
	{"stacks", "id hash path function caller parent calls t_incl_s t_excl_s ranks t_excl_min_s "
		   "t_excl_max_s t_excl_deviation_s rank_min rank_max imbalance_percent "
		   "imbalance_rank overhead_s lost estimated"},
	{"functions", "function calls t_incl_s t_excl_s"},
	{"mpi", "id function caller sends recvs bytes_sent bytes_received t_send_s t_recv_s "
		"t_comm_s send_bandwidth recv_bandwidth"},
	{"mpi_functions", "function calls t_s t_min_s t_max_s rank_min rank_max ranks t_avg_s "
			  "imbalance_percent sends recvs bytes_sent bytes_received"},
	{"message_sizes", "from_bytes to_bytes sends recvs bytes_sent bytes_received"},
	{"communication_matrix", "from to sends bytes_sent recvs bytes_received"},
	{"communicators", "id name kind size remote_size ranks sends recvs bytes_sent "
			  "bytes_received collectives collective_bytes_sent "
			  "collective_bytes_received t_collective_s ambiguous_sends "
			  "ambiguous_recvs"},
	{"files", "name ranks opens reads bytes_read t_read_s writes bytes_written t_write_s"},
	{"places", "host first last step"},
	{"each_process", "rank pid parent_pid parent life executable t_start_s runtime_s end "
			 "status signal threads events calls lost blocked_s"},
};

/*
 * The tables of vftr.py that are made of several members. Where ranks of the matrix stand for
 * groups, a rank's messages are not known; ranks of other jobs are among the unranked processes.
 */
static const char views[] =
	"CREATE VIEW messages AS SELECT stacks.path, mpi.* FROM mpi LEFT JOIN stacks USING (id);"
	"CREATE VIEW pairs AS SELECT * FROM communication_matrix;"
	"CREATE VIEW ranks AS WITH RECURSIVE known(ranks, single, host) AS (SELECT"
	" max((SELECT value FROM run WHERE key = 'ranks'),"
	" coalesce((SELECT max(last) + 1 FROM places), 0),"
	" coalesce((SELECT sum(value) FROM run WHERE key IN ('ranks', 'unranked')"
	" AND EXISTS (SELECT 1 FROM run WHERE key = 'other_ranks')), 0)),"
	" coalesce((SELECT value FROM run WHERE key = 'communication_matrix_ranks'), 1) = 1,"
	" (SELECT CASE count(*) WHEN 1 THEN max(host) END FROM agents)),"
	" numbers(rank) AS (SELECT 0 FROM known WHERE ranks > 0"
	" UNION ALL SELECT rank + 1 FROM numbers, known WHERE rank + 1 < ranks),"
	" lives AS (SELECT rank, sum(runtime_s) AS runtime_s, sum(calls) AS calls,"
	" sum(events) AS events, sum(lost) AS lost, sum(blocked_s) AS blocked_s"
	" FROM each_process GROUP BY 1),"
	" sent AS (SELECT \"from\" AS rank, sum(sends) AS sends, sum(bytes_sent) AS bytes_sent"
	" FROM communication_matrix GROUP BY 1),"
	" received AS (SELECT \"to\" AS rank, sum(recvs) AS recvs,"
	" sum(bytes_received) AS bytes_received FROM communication_matrix GROUP BY 1)"
	" SELECT rank, coalesce((SELECT places.host FROM places WHERE rank BETWEEN first AND last"
	" AND (rank - first) % coalesce(step, 1) = 0), known.host) AS host,"
	" runtime_s, calls, events, lost, blocked_s,"
	" CASE WHEN single THEN coalesce(sends, 0) END AS sends,"
	" CASE WHEN single THEN coalesce(bytes_sent, 0) END AS bytes_sent,"
	" CASE WHEN single THEN coalesce(recvs, 0) END AS recvs,"
	" CASE WHEN single THEN coalesce(bytes_received, 0) END AS bytes_received"
	" FROM numbers JOIN known LEFT JOIN lives USING (rank) LEFT JOIN sent USING (rank)"
	" LEFT JOIN received USING (rank)";

struct reading {
	struct json_in j;
	struct database *d;
	struct text_store text;
	bool format;
};

static bool goes_on(const struct reading *r)
{
	return !r->j.error && !database_failed(r->d) && !export_stopped();
}

static void set_value(struct reading *r, struct database_table *t, const char *column)
{
	char key[JSON_IN_KEY_MAX];
	struct json_in_value v;

	strcpy(key, column);
	r->text.n = 0;
	v = json_in_value(&r->j, &r->text);
	if (!r->j.error)
		database_row_set(r->d, t, key, &v, r->text.bytes ? r->text.bytes + v.text : NULL);
}

static bool is_nested(struct reading *r)
{
	const int c = json_in_next(&r->j);

	return c == '{' || c == '[';
}

static void read_nested(struct reading *r, struct database_table *in, const char *name);

/* The members of an object are the columns of a row; what is in them is a table of its own. */
static void read_row(struct reading *r, struct database_table *t)
{
	const char *key;

	database_row_begin(r->d, t);
	if (json_in_next(&r->j) == '{') {
		json_in_object(&r->j);
		while (goes_on(r) && (key = json_in_member(&r->j)))
			if (is_nested(r))
				read_nested(r, t, key);
			else
				set_value(r, t, key);
	} else if (is_nested(r)) {
		read_nested(r, t, "value");
	} else {
		set_value(r, t, "value");
	}
	if (!r->j.error)
		database_row_end(r->d, t);
}

/* An object that stands alone: a row of each member. */
static void read_pairs(struct reading *r, struct database_table *t)
{
	const char *key;

	json_in_object(&r->j);
	while (goes_on(r) && (key = json_in_member(&r->j))) {
		struct json_in_value v = {.kind = JSON_IN_TEXT};
		char own[JSON_IN_KEY_MAX];

		strcpy(own, key);
		database_row_begin(r->d, t);
		database_row_set(r->d, t, "key", &v, own);
		if (is_nested(r))
			read_nested(r, t, own);
		else
			set_value(r, t, "value");
		if (!r->j.error)
			database_row_end(r->d, t);
	}
}

static void read_nested(struct reading *r, struct database_table *in, const char *name)
{
	const bool pairs = json_in_next(&r->j) == '{';
	struct database_table *t = database_table(r->d, in, name, pairs ? "key value" : NULL);

	if (pairs) {
		read_pairs(r, t);
		return;
	}
	json_in_array(&r->j);
	while (goes_on(r) && json_in_element(&r->j))
		read_row(r, t);
}

/* A member of the whole: the format and its version decide whether it is read at all. */
static void check_member(struct reading *r, const char *key, const struct json_in_value *v)
{
	const char *text = v->kind == JSON_IN_TEXT ? r->text.bytes + v->text : "";

	if (!strcmp(key, "format")) {
		r->format = !strcmp(text, FORMAT);
		if (!r->format)
			json_in_fail(&r->j, NO_PROFILE);
	} else if (!strcmp(key, "version")) {
		if (v->kind != JSON_IN_INTEGER || v->integer != VERSION)
			json_in_fail(&r->j, "a version of the format that this vftr is too old or "
					    "too new for");
	}
}

static void read_member(struct reading *r, struct database_table *run, const char *key)
{
	const struct json_in_value name = {.kind = JSON_IN_TEXT};
	char own[JSON_IN_KEY_MAX];
	struct json_in_value v;

	strcpy(own, key);
	r->text.n = 0;
	v = json_in_value(&r->j, &r->text);
	if (r->j.error)
		return;
	check_member(r, own, &v);
	database_row_begin(r->d, run);
	database_row_set(r->d, run, "key", &name, own);
	database_row_set(r->d, run, "value", &v, r->text.bytes ? r->text.bytes + v.text : NULL);
	database_row_end(r->d, run);
}

static void read_profile(struct reading *r)
{
	struct database_table *run;
	const char *key;
	size_t stacks;

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		database_table(r->d, NULL, tables[i].name, tables[i].columns);
	run = database_table(r->d, NULL, "run", NULL);
	json_in_object(&r->j);
	for (stacks = 0; goes_on(r) && (key = json_in_member(&r->j));) {
		stacks += !strcmp(key, "stacks");
		if (is_nested(r))
			read_nested(r, NULL, key);
		else
			read_member(r, run, key);
	}
	if (goes_on(r) && (!r->format || stacks != 1))
		json_in_fail(&r->j, NO_PROFILE);
	if (goes_on(r))
		database_run(r->d, views);
}

char *sqlite_convert(FILE *json, const char *from, const char *to)
{
	struct reading r = {.d = NULL};
	char *error, *why, *own;

	if (!strcmp(to, "-"))
		return xstrdup("a database can't be written to the standard output: name a file "
			       "with --output");
	r.d = database_new(to, &error);
	if (!r.d)
		return error;
	json_in_begin(&r.j, json);
	read_profile(&r);
	own = database_failed(r.d) || export_stopped() ? xstrdup("") : NULL;
	why = json_in_end(&r.j);
	free(r.text.bytes);
	error = database_end(r.d, !own && !why);
	/* what was left unread is not the reader's fault */
	if (!error && !own && why)
		error = xasprintf("%s: %s", from, why);
	free(own);
	free(why);
	return error;
}
