/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of a digest. Each part adds none if it has nothing to say, or its own ones. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/base/table.h"
#include "nodeagent/base/units.h"
#include "nodeagent/base/util.h"
#include "nodeagent/profile/first-end.h"
#include "nodeagent/profile/script.h"
#include "nodeagent/report/digest.h"
#include "nodeagent/report/efficiency.h"
#include "nodeagent/report/findings.h"
#include "nodeagent/report/report.h"
#include "nodeagent/report/short.h"

#define APPLICATION_COLUMNS 30
#define FUNCTION_COLUMNS    42
#define CALLER_COLUMNS	    28
#define MUCH		    0.1	 /* of the run: tracing that costs more */
#define WORTH_LATE	    0.01 /* of all time: less is not shown */
#define ON_CPU		    0.8	 /* of the time in the program: one that has less is told */
#define ALMOST_ALL	    0.9	 /* of the time of all ranks and threads */
#define FINDING_LINES	    2
#define INDENT		    5	/* columns before the text of a finding */
#define TOP_LEAST	    1	/* functions that stay where lines are few */
#define LINES_MOST	    32	/* of all parts together */
#define GOOD_EFFICIENCY	    0.9 /* from here on it is not worth a line */

struct digest_lines {
	const struct report *r;
	const struct profile *p;
	const char *folder;
	struct digest d;
	char *line[LINES_MOST];
	size_t n, after_shares, after_top, n_top;
	FILE *f; /* the line that is written */
	char *text;
	size_t bytes;
};

static FILE *begin_line(struct digest_lines *l)
{
	l->f = memory_begin(&l->text, &l->bytes);
	return l->f;
}

static void end_line(struct digest_lines *l)
{
	memory_end(l->f);
	if (l->bytes && l->n < LINES_MOST)
		l->line[l->n++] = text_short(l->text, DIGEST_COLUMNS);
	free(l->text);
}

static void put_name(FILE *f, const char *name, size_t columns)
{
	char *cut = text_short(name, columns);

	fputs(cut, f);
	free(cut);
}

static void put_number(FILE *f, uint64_t n, const char *one, const char *many)
{
	fprintf(f, "%" PRIu64 " %s", n, one_or_many(n, one, many));
}

static double percent_of(double part, double whole)
{
	return whole > 0.0 ? 100.0 * part / whole : 0.0;
}

static void put_run(struct digest_lines *l)
{
	const struct profile *p = l->p;
	uint32_t ranks = report_all_ranks(p);
	char *script = profile_script(p);
	FILE *f = begin_line(l);

	put_name(f, script ?: p->application ?: "unknown", APPLICATION_COLUMNS);
	free(script);
	fputs(": ", f);
	if (p->world_size)
		put_number(f, ranks, "rank", "ranks");
	else
		put_number(f, ranks, "process", "processes");
	if (p->ranks && p->threads > p->ranks && p->threads % p->ranks == 0)
		fprintf(f, " x %" PRIu32 " threads", p->threads / p->ranks);
	else if (p->threads > p->ranks)
		fprintf(f, ", %" PRIu32 " threads", p->threads);
	if (p->n_agents > 1)
		fprintf(f, " on %zu nodes", p->n_agents);
	fprintf(f, ", %s", quantity_seconds(p->runtime_s).text);
	end_line(l);
}

/*
 * Who sleeps in a function, or has no CPU, looks like one who works. The CPU time of processes is
 * that of the program where hardly any time is of other parts.
 */
static void print_program(char *text, size_t bytes, const struct digest_lines *l)
{
	const struct profile_cpu *c = &l->p->cpu;
	const double ns = (double)l->d.part_ns[DIGEST_COMPUTING], all_ns = 1e9 * l->r->excl_s;
	const bool known = c->wall_ns && (l->p->threads > l->p->ranks ||
						 (double)c->wall_ns > ALMOST_ALL * all_ns);

	if (!known || ns < ALMOST_ALL * all_ns || (double)c->ns >= ON_CPU * ns)
		snprintf(text, bytes, "in the program");
	else
		snprintf(text, bytes, "in the program (on a CPU for %.0f %%)",
			percent_of((double)c->ns, ns));
}

static void put_shares(struct digest_lines *l)
{
	char program[64], share[96];
	const char *const words[DIGEST_PARTS] = {program, "MPI", "MPI_Init/Finalize",
		"waiting in OpenMP", "idle OpenMP workers", "waiting for locks and threads",
		"paused", "outside of traced functions"};
	size_t columns = 0;

	if (!l->p->calls && !l->p->n_stack_samples)
		return;
	print_program(program, sizeof(program), l);
	begin_line(l);
	for (size_t i = 0; i < DIGEST_PARTS; i++) {
		if (!l->d.part_ns[i] && i != DIGEST_COMPUTING)
			continue;
		snprintf(share, sizeof(share), "%.1f %% %s",
			percent_of(1e-9 * (double)l->d.part_ns[i], l->r->excl_s), words[i]);
		if (columns && columns + 2 + strlen(share) > DIGEST_COLUMNS) {
			end_line(l);
			begin_line(l);
			columns = 0;
		}
		columns += (size_t)fprintf(l->f, "%s%s", columns ? ", " : "  ", share);
	}
	end_line(l);
	l->after_shares = l->n;
}

static void put_top(struct digest_lines *l)
{
	EACH(const struct digest_function, top, l->d.top, l->d.n_top) {
		FILE *f = begin_line(l);
		char time[48];

		snprintf(time, sizeof(time), "%s%s", top->estimated ? "~" : "",
			quantity_seconds(1e-9 * (double)top->excl_ns).text);
		fprintf(f, "  %5.1f %%  %8s  ",
			percent_of(1e-9 * (double)top->excl_ns, l->r->excl_s), time);
		put_name(f, l->r->cell[top->name], FUNCTION_COLUMNS);
		if (top->caller != PROFILE_NONE) {
			fputs(" < ", f);
			put_name(f, l->r->cell[top->caller], CALLER_COLUMNS);
		}
		if (top->more_callers)
			fprintf(f, " and %" PRIu32 " more %s", top->more_callers,
				one_or_many(top->more_callers, "caller", "callers"));
		end_line(l);
	}
	l->n_top = l->d.n_top;
	l->after_top = l->n;
}

static void put_imbalance(struct digest_lines *l)
{
	const struct digest_imbalance *im = &l->d.imbalance;
	const uint32_t none = im->ranks < im->members ? im->members - im->ranks : 0;
	FILE *f;

	if (im->name == PROFILE_NONE)
		return;
	f = begin_line(l);
	fputs("  imbalance: ", f);
	put_name(f, l->r->cell[im->name], CALLER_COLUMNS);
	fprintf(f, ": rank %" PRIu32 " works %s%.1f x the mean (%s", im->rank,
		im->is_bound ? "at least " : "",
		(double)im->max_ns * im->members / (double)im->sum_ns,
		quantity_seconds(1e-9 * (double)im->max_ns).text);
	if (!im->is_bound && none) {
		fputs("; not at all: ", f);
		put_number(f, none, "rank", "ranks");
	} else if (!im->is_bound) {
		fprintf(f, "; least %s on rank %" PRIu32,
			quantity_seconds(1e-9 * (double)im->min_ns).text, im->rank_min);
	}
	fputc(')', f);
	end_line(l);
}

static void put_late(struct digest_lines *l)
{
	const struct digest_late *d = &l->d.late;
	FILE *f;

	if (1e-9 * (double)d->ns < WORTH_LATE * l->r->excl_s || !d->ns)
		return;
	f = begin_line(l);
	fprintf(f, "  late senders: receives waited %s for them",
		quantity_seconds(1e-9 * (double)d->ns).text);
	if (d->rank != PROFILE_NONE)
		fprintf(f, ", %.0f %% of it for rank %" PRIu32,
			percent_of((double)d->rank_ns, (double)d->ns), d->rank);
	end_line(l);
}

/* The region whose threads had the most different work. */
static void put_openmp(struct digest_lines *l)
{
	const struct profile_openmp *worst = NULL, *o = l->p->openmp;
	FILE *f;

	for (size_t i = 0; i < l->p->n_openmp; i++, o++)
		if (o->most_ns > o->average_ns &&
			(!worst || o->most_ns - o->average_ns > worst->most_ns - worst->average_ns))
			worst = o;
	if (!worst)
		return;
	f = begin_line(l);
	fputs("  OpenMP: ", f);
	put_name(f, l->r->cell[l->p->stacks[worst->stack].name], FUNCTION_COLUMNS);
	fprintf(f, ": balance %.1f %%, %s idle in it",
		percent_of((double)worst->average_ns, (double)worst->most_ns),
		quantity_seconds(1e-9 * (double)(worst->wait_ns + worst->join_ns)).text);
	end_line(l);
}

static void put_gpu(struct digest_lines *l)
{
	double busy_s = 0.0;
	uint64_t n = 0;
	FILE *f;

	if (!l->p->n_gpu_devices)
		return;
	EACH(const struct profile_gpu_device, d, l->p->gpu_devices, l->p->n_gpu_devices) {
		busy_s += 1e-9 * (double)d->busy_ns;
		n += 1 + (uint64_t)d->others;
	}
	f = begin_line(l);
	fputs("  GPU: ", f);
	put_number(f, n, "device", "devices");
	fprintf(f, ", busy in %.1f %% of the run", percent_of(busy_s, l->p->runtime_s * (double)n));
	end_line(l);
}

static void put_samples(struct digest_lines *l, FILE *f)
{
	uint64_t n = 0;

	for (size_t i = 0; i < l->p->n_stack_samples; i++)
		n += l->p->stack_samples[i].own;
	fputs("  no function is instrumented: times are estimated from ", f);
	put_number(f, n, "stack sample", "stack samples");
	end_line(l);
}

/* Of a program that is instrumented, too, as where no ring could be made. */
static void put_nothing(struct digest_lines *l, FILE *f)
{
	fputs("  nothing was traced", f);
	if (l->p->n_warnings)
		fputs("; the warnings in the summary may say why, or vftr doctor", f);
	else if (l->r->c->profile_sample)
		fputs(": nothing is instrumented, and there is no stack sample", f);
	else
		fputs(": no function of it is instrumented (see vftr doctor)", f);
	end_line(l);
}

static void put_cost(struct digest_lines *l)
{
	const struct digest *d = &l->d;
	FILE *f = begin_line(l);

	if (!l->p->calls && l->p->n_stack_samples) {
		put_samples(l, f);
		return;
	}
	if (!l->p->calls) {
		put_nothing(l, f);
		return;
	}
	fprintf(f, "  tracing: %.1f %% of the run (%s in hooks, estimated",
		percent_of(d->hooks_s + d->blocked_s, l->p->runtime_s),
		quantity_seconds(d->hooks_s).text);
	if (d->blocked_s > 0.0)
		fprintf(f, "; %s waiting for the agent", quantity_seconds(d->blocked_s).text);
	fputc(')', f);
	end_line(l);
}

/* Functions whose calls were counted: the name of the one that was called most, and how many. */
static size_t counted_functions(const struct report *r, uint32_t *name)
{
	struct report_group *groups;
	const uint32_t *members;
	const size_t all = report_groups(r, &groups, &members);
	size_t n = 0;
	uint64_t most = 0;

	for (size_t i = 0; i < all; i++) {
		const bool counted = short_function_is_counted(r, &groups[i], members);

		n += counted;
		if (!counted || groups[i].calls <= most)
			continue;
		most = groups[i].calls;
		*name = groups[i].name;
	}
	free(groups);
	return n;
}

static void put_counted(struct digest_lines *l)
{
	uint32_t name = PROFILE_NONE;
	const size_t n = l->p->calls ? counted_functions(l->r, &name) : 0;
	const double cost_s = l->d.hooks_s + l->d.blocked_s;
	FILE *f = begin_line(l);

	if (n) {
		fputs("  counted, times ~: ", f);
		put_name(f, l->r->cell[name], CALLER_COLUMNS);
		if (n > 1)
			fprintf(f, " and %zu more", n - 1);
		if (!isnan(conf_count_tiny(l->r->c)))
			fputs("; time all: -k overhead.count_tiny=null", f);
	}
	end_line(l);
	f = begin_line(l);
	if (n && l->folder && cost_s > MUCH * l->p->runtime_s)
		fputs("  to leave them out: compile with the option that `vftr flags --exclude "
		      "FOLDER' prints",
			f);
	end_line(l);
}

/* In CPUs, or as a part of the time. */
static void put_cpu_time(FILE *f, uint64_t ns, uint64_t wall_ns, bool in_cpus)
{
	if (in_cpus)
		fprintf(f, "%.2f", (double)ns / (double)wall_ns);
	else
		fprintf(f, "%.0f %%", percent_of((double)ns, (double)wall_ns));
}

/*
 * Who has no CPU looks like one who works; so it is said how long a rank had one, and of that
 * which had none although it was ready.
 */
static void put_cpu(struct digest_lines *l)
{
	const struct profile_cpu *c = &l->p->cpu;
	const char *rank = l->p->world_size ? "rank" : "process";
	const bool has_threads = l->p->threads > l->p->ranks; /* then these are CPUs */
	FILE *f;

	if (!c->wall_ns)
		return;
	f = begin_line(l);
	fputs("  CPU: ", f);
	put_cpu_time(f, c->ns, c->wall_ns, has_threads);
	if (has_threads)
		fprintf(f, " CPUs per %s", rank);
	else
		fputs(" of the time", f);
	if (digest_is_starved(l->r)) {
		fprintf(f,
			"; %s %" PRIu32 " waited for one for %.0f %%: the node is oversubscribed",
			rank, profile_rank_shown(l->p, c->queued_rank),
			percent_of((double)c->most_queued_ns, (double)c->queued_wall_ns));
	} else if (l->p->ranks > 1) {
		fputs("; least ", f);
		put_cpu_time(f, c->least_ns, c->least_wall_ns, has_threads);
		fprintf(f, " on %s %" PRIu32, rank, profile_rank_shown(l->p, c->least_rank));
	}
	end_line(l);
}

static void put_lost(struct digest_lines *l)
{
	const struct profile *p = l->p;
	const struct {
		uint64_t n;
		const char *one, *many;
	} losses[] = {
		{p->lost_calls, "call", "calls"},
		{p->lost_messages, "message", "messages"},
		{p->lost_processes, "process", "processes"},
	};
	const uint32_t ranked = p->ranks - p->unranked;
	const char *before = "  lost: ";
	FILE *f = begin_line(l);

	for (size_t i = 0; i < ARRAY_SIZE(losses); i++) {
		if (!losses[i].n)
			continue;
		fputs(before, f);
		put_number(f, losses[i].n, losses[i].one, losses[i].many);
		before = ", ";
	}
	if (ranked < p->world_size) {
		fputs(before, f);
		put_number(f, p->world_size - ranked, "rank", "ranks");
	}
	end_line(l);
}

static void put_end(FILE *f, const struct profile *p, uint32_t rank, bool killed, int status)
{
	if (p->world_size && rank >= PROFILE_UNRANKED)
		fputs("  a process in no MPI rank ", f);
	else
		fprintf(f, "  %s %" PRIu32 " ", p->world_size ? "rank" : "process",
			profile_rank_shown(p, rank));
	if (!killed)
		fprintf(f, "exited with status %d", status);
	else if (status > 0)
		fprintf(f, "was killed by signal %d (%s)", status, strsignal(status));
	else
		fputs("ended by _exit or by a signal that could not be seen", f);
}

/* The first end that was bad, or any; and how many there were. */
static void put_deaths(struct digest_lines *l)
{
	const struct profile *p = l->p;
	const struct profile_bad_end *first = first_end(p);
	size_t n;
	const struct profile_process *dead = first_death(p, &n);
	FILE *f;

	n = MAX(n, p->n_ends);
	if (!n)
		return;
	if (!first && p->n_ends)
		first = &p->ends[0];
	f = begin_line(l);
	if (first)
		put_end(f, p, first->rank, first->end == PROCESS_KILLED, first->exit_status);
	else
		put_end(f, p, dead->rank, true, dead->exit_status);
	if (n > 1)
		fprintf(f, "%s; %zu %s in all ended badly", first_end(p) ? " first" : "", n,
			p->world_size ? "ranks" : "processes");
	end_line(l);
}

/* Moves the last line behind the shares. */
static void move_up(struct digest_lines *l)
{
	char *last = l->line[l->n - 1];

	memmove(&l->line[l->after_shares + 1], &l->line[l->after_shares],
		(l->n - 1 - l->after_shares) * sizeof(*l->line));
	l->line[l->after_shares] = last;
	l->after_top++;
}

/* Lines that are left for findings and the efficiency, for which functions go. */
static size_t room_for_more(const struct digest_lines *l)
{
	const size_t taken = l->n - (l->n_top > TOP_LEAST ? l->n_top - TOP_LEAST : 0);

	return taken < DIGEST_LINES ? DIGEST_LINES - taken : 0;
}

/* False where it only tells the time that we have taken, too. */
static bool is_low(const struct digest_lines *l, struct efficiency *e)
{
	return efficiency_of(l->p, e) && e->parallel < GOOD_EFFICIENCY && (e->is_job || e->hybrid);
}

/* The factors of the parallel efficiency, behind the shares. */
static void put_efficiency(struct digest_lines *l)
{
	const char *before = " =";
	struct efficiency e;
	FILE *f;

	if (!room_for_more(l) || !is_low(l, &e))
		return;
	f = begin_line(l);
	fprintf(f, "  efficiency: %.0f %%", 100.0 * e.parallel);
	if (e.is_job && e.outside_max_s > 0.0) {
		fprintf(f, " = load balance %.0f %% x communication %.0f %%",
			100.0 * e.load_balance, 100.0 * e.communication);
		before = " x";
	}
	if (e.hybrid && e.outside_s > 0.0)
		fprintf(f, "%s OpenMP %.0f %%", before, 100.0 * e.openmp);
	if (e.doubts)
		fputs(" (estimated)", f);
	end_line(l);
	move_up(l);
}

/* Bytes of text that fit into one line behind so many columns, up to a blank. */
static size_t fitting(const char *text, size_t columns)
{
	char *whole = text_first(text, DIGEST_COLUMNS - columns);
	size_t n = strlen(whole);

	if (text[n] && strrchr(whole, ' '))
		n = (size_t)(strrchr(whole, ' ') - whole);
	free(whole);
	return n;
}

/* The last of the n bytes of text that is one of the marks and has a blank behind it, or 0. */
static size_t last_mark(const char *text, size_t n, const char *marks)
{
	while (n && (!strchr(marks, text[n - 1]) || text[n] != ' '))
		n--;
	return n ? n - 1 : 0;
}

/* What of a text goes on the last line for it: all, or as many clauses as fit and " ..."; where not
 * one fits, the text, which end_line() cuts. The caller frees. */
static char *last_clauses(const char *text)
{
	const size_t n = fitting(text, INDENT + strlen(" ..."));
	const size_t end = text[fitting(text, INDENT)]
				   ? last_mark(text, n, ";:") ?: last_mark(text, n, ",")
				   : 0;

	return end ? xasprintf("%.*s ...", (int)end, text) : xstrdup(text);
}

/* The lines of a finding, two if it needs them and there is room; returns how many it has. */
static size_t split_finding(char *lines[], size_t room, size_t number, const char *text)
{
	const size_t bytes = fitting(text, INDENT);
	const bool two = text[bytes] && room > 1;
	char *last = last_clauses(two ? text + bytes + strspn(text + bytes, " ") : text);

	if (two)
		lines[0] = xasprintf("  %zu. %.*s", number, (int)bytes, text);
	lines[two] = two ? xasprintf("     %s", last) : xasprintf("  %zu. %s", number, last);
	free(last);
	return two + 1;
}

/* Of the lines that are left one is for the efficiency. */
static size_t room_for_findings(const struct digest_lines *l)
{
	struct efficiency e;
	const size_t left = room_for_more(l);
	const size_t room = left && is_low(l, &e) ? left - 1 : left;

	return room < FINDING_LINES ? room : FINDING_LINES;
}

/* The first findings: two that have a line each, or one of two lines; as far as there is room. */
static void put_findings(struct digest_lines *l)
{
	const size_t room = room_for_findings(l);
	char *lines[FINDING_LINES];
	struct findings all;
	size_t n = 0;

	if (!room || (!l->p->calls && !l->p->n_stack_samples))
		return;
	all = findings_of(l->r);
	if (!all.n)
		lines[n++] = xstrdup("  nothing to mend found");
	for (size_t i = 0; i < all.n && n < room; i++) {
		const char *text = all.at[i].text;

		if (i && n + 1 == room && text[fitting(text, INDENT)]) /* it is in the summary */
			break;
		n += split_finding(&lines[n], room - n, i + 1, text);
	}
	while (n--) {
		fputs(lines[n], begin_line(l));
		free(lines[n]);
		end_line(l);
		move_up(l);
	}
	findings_free(&all);
}

static void put_files(struct digest_lines *l)
{
	FILE *f = begin_line(l);

	if (l->p->n_warnings) {
		fputs("  ", f);
		put_number(f, l->p->n_warnings, "warning", "warnings");
		fputs(l->folder ? "; " : " below", f);
	}
	if (l->folder) {
		fputs(l->p->n_warnings ? "files in " : "  files in ", f);
		put_name(f, l->folder, DIGEST_COLUMNS - APPLICATION_COLUMNS);
	}
	end_line(l);
}

/* The last of the functions, and after them the last lines, go for what is more. */
static void fit_lines(struct digest_lines *l)
{
	while (l->n > DIGEST_LINES && l->n_top > TOP_LEAST) {
		free(l->line[--l->after_top]);
		l->n--;
		l->n_top--;
		memmove(&l->line[l->after_top], &l->line[l->after_top + 1],
			(l->n - l->after_top) * sizeof(*l->line));
	}
	while (l->n > DIGEST_LINES)
		free(l->line[--l->n]);
}

char **report_digest(const struct report *r, const char *folder, size_t *n)
{
	static void (*const parts[])(struct digest_lines * l) = {put_run, put_shares, put_top,
		put_imbalance, put_late, put_openmp, put_gpu, put_cpu, put_cost, put_counted,
		put_lost, put_deaths, put_files, put_findings, put_efficiency};
	struct digest_lines l = {.r = r, .p = r->p, .folder = folder, .d = digest_of(r)};
	char **lines = xcalloc(DIGEST_LINES, sizeof(*lines));

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		parts[i](&l);
	fit_lines(&l);
	memcpy(lines, l.line, l.n * sizeof(*lines));
	*n = l.n;
	return lines;
}
