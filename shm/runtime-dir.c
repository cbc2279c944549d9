/* SPDX-License-Identifier: BSD-3-Clause */
#include "shm/runtime-dir.h"
#include "shm/system.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { XDG, TMP, RUN, SHM, HOME, PLACES };

static const char *set_in(const char *variable)
{
	const char *value = getenv(variable);

	return value && value[0] ? value : NULL;
}

/* Writes a candidate; its length as of snprintf(), or -1: there is no such place. */
static int name(char *out, size_t bytes, int place)
{
	unsigned user = (unsigned)getuid();
	char host[256] = "localhost";
	const char *dir;

	switch (place) {
	case XDG:
		dir = set_in("XDG_RUNTIME_DIR");
		return dir ? snprintf(out, bytes, "%s/vftr", dir) : -1;
	case TMP:
		return snprintf(out, bytes, "/tmp/vftr-%u", user);
	case RUN:
		return snprintf(out, bytes, "/run/user/%u/vftr", user);
	case SHM:
		return snprintf(out, bytes, "/dev/shm/vftr-%u", user);
	default:
		dir = set_in("HOME");
		gethostname(host, sizeof(host) - 1);
		return dir && !strchr(host, '/') ? snprintf(out, bytes, "%s/.vftr-%s", dir, host)
						 : -1;
	}
}

static bool can_be_had(char *path)
{
	char *slash = strrchr(path, '/');
	struct stat st;
	bool can;

	if (!sys_lstat(path, &st))
		return st.st_uid == geteuid();
	if (errno != ENOENT || !slash || slash == path)
		return false;
	*slash = '\0'; /* a copy of the parent's name would need 4 KiB of stack */
	can = !faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS);
	*slash = '/';
	return can;
}

int vftr_runtime_dir(char *out, char *passed, size_t bytes)
{
	const char *named = set_in("VFTR_RUNTIME_DIR");
	int n, first = set_in("XDG_RUNTIME_DIR") ? XDG : TMP;

	if (passed)
		passed[0] = '\0';
	if (named) {
		n = snprintf(out, bytes, "%s", named);
		return n > 0 && (size_t)n < bytes ? 0 : -ENAMETOOLONG;
	}
	for (int place = first; place < PLACES; place++) {
		n = name(out, bytes, place);
		if (n > 0 && (size_t)n < bytes && can_be_had(out)) {
			if (passed && place != first)
				name(passed, bytes, first);
			return 0;
		}
	}
	n = name(out, bytes, first);
	return n > 0 && (size_t)n < bytes ? 0 : -ENAMETOOLONG;
}
