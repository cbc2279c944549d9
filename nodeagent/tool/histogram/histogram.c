/* SPDX-License-Identifier: BSD-3-Clause */
/* Message sizes out of BASE_all.json or a node profile, and as bars of text. */
#include "nodeagent/tool/histogram/histogram.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/json-read.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/base/table.h"
#include "nodeagent/base/util.h"
#include "nodeagent/profile/vfp.h"

#define BAR_COLUMNS 24

/* ---- reading --------------------------------------------------------------------- */

static void add_messages(struct histogram *h, enum histogram_way way, unsigned class,
	uint64_t messages, uint64_t bytes)
{
	h->messages[way][class] += messages;
	h->bytes[way][class] += bytes;
}

/* The class whose least size this is, or HISTOGRAM_CLASSES. */
static unsigned class_from(uint64_t from)
{
	unsigned class = 0;

	if (from & (from - 1))
		return HISTOGRAM_CLASSES;
	for (; from; from >>= 1)
		class ++;
	return class;
}

static void read_class(struct json_in *j, struct histogram *h)
{
	uint64_t from = UINT64_MAX, sends = 0, recvs = 0, sent = 0, received = 0;
	const char *key;
	unsigned class;

	json_in_object(j);
	while ((key = json_in_member(j))) {
		uint64_t *to = !strcmp(key, "from_bytes")	? &from
			       : !strcmp(key, "sends")		? &sends
			       : !strcmp(key, "recvs")		? &recvs
			       : !strcmp(key, "bytes_sent")	? &sent
			       : !strcmp(key, "bytes_received") ? &received
								: NULL;

		if (to)
			*to = json_in_uint(j);
		else
			json_in_skip(j);
	}
	class = class_from(from);
	if (class >= HISTOGRAM_CLASSES) {
		json_in_fail(j, "a class of message sizes that begins at no power of two");
		return;
	}
	add_messages(h, HISTOGRAM_SENDS, class, sends, sent);
	add_messages(h, HISTOGRAM_RECEIVES, class, recvs, received);
}

static char *read_json(FILE *f, struct histogram *h)
{
	uint64_t processes = 0, unranked = 0;
	bool found = false;
	struct json_in j;
	const char *key;
	char *error;

	json_in_begin(&j, f);
	json_in_object(&j);
	while ((key = json_in_member(&j))) {
		if (!strcmp(key, "ranks")) {
			h->ranks = json_in_uint(&j);
		} else if (!strcmp(key, "processes")) {
			processes = json_in_uint(&j);
		} else if (!strcmp(key, "unranked")) {
			unranked = json_in_uint(&j);
		} else if (!strcmp(key, "message_sizes")) {
			found = true;
			json_in_array(&j);
			while (json_in_element(&j))
				read_class(&j, h);
		} else {
			json_in_skip(&j);
		}
	}
	error = json_in_end(&j);
	h->has_no_mpi = processes && unranked == processes;
	if (!error && !found)
		error = xstrdup("it has no message sizes; is it a profile of vftr?");
	return error;
}

static int read_vfp(const char *file, struct histogram *h, char **error)
{
	struct profile *p = vfp_read(file, error);

	if (!p)
		return -1;
	h->ranks = p->ranks;
	h->has_no_mpi = !p->world_size;
	EACH(const struct profile_size, s, p->sizes, p->n_sizes) {
		if (s->log2 >= HISTOGRAM_CLASSES)
			continue;
		add_messages(h, HISTOGRAM_SENDS, s->log2, s->sends, s->bytes_sent);
		add_messages(h, HISTOGRAM_RECEIVES, s->log2, s->receives, s->bytes_received);
	}
	profile_free(p);
	return 0;
}

/* Other files get a sentence that is not about JSON. */
static bool begins_object(FILE *f)
{
	int c;

	do
		c = getc(f);
	while (c != EOF && isspace(c));
	rewind(f);
	return c == '{';
}

int histogram_read(const char *file, struct histogram *h, char **error)
{
	char head[sizeof(VFP_MAGIC) - 1], *why;
	FILE *f = fopen(file, "re");
	size_t n;

	*error = NULL;
	*h = (struct histogram){.file = xstrdup(file)};
	if (!f) {
		*error = xasprintf("%s: %s", file, strerror(errno));
		return -1;
	}
	n = fread(head, 1, sizeof(head), f);
	if (n == sizeof(head) && !memcmp(head, VFP_MAGIC, n)) {
		fclose(f);
		return read_vfp(file, h, error);
	}
	rewind(f);
	if (begins_object(f))
		why = read_json(f, h);
	else
		why = xstrdup("it is no profile of vftr (BASE_all.json, profile.json, "
			      "BASE_HOST.vfp, HOST.vfp)");
	fclose(f);
	if (!why)
		return 0;
	*error = xasprintf("%s: %s", file, why);
	free(why);
	return -1;
}

/* ---- what drawings share ------------------------------------------------------------ */

const uint64_t *histogram_values(
	const struct histogram *h, const struct histogram_view *v, enum histogram_way way)
{
	return v->bytes ? h->bytes[way] : h->messages[way];
}

uint64_t histogram_range(
	const struct histogram *h, const struct histogram_view *v, unsigned *first, unsigned *last)
{
	uint64_t most = 0;

	for (unsigned class = 0; class < HISTOGRAM_CLASSES; class ++) {
		for (int way = 0; way < HISTOGRAM_WAYS; way++) {
			const uint64_t value =
				v->shown[way] ? histogram_values(h, v, way)[class] : 0;

			if (!value)
				continue;
			if (!most)
				*first = class;
			*last = class;
			most = value > most ? value : most;
		}
	}
	return most;
}

static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

void histogram_label(unsigned class, char *label, size_t bytes)
{
	uint64_t from = class ? (uint64_t)1 << (class - 1) : 0;
	size_t unit = 0;

	while (from >= 1024) {
		from /= 1024;
		unit++;
	}
	snprintf(label, bytes, "%" PRIu64 " %s", from, units[unit]);
}

void histogram_amount(const struct histogram_view *v, double value, char *text, size_t bytes)
{
	size_t unit = 0;

	if (!v->bytes) {
		if (value < 1e10)
			snprintf(text, bytes, "%.0f", value);
		else
			snprintf(text, bytes, "%.3e", value);
		return;
	}
	while (value >= 1023.95 && unit + 1 < ARRAY_SIZE(units)) {
		value /= 1024.0;
		unit++;
	}
	snprintf(text, bytes, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

/* ---- text --------------------------------------------------------------------------- */

static void print_bar(FILE *f, uint64_t value, uint64_t most, bool last)
{
	size_t n = most ? (size_t)((double)value / (double)most * BAR_COLUMNS + 0.5) : 0;
	static const char bar[] = "########################";

	_Static_assert(sizeof(bar) == BAR_COLUMNS + 1, "a whole bar");
	if (n > BAR_COLUMNS)
		n = BAR_COLUMNS;
	/* little is not nothing */
	if (!n && value)
		fputs(last ? "." : ".                       ", f);
	else
		fprintf(f, "%-*.*s", last ? 0 : BAR_COLUMNS, (int)n, bar);
}

static void print_class(const struct histogram *h, const struct histogram_view *v, unsigned class,
	uint64_t most, FILE *f)
{
	int last = v->shown[HISTOGRAM_RECEIVES] ? HISTOGRAM_RECEIVES : HISTOGRAM_SENDS;
	char text[64];

	histogram_label(class, text, sizeof(text));
	fprintf(f, "%8s", text);
	for (int way = 0; way < HISTOGRAM_WAYS; way++) {
		uint64_t value = histogram_values(h, v, way)[class];

		if (!v->shown[way])
			continue;
		histogram_amount(v, (double)value, text, sizeof(text));
		fprintf(f, " %10s%s", text, value || way != last ? " " : "");
		if (value || way != last)
			print_bar(f, value, most, way == last);
	}
	fputc('\n', f);
}

void histogram_print(const struct histogram *h, const struct histogram_view *v, FILE *f)
{
	static const char *const names[] = {"Sends", "Receives"}, *const volumes[] = {
									  "Sent", "Received"};
	char *file = text_plain(h->file);
	unsigned first, last;
	const uint64_t most = histogram_range(h, v, &first, &last);

	fprintf(f, "Message sizes of %s (%" PRIu64 " %s)\n", file, h->ranks,
		h->has_no_mpi ? one_or_many(h->ranks, "process", "processes")
			      : one_or_many(h->ranks, "rank", "ranks"));
	free(file);
	if (!most) {
		fputs("   no messages\n", f);
		return;
	}
	fprintf(f, "%8s", "From");
	for (int way = 0; way < HISTOGRAM_WAYS; way++) {
		if (!v->shown[way])
			continue;
		fprintf(f, " %10s", v->bytes ? volumes[way] : names[way]);
		if (!way && v->shown[HISTOGRAM_RECEIVES])
			fprintf(f, "%*s", BAR_COLUMNS + 1, "");
	}
	fputc('\n', f);
	for (unsigned class = first; class <= last; class ++)
		print_class(h, v, class, most, f);
}
