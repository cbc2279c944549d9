/* SPDX-License-Identifier: BSD-3-Clause */
/* The sampling file of the node, from its first process to its end. */
#include "nodeagent/recorder/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/conf.h"
#include "nodeagent/process/host.h"
#include "nodeagent/clock/sync.h"
#include "nodeagent/net/ending.h"
#include "nodeagent/process/process.h"
#include "nodeagent/replay/gpu/gpu.h"
#include "nodeagent/trace/write/sample.h"
#include "nodeagent/base/result-files.h"
#include "nodeagent/base/util.h"

#define FLUSH_NS 1000000000u /* what a crash of the agent costs at most */
#define KEEP_S	 12.0	     /* before SIGKILL, for all that comes after this file */
#define AGAIN_NS 10000000u   /* there were too many tracks for once */
#define TRIES	 4

extern const unsigned vftr_mpi_n; /* generated from mpi/generate/mpi.tab */

/* ---- opening ---------------------------------------------------------------------- */

static char *base_of(const struct host *host, const char *program)
{
	const char *wish = host->conf->outfile_basename;
	char *name = wish ? xstrdup(wish) : file_base(program);
	char *base = result_base(result_layout(host->conf), name, 0);

	free(name);
	return base;
}

static void clock_pair(struct recorder *s)
{
	const struct clocks *c = &s->host->clocks;
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

static void write_sync_point(struct recorder *s, const struct clock_sync_point *k)
{
	vfd_clock_sync_point(s->writer, (uint64_t)k->local, k->offset, (uint64_t)k->half_width);
}

/* All that is known of this node's clock, and where the job's time begins. */
static void tell_clock(struct recorder *s)
{
	const struct clock_sync *c = s->host->clock;
	size_t n = c ? c->line.n : 0;
	struct clock_sync_point ends[2];

	if (c && c->reference) { /* the others' is this clock itself */
		vfd_clock_sync_point(s->writer, s->host->clocks.start.raw_ns, 0, 0);
		n = 0;
	}
	for (size_t i = 0; i < n; i++)
		write_sync_point(s, &c->line.at[i]);
	for (size_t i = n ? clock_sync_ends(c, ends) : 0; i--;) /* a reader draws no line beyond */
		write_sync_point(s, &ends[i]);
	if (c && c->start && (n || c->reference))
		vfd_clock_zero(s->writer, (uint64_t)c->start);
}

static uint64_t keep_bytes(const struct conf *c)
{
	const uint64_t most = c->sampling_max_size;

	return most && most < c->sampling_keep_size ? most : c->sampling_keep_size;
}

static void prepare_recording(struct recorder *s, const struct vfd_setup *setup)
{
	struct host *host = s->host;
	const struct conf *c = host->conf;

	/* a little longer than that of the file, which has the last word */
	if (setup->interval_ns)
		s->interval =
			(uint64_t)((double)setup->interval_ns / setup->ns_per_tick * 1.001) + 2;
	clock_pair(s);
	s->next_flush = clock_raw_ns() + FLUSH_NS;
	s->mpi = xcalloc(vftr_mpi_n, sizeof(*s->mpi));
	recorder_listen_matches(s);
	host->is_behind = recorder_is_behind;
	s->has_precise =
		c->sampling_precise_functions &&
		!regcomp(&s->precise, c->sampling_precise_functions, REG_EXTENDED | REG_NOSUB);
}

/* With sampling.keep: all of it is in memory. */
static void open_flight(struct recorder *s, struct vfd_setup *setup)
{
	const struct conf *c = s->host->conf;
	char *error;

	setup->interval_ns = setup->max_size = 0;
	setup->keep_bytes = keep_bytes(c);
	setup->keep_ns = (uint64_t)(1e9 * c->sampling_keep) + RECORDER_AFTER_NS;
	s->flight = flight_new();
	s->writer = vfd_writer_new(setup, &error);
}

static void open_file(struct recorder *s, const struct process *p)
{
	struct host *host = s->host;
	const struct conf *c = host->conf;
	const char *name = basename(p->executable);
	char *base = base_of(host, *name ? name : "unknown");
	struct vfd_setup setup = {.host = host->name,
		.application = name,
		.run = host->run,
		.start_unix_ns = (int64_t)(host->start_exact_s * 1e9),
		.start_ticks = host->clocks.start.ticks,
		.start_raw_ns = host->clocks.start.raw_ns,
		.interval_ns = (uint64_t)(c->sampling_sample_interval * 1e9 + 0.5),
		.least_ns = (uint64_t)(c->filter_time * 1e9 + 0.5),
		.max_size = c->sampling_max_size,
		.buffer_bytes = (uint64_t)c->sampling_outbuffer_size << 20,
		.way = OUTFILE_REGISTERED};
	char *error = NULL;
	struct stat st;
	int lock;

	clocks_calibrate(&host->clocks); /* once more at the end */
	setup.ns_per_tick = host->clocks.ns_per_tick;
	if (c->sampling_sample_interval > 0 && !setup.interval_ns)
		setup.interval_ns = 1;
	s->base = base;
	lock = host->keep_older ? host->keep_older(host, base) : -1;
	if (c->sampling_keep > 0) {
		open_flight(s, &setup);
	} else {
		setup.path = s->path = host_result(host, base, RESULT_SAMPLES);
		s->writer = vfd_writer_new(&setup, &error);
	}
	if (s->path && s->writer && !lstat(s->path, &st)) {
		s->device = st.st_dev;
		s->inode = st.st_ino;
	}
	if (host->keep_end)
		host->keep_end(host, &lock);
	if (!s->writer) {
		host_warn(host, true, "no sampling file: %s", error);
		free(error);
		free(s->path);
		s->path = NULL;
		return;
	}
	s->reserve = s->flight ? -1 : recorder_reserve(host->output_directory);
	prepare_recording(s, &setup);
}

void recorder_process_begin(struct process *p)
{
	struct host *host = p->host;
	struct recorder_process *s;
	const uint32_t *parent;
	struct vfd_process told = {.rank = -1,
		.pid = p->pid,
		.parent = VFD_NONE,
		.executable = p->executable,
		.start = (int64_t)p->start_ticks};

	if (!host->conf->sampling_active || !p->greeted)
		return;
	if (!host->recorder) {
		host->recorder = xcalloc(1, sizeof(*host->recorder));
		host->recorder->host = host;
		open_file(host->recorder, p);
	}
	if (!host->recorder->writer)
		return;
	parent = map64_find(&host->recorder->pids, (uint32_t)p->parent_pid);
	if (parent)
		told.parent = *parent;
	s = xcalloc(1, sizeof(*s));
	s->recorder = host->recorder;
	s->process = p;
	s->number = vfd_define_process(host->recorder->writer, &told);
	map64_add(&host->recorder->pids, (uint32_t)p->pid, s->number);
	p->sampled = s;
	recorder_listen(s);
	gpu_draw_to(p->gpu, &s->recorder->writer, s->number);
}

/* ---- while it is written ------------------------------------------------------------ */

bool recorder_is_behind(const struct host *host)
{
	return host->recorder && host->recorder->writer &&
	       !vfd_writer_ready(host->recorder->writer);
}

void recorder_wait(struct host *host)
{
	if (recorder_is_behind(host))
		vfd_writer_wait(host->recorder->writer, 1e-3);
}

static double flush_tick(struct recorder *s)
{
	struct host *host = s->host;
	uint64_t now, again = FLUSH_NS;

	if (!host->n_live)
		return NEVER_S;
	now = clock_raw_ns();
	if (now < s->next_flush)
		return 1e-9 * (double)(s->next_flush - now);
	if (host->drained_bytes != s->drained) {
		/* readers take the last one, which recorder_close() writes */
		if (vfd_writer_written(s->writer).level < VFD_THINNING_ALL)
			clock_pair(s);
		recorder_notify_matches(s);
		if (vfd_writer_flush(s->writer))
			s->drained = host->drained_bytes;
		else
			again = AGAIN_NS;
	}
	s->next_flush = now + again;
	return 1e-9 * (double)again;
}

double recorder_tick(struct host *host)
{
	struct recorder *s = host->recorder;
	double flush_s, flight_s;

	if (!s || !s->writer)
		return NEVER_S;
	flush_s = flush_tick(s);
	flight_s = s->flight ? flight_tick(s) : NEVER_S;
	return flight_s < flush_s ? flight_s : flush_s;
}

/* ---- the end -------------------------------------------------------------------------- */

/* Of processes that only their launcher has given a rank. */
static void late_ranks(struct host *host)
{
	for (struct process *p = host->processes; p; p = p->next)
		if (p->sampled && !p->sampled->has_rank && p->rank >= 0 &&
			(uint32_t)p->rank < PROFILE_UNRANKED)
			recorder_process_rank(p, p->rank, p->size_hint, 0);
}

void recorder_complete(struct recorder *s)
{
	late_ranks(s->host);
	recorder_name_functions(s);
	recorder_notify_matches(s);
}

void recorder_tell_clock(struct recorder *s)
{
	tell_clock(s);
	clock_pair(s);
}

static void complain_of(struct recorder *s, const char *trouble, bool urgent)
{
	struct vfd_written *w = &s->written;

	if (trouble)
		host_warn(s->host, urgent, "%s: %s", s->path, trouble);
	if (w->level)
		host_warn(s->host, false,
			"the sampling file came near to sampling.max_size: %llu calls are left out",
			(unsigned long long)w->thinned);
}

static bool is_own(const struct recorder *s, const char *path)
{
	struct stat st;

	return !lstat(path, &st) && st.st_dev == s->device && st.st_ino == s->inode;
}

/* The path that our file has now, in the folder of s->path and with this beginning of its name;
 * NULL: it is not there, or was renamed while we looked. */
static char *own_path(const struct recorder *s, const char *dir, const char *name)
{
	char *path = NULL;
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && !path && (e = readdir(d))) {
		if (strncmp(e->d_name, name, strlen(name)))
			continue;
		path = xasprintf("%s/%s", dir, e->d_name);
		if (!is_own(s, path)) {
			free(path);
			path = NULL;
		}
	}
	if (d)
		closedir(d);
	return path;
}

/* Another run that began meanwhile may have moved it to NAME.old, NAME.old2 ...: s->path becomes
 * what it is called now. False: it is gone. */
static bool find_again(struct recorder *s)
{
	char *dir = file_directory(s->path), *name = xstrdup(basename(s->path)),
	     *old = strstr(name, ".vfd.old"), *path = NULL;
	bool found = is_own(s, s->path);

	if (old)
		old[strlen(".vfd")] = '\0';
	for (int i = 0; i < TRIES && !found && !path; i++)
		path = own_path(s, dir, name);
	if (path) {
		free(s->path);
		s->path = path;
	}
	free(name);
	free(dir);
	return found || path;
}

static void close_flight(struct recorder *s)
{
	const char *trouble = vfd_writer_trouble(s->writer);

	if (trouble)
		host_warn(s->host, true, "flight recorder: %s", trouble);
	flight_end(s, ending_left(s->host->conf->agent_deadline_s / 2, KEEP_S));
	vfd_writer_close(s->writer, host_ticks(s->host), 0);
	s->writer = NULL;
}

void recorder_close(struct host *host)
{
	struct recorder *s = host->recorder;
	char *known;
	int error;

	if (!s || !s->writer)
		return;
	if (s->flight) {
		close_flight(s);
		return;
	}
	late_ranks(host);
	recorder_notify_matches(s);
	recorder_sources(s);
	tell_clock(s);
	clock_pair(s);
	vfd_writer_flush(s->writer);
	s->replaced = !find_again(s);
	/* the others wait for us as long, and we must not be the last */
	error = vfd_writer_end(s->writer, host_ticks(host),
		ending_left(host->conf->agent_deadline_s / 2, KEEP_S), &s->written, &known);
	s->writer = NULL;
	if (error && !known)
		known = xasprintf("the end of the sampling file is missing: %s", strerror(-error));
	if (s->reserve >= 0)
		close(s->reserve);
	complain_of(s, known, error || s->written.dropped_blocks);
	free(known);
	if (s->replaced) {
		host_warn(host, true,
			"%s is that of another run now, and the one of this run is gone", s->path);
		free(s->path);
		s->path = NULL;
	}
}

int recorder_rename(struct host *host, const char *base)
{
	struct recorder *s = host->recorder;
	int failed, lock = -1;
	char *path;

	if (s && s->flight)
		return flight_rename(s, base);
	if (!s || !s->path)
		return 0;
	path = host_result(host, base, RESULT_SAMPLES);
	if (!is_own(s, path) && host->keep_older)
		lock = host->keep_older(host, base);
	failed = !is_own(s, path) && (!find_again(s) || rename(s->path, path));
	if (host->keep_end)
		host->keep_end(host, &lock);
	if (failed) {
		complain("cannot rename %s to %s: %s", s->path, path, strerror(errno));
		free(path);
		return 1;
	}
	free(s->path);
	s->path = path;
	return 0;
}

bool recorder_has_files(const struct host *host)
{
	const struct recorder *s = host->recorder;

	return s && (s->flight ? flight_has_files(s->flight) : s->path != NULL);
}

struct recorder_sum recorder_sum(const struct host *host)
{
	struct recorder_sum sum = {NULL, {0}};

	if (host->recorder && host->recorder->path)
		sum = (struct recorder_sum){host->recorder->path, host->recorder->written};
	return sum;
}
