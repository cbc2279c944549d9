/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/process/counter/events.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "nodeagent/base/util.h"

#define DEVICES	   "/sys/bus/event_source/devices"
#define TEXT_BYTES 256

struct named {
	const char *name;
	uint32_t type;
	uint64_t config;
};

#define HARDWARE(name, id)                                                                         \
	{                                                                                          \
		name, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##id                                       \
	}
#define SOFTWARE(name, id)                                                                         \
	{                                                                                          \
		name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##id                                       \
	}

static const struct named events[] = {
	HARDWARE("cycles", CPU_CYCLES),
	HARDWARE("cpu-cycles", CPU_CYCLES),
	HARDWARE("instructions", INSTRUCTIONS),
	HARDWARE("cache-references", CACHE_REFERENCES),
	HARDWARE("cache-misses", CACHE_MISSES),
	HARDWARE("branches", BRANCH_INSTRUCTIONS),
	HARDWARE("branch-instructions", BRANCH_INSTRUCTIONS),
	HARDWARE("branch-misses", BRANCH_MISSES),
	HARDWARE("bus-cycles", BUS_CYCLES),
	HARDWARE("ref-cycles", REF_CPU_CYCLES),
	HARDWARE("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND),
	HARDWARE("stalled-cycles-backend", STALLED_CYCLES_BACKEND),
	SOFTWARE("cpu-clock", CPU_CLOCK),
	SOFTWARE("task-clock", TASK_CLOCK),
	SOFTWARE("page-faults", PAGE_FAULTS),
	SOFTWARE("faults", PAGE_FAULTS),
	SOFTWARE("minor-faults", PAGE_FAULTS_MIN),
	SOFTWARE("major-faults", PAGE_FAULTS_MAJ),
	SOFTWARE("context-switches", CONTEXT_SWITCHES),
	SOFTWARE("cs", CONTEXT_SWITCHES),
	SOFTWARE("cpu-migrations", CPU_MIGRATIONS),
	SOFTWARE("migrations", CPU_MIGRATIONS),
	SOFTWARE("alignment-faults", ALIGNMENT_FAULTS),
	SOFTWARE("emulation-faults", EMULATION_FAULTS),
};

/* CACHE-OPERATIONs and CACHE-OPERATION-misses */
static const struct {
	const char *name;
	uint32_t id;
} caches[] =
	{
		{"L1-dcache", PERF_COUNT_HW_CACHE_L1D},
		{"L1-icache", PERF_COUNT_HW_CACHE_L1I},
		{"LLC", PERF_COUNT_HW_CACHE_LL},
		{"dTLB", PERF_COUNT_HW_CACHE_DTLB},
		{"iTLB", PERF_COUNT_HW_CACHE_ITLB},
		{"branch", PERF_COUNT_HW_CACHE_BPU},
		{"node", PERF_COUNT_HW_CACHE_NODE},
},
  operations[] =
	  {
		  {"load", PERF_COUNT_HW_CACHE_OP_READ},
		  {"store", PERF_COUNT_HW_CACHE_OP_WRITE},
		  {"prefetch", PERF_COUNT_HW_CACHE_OP_PREFETCH},
},
  results[] = {
	  {"s", PERF_COUNT_HW_CACHE_RESULT_ACCESS},
	  {"es", PERF_COUNT_HW_CACHE_RESULT_ACCESS},
	  {"-misses", PERF_COUNT_HW_CACHE_RESULT_MISS},
};

static const char *const io_lines[COUNTER_IO_LINES] = {
	"rchar",
	"wchar",
	"syscr",
	"syscw",
	"read_bytes",
	"write_bytes",
	"cancelled_write_bytes",
};

static const char *const rusage_lines[COUNTER_RUSAGE_LINES] = {
	[RUSAGE_MAXRSS] = "maxrss",
	[RUSAGE_UTIME] = "utime",
	[RUSAGE_STIME] = "stime",
	[RUSAGE_MINFLT] = "minflt",
	[RUSAGE_MAJFLT] = "majflt",
	[RUSAGE_NVCSW] = "nvcsw",
	[RUSAGE_NIVCSW] = "nivcsw",
	[RUSAGE_INBLOCK] = "inblock",
	[RUSAGE_OUBLOCK] = "oublock",
};

static bool find_cache(const char *name, struct counter_shm *to)
{
	char text[TEXT_BYTES];

	for (size_t c = 0; c < ARRAY_SIZE(caches); c++)
		for (size_t o = 0; o < ARRAY_SIZE(operations); o++)
			for (size_t r = 0; r < ARRAY_SIZE(results); r++) {
				snprintf(text, sizeof(text), "%s-%s%s", caches[c].name,
					operations[o].name, results[r].name);
				if (strcmp(text, name))
					continue;
				to->type = PERF_TYPE_HW_CACHE;
				to->config =
					caches[c].id | operations[o].id << 8 | results[r].id << 16;
				return true;
			}
	return false;
}

static bool find_named(const char *name, struct counter_shm *to)
{
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		if (!strcmp(events[i].name, name)) {
			to->type = events[i].type;
			to->config = events[i].config;
			return true;
		}
	return find_cache(name, to);
}

static bool read_number(const char *text, int base, uint64_t *to)
{
	char *end;

	errno = 0;
	*to = strtoull(text, &end, base);
	return *text != '-' && *text && !*end && !errno;
}

/* ---- PMU/TERM=VALUE,.../ by what the kernel says of the PMU ----------------------- */

/* Reads a line of DEVICES/PMU/FOLDER/NAME. */
static bool read_line(const char *pmu, const char *folder, const char *name, char text[TEXT_BYTES])
{
	char *path;
	FILE *f;
	bool got;

	if (strchr(pmu, '/') || strchr(name, '/') || !strcmp(pmu, "..") || !strcmp(name, ".."))
		return false;
	path = xasprintf(DEVICES "/%s/%s/%s", pmu, folder, name);
	f = fopen(path, "re");
	free(path);
	if (!f)
		return false;
	got = fgets(text, TEXT_BYTES, f) != NULL;
	fclose(f);
	if (got)
		text[strcspn(text, "\n")] = '\0';
	return got;
}

/* Puts the bits of value where "config1:0-7,32-35" says. */
static bool place_bits(const char *format, uint64_t value, struct counter_shm *to)
{
	static const struct {
		const char *name;
		size_t offset;
	} words[] = {
		{"config:", offsetof(struct counter_shm, config)},
		{"config1:", offsetof(struct counter_shm, config1)},
		{"config2:", offsetof(struct counter_shm, config2)},
	};
	uint64_t *word = NULL;
	const char *at = format;

	for (size_t i = 0; i < ARRAY_SIZE(words) && !word; i++)
		if (!strncmp(format, words[i].name, strlen(words[i].name))) {
			word = (uint64_t *)(void *)((char *)to + words[i].offset);
			at = format + strlen(words[i].name);
		}
	while (word && *at) {
		char *end;
		unsigned long low = strtoul(at, &end, 10), high = low;

		if (end == at)
			return false;
		if (*end == '-')
			high = strtoul(end + 1, &end, 10);
		for (unsigned long bit = low; bit <= high && bit < 64; bit++, value >>= 1)
			*word |= (value & 1) << bit;
		at = *end == ',' ? end + 1 : end;
		if (*end && *end != ',')
			return false;
	}
	return word && !value; /* no bit is left over */
}

static int terms(const char *pmu, char *text, struct counter_shm *to, int depth, char **why)
{
	char *save, line[TEXT_BYTES];

	for (char *t = strtok_r(text, ",", &save); t; t = strtok_r(NULL, ",", &save)) {
		char *equals = strchr(t, '=');
		uint64_t value = 1;

		if (equals) {
			*equals = '\0';
			if (!read_number(equals + 1, 0, &value)) {
				*why = xasprintf("\"%s\" is not a number", equals + 1);
				return -1;
			}
		}
		if (!equals && depth && read_line(pmu, "events", t, line)) {
			if (terms(pmu, line, to, depth - 1, why))
				return -1;
			continue;
		}
		if (read_line(pmu, "format", t, line)
				? place_bits(line, value, to)
				: !strcmp(t, "config") && (to->config = value, true))
			continue;
		*why = xasprintf(
			"\"%s\" is no event or term of %s, or its value is too large", t, pmu);
		return -1;
	}
	return 0;
}

static int find_pmu(const char *name, struct counter_shm *to, char **why)
{
	char text[TEXT_BYTES], type[TEXT_BYTES], *slash;
	uint64_t n;

	snprintf(text, sizeof(text), "%s", name);
	slash = strchr(text, '/');
	*slash++ = '\0';
	slash[strcspn(slash, "/")] = '\0';
	if (!text[0] || !read_line(text, ".", "type", type) || !read_number(type, 10, &n) ||
		n > UINT32_MAX) {
		*why = xasprintf("this machine has no \"%s\"", text);
		return -1;
	}
	to->type = (uint32_t)n;
	return terms(text, slash, to, 1, why);
}

/* ---- all --------------------------------------------------------------------------- */

/* Cuts ":u", ":k", ":uk" off. */
static uint32_t modifiers(char *name)
{
	char *colon = strrchr(name, ':');
	size_t n = colon ? strspn(colon + 1, "uk") : 0;
	bool user, kernel;

	if (!n || colon[1 + n])
		return 0;
	user = strchr(colon, 'u');
	kernel = strchr(colon, 'k');
	*colon = '\0';
	return (user ? COUNTER_USER : 0) | (kernel ? COUNTER_KERNEL : 0);
}

int counter_event(const char *name, struct counter_shm *to, char **why)
{
	char text[TEXT_BYTES];
	uint32_t flags;
	bool found;

	*why = NULL;
	if (strlen(name) >= sizeof(text)) {
		*why = xstrdup("its name is too long");
		return -1;
	}
	strcpy(text, name);
	flags = modifiers(text);
	to->source = COUNTER_PERF;
	if (strchr(text, '/'))
		found = !find_pmu(text, to, why);
	else if (text[0] == 'r' && read_number(text + 1, 16, &to->config))
		found = (to->type = PERF_TYPE_RAW, true);
	else
		found = find_named(text, to);
	if (!found && !*why)
		*why = xstrdup("no such event");
	if (!found)
		return -1;
	if (to->type == PERF_TYPE_HARDWARE || to->type == PERF_TYPE_HW_CACHE ||
		to->type == PERF_TYPE_RAW || !strncmp(text, "cpu", 3))
		flags = flags ? flags : COUNTER_USER;
	/* both is no restriction; nor do the others know any */
	to->flags = flags == (COUNTER_USER | COUNTER_KERNEL) || to->type == PERF_TYPE_SOFTWARE
			    ? 0
			    : flags;
	return 0;
}

int counter_io(const char *name, struct counter_shm *to)
{
	static const struct {
		const char *name;
		uint32_t line;
	} others[] = {{"READ_BYTES", 0}, {"WRITE_BYTES", 1}}; /* as PAPI has them */

	to->source = COUNTER_IO;
	for (uint32_t i = 0; i < COUNTER_IO_LINES; i++)
		if (!strncmp(name, "io:", 3) && !strcmp(name + 3, io_lines[i])) {
			to->config = i;
			return 0;
		}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (!strcmp(name, others[i].name)) {
			to->config = others[i].line;
			return 0;
		}
	return -1;
}

int counter_rusage(const char *name, struct counter_shm *to)
{
	static const char prefix[] = "rusage:";

	for (uint32_t i = 0; i < COUNTER_RUSAGE_LINES; i++)
		if (!strncmp(name, prefix, sizeof(prefix) - 1) &&
			!strcmp(name + sizeof(prefix) - 1, rusage_lines[i])) {
			to->source = COUNTER_RUSAGE;
			to->config = i;
			return 0;
		}
	return -1;
}

static int try_event(const struct counter_shm *event)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = event->type,
		.config = event->config,
		.config1 = event->config1,
		.config2 = event->config2,
		.exclude_kernel = (event->flags & COUNTER_USER) != 0,
		.exclude_user = (event->flags & COUNTER_KERNEL) != 0,
		.exclude_hv = event->flags != 0,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* The others are events of the kernel alone: without it they would be 0. */
static bool happens_in_user_mode(const struct counter_shm *event)
{
	if (event->type != PERF_TYPE_SOFTWARE)
		return event->type != PERF_TYPE_TRACEPOINT;
	switch (event->config) {
	case PERF_COUNT_SW_CPU_CLOCK:
	case PERF_COUNT_SW_TASK_CLOCK:
	case PERF_COUNT_SW_PAGE_FAULTS:
	case PERF_COUNT_SW_PAGE_FAULTS_MIN:
	case PERF_COUNT_SW_PAGE_FAULTS_MAJ:
	case PERF_COUNT_SW_ALIGNMENT_FAULTS:
	case PERF_COUNT_SW_EMULATION_FAULTS:
		return true;
	default:
		return false;
	}
}

int counter_event_allow(struct counter_shm *event, bool *user_only)
{
	struct counter_shm user = *event;
	int error = try_event(event);

	user.flags |= COUNTER_USER;
	*user_only = (error == -EACCES || error == -EPERM) && !event->flags &&
		     happens_in_user_mode(event) && !try_event(&user);
	if (!*user_only)
		return error;
	*event = user;
	return 0;
}

const char *counter_error(int error)
{
	switch (-error) {
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		return "this machine cannot count it";
	case EACCES:
	case EPERM:
		return "not allowed here: see /proc/sys/kernel/perf_event_paranoid";
	case EMFILE:
	case EINVAL:
		return error == -EMFILE ? "too many open files" : "the kernel does not accept it";
	case ELIBACC:
		return "there is no libpapi.so";
	case ENOSYS:
		return "the kernel or PAPI is too old";
	case EPROTO:
		return "PAPI does not start";
	case ECHILD:
		return "PAPI does not count in children of fork";
	default:
		return strerror(-error);
	}
}
