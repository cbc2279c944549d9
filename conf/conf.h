/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The configuration: read, checked, changed, printed. Leaf: libc and cJSON
 * only. Nothing here prints, exits or keeps state; errors are sentences that
 * the caller frees. An error text is NULL only when memory ran out.
 */
#ifndef VFTR_CONF_CONF_H
#define VFTR_CONF_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "conf/options.h"

/* Files larger than this are refused. */
#define CONF_FILE_MAX (16u << 20)
/* Bytes of outfile_basename behind its last '/': hosts and endings follow them. */
#define CONF_BASENAME_MAX 150

enum conf_type {
	CONF_BOOL,	  /* bool */
	CONF_INT,	  /* long long */
	CONF_AUTO_INT,	  /* long long; CONF_AUTO is "auto" */
	CONF_AUTO_BOOL,	  /* the same, 0 or 1 */
	CONF_DOUBLE,	  /* double; NAN is null */
	CONF_AUTO_DOUBLE, /* the same; CONF_AUTO is "auto" */
	CONF_TIME,	  /* double, seconds */
	CONF_STRING,	  /* char *; NULL is null, as for all of char * */
	CONF_SIZE,	  /* uint64_t, bytes; 0 is null */
	CONF_CHOICE,	  /* char *, spelled as in the table */
	CONF_WORDS,	  /* char *: "none" or words of the table, for conf_has_word() */
	CONF_RANKS,	  /* char *, for rank_list_has() */
	CONF_REGEX,	  /* char *, valid for regcomp(REG_EXTENDED) */
	CONF_CPU,	  /* char *: "auto", "any" or a list for rank_list_has() */
	CONF_TAGS,	  /* char *: "" or a list for conf_next_tag() */
	CONF_PATTERNS,	  /* char *: "" or a list for conf_next_pattern() */
	CONF_COUNTERS,	  /* struct conf_list, its counters */
	CONF_OBSERVABLES, /* struct conf_list, its observables */
};

#define CONF_AUTO (-1LL)

/* Elements of lists: texts, in the order of the keys. */
struct conf_counter {
	char *hwc_name; /* as the source of the counters calls it */
	char *symbol;	/* in formulas; unique; neither T nor CALLS */
};

struct conf_observable {
	char *name;
	char *formula;
	char *unit; /* never NULL, "" if not given */
};

struct conf_list {
	size_t n;
	union {
		struct conf_counter *counters;
		struct conf_observable *observables;
		char **texts; /* of all elements */
	};
};

#define CONF_C_BOOL	   bool
#define CONF_C_INT	   long long
#define CONF_C_AUTO_INT	   long long
#define CONF_C_AUTO_BOOL   long long
#define CONF_C_DOUBLE	   double
#define CONF_C_AUTO_DOUBLE double
#define CONF_C_TIME	   double
#define CONF_C_STRING	   char *
#define CONF_C_SIZE	   uint64_t
#define CONF_C_CHOICE	   char *
#define CONF_C_WORDS	   char *
#define CONF_C_RANKS	   char *
#define CONF_C_REGEX	   char *
#define CONF_C_CPU	   char *
#define CONF_C_TAGS	   char *
#define CONF_C_PATTERNS	   char *
#define CONF_C_COUNTERS	   struct conf_list
#define CONF_C_OBSERVABLES struct conf_list

#define CONF_ID(type, field, ...) CONF_ID_##field,
enum conf_id { CONF_OPTIONS(CONF_ID) CONF_N_OPTIONS };
#undef CONF_ID

/* mpi.sort_table.column is conf->mpi_sort_table_column, and so on. */
struct conf {
#define CONF_FIELD(type, field, ...) CONF_C_##type field;
	CONF_OPTIONS(CONF_FIELD)
#undef CONF_FIELD
	char *file;		    /* that it was read from, or NULL */
	int line[CONF_N_OPTIONS];   /* of each key in file; 0: not there */
	bool given[CONF_N_OPTIONS]; /* keys that a file or an assignment has set */
};

/* A row of the table, for programs that show it. */
struct conf_option {
	const char *path;
	enum conf_type type;
	size_t offset;	      /* of the field in struct conf */
	const char *fallback; /* default as given on a command line; NULL is null */
	double min, max;
	const char *words;
	bool null_ok;
	const char *text;
};

extern const struct conf_option conf_options[CONF_N_OPTIONS];

/* All defaults; NULL if there is no memory. */
struct conf *conf_default(void);
void conf_free(struct conf *c);

/* How a file is read. */
struct conf_reading {
	bool lenient; /* a key that is not known is warned of; else it is an error */
	void (*warn)(const char *line, void *ctx); /* one line, without newline; may be NULL */
	void *ctx;
};

/*
 * Reads a file. 0 and *out, or -1 and *error = "FILE:LINE: cause" ("FILE: cause"
 * if the file can't be read). Of several keys that are not known, all but the last
 * one go to how->warn(), and that is the error.
 */
int conf_load(struct conf **out, const char *file, char **error, const struct conf_reading *how);
/* The same from memory; file is the name for messages. */
int conf_load_text(struct conf **out, const char *file, const char *text, size_t bytes,
	char **error, const struct conf_reading *how);

/* One key, as given on a command line. 0, or -1 and *error = "KEY: cause". */
int conf_set(struct conf *c, const char *key, const char *value, char **error);

/* The same from "KEY=VALUE". */
int conf_assign(struct conf *c, const char *assignment, char **error);
/*
 * The environment variable VFTR_SET is a list of assignments, separated by ';'. Returns the
 * next one (the caller frees), or NULL at the end; *list moves on, and may be NULL.
 */
char *conf_next_assignment(const char **list);
/* Assigns all of that list (may be NULL). 0, or -1 and *error = "VFTR_SET: KEY: cause". */
int conf_assign_all(struct conf *c, const char *list, char **error);

/* Bytes of the key and of the value of a tag; of the list of all of them. */
#define CONF_TAG_KEY_MAX   60
#define CONF_TAG_VALUE_MAX 256
#define CONF_TAGS_MAX	   4096
/*
 * A list of tags, output.tags, is "KEY=VALUE,KEY=VALUE", where a comma or backslash in a value
 * has a backslash in front. Returns the next tag without these (the caller frees), or NULL at the
 * end; *list moves on.
 */
char *conf_next_tag(const char **list);
/* Adds a tag "KEY=VALUE" to output.tags. 0, or -1 and *error, a cause. */
int conf_add_tag(struct conf *c, const char *tag, char **error);

/* Patterns of a list, and bytes of each. */
#define CONF_PATTERNS_MAX 64
#define CONF_PATTERN_MAX  1000
/*
 * A list of patterns, filter.only and filter.not, has commas between them; one in a pattern has a
 * backslash in front. Returns the next pattern, for fnmatch(3), with its backslashes (the caller
 * frees), or NULL at the end; *list moves on.
 */
char *conf_next_pattern(const char **list);
/* What a pattern "file:NAME" has behind the colon, or NULL: it is one of names. */
const char *conf_pattern_file(const char *pattern);
/* `list' and one more pattern, with its commas as they are. The caller frees; NULL: no memory. */
char *conf_add_pattern(const char *list, const char *pattern);

/* True if `list', the value of a WORDS, has this word. */
bool conf_has_word(const char *list, const char *word);

/*
 * To be called when all files and assignments have been read: with output.layout = run, keys
 * that nobody has given take the values that suit a person who reads a terminal (layout.c).
 * Another call changes nothing. 0, or -1 if there is no memory.
 */
int conf_settle_layout(struct conf *c);

/*
 * Adds CONF_AGENT_S seconds for each agent to the defaults of agent.deadline_s and agent.start_s; a
 * value that was given stays. Call it when the number of agents is known; a later call replaces it.
 */
#define CONF_AGENT_S 0.01
void conf_settle_agents(struct conf *c, int agents);
/* Seconds that agent.deadline_s gets for each agent: CONF_AGENT_S, or 0 if it was given. */
double conf_more_s(const struct conf *c);

/*
 * The percentage of CPU time that hooks may cost before short functions are counted; NAN: all are
 * timed. With "auto" they are counted in output.layout "run" only, and there not with sampling,
 * hardware counters or tables of threads: counted calls are in none of these.
 */
double conf_count_tiny(const struct conf *c);

/*
 * Checks that directories and files exist and that keys do not exclude each
 * other. 0, or -1 and *error, with FILE:LINE if known. The agent calls it at its
 * start, after conf_set(). writes: output_directory is one that results are written to.
 */
int conf_check_paths(const struct conf *c, bool writes, char **error);

/*
 * Puts the counters and observables of the file hwprof.default_scenario into the
 * configuration, and empties that key. 0, or -1 and *error as conf_load().
 */
int conf_scenario(struct conf *c, char **error, const struct conf_reading *how);

/* Prints it as JSON, with 3 blanks of indentation; conf_load() accepts that. */
void conf_print(const struct conf *c, FILE *f);

/* True if a value is neither the default nor from the file. */
bool conf_is_changed(const struct conf *c);
/* The value of one key, as JSON; the caller frees. */
char *conf_value_text(const struct conf *c, enum conf_id id);
/*
 * Tells each key that has another value than c's layout gives it, and its value as JSON, in the
 * order of the table. 0, or -1 if there is no memory: then some have not been told.
 */
int conf_changes(const struct conf *c, void (*tell)(void *ctx, const char *key, const char *value),
	void *ctx);

/* Row of a key (any case), or CONF_N_OPTIONS. */
enum conf_id conf_find(const char *key);
/* The known key or section most like `key`; the caller frees. NULL: none is like it. */
char *conf_nearest(const char *key);
/* Edits that make a into b (Levenshtein); of longer texts the first 100 bytes count. */
size_t conf_distance(const char *a, size_t a_bytes, const char *b, size_t b_bytes, bool any_case);
/* "one of block, drop", "true or false" ...; the caller frees. */
char *conf_accepted(const struct conf_option *o);
const char *conf_type_name(enum conf_type type);
/* What it is on a command line and in VFTR_SET besides, "yes, no ...", or NULL. */
const char *conf_also_accepted(enum conf_type type);

/*
 * "2.5", "300ms", "2min" or another unit, to seconds; "4MiB", "4M" or "4194304", to bytes;
 * "yes", "off", "1" ... False, with the value undefined: it is none.
 */
bool conf_time(const char *text, double *seconds);
bool conf_size(const char *text, double *bytes);
bool conf_boolean(const char *text, bool *value);

/* True if "all", "none" or "0,2-5" has the rank. A list that is not valid has none. */
bool rank_list_has(const char *list, unsigned rank);
/* True if the list has `from' or a greater number. */
bool rank_list_reaches(const char *list, unsigned from);
struct rank_range {
	unsigned first, last;
};
/* The list as n ranges, ascending, with gaps between them; the caller frees. Not for "all". */
struct rank_range *rank_list_ranges(const char *list, size_t *n);
/* 0, or -1 and *why (caller frees). words: "all" and "none" are good, too. */
int rank_list_check(const char *list, bool words, char **why);

#endif
