/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/results/folder-lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "nodeagent/base/util.h"
#include "nodeagent/net/transport.h"

#define LOCK_S	      30
#define PAUSE_FIRST_S 0.01
#define PAUSE_MOST_S  0.5
#define PAUSE_GROWS   1.25

/* When a file in the folder got a name, or lost one; zeros: not known. */
static struct timespec changed_at(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? (struct timespec){0} : st.st_mtim;
}

/* Some hundred agents may ask, each of which has the lock for milliseconds: who has waited for long
 * asks seldom, and leaves the processors to those that write. */
static bool lock_within(int fd, double seconds)
{
	const double until = transport_now() + seconds;

	for (double pause = PAUSE_FIRST_S;; pause *= PAUSE_GROWS) {
		if (!flock(fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
			return true;
		if (transport_now() >= until)
			return false;
		pause = pause < PAUSE_MOST_S ? pause : PAUSE_MOST_S;
		nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * pause)}, NULL);
	}
}

/* Agents of this run, which are siblings: each has the lock for a short while. */
static bool others_work(int fd, bool siblings, struct timespec before)
{
	const struct timespec now = changed_at(fd);

	return siblings && (now.tv_sec != before.tv_sec || now.tv_nsec != before.tv_nsec);
}

int folder_lock(const char *folder, bool siblings)
{
	const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct timespec before;

	if (fd < 0)
		return fd;
	before = changed_at(fd);
	if (!lock_within(fd, LOCK_S) && !others_work(fd, siblings, before))
		complain("%s: another run has been writing its results there for %d s: no longer "
			 "waited for",
			folder, LOCK_S);
	return fd;
}
