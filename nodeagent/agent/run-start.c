/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/run-start.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "conf/conf.h"
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/base/result-files.h"
#include "nodeagent/base/util.h"
#include "nodeagent/base/words.h"
#include "nodeagent/net/transport.h"
#include "nodeagent/process/process.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/symbols/elf.h"

#define COMMAND_MOST 4096	 /* bytes of a command line that are kept */
#define CMDLINE_MOST (128 << 10) /* that are read of a process' */
#define CHANGES_MOST (64 << 10)	 /* of the configuration that are kept */
#define BUILDS_MOST  256

struct run_start {
	struct profile_start s; /* without tags */
	bool is_process;	/* the first process is to tell its command line */
	struct profile_build *builds;
	size_t n_builds, cap_builds;
};

/* ---- what this process knows --------------------------------------------------------- */

static void keep_command(struct profile_start *s, char *const *words)
{
	size_t left;

	free(s->command);
	s->command = words_list(words, COMMAND_MOST, &left);
	s->left = (uint32_t)left;
}

static char *text_or_null(char *text)
{
	if (*text)
		return text;
	free(text);
	return NULL;
}

static void begin_here(struct run_start *r, char *const *command)
{
	const time_t now = time(NULL);
	char path[PATH_MAX];
	struct tm tm;

	r->s.time_s = now;
	if (localtime_r(&now, &tm))
		r->s.zone_s = (int32_t)tm.tm_gmtoff;
	r->s.job = text_or_null(batch_job());
	r->is_process = !command;
	if (command && getcwd(path, sizeof(path)))
		r->s.directory = xstrdup(path);
	if (command)
		keep_command(&r->s, command);
}

/* ---- from one agent to another ------------------------------------------------------- */

/* "TIME,ZONE,LEFT" and texts, each behind a comma, and a '.' before one that is known. */
char *run_start_text(const struct agent *a)
{
	const struct profile_start *s = &a->start->s;
	char *const texts[] = {s->command, s->directory, s->job};
	char *all = xasprintf("%" PRId64 ",%" PRId32 ",%" PRIu32, s->time_s, s->zone_s, s->left);

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		char *plain = words_escape(texts[i] ? texts[i] : "");

		all = xappend(all, ",%s%s", texts[i] ? "." : "", plain);
		free(plain);
	}
	return all;
}

static void begin_as_told(struct run_start *r, const char *told)
{
	struct profile_start *s = &r->s;
	char **const texts[] = {&s->command, &s->directory, &s->job};

	if (sscanf(told, "%" SCNd64 ",%" SCNd32 ",%" SCNu32, &s->time_s, &s->zone_s, &s->left) != 3)
		return;
	for (unsigned i = 0; i < 3 && told; i++) {
		told = strchr(told, ',');
		told += told != NULL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(texts) && told; i++) {
		const size_t n = strcspn(told, ",");
		char *text = xasprintf("%.*s", (int)n, told);

		if (*text == '.')
			*texts[i] = words_unescape(text + 1);
		free(text);
		told = told[n] ? told + n + 1 : NULL;
	}
}

void run_start_begin(struct agent *a, char *const *command, const char *told)
{
	struct run_start *r = a->start = xcalloc(1, sizeof(*r));

	if (told)
		begin_as_told(r, told);
	else
		begin_here(r, command);
	if (!a->host.conf->output_command_line) {
		free(r->s.command);
		r->s.command = NULL;
		r->s.left = 0;
	}
}

/* ---- what processes tell ------------------------------------------------------------- */

/* The words in a text of n bytes, each ended by a NUL; the last one may lack it. */
static void keep_words(struct profile_start *s, char *text, size_t n)
{
	char **words = NULL;
	size_t n_words = 0, cap = 0;

	text[n] = '\0';
	for (size_t at = 0; at < n; at += strlen(text + at) + 1)
		*APPEND(words, n_words, cap) = text + at;
	*APPEND(words, n_words, cap) = NULL;
	keep_command(s, words);
	free(words);
}

static void ask_first(struct agent *a, const struct process *p)
{
	struct run_start *r = a->start;
	char *path = xasprintf("/proc/%d/cmdline", p->pid), *text = xmalloc(CMDLINE_MOST + 1);
	const int fd = a->host.conf->output_command_line ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	const size_t n = fd >= 0 ? read_at(fd, text, CMDLINE_MOST, 0) : 0;

	r->is_process = false;
	if (fd >= 0)
		close(fd);
	if (n)
		keep_words(&r->s, text, n);
	r->s.whose = PROFILE_START_PROCESS;
	r->s.directory = text_or_null(xstrdup(p->directory));
	free(text);
	free(path);
}

static char *hexadecimal(const uint8_t *bytes, size_t n)
{
	char *text = xmalloc(2 * n + 1);

	text[0] = '\0';
	for (size_t i = 0; i < n; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	return text;
}

/* The file that runs, which may no longer be the one that has this path. */
static void look_at_executable(struct run_start *r, const struct process *p)
{
	char *running = xasprintf("/proc/%d/exe", p->pid), *compiler = NULL;
	uint8_t id[ELF_BUILD_ID_MAX];
	struct elf_file *file = NULL;
	size_t bytes = 0;

	if (!elf_open(running, &file, NULL)) {
		bytes = elf_file_build_id(file, id);
		compiler = elf_file_compilers(file);
	}
	*LIST_ADD(r, builds) = (struct profile_build){
		xstrdup(p->executable), hexadecimal(id, bytes), compiler ? compiler : xstrdup("")};
	elf_close(file);
	free(running);
}

static void begin_process(struct process *p)
{
	struct agent *a = agent_of(p->host);
	struct run_start *r = a->start;
	size_t i = 0;

	if (!p->greeted || !r)
		return;
	if (r->is_process)
		ask_first(a, p);
	while (i < r->n_builds && strcmp(r->builds[i].path, p->executable))
		i++;
	if (i == r->n_builds && i < BUILDS_MOST)
		look_at_executable(r, p);
}

/* ---- into the profile ---------------------------------------------------------------- */

static char *copy_of(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

static int by_key(const void *x, const void *y)
{
	const char *a = *(char *const *)x, *b = *(char *const *)y;
	const size_t n = strcspn(a, "="), m = strcspn(b, "=");
	const int order = memcmp(a, b, n < m ? n : m);

	return order ? order : ORDER(n, m);
}

/* Of tags with one key the last one, by key; NULL: there are none. */
static char *tags_of(const struct conf *c)
{
	char *tags[CONF_TAGS_MAX / 2 + 1], *tag, *list;
	const char *at = c->output_tags;
	size_t n = 0, left;

	while (n < ARRAY_SIZE(tags) - 1 && (tag = conf_next_tag(&at))) {
		const size_t key = strcspn(tag, "=") + 1;
		size_t i = 0;

		while (i < n && strncmp(tags[i], tag, key))
			i++;
		if (i < n)
			free(tags[i]);
		tags[i] = tag;
		n += i == n;
	}
	tags[n] = NULL;
	qsort(tags, n, sizeof(*tags), by_key);
	list = n ? words_list(tags, 2 * CONF_TAGS_MAX, &left) : NULL;
	for (size_t i = 0; i < n; i++)
		free(tags[i]);
	return list;
}

struct changes {
	char **words;
	size_t n_words, cap_words;
};

/* Tags have a place of their own. */
static void add_change(void *ctx, const char *key, const char *value)
{
	struct changes *to = ctx;

	if (strcmp(key, "output.tags"))
		*LIST_ADD(to, words) = xasprintf("%s=%s", key, value);
}

/* NULL: there are none. */
static char *changes_of(const struct conf *c)
{
	struct changes all = {0};
	char *list;
	size_t left;

	if (conf_changes(c, add_change, &all))
		die(OWN_FAILURE, "out of memory");
	*LIST_ADD(&all, words) = NULL;
	list = all.n_words > 1 ? words_list(all.words, CHANGES_MOST, &left) : NULL;
	for (size_t i = 0; i + 1 < all.n_words; i++)
		free(all.words[i]);
	free(all.words);
	return list;
}

static void put_start(const struct host *host, struct profile *out)
{
	const struct agent *a = agent_of((struct host *)host);
	const struct run_start *r = a->start;
	struct profile_start *s = r ? profile_add(out, PROFILE_STARTS) : NULL;

	if (!s)
		return;
	*s = r->s;
	s->agent = host->transport ? (uint32_t)host->transport->rank : 0;
	if (a->form == FORM_STEP)
		s->whose = PROFILE_START_TASK;
	s->command = copy_of(s->command);
	s->directory = copy_of(s->directory);
	s->job = copy_of(s->job);
	s->tags = tags_of(host->conf);
	s->mpi = copy_of(host->mpi_library);
	s->changes = changes_of(host->conf);
	EACH(const struct profile_build, b, r->builds, r->n_builds) {
		*(struct profile_build *)profile_add(out, PROFILE_BUILDS) = (struct profile_build){
			xstrdup(b->path), xstrdup(b->id), xstrdup(b->compiler)};
	}
}

const struct process_observer run_start_observer = {.begin = begin_process, .gather = put_start};
