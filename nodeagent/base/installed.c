/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/base/installed.h"

#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nodeagent/base/util.h"

/* Below the prefix, or absolute; patterns of glob(). VFTR_LIB and VFTR_MODULES: of this build. */
static const char *const library_folders[] = {"lib", VFTR_LIB, "lib64", "lib/*-linux-gnu*"};
static const char *const module_folders[] = {"include", VFTR_MODULES};

/* The folder's name without what follows its last slash, in place. */
static void cut_last(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash)
		*(slash == path ? slash + 1 : slash) = 0;
}

char *installed_prefix(void)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n <= 0)
		return NULL;
	self[n] = 0;
	cut_last(self);
	cut_last(self);
	return xstrdup(self);
}

/* What glob() takes for a pattern is a plain letter in the name of the prefix. */
static char *quoted(const char *prefix)
{
	char *out = xmalloc(2 * strlen(prefix) + 1), *p = out;

	for (; *prefix; prefix++) {
		if (strchr("*?[]\\", *prefix))
			*p++ = '\\';
		*p++ = *prefix;
	}
	*p = 0;
	return out;
}

static char *first_folder(
	const char *prefix, const char *const *folders, size_t n, const char *name)
{
	char *before = quoted(prefix), *found = NULL;

	for (size_t i = 0; i < n && !found; i++) {
		bool absolute = folders[i][0] == '/';
		char *pattern = xasprintf(
			"%s%s%s/%s", absolute ? "" : before, absolute ? "" : "/", folders[i], name);
		glob_t matches;

		if (!glob(pattern, 0, NULL, &matches)) {
			found = xstrdup(matches.gl_pathv[0]);
			cut_last(found);
			globfree(&matches);
		}
		free(pattern);
	}
	free(before);
	return found;
}

char *installed_library_folder(const char *prefix, const char *name)
{
	return first_folder(prefix, library_folders, ARRAY_SIZE(library_folders), name);
}

char *installed_module_folder(const char *prefix, const char *name)
{
	char *file = xasprintf("%s.mod", name);
	char *found = first_folder(prefix, module_folders, ARRAY_SIZE(module_folders), file);

	free(file);
	return found;
}
