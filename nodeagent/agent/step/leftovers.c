/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files of steps that were refused or killed: the list of their tasks, which other tasks may have
 * had to read, and the socket and the lock of an agent that was killed. A step begins with them if
 * none of the tasks lives, nobody has the lock, and some time has passed, as a task is in the list
 * before there is a lock.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "nodeagent/agent/step/internal.h"
#include "nodeagent/base/util.h"

#define TASKS "tasks"
#define OLD_S 60 /* more than an agent takes to begin */

static bool is_old(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	       time(NULL) - st.st_mtime > OLD_S;
}

static bool somebody_lives(FILE *list)
{
	char line[64];
	int pid;

	while (fgets(line, sizeof(line), list))
		if (sscanf(line, "%d", &pid) == 1 && pid > 0 && (!kill(pid, 0) || errno != ESRCH))
			return true;
	return false;
}

static bool is_dead(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	FILE *f = fd >= 0 && is_old(fd) ? fdopen(fd, "r") : NULL;
	const bool dead = f && !somebody_lives(f);

	if (f)
		fclose(f);
	else if (fd >= 0)
		close(fd);
	return dead;
}

/* stem: "step-ID." */
static void remove_all(int dir, const char *stem)
{
	static const char *const ends[] = {TASKS, "first", "sock", "lock"};
	char *lock = xasprintf("%slock", stem);
	int fd = openat(dir, lock, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0 ? errno == ENOENT : !flock(fd, LOCK_EX | LOCK_NB))
		for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
			char *name = xasprintf("%s%s", stem, ends[i]);

			unlinkat(dir, name, 0);
			free(name);
		}
	if (fd >= 0)
		close(fd);
	free(lock);
}

void in_step_sweep(const char *runtime_dir)
{
	DIR *d = opendir(runtime_dir);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (!strncmp(e->d_name, "step-", 5) && text_ends_with(e->d_name, "." TASKS) &&
			is_dead(dirfd(d), e->d_name)) {
			char *stem = xstrdup(e->d_name);

			stem[strlen(stem) - strlen(TASKS)] = '\0';
			remove_all(dirfd(d), stem);
			free(stem);
		}
	if (d)
		closedir(d);
}
