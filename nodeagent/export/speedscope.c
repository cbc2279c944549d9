/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * speedscope: an evented profile per thread, that is its time line; or with --sum
 * one sampled profile, the call tree of all threads with exclusive times. Threads
 * come one after the other, as each one's events stand together in the file.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "nodeagent/export/internal.h"
#include "nodeagent/base/util.h"

struct speedscope {
	struct exporter *x;
	const struct export_thread *now; /* whose profile is open */
	bool profile, filled;		 /* there was one; the open one has an event */
	uint64_t last;
	struct tree tree; /* --sum */
};

static void put_frames(const struct exporter *x)
{
	for (size_t i = 0; i < x->n_regions; i++) {
		const struct export_region *r = &x->regions[i];
		char *name = export_quoted(r->name);
		const char *from = r->file ? r->file : r->module;
		char *file = from ? export_quoted(from) : NULL;

		fprintf(x->out, "%s{\"name\":%s%s%s", i ? ",\n" : "\n", name,
			file ? ",\"file\":" : "", file ? file : "");
		if (r->file)
			fprintf(x->out, ",\"line\":%u", r->line);
		putc('}', x->out);
		free(name);
		free(file);
	}
}

void *speedscope_begin(struct exporter *x)
{
	struct speedscope *f = xcalloc(1, sizeof(*f));
	char *name = export_quoted(x->base);

	f->x = x;
	tree_init(&f->tree, x, true);
	fprintf(x->out,
		"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
		"\"exporter\":\"vftr " VFTR_VERSION "\",\"name\":%s,\n\"shared\":{\"frames\":[",
		name);
	put_frames(x);
	fputs("]},\n\"profiles\":[", x->out);
	free(name);
	return f;
}

static void begin_profile(struct speedscope *f, const char *type, const char *name)
{
	char *quoted = export_quoted(name);

	fprintf(f->x->out, "%s{\"type\":\"%s\",\"name\":%s,\"unit\":\"nanoseconds\",",
		f->profile ? ",\n" : "\n", type, quoted);
	f->profile = true;
	free(quoted);
}

/* The viewer shows all that lies between the two. */
static uint64_t first_of(const struct speedscope *f, const struct export_thread *t)
{
	const struct vfd_span *s = &f->x->options->span;
	const uint64_t from = s->from_set ? export_time(f->x, s->from) : 0;

	return t->start > from ? t->start : from;
}

static uint64_t last_of(const struct speedscope *f, const struct export_thread *t)
{
	const struct vfd_span *s = &f->x->options->span;
	const uint64_t to = s->to_set ? export_time(f->x, s->to) : UINT64_MAX;

	return t->end < to ? t->end : to;
}

static void end_thread(struct speedscope *f)
{
	if (f->now) {
		const uint64_t last = last_of(f, f->now);

		fprintf(f->x->out, "],\n\"endValue\":%" PRIu64 "}",
			last > f->last ? last : f->last);
	}
	f->now = NULL;
}

static void begin_thread(struct speedscope *f, const struct export_event *e)
{
	char *name = xasprintf("%s, %s", f->x->processes[e->thread->process].name, e->thread->name);
	const uint64_t first = first_of(f, e->thread), start = first < e->time ? first : e->time;

	end_thread(f);
	begin_profile(f, "evented", name);
	fprintf(f->x->out, "\"startValue\":%" PRIu64 ",\"events\":[", start);
	free(name);
	f->now = e->thread;
	f->filled = false;
}

void speedscope_event(void *state, const struct export_event *e)
{
	struct speedscope *f = state;

	if (e->kind != EXPORT_ENTER && e->kind != EXPORT_EXIT)
		return;
	if (f->x->options->sum) {
		tree_event(&f->tree, e);
		return;
	}
	if (e->thread != f->now)
		begin_thread(f, e);
	fprintf(f->x->out, "%s{\"type\":\"%c\",\"frame\":%u,\"at\":%" PRIu64 "}",
		f->filled ? ",\n" : "\n", e->kind == EXPORT_ENTER ? 'O' : 'C', e->region, e->time);
	f->filled = true;
	f->last = e->time;
}

static void put_path(struct speedscope *f, uint32_t node)
{
	if (f->tree.nodes[node].caller) {
		put_path(f, f->tree.nodes[node].caller);
		putc(',', f->x->out);
	}
	fprintf(f->x->out, "%u", f->tree.nodes[node].region);
}

static void put_sum(struct speedscope *f)
{
	const char *comma = "";
	uint64_t all = 0;

	begin_profile(f, "sampled", "all threads");
	fputs("\"samples\":[", f->x->out);
	for (uint32_t i = 1; i < f->tree.n; i++) {
		if (!f->tree.nodes[i].exclusive)
			continue;
		fprintf(f->x->out, "%s\n[", comma);
		put_path(f, i);
		putc(']', f->x->out);
		comma = ",";
	}
	fputs("],\n\"weights\":[", f->x->out);
	comma = "";
	for (uint32_t i = 1; i < f->tree.n; i++) {
		if (!f->tree.nodes[i].exclusive)
			continue;
		fprintf(f->x->out, "%s%" PRIu64, comma, f->tree.nodes[i].exclusive);
		all += f->tree.nodes[i].exclusive;
		comma = ",";
	}
	fprintf(f->x->out, "],\n\"startValue\":0,\"endValue\":%" PRIu64 "}", all);
}

void speedscope_end(void *state, bool good)
{
	struct speedscope *f = state;

	if (good && f->x->options->sum)
		put_sum(f);
	end_thread(f);
	if (good && !f->profile && !f->x->options->may_be_empty)
		export_fail(f->x, "there is no call in these files that speedscope could show");
	fputs("\n]}\n", f->x->out);
	tree_free(&f->tree);
	free(f);
}
