/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/base/runtime-dir.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "nodeagent/base/util.h"
#include "shm/runtime-dir.h"

char *runtime_directory(char **error)
{
	char dir[PATH_MAX], passed[PATH_MAX];
	const char *why;
	static bool said;
	struct stat st;

	*error = NULL;
	if (vftr_runtime_dir(dir, passed, sizeof(dir)))
		why = strerror(ENAMETOOLONG);
	else
		why = not_own_folder(dir);
	if (why) {
		*error = xasprintf("runtime directory %s: %s", dir, why);
		return NULL;
	}
	if (passed[0] && !said && !lstat(passed, &st) && st.st_uid != geteuid())
		complain("%s belongs to another user (uid %u); %s is used instead", passed,
			(unsigned)st.st_uid, dir);
	else if (passed[0] && !said)
		complain("there can be no %s; %s is used instead", passed, dir);
	said |= passed[0];
	return xstrdup(dir);
}
