/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/overhead/windows.h"

#define PART	    20	  /* of the CPU time, between two windows */
#define APART_NS    0.3e9 /* between two windows, at least */
#define PATIENCE_NS 5e9	  /* for a process that records nothing */
#define LOOKS	    3	  /* so many until hooks are gone again */

static void change(struct windows *w, uint64_t open, uint64_t now_ns)
{
	w->open = open;
	w->heard = false;
	w->changed_ns = now_ns;
	w->cpu_ns = 0;
}

/* What is timed from when a process hears of it, for a whole look. */
static bool is_over(struct windows *w, bool heard, uint64_t now_ns)
{
	const bool since_last_look = w->heard;

	w->heard |= heard;
	return since_last_look || (double)(now_ns - w->changed_ns) > PATIENCE_NS;
}

static bool is_time(const struct windows *w, uint64_t now_ns)
{
	const double least = w->took_ns > WINDOW_CPU_NS ? w->took_ns : WINDOW_CPU_NS;

	return w->cpu_ns >= PART * least && (double)(now_ns - w->changed_ns) >= APART_NS;
}

uint64_t windows_look(struct windows *w, uint64_t may, bool heard, double cpu_ns, uint64_t now_ns)
{
	if (!w->changed_ns)
		change(w, 0, now_ns);
	w->cpu_ns += cpu_ns;
	w->looks -= w->looks > 0;
	if (w->open && is_over(w, heard, now_ns)) {
		w->took_ns = w->cpu_ns;
		w->looks = LOOKS;
		change(w, 0, now_ns);
	} else if (!w->open && may && is_time(w, now_ns)) {
		change(w, may, now_ns);
	}
	w->due = w->open || w->looks;
	return w->open;
}
