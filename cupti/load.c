/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUPTI is found when it is needed, as the program's own CUDA decides which one
 * fits: first beside the CUDA runtime that is loaded, then by the names that
 * the loader knows, then where toolkits are installed.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cupti/cupti.h"

#define PATH_BYTES 4096

struct cupti_library cupti;

static const struct {
	const char *name;
	void *to;
	bool needed;
} functions[] = {
	{"cuptiSubscribe", &cupti.subscribe, true},
	{"cuptiUnsubscribe", &cupti.unsubscribe, true},
	{"cuptiEnableDomain", &cupti.enable_domain, true},
	{"cuptiActivityRegisterCallbacks", &cupti.register_callbacks, true},
	{"cuptiActivityEnable", &cupti.enable, true},
	{"cuptiActivityGetNextRecord", &cupti.next, true},
	{"cuptiActivityGetNumDroppedRecords", &cupti.dropped, true},
	{"cuptiActivityFlushAll", &cupti.flush_all, true},
	{"cuptiGetTimestamp", &cupti.timestamp, true},
	{"cuptiEnableCallback", &cupti.enable_callback, false},
	{"cuptiGetCallbackName", &cupti.callback_name, false},
	{"cuptiActivityConfigureUnifiedMemoryCounter", &cupti.memory_config, false},
	{"cuptiGetVersion", &cupti.version, false},
	{"cuptiGetContextId", &cupti.context_id, false},
	{"cuptiGetStreamIdEx", &cupti.stream_id, false},
};

/* The newest first; with CUDA 11 the minor version is part of the name. */
static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8",
	"libcupti.so.11.7", "libcupti.so.11.6", "libcupti.so.11.5", "libcupti.so.11.4",
	"libcupti.so.11.3", "libcupti.so.11.2", "libcupti.so.11.1", "libcupti.so.11.0",
	"libcupti.so"};
#define NAMES (sizeof(names) / sizeof(names[0]))

/* Below the folder of the CUDA runtime: itself, a toolkit's, that of Python packages. */
static const char *const beside[] = {
	"", "/../extras/CUPTI/lib64", "/../../cuda_cupti/lib", "/../../../extras/CUPTI/lib64"};

static const char *const homes[] = {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"};

struct runtime {
	char folder[PATH_BYTES];
	int major; /* of the runtime's name, or 0 */
};

static int find_runtime(struct dl_phdr_info *info, size_t bytes, void *to)
{
	static const char library[] = "libcudart.so";
	struct runtime *r = to;
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	size_t n;

	(void)bytes;
	if (!slash || strncmp(slash + 1, library, sizeof(library) - 1))
		return 0;
	n = (size_t)(slash - info->dlpi_name);
	if (n >= sizeof(r->folder))
		return 0;
	memcpy(r->folder, info->dlpi_name, n);
	r->folder[n] = '\0';
	if (slash[sizeof(library)] == '.')
		r->major = atoi(slash + sizeof(library) + 1);
	return 1;
}

/* CUPTI of another major version than the runtime's is the last choice. */
static bool fits(const char *name, int major, bool strictly)
{
	static const char library[] = "libcupti.so.";

	if (strncmp(name, library, sizeof(library) - 1))
		return !strictly;
	return !strictly == !(atoi(name + sizeof(library) - 1) == major);
}

static void *try_folder(const char *folder, const char *below, int major)
{
	char path[PATH_BYTES];

	for (int strictly = major != 0; strictly >= 0; strictly--)
		for (size_t i = 0; i < NAMES; i++) {
			void *library;

			if (major && !fits(names[i], major, strictly))
				continue;
			if ((size_t)snprintf(path, sizeof(path), "%s%s%s%s", folder ? folder : "",
				    below, folder ? "/" : "", names[i]) >= sizeof(path))
				continue;
			library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
			if (library)
				return library;
		}
	return NULL;
}

static void *open_library(void)
{
	static struct runtime r;
	void *library = NULL;

	dl_iterate_phdr(find_runtime, &r);
	for (size_t i = 0; r.folder[0] && !library && i < sizeof(beside) / sizeof(beside[0]); i++)
		library = try_folder(r.folder, beside[i], r.major);
	if (!library)
		library = try_folder(NULL, "", r.major);
	for (size_t i = 0; !library && i < sizeof(homes) / sizeof(homes[0]); i++) {
		const char *home = getenv(homes[i]);

		if (!home || !home[0])
			continue;
		library = try_folder(home, "/extras/CUPTI/lib64", r.major);
		if (!library)
			library = try_folder(home, "/lib64", r.major);
	}
	return library ? library : try_folder("/usr/local/cuda", "/extras/CUPTI/lib64", r.major);
}

const char *cupti_load(void)
{
	static char text[160];
	void *library = open_library();

	if (!library)
		return "the program uses CUDA, but no libcupti was found, beside libcudart, by the "
		       "loader, or in CUDA_HOME: GPUs are not traced";
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *f = dlsym(library, functions[i].name);

		if (!f && functions[i].needed) {
			snprintf(text, sizeof(text),
				"the libcupti that was found has no function %s: GPUs are not "
				"traced (set CUDA_HOME to the program's CUDA)",
				functions[i].name);
			return text;
		}
		memcpy(functions[i].to, &f, sizeof(f));
	}
	return NULL;
}
