/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/tool/show/flame.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/json-write.h"
#include "nodeagent/base/util.h"

/* ---- the times: those of ranks, or of the profile --------------------------------------- */

static size_t times_of(const struct flame *flame)
{
	return flame->times ? flame->n : flame->run->p->n_stacks;
}

static struct flame_time time_at(const struct flame *flame, size_t i)
{
	if (flame->times)
		return flame->times[i];
	return (struct flame_time){0, (uint32_t)i, flame->run->p->stacks[i].excl_ns};
}

/* The frames of a call path, the outermost first. The array grows. */
struct frames {
	uint32_t *stacks;
	size_t n_stacks, cap_stacks;
};

static void collect_frames(const struct report *r, uint32_t stack, struct frames *to)
{
	to->n_stacks = 0;
	for (; stack != PROFILE_NONE; stack = r->parent[stack])
		*LIST_ADD(to, stacks) = stack;
	for (size_t i = 0, k = to->n_stacks; i + 1 < k; i++) {
		const uint32_t other = to->stacks[--k];

		to->stacks[k] = to->stacks[i];
		to->stacks[i] = other;
	}
}

static uint32_t name_of(const struct report *r, uint32_t stack)
{
	return r->p->stacks[stack].name;
}

/* ---- folded stacks ---------------------------------------------------------------------- */

/* The line has two marks of its own: ';' between names, and the last blank. */
static void put_name(FILE *f, const char *name)
{
	for (; *name; name++)
		putc(*name == ';'				     ? ':'
			: (unsigned char)*name < ' ' || *name == 127 ? ' '
								     : *name,
			f);
}

void flame_folded(const struct flame *flame, FILE *f)
{
	const struct report *r = &flame->run->r;
	struct frames frames = {0};

	for (size_t i = 0; i < times_of(flame); i++) {
		const struct flame_time t = time_at(flame, i);

		if (!t.ns)
			continue;
		if (flame->times)
			fprintf(f, "rank %u;", t.rank);
		collect_frames(r, t.stack, &frames);
		for (size_t k = 0; k < frames.n_stacks; k++) {
			if (k)
				putc(';', f);
			put_name(f, r->shown[name_of(r, frames.stacks[k])]);
		}
		fprintf(f, " %" PRIu64 "\n", t.ns);
	}
	free(frames.stacks);
}

/* ---- speedscope ------------------------------------------------------------------------- */

/* A frame for each group, in their order: functions of one shown name are one. */
static void put_frames(const struct report *r, FILE *f)
{
	uint32_t *name = xcalloc(r->n_groups + 1, sizeof(*name));
	struct json j;

	for (uint32_t i = 0; i < r->p->n_names; i++)
		name[r->group[i]] = i;
	json_begin(&j, f, 1);
	json_array(&j, NULL);
	for (uint32_t i = 0; i < r->n_groups; i++) {
		const struct profile_source *source = report_source(r, r->p->names[name[i]]);

		json_object(&j, NULL);
		json_string(&j, "name", r->shown[name[i]]);
		if (source) {
			json_string(&j, "file", source->file);
			json_uint(&j, "line", source->line);
		}
		json_close(&j);
	}
	json_close(&j);
	free(name);
}

static void put_sample(const struct report *r, const struct frames *frames, FILE *f)
{
	for (size_t k = 0; k < frames->n_stacks; k++)
		fprintf(f, "%s%" PRIu32, k ? "," : "[", r->group[name_of(r, frames->stacks[k])]);
	putc(']', f);
}

/* The times from..to are one profile. */
static void put_profile(
	const struct flame *flame, size_t from, size_t to, const char *name, FILE *f)
{
	struct frames frames = {0};
	const char *comma = "";
	uint64_t all = 0;

	fprintf(f, "{\"type\":\"sampled\",\"name\":\"%s\",\"unit\":\"nanoseconds\",\"samples\":[",
		name);
	for (size_t i = from; i < to; i++) {
		if (!time_at(flame, i).ns)
			continue;
		fprintf(f, "%s\n", comma);
		collect_frames(&flame->run->r, time_at(flame, i).stack, &frames);
		put_sample(&flame->run->r, &frames, f);
		comma = ",";
	}
	fputs("],\n\"weights\":[", f);
	comma = "";
	for (size_t i = from; i < to; i++) {
		const uint64_t ns = time_at(flame, i).ns;

		if (!ns)
			continue;
		fprintf(f, "%s%" PRIu64, comma, ns);
		all += ns;
		comma = ",";
	}
	fprintf(f, "],\n\"startValue\":0,\"endValue\":%" PRIu64 "}", all);
	free(frames.stacks);
}

size_t flame_estimated(const struct run *run)
{
	size_t n = 0;

	for (size_t i = 0; i < run->p->n_stacks; i++)
		n += run->p->stacks[i].estimated;
	return n;
}

static void put_profiles(const struct flame *flame, FILE *f)
{
	const size_t n = times_of(flame);
	const char *times =
		flame_estimated(flame->run) ? "times, estimated in part" : "exact times";

	if (!flame->times) {
		char *name = xasprintf("all ranks, %s", times);

		put_profile(flame, 0, n, name, f);
		free(name);
		return;
	}
	for (size_t i = 0, end; i < n; i = end) {
		char *name = xasprintf("rank %u, %s", flame->times[i].rank, times);

		for (end = i; end < n && flame->times[end].rank == flame->times[i].rank;)
			end++;
		fputs(i ? ",\n" : "", f);
		put_profile(flame, i, end, name, f);
		free(name);
	}
}

static void put_quoted(FILE *f, const char *text)
{
	struct json j;

	json_begin(&j, f, 0);
	json_string(&j, NULL, text);
}

void flame_speedscope(const struct flame *flame, FILE *f)
{
	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
	      "\"exporter\":\"vftr " VFTR_VERSION "\",\"name\":",
		f);
	put_quoted(f, flame->run->name);
	fputs(",\n\"shared\":{\"frames\":", f);
	put_frames(&flame->run->r, f);
	fputs("},\n\"profiles\":[", f);
	put_profiles(flame, f);
	fputs("\n]}\n", f);
}
