/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Subcommands of `vftr', one file cmd-NAME.c each. argv[0] is what messages of getopt() begin with
 * ("vftr: doctor"); what follows it are the arguments, and argv[argc] is NULL. The return value is
 * the exit status: 0 yes or done; 1 no, failed, or done in part; 2 wrong usage, or nothing was done
 * (said on stderr with complain()). `--help' prints the usage on stdout and returns 0. The name
 * must also stand in the table of vftr.c.
 */
#ifndef VFTR_NODEAGENT_TOOL_CMD_H
#define VFTR_NODEAGENT_TOOL_CMD_H

#include <stdbool.h>
#include <stdint.h>

#include "nodeagent/base/result-files.h"

struct vfd_span;

/*
 * Leaves this process few rights (sandbox.h), for good: with sockets, also those to look at running
 * agents. And stdout shows no control characters any more: text_stream().
 */
void cmd_reads_foreign_files(bool sockets);

int cmd_attach(int argc, char **argv);
int cmd_collate(int argc, char **argv);
int cmd_compress(int argc, char **argv);
int cmd_config(int argc, char **argv);
int cmd_critical_path(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_efficiency(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_findings(int argc, char **argv);
int cmd_flags(int argc, char **argv);
int cmd_histogram(int argc, char **argv);
int cmd_iterations(int argc, char **argv);
int cmd_models(int argc, char **argv);
int cmd_open(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_run(int argc, char **argv);

/* Names that other tools have for what `vftr run' does: all in cmd-run.c. */
int cmd_record(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_tree(int argc, char **argv);
int cmd_waits(int argc, char **argv);
int cmd_where(int argc, char **argv);

/*
 * The tools of Vftrace: if `name' is that of one, runs it with its own command line, sets *status
 * to its exit status and returns true. (cmd-vftrace.c)
 */
bool vftrace_link(const char *name, int argc, char **argv, int *status);

/*
 * An option. Of what its row has, it sets *text to its argument, *time to its argument in ns (a
 * number of seconds, or with a unit), *flag and *also to true, and calls take(argument, to), which
 * returns false after a message if the argument is wrong. say() prints an answer, and the command
 * ends with 0. Behind the last row is {0}.
 */
struct cmd_option {
	const char *name;
	char letter; /* or 0 */
	const char **text;
	int64_t *time;
	bool *flag, *also;
	bool (*take)(const char *text, void *to);
	void *to;
	void (*say)(void);
};
/*
 * Reads the options; optind is then the index of the first argument. usage: the text of --help and
 * -h, or NULL: only rows may have these. Returns -1: go on, or the exit status.
 * (cmd-arguments.c)
 */
int cmd_options(int argc, char **argv, const struct cmd_option *options, const char *usage);
/*
 * The same of a subcommand that needs an argument, and can write one of CSV and JSON. wanted: what
 * an argument is, "the folder of a run", for the message if there is none. argv[0] is "vftr: NAME",
 * as run_subcommand() sets it.
 */
int cmd_options_for(int argc, char **argv, const struct cmd_option *options, const char *usage,
	const char *wanted);

/*
 * Check arguments of options (cmd-arguments.c); false after a message. cmd_round(): the number of a
 * round, from 1, written to the uint64_t *number. cmd_number(): a number from 0 to 1000000000,
 * written to the int64_t *number. cmd_ranks(): a list of ranks such as 0,2-5, or NULL. cmd_span():
 * a span of time that is not empty, or a round (0: none), not both; command: the subcommand's name,
 * for the message.
 */
bool cmd_round(const char *text, void *number);
bool cmd_number(const char *text, void *number);
bool cmd_ranks(const char *list);
bool cmd_span(const char *command, const struct vfd_span *span, uint64_t round);

/*
 * The file that an argument names: itself, or if it is a folder the only file of that kind in it.
 * names: what such files are called, for messages. The caller frees the result. NULL after a
 * message: the folder has no such file, or several.
 */
char *cmd_file_in(const char *argument, enum result_kind kind, const char *names);

/*
 * The configuration of a command that reads profiles: of the file, else of $VFTR_CONFIG, else the
 * defaults, and $VFTR_SET. layout: "vftrace", or "run", for which no warnings are printed, as the
 * same call for "vftrace" has them. The caller frees it with conf_free(). NULL after a message: it
 * is wrong. (cmd-collate.c)
 */
struct conf *cmd_load_conf(const char *file, const char *layout);

/*
 * `vftr export' of a profile, for a format with convert(): args are BASE_all.json, or node profiles
 * of one run, or a folder with one of these. Returns the exit status; messages are printed.
 * (export-database.c)
 */
struct export_format;
struct export_options;
int cmd_export_database(const struct export_format *format, const struct export_options *o,
	char **args, int n_args);

#endif
