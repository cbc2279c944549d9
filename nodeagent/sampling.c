/* SPDX-License-Identifier: BSD-3-Clause */
/* The sampling file of the node, from its first process to its end. */
#include "nodeagent/sampling-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/conf.h"
#include "nodeagent/agent.h"
#include "nodeagent/clock-sync.h"
#include "nodeagent/ending.h"
#include "nodeagent/pids.h"
#include "nodeagent/process.h"
#include "nodeagent/util.h"

#define SUFFIX	 ".vfd"
#define FLUSH_NS 1000000000u /* what a crash of the agent costs at most */
#define KEEP_S	 12.0	     /* before SIGKILL, for all that comes after this file */
#define AGAIN_NS 10000000u   /* there were too many lanes for once */
#define TRIES	 4
/* A disk that we have filled still has this for the profile. */
#define RESERVE_BYTES (4 << 20)

extern const unsigned vftr_mpi_n; /* generated from mpi/mpi.tab */

/* ---- opening ---------------------------------------------------------------------- */

static char *path_of(const struct agent *a, const char *base)
{
	return xasprintf("%s/%s_%s" SUFFIX, a->output_directory, base, a->host);
}

static const char *application(const struct process *p)
{
	const char *slash = strrchr(p->executable, '/');

	return slash ? slash + 1 : p->executable;
}

static void clock_pair(struct sampling *s)
{
	const struct clocks *c = &s->agent->clocks;
	uint64_t least = UINT64_MAX, ticks = 0, raw = 0;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = clocks_ticks(c), now = clocks_raw_ns(), after = clocks_ticks(c);

		if (after - before >= least)
			continue;
		least = after - before;
		ticks = before + least / 2;
		raw = now;
	}
	vfd_clock_pair(s->writer, ticks, raw);
}

/* All that is known of this node's clock, and where the job's time begins. */
static void tell_clock(struct sampling *s)
{
	const struct clock_sync *c = s->agent->clock;
	size_t n = c ? c->line.n : 0;

	if (c && c->reference) { /* the others' is this clock itself */
		vfd_clock_knot(s->writer, s->agent->clocks.start.raw_ns, 0, 0);
		n = 0;
	}
	for (size_t i = 0; i < n; i++) {
		const struct clock_sync_knot *k = &c->line.at[i];

		vfd_clock_knot(s->writer, (uint64_t)k->local, k->offset, (uint64_t)k->half_width);
	}
	if (c && c->start && (n || c->reference))
		vfd_clock_zero(s->writer, (uint64_t)c->start);
}

static int reserve(const char *directory)
{
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0 || !fallocate(fd, 0, 0, RESERVE_BYTES))
		return fd;
	close(fd);
	return -1;
}

static void open_file(struct sampling *s, const struct process *p)
{
	struct agent *a = s->agent;
	const struct conf *c = a->conf;
	const char *name = application(p);
	char *base = c->outfile_basename ? xstrdup(c->outfile_basename)
					 : file_base(*name ? name : "unknown");
	struct vfd_setup setup = {.host = a->host,
		.application = name,
		.start_unix_ns = (int64_t)(a->start_exact_s * 1e9),
		.start_ticks = a->clocks.start.ticks,
		.start_raw_ns = a->clocks.start.raw_ns,
		.interval_ns = (uint64_t)(c->sampling_sample_interval * 1e9 + 0.5),
		.max_size = c->sampling_max_size,
		.buffer_bytes = (uint64_t)c->sampling_outbuffer_size << 20,
		.way = OUTFILE_REGISTERED};
	char *error = NULL;

	clocks_calibrate(&a->clocks); /* once more at the end */
	setup.ns_per_tick = a->clocks.ns_per_tick;
	if (c->sampling_sample_interval > 0 && !setup.interval_ns)
		setup.interval_ns = 1;
	s->path = path_of(a, base);
	free(base);
	setup.path = s->path;
	s->writer = vfd_writer_new(&setup, &error);
	if (!s->writer) {
		agent_warn(a, true, "no sampling file: %s", error);
		free(error);
		free(s->path);
		s->path = NULL;
		return;
	}
	s->reserve = reserve(a->output_directory);
	/* a little longer than that of the file, which has the last word */
	if (setup.interval_ns)
		s->interval = (uint64_t)((double)setup.interval_ns / setup.ns_per_tick * 1.001) + 2;
	clock_pair(s);
	s->next_flush = clock_raw_ns() + FLUSH_NS;
	s->mpi = xcalloc(vftr_mpi_n, sizeof(*s->mpi));
	sampling_listen_matches(s);
	s->has_precise =
		c->sampling_precise_functions &&
		!regcomp(&s->precise, c->sampling_precise_functions, REG_EXTENDED | REG_NOSUB);
}

void sampling_process_begin(struct process *p)
{
	struct agent *a = p->agent;
	struct sampling_process *s;
	struct vfd_process told = {.rank = -1,
		.pid = p->pid,
		.parent = VFD_NONE,
		.executable = p->executable,
		.start = (int64_t)p->start_ticks};

	if (!a->conf->sampling_active || !p->greeted)
		return;
	if (!a->sampling) {
		a->sampling = xcalloc(1, sizeof(*a->sampling));
		a->sampling->agent = a;
		open_file(a->sampling, p);
	}
	if (!a->sampling->writer)
		return;
	told.parent = pids_sampled(p, p->parent_pid);
	s = xcalloc(1, sizeof(*s));
	s->sampling = a->sampling;
	s->process = p;
	s->number = vfd_define_process(a->sampling->writer, &told);
	p->sampled = s;
	sampling_listen(s);
}

uint32_t sampling_number(const struct process *p)
{
	return p->sampled ? p->sampled->number : PIDS_NOT_SAMPLED;
}

/* ---- while it is written ------------------------------------------------------------ */

bool sampling_is_behind(const struct agent *a)
{
	return a->sampling && a->sampling->writer && !vfd_writer_ready(a->sampling->writer);
}

void sampling_wait(struct agent *a)
{
	vfd_writer_wait(a->sampling->writer, 1e-3);
}

double sampling_tick(struct agent *a)
{
	struct sampling *s = a->sampling;
	uint64_t now, again = FLUSH_NS;

	if (!s || !s->writer || !a->n_live)
		return NEVER_S;
	now = clock_raw_ns();
	if (now < s->next_flush)
		return 1e-9 * (double)(s->next_flush - now);
	if (a->drained_bytes != s->drained) {
		clock_pair(s);
		sampling_tell_matches(s);
		if (vfd_writer_flush(s->writer))
			s->drained = a->drained_bytes;
		else
			again = AGAIN_NS;
	}
	s->next_flush = now + again;
	return 1e-9 * (double)again;
}

/* ---- the end -------------------------------------------------------------------------- */

/* Of processes that only their launcher has given a rank. */
static void late_ranks(struct agent *a)
{
	for (struct process *p = a->processes; p; p = p->next)
		if (p->sampled && !p->sampled->has_rank && p->rank >= 0 &&
			(uint32_t)p->rank < PROFILE_UNRANKED)
			sampling_process_rank(p, p->rank, p->size_hint, 0);
}

static void complain_of(struct sampling *s, const char *trouble, bool urgent)
{
	struct vfd_written *w = &s->written;

	if (trouble)
		agent_warn(s->agent, urgent, "%s: %s", s->path, trouble);
	if (w->level)
		agent_warn(s->agent, false,
			"the sampling file came near to sampling.max_size: %llu calls are left out",
			(unsigned long long)w->thinned);
}

void sampling_close(struct agent *a)
{
	struct sampling *s = a->sampling;
	const char *trouble;
	char *known;
	int error;

	if (!s || !s->writer)
		return;
	late_ranks(a);
	sampling_tell_matches(s);
	tell_clock(s);
	clock_pair(s);
	vfd_writer_flush(s->writer);
	trouble = vfd_writer_trouble(s->writer);
	known = trouble ? xstrdup(trouble) : NULL;
	s->written = vfd_writer_written(s->writer);
	s->replaced = !vfd_writer_is_at(s->writer, s->path);
	/* the others wait for us as long, and we must not be the last */
	error = vfd_writer_close(
		s->writer, agent_ticks(a), ending_left(a->conf->agent_deadline_s / 2, KEEP_S));
	s->writer = NULL;
	if (error && !known)
		known = xasprintf("the end of the sampling file is missing: %s", strerror(-error));
	if (s->reserve >= 0)
		close(s->reserve);
	complain_of(s, known, error || s->written.dropped_blocks);
	free(known);
	if (s->replaced) {
		agent_warn(a, true,
			"%s is that of another run now, and the one of this run is gone", s->path);
		free(s->path);
		s->path = NULL;
	}
}

int sampling_rename(struct agent *a, const char *base)
{
	struct sampling *s = a->sampling;
	char *path;
	int failed;

	if (!s || !s->path)
		return 0;
	path = path_of(a, base);
	failed = strcmp(path, s->path) && rename(s->path, path);
	if (failed) {
		complain("cannot rename %s to %s: %s", s->path, path, strerror(errno));
		free(path);
		return 1;
	}
	free(s->path);
	s->path = path;
	return 0;
}

struct sampling_sum sampling_sum(const struct agent *a)
{
	struct sampling_sum sum = {NULL, {0}};

	if (a->sampling && a->sampling->path)
		sum = (struct sampling_sum){a->sampling->path, a->sampling->written};
	return sum;
}
