/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of `vftr doctor` that does not look at the program. */
#include "nodeagent/doctor/doctor.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include "conf/conf.h"
#include "nodeagent/base/runtime-dir.h"
#include "nodeagent/base/util.h"
#include "nodeagent/stack/events.h"

#define AGENT "vftr-node-agent"

const char *doctor_off(void)
{
	static const char *const yes[] = {"1", "yes", "on", "true"};
	const char *off = getenv("VFTR_OFF");

	return off && ANY(i, ARRAY_SIZE(yes), !strcasecmp(off, yes[i])) ? off : NULL;
}

static void look_at_switch(struct diagnosis *d)
{
	const char *off = doctor_off();

	if (!off)
		return;
	diagnose(d, FINDING_NO, "VFTR_OFF=%s is set: nothing will be recorded", off);
	diagnose(d, FINDING_DO, "unset VFTR_OFF");
}

static void look_at_config(struct diagnosis *d, const char *file)
{
	struct conf *c = conf_default();
	char *error = NULL;

	if (c && conf_assign_all(c, getenv("VFTR_SET"), &error)) {
		diagnose(d, FINDING_NO, "%s", error ? error : "out of memory");
		diagnose(d, FINDING_DO, "correct the variable, or unset it");
	} else if (c && c->off) {
		diagnose(d, FINDING_NO, "VFTR_SET says off=true: nothing will be recorded");
		diagnose(d, FINDING_DO, "unset VFTR_SET");
	}
	free(error);
	error = NULL;
	conf_free(c);
	c = NULL;
	if (!file)
		file = getenv("VFTR_CONFIG");
	if (!file || !*file)
		return;
	if (conf_load(&c, file, &error, &(struct conf_reading){0})) {
		diagnose(d, FINDING_NO, "configuration: %s", error ? error : "out of memory");
		diagnose(d, FINDING_DO, "correct it; `vftr config check %s' repeats this check",
			file);
	} else if (c->off) {
		diagnose(d, FINDING_NO, "%s says \"off\": true", file);
		diagnose(d, FINDING_DO, "remove that line");
	} else {
		diagnose(d, FINDING_OK, "configuration %s has no errors", file);
	}
	free(error);
	conf_free(c);
}

/* dirname(of)/relative, if it can be executed. The caller frees. */
static char *beside(const char *of, const char *relative)
{
	const char *slash = strrchr(of, '/');
	char *path, real[PATH_MAX];

	if (!slash)
		return NULL;
	path = xasprintf("%.*s/%s", (int)(slash - of), of, relative);
	if (doctor_is_program(path)) {
		if (realpath(path, real)) {
			free(path);
			path = xstrdup(real);
		}
		return path;
	}
	free(path);
	return NULL;
}

static void look_for_agent(struct diagnosis *d, const char *library)
{
	const char *named = getenv("VFTR_AGENT");
	char self[PATH_MAX], *path = NULL;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (named && !strcmp(named, "off")) {
		diagnose(d, FINDING_NOTE,
			"VFTR_AGENT=off: it is traced only if an agent is already there");
		return;
	}
	if (named && *named && !doctor_is_program(named)) {
		diagnose(d, FINDING_NO, "VFTR_AGENT=%s cannot be executed", named);
		diagnose(d, FINDING_DO, "set it to the path of %s, or unset it", AGENT);
		return;
	}
	self[n > 0 ? n : 0] = 0;
	if (named && *named)
		path = xstrdup(named);
	if (!path && library)
		path = beside(library, "../bin/" AGENT);
	if (!path)
		path = beside(self, AGENT);
	if (path) {
		diagnose(d, FINDING_OK, "the node agent is %s", path);
	} else {
		diagnose(d, FINDING_NO,
			"the node agent is neither beside this tool nor in ../bin of "
			"the library");
		diagnose(d, FINDING_DO, "set VFTR_AGENT to the path of %s", AGENT);
	}
	free(path);
}

static void look_at_runtime_directory(struct diagnosis *d)
{
	char *error = NULL, *dir = runtime_directory(&error);

	if (dir) {
		diagnose(d, FINDING_OK, "the runtime directory %s is ours alone", dir);
	} else {
		diagnose(d, FINDING_NO, "%s", error ? error : "no runtime directory");
		diagnose(
			d, FINDING_DO, "set VFTR_RUNTIME_DIR to a directory of yours of mode 0700");
	}
	free(error);
	free(dir);
}

static void look_at_kernel(struct diagnosis *d)
{
	int fd = memfd_create("vftr-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK)) {
		diagnose(d, FINDING_NO, "the kernel refuses shared memory by memfd_create: %m");
		diagnose(d, FINDING_DO, "allow memfd_create in the container's seccomp profile");
	}
	if (fd >= 0)
		close(fd);
}

static void look_at_samples(struct diagnosis *d)
{
	const int error = stack_events_refused();
	char *why = error ? stack_events_why(error) : NULL;

	if (error)
		diagnose(d, FINDING_NOTE,
			"the kernel allows no stack samples (%s): with profile.sample_by=auto "
			"timers "
			"in the program take them, see vftr-stack(7)",
			why ? why : strerror(error));
	free(why);
}

void diagnose_host(struct diagnosis *d, const char *library, const char *config)
{
	look_at_switch(d);
	look_at_config(d, config);
	look_for_agent(d, library);
	look_at_runtime_directory(d);
	look_at_kernel(d);
	look_at_samples(d);
}
