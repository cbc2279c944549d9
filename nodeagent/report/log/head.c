/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of the logs that are lines of text: head, summary lines, deaths,
 * losses, warnings, configuration. Labels are an interface: scripts of
 * Vftrace's users look for them.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "conf/conf.h"
#include "nodeagent/base/units.h"
#include "nodeagent/profile/first-end.h"
#include "nodeagent/profile/prune.h"
#include "nodeagent/profile/script.h"
#include "nodeagent/report/log/internal.h"

/* Longer lists of deaths and warnings are cut, with the number of the rest. */
#define LINES_MAX 50

static void print_date(FILE *f, const char *label, int64_t seconds, bool zone)
{
	time_t t = seconds;
	struct tm tm;
	char text[64] = "unknown";

	if (localtime_r(&t, &tm))
		strftime(text, sizeof(text),
			zone ? "%a %b %e %H:%M:%S %Y %Z" : "%a %b %e %H:%M:%S %Y", &tm);
	fprintf(f, "%s%s\n", label, text);
}

void section_text(FILE *f, const char *before, const char *text, const char *after)
{
	char *plain = text_plain(text);

	fprintf(f, "%s%s%s", before, plain, after);
	free(plain);
}

static void print_licence(FILE *f)
{
	fputs("\n"
	      "This is free software (BSD-3-Clause) with ABSOLUTELY NO WARRANTY.\n"
	      "For details see the file COPYING which comes with the source code.\n",
		f);
}

void section_head(FILE *f, const struct report *r)
{
	const struct profile *p = r->p;
	char *script = r->run ? profile_script(p) : NULL;
	char *name = script ? xasprintf("%s (%s)", script, p->application)
			    : xstrdup(p->application ?: "unknown");

	fputs("vftr " VFTR_VERSION "\n", f);
	section_text(f, "Runtime profile for application: ", name, "\n");
	free(name);
	free(script);
	print_date(f, "Start Date: ", p->start_s, r->run);
	print_date(f, "End Date:   ", p->end_s, r->run);
	if (!r->run)
		print_licence(f);
}

void section_foot(FILE *f, const struct report *r)
{
	if (!r->run)
		return;
	fputc('\n', f);
	section_bytes(f, "Vftrace used memory:", (double)r->p->ring_bytes);
	print_licence(f);
}

/*
 * When one rank dies the launcher ends the others: the signal that names the
 * cause is the one a launcher is least likely to send.
 */
static int causality(int signal)
{
	switch (signal) {
	case SIGTERM:
		return 1;
	case SIGKILL:
		return 2;
	default:
		return 3;
	}
}

void section_banner(FILE *f, const struct report *r)
{
	const struct profile *p = r->p;
	const struct profile_bad_end *first = first_end(p);
	int cause = 0;
	char *line;

	if (first && first->end == PROCESS_EXITED) /* signals came after it */
		return;
	EACH(const struct profile_process, d, p->dead, p->n_dead) {
		/* the death of a helper process is not the death of an MPI job, nor of who goes on
		 */
		if (d->end != PROCESS_KILLED || d->exit_status <= 0 ||
			(p->world_size ? d->rank >= PROFILE_UNRANKED : d->outlived))
			continue;
		if (!cause || causality(d->exit_status) > causality(cause))
			cause = d->exit_status;
	}
	if (first)
		cause = first->exit_status;
	if (!cause)
		return;
	line = xasprintf("Application was cancelled by signal: %s", strsignal(cause));
	fputc('\n', f);
	for (int i = 0; i < 3; i++) {
		if (i == 1) {
			fprintf(f, "%s\n", line);
			continue;
		}
		for (size_t k = 0; k < strlen(line); k++)
			fputc('*', f);
		fputc('\n', f);
	}
	free(line);
}

/* Values end in one column, also those of labels that are longer than most. */
static int width_behind(const char *label)
{
	const int left = SECTION_LABEL + SECTION_VALUE - (int)strlen(label);

	return left > SECTION_VALUE ? SECTION_VALUE : left > 1 ? left : 1;
}

void section_seconds(FILE *f, const char *label, double seconds)
{
	fprintf(f, "%-*s%*.2f s\n", SECTION_LABEL, label, width_behind(label), seconds);
}

void section_number(FILE *f, const char *label, uint64_t number)
{
	fprintf(f, "%-*s%*" PRIu64 "\n", SECTION_LABEL, label, width_behind(label), number);
}

void section_bytes(FILE *f, const char *label, double bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	size_t unit = 0;

	while (bytes >= 1024.0 && unit + 1 < ARRAY_SIZE(units)) {
		bytes /= 1024.0;
		unit++;
	}
	fprintf(f, "%-*s%*.2f %s\n", SECTION_LABEL, label, width_behind(label), bytes, units[unit]);
}

static void print_death(FILE *f, const struct report *r, const struct profile_process *d)
{
	const struct profile *p = r->p;

	if (p->world_size && d->rank >= PROFILE_UNRANKED)
		fprintf(f, "Process %d (in no MPI rank", (int)d->pid);
	else
		fprintf(f, "%s %" PRIu32 " (pid %d",
			r->run && !p->world_size ? "Process" : "Process of rank",
			profile_rank_shown(p, d->rank), (int)d->pid);
	if (d->executable)
		section_text(f, ", ", d->executable, "");
	if (d->end == PROCESS_KILLED && d->exit_status > 0)
		fprintf(f, ") was killed by signal %d (%s)", d->exit_status,
			strsignal(d->exit_status));
	else
		fputs(") ended by _exit or by a signal that could not be seen,", f);
	fprintf(f, " after %.2f s; its data are complete up to its last record.\n", d->runtime_s);
	if (d->quarantined)
		section_text(f, "   Its data were not used further: ", d->quarantined, "\n");
}

static void print_missing(FILE *f, const struct profile *p)
{
	uint32_t ranked = p->ranks > p->unranked ? p->ranks - p->unranked : 0;
	size_t n = 0;

	for (size_t i = 0; i < p->n_agents; i++) {
		if (!p->agents[i].missing || n++ >= LINES_MAX)
			continue;
		section_text(f, "No data from node ", p->agents[i].host,
			": its agent did not answer.\n");
	}
	if (n > LINES_MAX)
		fprintf(f, "... nor from %zu %s more.\n", n - LINES_MAX,
			one_or_many(n - LINES_MAX, "node", "nodes"));
	if (ranked < p->world_size)
		fprintf(f, "The data are those of %" PRIu32 " of %" PRIu32 " MPI ranks.\n", ranked,
			p->world_size);
}

void section_lost_messages(FILE *f, const struct profile *p)
{
	if (p->lost_messages)
		fprintf(f,
			"%" PRIu64 " %s not stored, as rings were full or a signal handler had "
			"interrupted the library; the tables of messages lack %s.\n",
			p->lost_messages,
			one_or_many(p->lost_messages, "record of communication was",
				"records of communication were"),
			one_or_many(p->lost_messages, "it", "them"));
	section_open_sentence(f, p);
	if (p->ambiguous_sends || p->ambiguous_receives)
		fprintf(f,
			"Threads were in calls at once whose order MPI does not define: %" PRIu64
			" %s and %" PRIu64 " %s are ambiguous.\n",
			p->ambiguous_sends, one_or_many(p->ambiguous_sends, "send", "sends"),
			p->ambiguous_receives,
			one_or_many(p->ambiguous_receives, "receive", "receives"));
}

static void print_first_end(FILE *f, const struct profile *p)
{
	char *text = first_end_sentence(p);

	if (text)
		fprintf(f, "Warning: %s\n", text);
	free(text);
}

static void print_pruned(FILE *f, const struct profile *p)
{
	const struct pruned_rows sum = pruned_rows(p);

	if (p->n_pruned)
		fprintf(f,
			"Of %" PRIu64 " call paths those with less than %s, with all that they "
			"call,\nare in %zu %s \"" PRUNED_NAME "\" here, with %s; "
			"the node profiles have all.\n",
			p->pruned->paths, quantity_seconds(p->pruned->below_ns * 1e-9).text, sum.n,
			one_or_many(sum.n, "row", "rows"),
			quantity_seconds(sum.excl_ns * 1e-9).text);
}

static void print_sentences(FILE *f, const struct report *r, double runtime_s, bool whole_job)
{
	const struct profile *p = r->p;

	if (p->lost_processes)
		fprintf(f,
			"%" PRIu64 " %s gave up waiting for this agent and %s not in the "
			"profile.\n",
			p->lost_processes, one_or_many(p->lost_processes, "process", "processes"),
			one_or_many(p->lost_processes, "is", "are"));
	for (size_t i = 0; i < p->n_dead && i < LINES_MAX; i++)
		print_death(f, r, &p->dead[i]);
	if (p->n_dead > LINES_MAX) {
		const uint64_t more = p->n_dead - LINES_MAX + p->dead_more;

		fprintf(f, "... and %" PRIu64 " %s more that did not end by %s.\n", more,
			one_or_many(more, "process", "processes"),
			one_or_many(more, "itself", "themselves"));
	}
	if (whole_job)
		print_missing(f, p);
	if (p->lost_calls)
		fprintf(f,
			"%" PRIu64 " %s not recorded because rings were full or a signal came in "
			"between; %s.\n",
			p->lost_calls, one_or_many(p->lost_calls, "call was", "calls were"),
			whole_job ? "the node logs name the ranks"
				  : "the table below names the ranks");
	print_pruned(f, p);
	section_lost_messages(f, p);
	section_matching_faults(f, p);
	if (p->blocked_ns)
		fprintf(f, "Time ranks waited for room in their rings: %.*f s\n",
			p->blocked_ns < 10000000 ? 6 : 2, p->blocked_ns * 1e-9);
	section_overhead_warning(f, r, runtime_s);
	print_first_end(f, p);
	for (size_t i = 0; i < p->n_warnings && i < LINES_MAX; i++)
		section_text(f, "Warning: ", p->warnings[i], "\n");
	if (p->n_warnings > LINES_MAX)
		fprintf(f, "... and %zu %s more.\n", p->n_warnings - LINES_MAX,
			one_or_many(p->n_warnings - LINES_MAX, "warning", "warnings"));
}

void section_warnings(FILE *f, const struct report *r)
{
	bool whole_job = r->log == REPORT_SUMMARY;
	char *text;
	size_t bytes;
	FILE *sentences = memory_begin(&text, &bytes);

	print_sentences(sentences, r, r->p->runtime_s, whole_job);
	memory_end(sentences);
	if (bytes)
		fprintf(f, "\n%s", text);
	free(text);
	section_open_requests(f, r);
}

struct changes {
	FILE *f;
	size_t n;
};

static void print_change(void *ctx, const char *key, const char *value)
{
	struct changes *to = ctx;

	if (!to->n++)
		fputs("\nConfiguration, where it is not the default of this layout\n", to->f);
	fprintf(to->f, "   %s=", key);
	section_text(to->f, "", value, "\n");
}

/* As on a command line. */
static void print_changes(FILE *f, const struct conf *c)
{
	if (conf_changes(c, print_change, &(struct changes){.f = f}))
		die(125, "out of memory");
}

void section_config(FILE *f, const struct report *r)
{
	const char *changed = "";

	if (!r->c->print_config)
		return;
	if (r->run) {
		print_changes(f, r->c);
		return;
	}
	if (conf_is_changed(r->c))
		changed = ", changed on the command line or by VFTR_SET";
	fputc('\n', f);
	if (r->c->file) {
		section_text(f, "Vftrace configuration read from \"", r->c->file, "\"");
		fprintf(f, "%s\n", changed);
	} else {
		fprintf(f, "Vftrace default configuration%s:\n", changed);
	}
	conf_print(r->c, f);
}
