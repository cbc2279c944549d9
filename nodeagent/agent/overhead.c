/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A function is a place in a file, the same in all processes; a key of calltree.h is
 * one in one process. Calls are those of the call trees, which only grow: what a look
 * finds more than the one before is what was called in between. A process whose CPU time
 * cannot be read has none.
 */
#include "nodeagent/agent/overhead.h"

#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "conf/conf.h"
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/replay/tree/calltree.h"
#include "nodeagent/replay/tree/estimate.h"
#include "nodeagent/symbols/demangle.h"
#include "nodeagent/base/map.h"
#include "nodeagent/agent/affinity.h"
#include "nodeagent/process/process.h"
#include "nodeagent/agent/overhead/removal.h"
#include "nodeagent/agent/overhead/starved.h"
#include "nodeagent/agent/overhead/windows.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/process/names.h"
#include "nodeagent/base/util.h"
#include "shm/atomic.h"
#include "shm/fnv.h"

#define LOOK_S	       0.1     /* between two looks, at least ... */
#define SOON_S	       0.02    /* ... in a window, and after it ... */
#define AT_ONCE_S      0.004   /* ... and after functions went off, so many looks long ... */
#define AT_ONCE	       5       /* ... until the hooks of these are gone */
#define UNDISTURBED    0.9     /* of the time in which processes wanted a CPU they had one */
#define MANY_BYTES     1600000 /* of records, 100 000 calls: they are looked at before that */
#define LOOK_SHARE     100     /* ... and so many times what the last one took */
#define TIME_LEAST     20e6 /* ns of CPU time in between; a shorter time says little, and adds up */
#define TINY_HOOKS     5    /* what takes less than so many hooks is shorter than they */
#define EXCLUDED_SHARE 10000 /* less of the CPU time is not worth a switch */
#define WORTH	       64    /* what costs less than this part of the budget stays on */
#define NAMED	       8     /* of those that are counted, in the warning */
#define FOLLOWING      4     /* so many times a hook: an event after counted calls */
#define NONE	       UINT32_MAX

struct function {
	char *path;
	uint64_t address;
	uint32_t next;	 /* with the same hash, or NONE */
	uint32_t number; /* shm/switches.h, or NONE: on */
	bool unfit;	 /* its place may become another one's: it is never off */
	bool stays;	 /* on, whatever it costs: unfit, or overhead.keep or the user names it */
	bool calls_others;
	double cost_ns;		   /* since the last look */
	double timed_ns, hooks_ns; /* since the last look: its time, and a hook for each call */
	double hooks_long;  /* how many hooks long its calls were at the best look; 0: none */
	bool counts_others; /* it calls what is counted */
	uint32_t asked;	    /* its name was compared with orders up to this one ... */
	uint32_t wished;    /* ... of which these are for it: bits of host.switches */
	enum { NOT_ASKED, WANTED, EXCLUDED } exclude;
	/* once it is off */
	char *name;
	uint64_t off_ticks, calls;
	uint64_t removed_ticks; /* its hooks were let go, or 0 ... */
	bool removed;		/* ... and some of them went */
	uint32_t processes;
};

struct overhead {
	regex_t keep;
	regex_t exclude; /* profile.exclude */
	bool has_keep, has_exclude;
	struct function *functions;
	size_t n, cap;
	struct map64 by_location;
	uint32_t off[SWITCHES_MAX], n_off; /* by number */
	uint64_t on;			   /* bits: of these, on again */
	uint64_t counted;		   /* bits: of these, counted while off */
	uint64_t on_before;		   /* ... at the last look */
	uint64_t long_again;		   /* bits: of these, no longer tiny, and timed */
	struct windows windows;		   /* in which what is counted is timed */
	uint32_t version;		   /* counts changes of the two */
	uint32_t orders;		   /* of the user, so far */
	uint64_t due_ns, least_ns;	   /* of the next look; not before, whatever is called */
	uint64_t bytes, many_bytes;	   /* that were read by the last look; so many are many */
	unsigned at_once;		   /* so many looks are to come */
	uint64_t own_ns;		   /* the agent's CPU time at the last one */
	bool in_vain;			   /* it cost too much, and nothing more could go */
};

struct key_calls {
	uint64_t key, before, now; /* calls that were timed */
	uint64_t ticks, ticks_before;
	uint32_t function; /* or NONE */
};

struct overhead_process {
	struct key_calls *keys;
	size_t n, cap;
	struct map64 by_key;
	uint64_t cpu_ns, blocked_ns, starved_ns; /* at the last look */
	bool counted[SWITCHES_MAX];
	struct removal removal;
};

/* What was spent since the last look, in ns. */
struct spent {
	double hooks, waits; /* waits: for room, or for a CPU that the agent has taken */
	double cpu;	     /* of the processes */
};

/* ---- functions -------------------------------------------------------------------- */

static uint64_t location_hash(const struct code_location *location)
{
	return fnv_text(FNV_BEGIN ^ location->address, location->path);
}

static uint32_t function_at(struct overhead *b, const struct code_location *location)
{
	uint64_t hash = location_hash(location);
	uint32_t *first = map64_find(&b->by_location, hash), i;

	for (i = first ? *first : NONE; i != NONE; i = b->functions[i].next)
		if (b->functions[i].address == location->address &&
			!strcmp(b->functions[i].path, location->path))
			return i;
	b->functions = grow(b->functions, b->n, &b->cap, sizeof(*b->functions));
	b->functions[b->n] = (struct function){.path = xstrdup(location->path),
		.address = location->address,
		.next = first ? *first : NONE,
		.number = NONE};
	map64_add(&b->by_location, hash, (uint32_t)b->n);
	return (uint32_t)b->n++;
}

/* Whole addresses, and those where something was ever unloaded, are not switched. */
static bool is_fit(uint64_t key)
{
	return key >> KEY_EPOCH_SHIFT == 0;
}

static struct key_calls *calls_of(struct overhead *b, struct process *p, uint64_t key)
{
	struct overhead_process *own = p->overhead;
	uint32_t *known = map64_find(&own->by_key, key);
	struct code_location location;
	struct key_calls *k;

	if (known)
		return &own->keys[*known];
	own->keys = grow(own->keys, own->n, &own->cap, sizeof(*own->keys));
	map64_add(&own->by_key, key, (uint32_t)own->n);
	k = &own->keys[own->n++];
	*k = (struct key_calls){.key = key, .function = NONE};
	if (key_is_function(key) && codemap_find_key(p->code, key, &location)) {
		k->function = function_at(b, &location);
		b->functions[k->function].unfit |= !is_fit(key);
		b->functions[k->function].stays |= !is_fit(key);
	}
	return k;
}

static bool is_kept(const struct overhead *b, const struct agent *a, const char *name)
{
	const struct name_style style = name_style_of(a->host.conf);

	return b->has_keep && name_matches(&b->keep, name, &style);
}

/* ---- looking ---------------------------------------------------------------------- */

static struct overhead_process *own_of(struct process *p)
{
	if (!p->overhead)
		p->overhead = xcalloc(1, sizeof(*p->overhead));
	return p->overhead;
}

static bool is_off(const struct overhead *b, const struct function *f)
{
	return f->number != NONE && !(b->on >> f->number & 1);
}

/* What it calls is too deep to be seen (filter.depth), and would be seen if it were off. */
static bool is_deepest(const struct process *p, const struct node *n)
{
	long long depth = 0;

	for (; p->host->conf->filter_depth && n->parent; n = n->parent)
		depth += key_is_function(n->key);
	return depth && depth >= p->host->conf->filter_depth;
}

/* What is off has no calls: it does not make its caller one that calls others. */
static void add_tree(struct overhead *b, struct process *p, struct calltree *t)
{
	for (size_t i = 1; t && i < calltree_nodes(t); i++) {
		struct node *n = calltree_at(t, i);
		struct key_calls *k = calls_of(b, p, n->key);
		uint32_t caller;

		calltree_price(n, b->windows.heard);

		k->now += n->calls - (n->extra ? n->extra->counted : 0);
		k->ticks += n->ticks;
		if (k->function != NONE && is_deepest(p, n))
			b->functions[k->function].calls_others = true;
		if (n->extra && n->extra->counted) {
			caller = calls_of(b, p, n->parent->key)->function;
			if (caller != NONE)
				b->functions[caller].counts_others = true;
			k = calls_of(b, p, n->key); /* may have moved */
		}
		if (!key_is_function(n->parent->key) ||
			(k->function != NONE && is_off(b, &b->functions[k->function])))
			continue;
		caller = calls_of(b, p, n->parent->key)->function;
		if (caller != NONE)
			b->functions[caller].calls_others = true;
	}
}

static uint64_t cpu_ns(clockid_t id)
{
	struct timespec t;

	return clock_gettime(id, &t) ? 0 : (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* What it has grown by; 0 if it could not be read. */
static double grown(uint64_t *before, uint64_t now)
{
	double by = now > *before ? (double)(now - *before) : 0;

	if (now)
		*before = now;
	return by;
}

static bool is_watched(const struct process *p)
{
	return p->greeted && !p->ended && !p->quarantined;
}

/* The CPU time of all processes since the last look, in ns; it stays to be counted. */
static double cpu_since(struct agent *a)
{
	double ns = 0;

	for (struct process *p = a->host.processes; p; p = p->next) {
		clockid_t clock;
		uint64_t before;

		if (!is_watched(p) || clock_getcpuclockid(p->pid, &clock))
			continue;
		before = own_of(p)->cpu_ns;
		ns += grown(&before, cpu_ns(clock));
	}
	return ns;
}

/* How long the threads that live have waited for room. */
static uint64_t blocked_ns(const struct process *p)
{
	uint64_t ns = p->ended_blocked_ns;

	for (size_t i = 0; i < p->n_threads; i++)
		if (p->threads[i])
			ns += load_relaxed(&p->threads[i]->ring.producer->blocked_ns);
	return ns;
}

static double cpu_grown(struct process *p)
{
	clockid_t clock;

	return clock_getcpuclockid(p->pid, &clock) ? 0 : grown(&own_of(p)->cpu_ns, cpu_ns(clock));
}

/* Since the last look processes have waited for next to nothing; all stays to be counted. */
static bool is_undisturbed(struct agent *a)
{
	double cpu = cpu_since(a), waited = 0;

	for (struct process *p = a->host.processes; p; p = p->next) {
		uint64_t blocked, starved;

		if (!is_watched(p))
			continue;
		blocked = own_of(p)->blocked_ns;
		starved = p->overhead->starved_ns;
		waited += grown(&blocked, blocked_ns(p)) + grown(&starved, starved_ns(p->pid));
	}
	return cpu > UNDISTURBED * (cpu + waited);
}

/* Adds what it has called, and what it and its threads had of CPUs. */
static void look_at(struct agent *a, struct process *p, struct spent *spent)
{
	struct overhead *b = a->host.overhead;
	struct overhead_process *own = own_of(p);
	double call_ns =
		2 * clocks_hook_ns(&a->host.clocks, load_relaxed(&p->control_app->hook_ps));
	const double cpu = cpu_grown(p), blocked = grown(&own->blocked_ns, blocked_ns(p)),
		     had = starved_share(cpu, grown(&own->starved_ns, starved_ns(p->pid)), blocked);

	spent->cpu += cpu;
	spent->waits += blocked;
	add_tree(b, p, p->ended_tree);
	for (size_t i = 0; i < p->n_threads; i++)
		if (p->threads[i])
			add_tree(b, p, replay_tree(p->threads[i]->replay));
	EACH(struct key_calls, k, own->keys, own->n) {
		double ns = k->now > k->before ? (double)(k->now - k->before) * call_ns : 0;

		spent->hooks += ns;
		if (k->function != NONE) {
			struct function *f = &b->functions[k->function];

			f->cost_ns += ns;
			/* less: of a recursion that is open */
			if ((int64_t)(k->ticks - k->ticks_before) > 0)
				f->timed_ns += had * (double)clocks_ns(&a->host.clocks,
							     k->ticks - k->ticks_before);
			f->hooks_ns += ns / 2;
		}
		k->before = k->now;
		k->ticks_before = k->ticks;
		k->now = k->ticks = 0;
	}
}

/* By number; what profile.exclude names is only off. */
static bool is_counted(const struct overhead *b, uint32_t number)
{
	return b->counted >> number & 1 && b->functions[b->off[number]].exclude != EXCLUDED;
}

/* Bits of numbers. */
static uint64_t all_off(const struct overhead *b)
{
	return (((uint64_t)1 << b->n_off) - 1) & ~b->on;
}

/* Hooks of all that is off go, or only of what is counted, which counts without them. */
static void remove_calls(struct overhead *b, struct process *p)
{
	struct removal *r = &own_of(p)->removal;
	const uint64_t off = all_off(b) &
			     (p->host->conf->overhead_remove_calls ? UINT64_MAX : b->counted),
		       before = r->removed,
		       added = removal_look(r, p, off, b->version, host_ticks(p->host)) & ~before;

	for (uint32_t i = 0; i < b->n_off; i++)
		if (added >> i & 1 && !b->functions[b->off[i]].removed_ticks)
			b->functions[b->off[i]].removed_ticks = host_ticks(p->host);
	store_relaxed(&control_switches(p->control)->removed, r->removed);
}

/* The page of a process says by number where the functions are that it has called. */
static void publish(struct overhead *b, struct process *p)
{
	struct switches_shm *s = control_switches(p->control);

	for (size_t i = 0; p->overhead && i < p->overhead->n; i++) {
		const struct key_calls *k = &p->overhead->keys[i];
		uint32_t number = k->function != NONE ? b->functions[k->function].number : NONE;

		if (number != NONE && is_fit(k->key))
			store_relaxed(&s->id[number], (uint32_t)k->key);
	}
	if ((p->host->conf->overhead_remove_calls || b->counted) && p->control_app)
		remove_calls(b, p);
	store_relaxed(&p->control->counted, b->counted);
	store_relaxed(&s->on, b->on);
	store_release(&s->n, b->n_off);
	store_release(&s->version, b->version); /* pairs with vftr_switches_follow() */
}

/* ---- deciding --------------------------------------------------------------------- */

static const char *name_of(struct agent *a, uint32_t function)
{
	for (struct process *p = a->host.processes; p; p = p->next)
		for (size_t i = 0; p->overhead && i < p->overhead->n; i++)
			if (p->overhead->keys[i].function == function)
				return symcache_name(a->host.symbols, p, p->overhead->keys[i].key);
	return "";
}

/*
 * Its calls are short against their hooks, of which one is in the time. To time what calls counted
 * functions, or comes in turns with them, costs several times as much, and that is in the time.
 */
static bool is_tiny(const struct overhead *b, const struct function *f)
{
	const bool follows = b->counted || f->counts_others;

	return f->hooks_long > 0 && f->hooks_long < (follows ? FOLLOWING : 1) * TINY_HOOKS;
}

/* The dearest one that may go, or NULL. */
static struct function *dearest(struct agent *a, bool tiny)
{
	struct overhead *b = a->host.overhead;
	struct function *best;

	do {
		const char *name;

		best = NULL;
		EACH(struct function, f, b->functions, b->n)
			if (f->number == NONE && !f->stays && !f->calls_others &&
				(!tiny || is_tiny(b, f)) && f->cost_ns > (best ? best->cost_ns : 0))
				best = f;
		if (!best)
			return NULL;
		name = name_of(a, (uint32_t)(best - b->functions));
		best->stays = is_kept(b, a, name);
		if (!best->stays && !best->name)
			best->name = xstrdup(name);
	} while (best->stays);
	return best;
}

/* It is off from now on, and counted or not; its name is there. */
static void number_function(struct agent *a, struct function *f, bool counted)
{
	struct overhead *b = a->host.overhead;

	f->number = b->n_off;
	b->counted |= (uint64_t)counted << f->number;
	f->off_ticks = host_ticks(&a->host);
	b->off[b->n_off++] = (uint32_t)(f - b->functions);
}

/*
 * tiny: only those whose calls are that, and all of them, as the next event after a counted call
 * costs more. Returns what the rest costs.
 */
static double switch_off(struct agent *a, double cost_ns, double budget_ns, bool tiny)
{
	struct overhead *b = a->host.overhead;
	const bool all = tiny && cost_ns > budget_ns;

	while ((all || cost_ns > budget_ns) && b->n_off < SWITCHES_MAX) {
		struct function *f = dearest(a, tiny);

		if (!f)
			break;
		if (f->cost_ns * WORTH < budget_ns) {
			free(f->name);
			f->name = NULL;
			break;
		}
		number_function(a, f, tiny || a->host.conf->overhead_count_calls);
		cost_ns -= f->cost_ns;
	}
	return cost_ns;
}

static void decide(struct agent *a, const struct spent *spent)
{
	const double budget = spent->cpu * a->host.conf->overhead_budget_percent / 100;
	const double tiny = spent->cpu * conf_count_tiny(a->host.conf) / 100;
	double cost_ns = spent->hooks + spent->waits;

	/* what is timed between counted calls costs more than its hooks */
	if (!isnan(tiny))
		cost_ns = switch_off(
			a, cost_ns, a->host.overhead->counted ? tiny / FOLLOWING : tiny, true);
	if (!isnan(budget))
		a->host.overhead->in_vain = switch_off(a, cost_ns, budget, false) > budget;
}

/* ---- what the user wants ------------------------------------------------------------ */

static bool is_named(const struct agent *a, const char *raw, const char *name)
{
	const struct name_style style = name_style_of(a->host.conf);
	char *shown = name_shown(raw, &style);
	const bool is = !strcmp(raw, name) || !strcmp(shown, name);

	free(shown);
	return is;
}

static void obey_switch(struct agent *a, struct function_switch *u, struct function *f)
{
	struct overhead *b = a->host.overhead;

	if (u->off && f->number == NONE && !f->unfit && b->n_off < SWITCHES_MAX)
		number_function(a, f, a->host.conf->overhead_count_calls);
	f->stays = f->unfit || !u->off;
	if (f->number == NONE)
		return;
	u->functions++;
	if (u->off) /* counted, if it was */
		b->on &= ~((uint64_t)1 << f->number);
	else
		b->on |= (uint64_t)1 << f->number;
}

static void compare_name(struct agent *a, struct function *f, const char *raw)
{
	f->asked = a->host.overhead->orders;
	f->wished = 0;
	for (size_t i = 0; i < a->host.n_switches; i++)
		if (is_named(a, raw, a->host.switches[i].name))
			f->wished |= 1u << i;
	if (f->wished && !f->name)
		f->name = xstrdup(raw);
}

/* Also of functions that are called only now, in any process. */
static void obey_user(struct agent *a)
{
	struct overhead *b = a->host.overhead;
	struct process *p = a->host.n_switches ? a->host.processes : NULL;

	for (; p; p = p->next)
		for (size_t i = 0; p->overhead && i < p->overhead->n; i++) {
			const struct key_calls *k = &p->overhead->keys[i];

			if (k->function != NONE && b->functions[k->function].asked != b->orders)
				compare_name(a, &b->functions[k->function],
					symcache_name(a->host.symbols, p, k->key));
		}
	for (size_t k = 0; k < a->host.n_switches; k++) {
		a->host.switches[k].functions = 0;
		for (size_t i = 0; i < b->n; i++)
			if (b->functions[i].wished >> k & 1)
				obey_switch(a, &a->host.switches[k], &b->functions[i]);
	}
}

/* Its name is compared when its calls cost something; what costs next to nothing stays on. */
static bool is_excluded(struct agent *a, struct function *f, double least_ns)
{
	struct overhead *b = a->host.overhead;
	const struct name_style style = name_style_of(a->host.conf);
	const char *name;

	if (f->number != NONE || f->unfit || f->cost_ns <= least_ns)
		return false;
	if (f->exclude == NOT_ASKED) {
		name = name_of(a, (uint32_t)(f - b->functions));
		f->exclude = name_matches(&b->exclude, name, &style) ? EXCLUDED : WANTED;
		if (f->exclude == EXCLUDED && !f->name)
			f->name = xstrdup(name);
	}
	return f->exclude == EXCLUDED;
}

static void exclude(struct agent *a, const struct spent *spent)
{
	struct overhead *b = a->host.overhead;

	for (size_t i = 0; b->has_exclude && i < b->n && b->n_off < SWITCHES_MAX; i++)
		if (is_excluded(a, &b->functions[i], spent->cpu / EXCLUDED_SHARE))
			number_function(a, &b->functions[i], false);
}

/* Waiting comes from having much to read: each function has its part of that, too. */
static void spread(struct overhead *b, const struct spent *spent)
{
	for (size_t i = 0; spent->hooks > 0 && i < b->n; i++)
		b->functions[i].cost_ns *= 1 + spent->waits / spent->hooks;
}

/* The best look counts: in others the threads may have waited for a CPU. */
static void note_lengths(struct overhead *b)
{
	EACH(struct function, f, b->functions, b->n) {
		const double is = f->hooks_ns > 0 ? (1 + f->timed_ns) / f->hooks_ns : 0;

		if (is > 0 && (!f->hooks_long || is < f->hooks_long))
			f->hooks_long = is;
	}
}

static bool has_budget(const struct conf *c)
{
	return !isnan(c->overhead_budget_percent) || !isnan(conf_count_tiny(c));
}

/* Counted, and not by the user's order: bits of numbers. */
static uint64_t may_be_timed(const struct overhead *b)
{
	uint64_t may = b->counted & all_off(b);

	for (uint32_t i = 0; i < b->n_off; i++)
		if (b->functions[b->off[i]].wished)
			may &= ~((uint64_t)1 << i);
	return may;
}

/* A process follows the switches that were published last. */
static bool is_heard(const struct agent *a)
{
	for (const struct process *p = a->host.processes; p; p = p->next)
		/* pairs with vftr_switches_follow() */
		if (is_watched(p) && load_acquire(&p->control_app->switches.version) ==
					     a->host.overhead->version)
			return true;
	return false;
}

/*
 * What takes longer now than when it was found to be tiny stays on, until it is tiny in another
 * window.
 */
static void judge_window(struct overhead *b)
{
	for (uint32_t i = 0; i < b->n_off; i++) {
		const struct function *f = &b->functions[b->off[i]];
		const uint64_t bit = (uint64_t)1 << i;

		if (!(b->windows.open & bit) || !(f->hooks_ns > 0))
			continue;
		if (f->timed_ns > 2 * FOLLOWING * TINY_HOOKS * f->hooks_ns)
			b->long_again |= bit;
		else
			b->long_again &= ~bit;
	}
}

static void take_window(struct agent *a, const struct spent *spent)
{
	struct overhead *b = a->host.overhead;
	const uint64_t was = b->windows.open, now = clock_raw_ns();

	if (was && b->windows.heard)
		judge_window(b);
	windows_look(&b->windows, may_be_timed(b) | b->long_again, is_heard(a), spent->cpu, now);
	b->on = (b->on & ~was) | b->windows.open | b->long_again;
}

/* many: so many calls were read since the last look that they are enough to decide. */
static void look_at_all(struct agent *a, bool many)
{
	struct overhead *b = a->host.overhead;
	struct spent spent = {0};
	const bool budget = has_budget(a->host.conf);
	bool in_window;
	uint32_t n_off;
	double own;

	if (budget && !a->host.n_switches && !many && !b->at_once && cpu_since(a) < TIME_LEAST)
		return;
	n_off = b->n_off;
	for (size_t i = 0; i < b->n; i++) {
		b->functions[i].cost_ns = b->functions[i].timed_ns = b->functions[i].hooks_ns = 0;
		b->functions[i].calls_others = false;
	}
	for (struct process *p = a->host.processes; p; p = p->next)
		if (is_watched(p))
			look_at(a, p, &spent);
	own = grown(&b->own_ns, cpu_ns(CLOCK_PROCESS_CPUTIME_ID));
	if (affinity_is_shared(a))
		spent.waits += own;
	spread(b, &spent);
	note_lengths(b);
	in_window = b->windows.open;
	take_window(a, &spent);
	obey_user(a);
	exclude(a, &spent);
	/* in a window all costs more */
	if (budget && (many || spent.cpu >= TIME_LEAST) && !in_window)
		decide(a, &spent);
	b->at_once = b->n_off != n_off ? AT_ONCE : b->at_once - (b->at_once > 0);
	b->version += b->n_off != n_off || b->on != b->on_before;
	b->on_before = b->on;
	for (struct process *p = a->host.processes; b->n_off && p; p = p->next)
		if (is_watched(p))
			publish(b, p);
}

static struct overhead *begin_overhead(const struct conf *c)
{
	struct overhead *b = xcalloc(1, sizeof(*b));

	b->many_bytes = MANY_BYTES;
	b->has_keep =
		c->overhead_keep && !regcomp(&b->keep, c->overhead_keep, REG_EXTENDED | REG_NOSUB);
	b->has_exclude = c->profile_exclude &&
			 !regcomp(&b->exclude, c->profile_exclude, REG_EXTENDED | REG_NOSUB);
	return b;
}

static uint64_t pause_ns(const struct overhead *b)
{
	const double s = b->at_once ? AT_ONCE_S : b->windows.due ? SOON_S : LOOK_S;

	return (uint64_t)(s * 1e9);
}

/*
 * What is called very often is looked at before the time; in vain it is looked at less. Estimates
 * have the mean of these calls, and of so short a time a single wait would be most: then not.
 */
static bool has_read_many(struct agent *a, uint64_t now)
{
	struct overhead *b = a->host.overhead;

	if (!has_budget(a->host.conf) || b->windows.open || now < b->least_ns ||
		a->host.drained_bytes - b->bytes < b->many_bytes)
		return false;
	if (is_undisturbed(a))
		return true;
	b->least_ns = UINT64_MAX; /* until the next look */
	return false;
}

static void look_now(struct agent *a, uint64_t now, bool many)
{
	struct overhead *b = a->host.overhead;
	uint64_t took;

	clocks_calibrate(&a->host.clocks);
	look_at_all(a, many);
	took = clock_raw_ns() - now;
	b->bytes = a->host.drained_bytes;
	b->many_bytes = many && !b->at_once ? 2 * b->many_bytes : MANY_BYTES;
	b->least_ns = now + took + LOOK_SHARE * took;
	b->due_ns = b->least_ns + pause_ns(b);
}

double overhead_tick(struct agent *a)
{
	uint64_t now;
	bool many;

	if ((!has_budget(a->host.conf) && !a->host.n_switches && !a->host.conf->profile_exclude) ||
		!a->host.n_live)
		return NEVER_S;
	if (!a->host.overhead)
		a->host.overhead = begin_overhead(a->host.conf);
	now = clock_raw_ns();
	if (!a->host.overhead->due_ns)
		a->host.overhead->due_ns = now + (uint64_t)(LOOK_S * 1e9);
	many = has_read_many(a, now);
	if (many || now >= a->host.overhead->due_ns)
		look_now(a, now, many);
	now = clock_raw_ns();
	return now < a->host.overhead->due_ns ? 1e-9 * (double)(a->host.overhead->due_ns - now) : 0;
}

/* ---- processes and results -------------------------------------------------------- */

static void begin_process(struct process *p)
{
	if (p->host->overhead)
		publish(p->host->overhead, p);
}

/* What the thread did not record. */
static void end_thread(struct thread_ring *t)
{
	struct process *p = t->process;
	struct overhead *b = p->host->overhead;
	const struct switched_shm *s = ring_switched(t->ring.producer);
	const uint64_t taken = load_relaxed(&p->control_app->switches.taken);

	for (uint32_t i = 0; b && i < b->n_off; i++) {
		struct function *f = &b->functions[b->off[i]];
		uint64_t calls = load_relaxed(&s->calls[i]);

		f->removed |= taken >> i & 1;
		if (!calls)
			continue;
		f->calls += calls;
		f->processes += !own_of(p)->counted[i];
		p->overhead->counted[i] = true;
	}
}

static void free_process(struct process *p)
{
	if (!p->overhead)
		return;
	free(p->overhead->keys);
	map64_free(&p->overhead->by_key);
	free(p->overhead);
	p->overhead = NULL;
}

static struct function_switch *switch_named(struct host *host, const char *name)
{
	struct function_switch *free_one = NULL;

	for (size_t i = 0; i < host->n_switches; i++) {
		if (!strcmp(host->switches[i].name, name))
			return &host->switches[i];
		free_one = host->switches[i].off ? free_one : &host->switches[i];
	}
	return host->n_switches < FUNCTION_SWITCHES_MAX ? &host->switches[host->n_switches++]
							: free_one;
}

static void order_switch(struct host *host, const struct function_switch *order)
{
	struct function_switch *u = order->name[0] ? switch_named(host, order->name) : NULL;
	char from[HOST_CLOCK_BYTES], until[HOST_CLOCK_BYTES];

	if (!u || (!strcmp(u->name, order->name) && u->stamp >= order->stamp))
		return;
	host_clock_text(from, u->stamp);
	host_clock_text(until, order->stamp);
	if (u->off && !order->off)
		host_warn(host, false,
			"%s was not recorded from %s to %s: vftr top had switched it off", u->name,
			from, until);
	if (u->off && order->off)
		return; /* since the first order */
	*u = *order;
	u->functions = 0;
	if (!host->overhead)
		host->overhead = begin_overhead(host->conf);
	host->overhead->orders++;
	host->overhead->due_ns = 0;
}

static void gather_user_switches(const struct host *host, struct profile *out)
{
	EACH(const struct function_switch, u, host->switches, host->n_switches) {
		char from[HOST_CLOCK_BYTES];

		host_clock_text(from, u->stamp);
		if (u->off)
			profile_warn(out,
				"%s was not recorded from %s on: vftr top had switched it off",
				u->name, from);
	}
}

/* "f, g and 3 more": of functions that are counted, by number. The caller frees. */
static char *counted_names(const struct host *host, size_t n)
{
	const struct overhead *b = host->overhead;
	const struct name_style style = name_style_of(host->conf);
	char *text = xstrdup("");
	size_t named = 0;

	for (uint32_t i = 0; i < b->n_off && named < NAMED; i++) {
		char *name;

		if (!is_counted(b, i))
			continue;
		name = name_shown(b->functions[b->off[i]].name, &style);
		text = xappend(text, "%s%s", named++ ? ", " : "", name);
		free(name);
	}
	if (n > named)
		text = xappend(text, " and %zu more", n - named);
	return text;
}

/* One warning for all, with the time at which the first one went. */
static void warn_counted(const struct host *host, struct profile *out)
{
	const struct overhead *b = host->overhead;
	uint64_t from = UINT64_MAX;
	size_t n = 0;
	char *names;

	for (uint32_t i = 0; i < b->n_off; i++) {
		const uint64_t ticks = b->functions[b->off[i]].off_ticks;

		n += is_counted(b, i);
		from = is_counted(b, i) && ticks < from ? ticks : from;
	}
	if (!n)
		return;
	names = counted_names(host, n);
	profile_warn(out,
		"%s %s counted and not timed%s from %.3f s on: %s calls are exact%s, %s "
		"estimated%s",
		names, n == 1 ? "was" : "were", n == 1 ? "" : ", the first",
		1e-9 * (double)clocks_ns(&host->clocks, from - host->first_start_ticks),
		n == 1 ? "its" : "their",
		strcmp(host->conf->shm_when_full, "drop") ? "" : " but for lost ones",
		n == 1 ? "its time from then on is" : "their times from then on are",
		isnan(conf_count_tiny(host->conf)) ? ""
						   : "; -k overhead.count_tiny=null times all");
	free(names);
}

static void gather_switched(const struct host *host, struct profile *out)
{
	const struct overhead *b = host->overhead;

	gather_user_switches(host, out);
	if (b && b->in_vain)
		profile_warn(out,
			"overhead.budget_percent: in the end tracing still cost more than %g %%, "
			"as the functions that cost most call others that are traced, or may not "
			"be switched off",
			host->conf->overhead_budget_percent);
	if (!b || !b->n_off)
		return;
	warn_counted(host, out);
	out->switched = xcalloc(b->n_off, sizeof(*out->switched));
	for (uint32_t i = 0; i < b->n_off; i++) {
		const struct function *f = &b->functions[b->off[i]];

		if (f->exclude == EXCLUDED)
			continue;
		if (b->counted >> i & 1)
			continue;
		out->switched[out->n_switched++] = (struct profile_switched){
			.name = xstrdup(f->name),
			.from_ns = clocks_ns(&host->clocks, f->off_ticks - host->first_start_ticks),
			.calls = f->calls,
			.processes = f->processes,
			.removed_ns =
				!f->removed || !f->removed_ticks
					? 0
					: clocks_ns(&host->clocks,
						  f->removed_ticks - host->first_start_ticks)};
	}
	profile_combine(out, PROFILE_SWITCHED);
}

const struct process_observer overhead_observer = {
	.begin = begin_process,
	.thread_end = end_thread,
	.free = free_process,
	.switch_function = order_switch,
	.gather = gather_switched,
};
