/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/attach/attach.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "nodeagent/attach/refusal.h"
#include "nodeagent/base/util.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/observer.h"
#include "nodeagent/process/process.h"
#include "nodeagent/process/procfs.h"
#include "nodeagent/stack/events.h"

#define LOOK_NS	     UINT64_C(200000000) /* between two looks, and ... */
#define LOOK_SHARE   50			 /* ... so many times as long as one took */
#define CMDLINE_MOST (64 << 10)
#define WORDS_MOST   1024

struct attached {
	bool children;
	bool too_many; /* it was said */
	int shortage;  /* errno, for which a process was left out; or 0 */
	uint64_t begun_ns, due_ns;
};

/* ---- what a process is ----------------------------------------------------------------- */

static char *link_of(int pid, const char *name)
{
	char path[64], to[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	n = readlink(path, to, sizeof(to) - 1);
	return n > 0 ? xasprintf("%.*s", (int)n, to) : xstrdup("");
}

/* Its command line, each word ended by a NUL, and one more NUL. */
static size_t command_line(int pid, char text[CMDLINE_MOST])
{
	char path[64];
	size_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	f = fopen(path, "re");
	if (f) {
		n = fread(text, 1, CMDLINE_MOST - 2, f);
		fclose(f);
	}
	text[n] = text[n + 1] = '\0';
	return n;
}

static int number_of(int pid, const char *const *names)
{
	char text[16], *end;

	for (; *names; names++) {
		if (!procfs_variable(pid, *names, text, sizeof(text)))
			continue;
		const long n = strtol(text, &end, 10);

		if (end != text && !*end && n >= 0 && n < INT_MAX)
			return (int)n;
	}
	return WIRE_UNKNOWN;
}

/* As its launcher has told it. */
static void note_rank(struct process *p)
{
	static const char *const ranks[] = {
		"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID", NULL};
	static const char *const sizes[] = {
		"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS", NULL};

	p->rank_hint = number_of(p->pid, ranks);
	p->size_hint = number_of(p->pid, sizes);
}

static void describe_process(struct process *p, const struct process *parent)
{
	char *words = xmalloc(CMDLINE_MOST);

	command_line(p->pid, words);
	p->executable = link_of(p->pid, "exe");
	procfs_cut_deleted(p->executable);
	p->directory = link_of(p->pid, "cwd");
	p->invoked_as = xstrdup(words[0] ? words : p->executable);
	free(words);
	p->parent_pid = procfs_parent(p->pid);
	/* what a rank starts is no rank, but what a launcher starts is */
	if (parent && parent->rank_hint >= 0)
		p->parent_traced = parent->pid;
	note_rank(p);
}

char *const *attach_words(const char *pids)
{
	char *text = xmalloc(CMDLINE_MOST), **words = xcalloc(WORDS_MOST + 2, sizeof(*words));
	const size_t n = command_line(atoi(pids), text);
	size_t at = 0, k = 0;

	for (; at < n && k < WORDS_MOST; at += strlen(text + at) + 1)
		words[k++] = text + at;
	if (!k || !*words[0])
		words[0] = xstrdup("unknown");
	return words;
}

/* ---- taking it -------------------------------------------------------------------------- */

static void enlist_process(struct process *p)
{
	struct host *host = p->host;

	p->control = p->stored_control.agent;
	p->control_app = p->stored_control.app;
	p->control->clock_source = host->clocks.source;
	p->start_ticks = p->connected_ticks;
	p->start_s = time(NULL);
	if (!host->n_ever)
		host->first_start_ticks = p->connected_ticks;
	p->greeted = p->uninstrumented = true;
	process_enlist(p);
	host->n_ever++;
	host->n_live++;
	if (p->pidfd >= 0) /* without it look_at_all() sees its end */
		host_watch(host, p->pidfd, WATCH_PIDFD, p);
	observers_tell(host, begin, p);
	process_members_changed(host);
}

static void leave_out(struct host *host, int pid, int error)
{
	host->attached->shortage = error;
	host_warn(host, true, "process %d is left out: %s", pid, attach_shortage(error));
}

/* Unless it has ended meanwhile. */
static void take_process(struct host *host, int pid, const struct process *parent)
{
	struct process *p = process_new(host, -1, pid);
	const int error = ring_store_take_control(host->rings, &p->stored_control);

	p->outside = true;
	if (error || (p->pidfd < 0 && !p->began) || !p->program) {
		if (error)
			leave_out(host, pid, -error);
		process_free(p);
		return;
	}
	ring_store_sent_control(host->rings, &p->stored_control); /* it is sent to nobody */
	describe_process(p, parent);
	enlist_process(p);
}

static struct process *living_process(const struct host *host, int pid)
{
	for (struct process *p = host->live; p; p = p->next_live)
		if (!p->ended && p->pid == pid)
			return p;
	return NULL;
}

static bool has_room(struct host *host)
{
	if (host->n_live < ATTACH_MOST)
		return true;
	if (!host->attached->too_many)
		host_warn(
			host, true, "more than %u processes: the others are left out", ATTACH_MOST);
	host->attached->too_many = true;
	return false;
}

/* ---- children --------------------------------------------------------------------------- */

static void take_children_of(struct process *p, const char *children)
{
	struct host *host = p->host;
	FILE *f = fopen(children, "re");
	int pid;

	while (f && fscanf(f, "%d", &pid) == 1) {
		char *why = living_process(host, pid) ? NULL : attach_refusal(pid, NULL);

		/* it may be traced by itself, or have ended */
		if (!living_process(host, pid) && !why && has_room(host))
			take_process(host, pid, p);
		free(why);
	}
	if (f)
		fclose(f);
}

/* Each thread has children of its own. */
static void take_children(struct process *p)
{
	char path[80];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", p->pid);
	d = opendir(path);
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.') {
			snprintf(path, sizeof(path), "/proc/%d/task/%d/children", p->pid,
				atoi(e->d_name));
			take_children_of(p, path);
		}
	if (d)
		closedir(d);
}

/* ---- another program ------------------------------------------------------------------- */

/* By the kernel's mark; or it has no event yet, and was seen twice: the mark comes a little later
 * than the file changes. */
static bool runs_another(struct process *p)
{
	const uint64_t before = p->program_seen;

	p->program_seen = procfs_program(p->pid);
	return p->other_program || (before && before != p->program && p->program_seen == before);
}

/* It is another process of the profile then. */
static void begin_again(struct process *p)
{
	struct host *host = p->host;
	const int pid = p->pid;
	struct process *parent = p->parent_traced ? living_process(host, p->parent_traced) : NULL;
	char *why = attach_refusal(pid, NULL);

	process_finish(p, PROCESS_EXECED);
	if (!why)
		take_process(host, pid, parent);
	free(why);
}

/* ---- all of them ------------------------------------------------------------------------ */

int attach_begin(struct host *host, const char *pids, bool children, char **error)
{
	const int refused = stack_events_refused();
	int shortage;
	char *why = refused ? stack_events_why(refused) : NULL, *end;

	if (why) {
		*error = xasprintf(
			"the kernel allows no stack samples (%s); see vftr-stack(7)", why);
		free(why);
		return -1;
	}
	host->attached = xcalloc(1, sizeof(*host->attached));
	host->attached->children = children;
	for (; *pids; pids = *end ? end + 1 : end) {
		const int pid = (int)strtol(pids, &end, 10);

		why = attach_refusal(pid, &shortage);
		if (shortage)
			leave_out(host, pid, shortage);
		else if (why)
			host_warn(host, false, "%s", why); /* `vftr attach' has looked before */
		else if (!living_process(host, pid) && has_room(host))
			take_process(host, pid, NULL);
		free(why);
		if (*end && *end != ',')
			break;
	}
	if (!host->n_live && host->attached->shortage)
		*error = xstrdup(attach_shortage(host->attached->shortage));
	host_warn(host, false,
		"%s already and %s seen from outside: CPU time is known from stack samples; calls, "
		"messages and waits are not, see vftr-attach(1)",
		host->n_live == 1 ? "this process ran" : "these processes ran",
		host->n_live == 1 ? "is" : "are");
	host->attached->begun_ns = clock_raw_ns();
	return 0;
}

void attach_end(struct host *host)
{
	for (struct process *p = host->live; p; p = p->next_live)
		process_finish(p, PROCESS_RUNNING);
}

double attach_age_s(const struct host *host)
{
	return 1e-9 * (double)(clock_raw_ns() - host->attached->begun_ns);
}

static void look_at_all(struct host *host)
{
	struct process *next;

	for (struct process *p = host->live; p; p = next) {
		next = p->next_live; /* new ones are put before it */
		if (!p->ended && p->pidfd < 0)
			process_hung_up(p);
		if (p->ended)
			continue;
		process_has_had(p, cpu_used(p->pid));
		if (runs_another(p))
			begin_again(p);
		else if (host->attached->children)
			take_children(p);
	}
}

double attach_tick(struct host *host)
{
	struct attached *a = host->attached;
	uint64_t now = clock_raw_ns(), took;

	if (!a || !host->n_live)
		return NEVER_S;
	if (now < a->due_ns)
		return 1e-9 * (double)(a->due_ns - now);
	look_at_all(host);
	took = clock_raw_ns() - now;
	a->due_ns = now + took + (LOOK_SHARE * took > LOOK_NS ? LOOK_SHARE * took : LOOK_NS);
	return 1e-9 * (double)(a->due_ns - now);
}
