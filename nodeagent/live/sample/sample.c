/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/live/sample/sample.h"

#include <stdlib.h>
#include <string.h>
#include "conf/conf.h"
#include "nodeagent/base/result-files.h"
#include "nodeagent/base/util.h"
#include "nodeagent/live/sample/due.h"
#include "nodeagent/live/sample/internal.h"
#include "nodeagent/process/drain.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/names.h"
#include "nodeagent/process/process.h"
#include "nodeagent/process/procfs.h"
#include "nodeagent/replay/gpu/gpu.h"
#include "nodeagent/replay/tree/calltree.h"
#include "shm/atomic.h"

/* A thread at the last look. */
struct seen_thread {
	uint32_t number;
	const struct replay *replay; /* NULL: there was none */
	struct seen_tree tree;
	struct time_sums sums;
};

struct path_counts {
	uint64_t calls, ns;
};

/* A process at the last look. */
struct seen_process {
	const struct process *p;
	uint64_t connected; /* raw ns: another process has another time */
	bool ended;	    /* all it has counted is in the sums of paths */
	struct map64 keys;
	struct seen_tree ended_tree;
	struct seen_thread *threads; /* by index of its rings */
	size_t n_threads, cap_threads;
	struct path_counts *paths; /* by path */
	size_t n_paths;
	struct live_wait waits[WAIT_KINDS_END];
	/* of kinds of waits, ns: those of calls that are over, and not shown yet */
	uint64_t due[WAIT_KINDS_END];
	uint64_t records, calls, lost, messages, bytes;
	uint64_t gpu_wait, off_cpu, off_due; /* ns; off_due is not shown yet */
};

struct sampler {
	struct host *host;
	struct sampler *next;	/* in host.samplers */
	struct live_view *gone; /* what processes have counted that were let go; NULL: none */
	struct sampled_paths paths;
	struct seen_process **seen;
	size_t n_seen, cap_seen;
	struct map64 of; /* address of a process -> place in seen */
	uint64_t looked; /* raw ns; 0: never */
	uint64_t interval;
	regex_t loops; /* by iterations.of */
	bool has_loops;
};

struct sampler *sampler_new(struct host *host)
{
	struct sampler *s = xcalloc(1, sizeof(*s));
	const char *pattern = host->conf->iterations_of;

	s->host = host;
	s->next = host->samplers;
	host->samplers = s;
	s->has_loops = pattern && !regcomp(&s->loops, pattern, REG_EXTENDED | REG_NOSUB);
	return s;
}

static void forget_process(struct seen_process *q)
{
	for (size_t i = 0; i < q->n_threads; i++)
		seen_tree_free(&q->threads[i].tree);
	free(q->threads);
	free(q->paths);
	map64_free(&q->keys);
	seen_tree_free(&q->ended_tree);
	q->threads = NULL;
	q->paths = NULL;
	q->n_threads = q->cap_threads = q->n_paths = 0;
}

void sampler_free(struct sampler *s)
{
	struct sampler **at;

	if (!s)
		return;
	for (at = &s->host->samplers; *at != s;)
		at = &(*at)->next;
	*at = s->next;
	free(s->gone);
	for (size_t i = 0; i < s->n_seen; i++) {
		forget_process(s->seen[i]);
		free(s->seen[i]);
	}
	free(s->seen);
	map64_free(&s->of);
	sampled_paths_free(&s->paths);
	if (s->has_loops)
		regfree(&s->loops);
	free(s);
}

static struct seen_process *seen_process(struct sampler *s, const struct process *p)
{
	const uint32_t *place = map64_find(&s->of, (uintptr_t)p);
	struct seen_process *q = place ? s->seen[*place] : NULL;

	if (q && q->connected == p->connected_raw_ns)
		return q;
	if (q) {
		forget_process(q);
	} else {
		map64_add(&s->of, (uintptr_t)p, (uint32_t)s->n_seen);
		*LIST_ADD(s, seen) = q = xmalloc(sizeof(*q));
	}
	*q = (struct seen_process){.p = p, .connected = p->connected_raw_ns};
	return q;
}

/* ---- threads ------------------------------------------------------------------------------ */

static struct seen_thread *seen_thread(struct seen_process *q, size_t index)
{
	const struct thread_ring *t = q->p->threads[index];
	struct seen_thread *seen;

	while (q->n_threads <= index)
		*LIST_ADD(q, threads) = (struct seen_thread){0};
	seen = &q->threads[index];
	if (seen->replay != t->replay || seen->number != t->number) {
		seen_tree_free(&seen->tree);
		*seen = (struct seen_thread){.number = t->number, .replay = t->replay};
	}
	return seen;
}

static uint64_t ns_of(const struct sampler *s, int64_t ticks)
{
	return ticks > 0 ? clocks_ns(&s->host->clocks, (uint64_t)ticks) : 0;
}

static uint64_t growth_of(uint64_t *last, uint64_t now)
{
	const uint64_t by = now > *last ? now - *last : 0;

	*last = now;
	return by;
}

static void add_classes(const struct sampler *s, struct live_rank *to, bool first,
	const struct time_sums *before, const struct time_sums *now)
{
	static const enum live_class class_of[TIME_CLASSES] = {[TIME_USEFUL] = LIVE_USEFUL,
		[TIME_OUTSIDE] = LIVE_USEFUL,
		[TIME_MPI] = LIVE_MPI,
		[TIME_OPENMP_WAIT] = LIVE_OPENMP_WAIT,
		[TIME_OPENMP_IDLE] = LIVE_OPENMP_IDLE,
		[TIME_LOCK_WAIT] = LIVE_LOCK_WAIT,
		[TIME_IO] = LIVE_IO,
		[TIME_BLOCKED] = LIVE_BLOCKED,
		[TIME_UNKNOWN] = LIVE_UNKNOWN};

	for (int i = 0; i < TIME_CLASSES; i++) {
		const uint64_t ns = ns_of(s, now->of[i] - before->of[i]);

		to->classes[class_of[i]] += ns;
		if (first && class_of[i] == LIVE_USEFUL)
			to->first_useful += ns;
	}
}

static bool is_first(const struct process *p, const struct thread_ring *t)
{
	return t->number == (p->window.begun ? p->window.thread : 0);
}

/* The counts of its replays are in process_counts(): here only those that are to come. */
static void look_at_threads(struct sampler *s, struct tree_walk *w, struct seen_process *q,
	struct live_rank *row, struct replay_counts *more, struct sampled_loop *loop)
{
	const uint64_t now = host_ticks(s->host);

	for (size_t i = 0; i < q->p->n_threads; i++) {
		const struct thread_ring *t = q->p->threads[i];
		struct seen_thread *seen;
		struct thread_look look;

		if (!t)
			continue;
		seen = seen_thread(q, i);
		walk_thread(w, &seen->tree, t, now, &look);
		add_classes(s, row, is_first(q->p, t), &seen->sums, &look.sums);
		seen->sums = look.sums;
		more->records += look.records;
		more->calls += look.calls;
		if (look.loop.n)
			*loop = look.loop;
		row->threads++;
	}
}

/* ---- processes ----------------------------------------------------------------------------- */

static uint64_t gpu_wait(const struct sampler *s, const struct process *p)
{
	size_t n;
	const struct gpu_host_wait *w = gpu_host_waits(p->gpu, &n);
	uint64_t ticks = 0;

	for (size_t i = 0; i < n; i++)
		ticks += node_is_in_mpi(w[i].path) ? 0 : w[i].ticks;
	return ns_of(s, (int64_t)ticks);
}

static void take_from(uint64_t *from, uint64_t ns)
{
	*from -= ns < *from ? ns : *from;
}

/* What is not known by thread. */
static void add_other_classes(
	const struct sampler *s, struct seen_process *q, struct live_rank *row)
{
	const struct process *p = q->p;

	row->classes[LIVE_GPU_WAIT] = growth_of(&q->gpu_wait, gpu_wait(s, p));
	take_from(&row->classes[LIVE_USEFUL], row->classes[LIVE_GPU_WAIT]);
	take_from(&row->first_useful, row->classes[LIVE_GPU_WAIT]);
	/* of one thread, and known when it has got a CPU */
	row->classes[LIVE_OFF_CPU] = due_show(&q->off_due,
		growth_of(&q->off_cpu, cpu_used_since(cpu_used(p->pid), p->cpu_before).queued),
		s->interval);
}

static void add_waits(
	const struct sampler *s, struct seen_process *q, struct live_wait *now, struct live_view *v)
{
	for (int i = 0; i < WAIT_KINDS_END; i++) {
		struct live_wait *to = &v->waits[i], *last = &q->waits[i];
		const uint64_t ns = ns_of(s, (int64_t)now[i].ns);

		to->calls += now[i].calls;
		to->ns += ns;
		to->calls_now += growth_of(&last->calls, now[i].calls);
		q->due[i] += growth_of(&last->ns, ns);
	}
}

static uint64_t due_of(const struct seen_process *q, bool of_threads)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < WAIT_KINDS_END; i++)
		all += wait_is_of_threads(i) == of_threads ? q->due[i] : 0;
	return all;
}

/*
 * A wait is known when its call is over, so that more may be due than the threads were in such
 * calls since the last look: the rest is shown in the looks to come. Returns what is shown.
 */
static uint64_t show_waits(
	struct seen_process *q, struct live_view *v, bool of_threads, uint64_t most)
{
	const uint64_t due = due_of(q, of_threads);
	const double part = due > most ? (double)most / (double)due : 1;
	uint64_t shown = 0;

	for (unsigned i = 0; i < WAIT_KINDS_END; i++) {
		const uint64_t wanted = (uint64_t)(part * (double)q->due[i]), left = most - shown,
			       ns = wanted < left ? wanted : left;

		if (wait_is_of_threads(i) != of_threads)
			continue;
		v->waits[i].ns_now += ns;
		take_from(&q->due[i], ns);
		shown += ns;
	}
	return shown;
}

static void add_waits_now(
	const struct sampler *s, struct seen_process *q, struct live_rank *row, struct live_view *v)
{
	uint64_t all = 0;

	if (!s->interval)
		memset(q->due, 0, sizeof(q->due));
	for (int i = 0; i < LIVE_MPI_WAIT; i++)
		all += row->classes[i];
	row->classes[LIVE_MPI_WAIT] = show_waits(q, v, false, row->classes[LIVE_MPI]);
	show_waits(q, v, true, all);
}

static void add_counts(const struct sampler *s, struct seen_process *q, struct live_view *v,
	const struct replay_counts *more)
{
	const struct process *p = q->p;
	const struct replay_counts c = process_counts(p);
	const uint64_t nested = p->control_app ? load_relaxed(&p->control_app->lost_nested) : 0;
	const uint64_t hook_ps = p->control_app ? load_relaxed(&p->control_app->hook_ps) : 0;
	const uint64_t records = growth_of(&q->records, c.records + more->records);

	q->lost = c.lost + nested;
	v->calls += c.calls + more->calls;
	v->lost_calls += q->lost;
	v->records += records;
	v->hooks += (uint64_t)((double)records * clocks_hook_ns(&s->host->clocks, hook_ps));
	v->calls_now += growth_of(&q->calls, c.calls + more->calls);
}

static void add_messages(struct seen_process *q, const struct tree_walk *w, struct live_view *v)
{
	v->messages += w->messages;
	v->bytes += w->bytes;
	v->messages_now += growth_of(&q->messages, w->messages);
	v->bytes_now += growth_of(&q->bytes, w->bytes);
}

/* That of the process with the lowest rank remains. */
static void add_loop(
	const struct sampler *s, const struct sampled_loop *l, uint32_t rank, struct live_view *v)
{
	struct live_loop *to = &v->loop;

	if (!l->n || (to->n && to->rank <= rank))
		return;
	to->rank = rank;
	to->n = l->n;
	to->between = l->between;
	to->n_took = l->n_took;
	for (size_t i = 0; i < l->n_took; i++)
		to->took[i] = ns_of(s, (int64_t)l->took[i]);
	sampled_text(&s->paths, s->host, l->path, to->text);
}

/* What the process has at each path goes to the sums of the paths. */
static void settle_paths(struct sampler *s, struct seen_process *q, uint32_t rank)
{
	struct sampled_paths *all = &s->paths;

	if (q->n_paths < all->n) {
		q->paths = xrealloc(q->paths, all->n * sizeof(*q->paths));
		memset(q->paths + q->n_paths, 0, (all->n - q->n_paths) * sizeof(*q->paths));
		q->n_paths = all->n;
	}
	for (size_t i = 0; i < all->n_touched; i++) {
		struct sampled_path *p = &all->at[all->touched[i]];
		struct path_counts *last = &q->paths[all->touched[i]];
		const uint64_t calls = p->calls > 0 ? (uint64_t)p->calls : 0;
		const uint64_t ns = ns_of(s, p->ticks), now = growth_of(&last->ns, ns);

		p->sum.calls += calls;
		p->sum.calls_now += growth_of(&last->calls, calls);
		p->sum.ns += ns;
		p->sum.ns_now += now;
		if (!p->sum.processes || now > p->sum.most_now) {
			p->sum.most_now = now;
			p->sum.most_rank = rank;
		}
		if (!p->sum.processes || now < p->sum.least_now)
			p->sum.least_now = now;
		p->sum.processes++;
		if (q->p->ended) {
			p->ended_calls += calls;
			p->ended_ns += ns;
			p->ended++;
		}
	}
	all->n_touched = 0;
}

static void add_row(struct live_view *v, const struct live_rank *row)
{
	v->threads += row->threads;
	v->processes++;
	v->ranked += row->rank != LIVE_NO_RANK;
	if (row->interval) {
		const uint64_t share =
			(uint64_t)(1e6 * (double)row->first_useful / (double)row->interval);

		v->share += share;
		v->share_most = share > v->share_most ? share : v->share_most;
	}
	for (int i = 0; i < LIVE_CLASSES_END; i++)
		v->classes[i] += row->classes[i];
	live_add_rank(v, row);
}

/* Its paths are in those of the sampler. */
static void add_ended(const struct seen_process *q, struct live_view *v)
{
	v->calls += q->calls;
	v->lost_calls += q->lost;
	v->messages += q->messages;
	v->bytes += q->bytes;
	for (int i = 0; i < WAIT_KINDS_END; i++) {
		v->waits[i].calls += q->waits[i].calls;
		v->waits[i].ns += q->waits[i].ns;
	}
}

static void look_at_process(struct sampler *s, const struct process *p, struct live_view *v)
{
	struct seen_process *q = seen_process(s, p);
	struct live_wait waits[WAIT_KINDS_END] = {{0}};
	struct tree_walk w = {.paths = &s->paths,
		.host = s->host,
		.p = p,
		.keys = &q->keys,
		.loops = s->has_loops ? &s->loops : NULL,
		.waits = waits};
	struct replay_counts more = {0};
	struct sampled_loop loop = {0};
	struct live_rank row = {.rank = p->rank != WIRE_UNKNOWN	       ? (uint32_t)p->rank
					: p->rank_hint != WIRE_UNKNOWN ? (uint32_t)p->rank_hint
								       : LIVE_NO_RANK,
		.pid = (uint32_t)p->pid,
		.interval = s->interval};

	v->ended += p->ended;
	if (q->ended) {
		add_ended(q, v);
		return;
	}
	s->paths.stamp++;
	walk_tree(&w, &q->ended_tree, p->ended_tree);
	look_at_threads(s, &w, q, &row, &more, &loop);
	settle_paths(s, q, row.rank);
	add_other_classes(s, q, &row);
	add_waits(s, q, waits, v);
	add_counts(s, q, v, &more);
	add_messages(q, &w, v);
	if (!p->ended) {
		add_waits_now(s, q, &row, v);
		add_loop(s, &loop, row.rank, v);
		add_row(v, &row);
		return;
	}
	q->ended = true;
	forget_process(q);
}

/* ---- those that are let go ------------------------------------------------------------------ */

static void take_leave(struct sampler *s, struct process *p)
{
	struct seen_process *q;

	if (!s->gone)
		s->gone = xcalloc(1, sizeof(*s->gone));
	symcache_may_read(s->host->symbols, false);
	look_at_process(s, p, s->gone);
	symcache_may_read(s->host->symbols, true);
	q = seen_process(s, p);
	forget_process(q);
	q->connected = 0; /* the next one at this address is another one */
}

void samplers_let_go(struct process *p)
{
	for (struct sampler *s = p->host->samplers; s; s = s->next)
		take_leave(s, p);
}

/* What they have done since the last look counts for this one. */
static void add_gone(struct sampler *s, struct live_view *v)
{
	struct live_view *g = s->gone;

	if (!g)
		return;
	v->ended = g->ended;
	v->calls = g->calls;
	v->lost_calls = g->lost_calls;
	v->messages = g->messages;
	v->bytes = g->bytes;
	memcpy(v->waits, g->waits, sizeof(v->waits));
	v->records = g->records;
	v->hooks = g->hooks;
	v->calls_now = g->calls_now;
	v->messages_now = g->messages_now;
	v->bytes_now = g->bytes_now;
	g->records = g->hooks = g->calls_now = g->messages_now = g->bytes_now = 0;
	for (int i = 0; i < WAIT_KINDS_END; i++)
		g->waits[i].calls_now = g->waits[i].ns_now = 0;
}

/* ---- the node ------------------------------------------------------------------------------- */

/* What has been published and said until now; a process may end by it. */
static void read_all(struct host *host)
{
	for (struct process *p = host->live; p; p = p->next_live) {
		if (p->ended || !p->greeted)
			continue;
		drain_process(p);
		if (p->socket >= 0)
			process_receive_all(p);
	}
}

static void begin_paths(struct sampled_paths *all)
{
	EACH(struct sampled_path, p, all->at, all->n) {
		p->sum = (struct live_path){.hash = p->hash,
			.calls = p->ended_calls,
			.ns = p->ended_ns,
			.processes = p->ended,
			.most_rank = LIVE_NO_RANK};
	}
}

struct path_place {
	struct live_path *sum;
	uint32_t path;
};

ORDER_BY(by_size, struct path_place, live_path_order(x->sum, y->sum))

/* The largest paths, and the bound of what is left out. */
static void take_paths(struct sampler *s, struct live_view *v)
{
	struct path_place *order = xmalloc((s->paths.n + 1) * sizeof(*order));
	size_t n = 0;

	for (size_t i = 0; i < s->paths.n; i++)
		if (s->paths.at[i].sum.calls || s->paths.at[i].sum.ns)
			order[n++] = (struct path_place){&s->paths.at[i].sum, (uint32_t)i};
	qsort(order, n, sizeof(*order), by_size);
	v->n_paths = n < LIVE_PATHS_MAX ? n : LIVE_PATHS_MAX;
	for (size_t i = 0; i < v->n_paths; i++) {
		v->paths[i] = *order[i].sum;
		sampled_text(&s->paths, s->host, order[i].path, v->paths[i].text);
	}
	for (size_t i = v->n_paths; i < n; i++) {
		const struct live_path *p = order[i].sum;

		v->cut_ns = p->ns > v->cut_ns ? p->ns : v->cut_ns;
		v->cut_now = p->ns_now > v->cut_now ? p->ns_now : v->cut_now;
	}
	v->n_cut = n > v->n_paths || s->paths.full;
	free(order);
}

/* At the first look nothing is known of an interval. */
static void forget_now(struct sampler *s, struct live_view *v)
{
	v->records = v->calls_now = v->hooks = v->messages_now = v->bytes_now = 0;
	memset(v->classes, 0, sizeof(v->classes));
	for (int i = 0; i < WAIT_KINDS_END; i++)
		v->waits[i].calls_now = v->waits[i].ns_now = 0;
	for (size_t i = 0; i < v->n_ranks; i++) {
		v->ranks[i].first_useful = 0;
		memset(v->ranks[i].classes, 0, sizeof(v->ranks[i].classes));
	}
	for (size_t i = 0; i < s->paths.n; i++) {
		struct live_path *p = &s->paths.at[i].sum;

		p->calls_now = p->ns_now = p->most_now = p->least_now = 0;
	}
}

static void add_node(struct sampler *s, struct live_view *v, uint64_t began)
{
	struct live_node n = {.processes = v->processes,
		.threads = v->threads,
		.interval = v->interval,
		.records = v->records,
		.calls = v->calls_now,
		.lost_calls = v->lost_calls,
		.look = clock_raw_ns() - began};

	snprintf(n.host, sizeof(n.host), "%s", s->host->name);
	memcpy(n.classes, v->classes, sizeof(n.classes));
	live_add_node(v, &n);
}

/* A row without a name, if the user has paused recording. */
static void add_pause(const struct host *h, struct live_view *v)
{
	struct live_off o = {.nodes = 1, .stamp = h->pause.stamp};

	for (const struct process *p = h->live; p; p = p->next_live)
		o.functions += p->control_app && !p->ended && load_relaxed(&p->control_app->paused);
	if (h->pause.off)
		live_add_off(v, &o);
}

static void add_request(const struct record_request *q, struct live_view *v)
{
	v->request.stamp = q->stamp;
	if (!q->stamp)
		return;
	v->request.nodes[q->state] = 1;
	memcpy(v->request.file, q->file, sizeof(q->file));
}

static void add_off(const struct sampler *s, struct live_view *v)
{
	EACH(const struct function_switch, u, s->host->switches, s->host->n_switches) {
		struct live_off o = {.nodes = 1, .functions = u->functions, .stamp = u->stamp};

		memcpy(o.name, u->name, sizeof(o.name));
		if (u->off)
			live_add_off(v, &o);
	}
}

_Static_assert(FUNCTION_NAME_BYTES == LIVE_PATH_BYTES && FUNCTION_SWITCHES_MAX + 1 == LIVE_OFF_MAX,
	"all of them have room, and a pause");

/* The oldest process has the program, which others may have started. */
static void add_names(const struct sampler *s, struct live_view *v)
{
	const struct host *h = s->host;
	const char *path = NULL, *slash;
	char *job = batch_job();

	for (const struct process *p = h->processes; p; p = p->next)
		path = p->greeted && p->executable ? p->executable : path;
	slash = path ? strrchr(path, '/') : NULL;
	snprintf(v->program, sizeof(v->program), "%s", slash ? slash + 1 : path ?: "");
	snprintf(v->job, sizeof(v->job), "%s", job);
	free(job);
	if (path && host_ticks(h) > h->first_start_ticks)
		v->elapsed = clocks_ns(&h->clocks, host_ticks(h) - h->first_start_ticks);
}

void sampler_look(struct sampler *s, struct live_view *v)
{
	const uint64_t began = clock_raw_ns();

	memset(v, 0, sizeof(*v));
	clocks_calibrate(&s->host->clocks);
	read_all(s->host);
	s->interval = s->looked ? began - s->looked : 0;
	s->looked = began;
	v->n_all = 1;
	v->interval = s->interval;
	add_gone(s, v);
	add_names(s, v);
	add_pause(s->host, v);
	add_off(s, v);
	add_request(&s->host->request, v);
	begin_paths(&s->paths);
	symcache_may_read(s->host->symbols, false);
	for (const struct process *p = s->host->processes; p; p = p->next)
		if (p->greeted)
			look_at_process(s, p, v);
	if (!s->interval)
		forget_now(s, v);
	take_paths(s, v);
	symcache_may_read(s->host->symbols, true);
	add_node(s, v, began);
}
