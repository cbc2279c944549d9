/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/base/machine.h"

#include <fcntl.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "nodeagent/base/util.h"

#define FIRST_CPU  4096 /* bytes of /proc/cpuinfo that say what the first CPU is */
#define MODEL_MOST 200

/* The keys of one architecture or another, the best one first. */
static const char *const model_keys[] = {
	"model name", "Model Name", "cpu model", "cpu", "Hardware", "uarch", "CPU part"};

/* What stands behind the colon of the line, without blanks, or NULL if its key is another one. */
static char *value_of_line(const char *line, const char *key)
{
	const size_t n = strlen(key);
	size_t bytes;

	if (strncmp(line, key, n))
		return NULL;
	line += n + strspn(line + n, " \t");
	if (*line != ':')
		return NULL;
	line += 1 + strspn(line + 1, " \t");
	bytes = strcspn(line, "\n");
	while (bytes && strchr(" \t", line[bytes - 1]))
		bytes--;
	if (bytes > MODEL_MOST)
		bytes = MODEL_MOST;
	return bytes ? xasprintf("%.*s", (int)bytes, line) : NULL;
}

static char *value_of_key(const char *text, const char *key)
{
	char *value = NULL;

	while (!value && *text) {
		value = value_of_line(text, key);
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return value;
}

char *machine_cpu_model(const char *cpuinfo)
{
	char *model = NULL;

	for (size_t i = 0; !model && i < ARRAY_SIZE(model_keys); i++)
		model = value_of_key(cpuinfo, model_keys[i]);
	return model;
}

struct machine machine_read(void)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES);
	const int fd = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
	char text[FIRST_CPU + 1];
	struct utsname name;
	struct machine m = {.cpus = cpus > 0 ? (uint32_t)cpus : 0};

	text[fd >= 0 ? read_at(fd, text, FIRST_CPU, 0) : 0] = '\0';
	if (fd >= 0)
		close(fd);
	m.cpu_model = machine_cpu_model(text);
	if (!uname(&name))
		m.kernel = xasprintf("%s %s", name.sysname, name.release);
	if (pages > 0)
		m.memory_bytes = (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
	return m;
}
