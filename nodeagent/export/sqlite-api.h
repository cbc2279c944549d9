/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of SQLite's interface that the exporter calls. The library is loaded when
 * this format is wanted, and is not needed to build, so this header has its
 * prototypes and constants, those of SQLite 3. A test compares them with sqlite3.h.
 */
#ifndef VFTR_NODEAGENT_EXPORT_SQLITE_API_H
#define VFTR_NODEAGENT_EXPORT_SQLITE_API_H

struct sqlite3;
struct sqlite3_stmt;

#define SQLITE_STATEMENT struct sqlite3_stmt *

/* result, our name, its name, parameters */
#define SQLITE_FUNCTIONS(_)                                                                        \
	_(int, open, sqlite3_open_v2, (const char *, struct sqlite3 **, int, const char *))        \
	_(int, close, sqlite3_close, (struct sqlite3 *))                                           \
	_(const char *, error_text, sqlite3_errmsg, (struct sqlite3 *))                            \
	_(int, exec, sqlite3_exec,                                                                 \
		(struct sqlite3 *, const char *, int (*)(void *, int, char **, char **), void *,   \
			char **))                                                                  \
	_(int, prepare, sqlite3_prepare_v2,                                                        \
		(struct sqlite3 *, const char *, int, struct sqlite3_stmt **, const char **))      \
	_(int, bind_null, sqlite3_bind_null, (SQLITE_STATEMENT, int))                              \
	_(int, bind_integer, sqlite3_bind_int64, (SQLITE_STATEMENT, int, long long))               \
	_(int, bind_real, sqlite3_bind_double, (SQLITE_STATEMENT, int, double))                    \
	_(int, bind_text, sqlite3_bind_text,                                                       \
		(SQLITE_STATEMENT, int, const char *, int, void (*)(void *)))                      \
	_(int, step, sqlite3_step, (SQLITE_STATEMENT))                                             \
	_(int, reset, sqlite3_reset, (SQLITE_STATEMENT))                                           \
	_(int, finalize, sqlite3_finalize, (SQLITE_STATEMENT))

struct sqlite_api {
#define SQLITE_MEMBER(result, name, symbol, parameters) result(*name) parameters;
	SQLITE_FUNCTIONS(SQLITE_MEMBER)
#undef SQLITE_MEMBER
};

/* ours, SQLite's, value */
#define SQLITE_CONSTANTS(_)                                                                        \
	_(GOOD, SQLITE_OK, 0)                                                                      \
	_(DONE, SQLITE_DONE, 101)                                                                  \
	_(OPEN_WRITE, SQLITE_OPEN_READWRITE, 2)

enum sqlite_constant {
#define SQLITE_CONSTANT(name, symbol, value) OUR_SQL_##name = (value),
	SQLITE_CONSTANTS(SQLITE_CONSTANT)
#undef SQLITE_CONSTANT
};

#endif
