/* SPDX-License-Identifier: BSD-3-Clause */
#include "libhook/patience.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "libhook/process.h"
#include "shm/system.h"

#define DEFAULT_NS	30000000000u
#define ATTACHED_NS	1000000000u /* where another has given up, or the program is to end */
#define NOT_ATTACHED_NS 10000000u
#define DIRECTORY_BYTES 256

static char place[DIRECTORY_BYTES + 128]; /* DIRECTORY/SESSION */
static char hung[sizeof(place) + 8]; /* that and .hung, made once: who waits has little stack */
static uint32_t in_a_hurry;	     /* it was not the agent that took too long */
static char agent[24];		     /* its process, or empty: not known */

/* The mark is that of this agent, not of an earlier one. */
static bool marked(void)
{
	char whose[sizeof(agent)];
	ssize_t n;

	if (!agent[0])
		return false;
	n = sys_readlink(hung, whose, sizeof(whose));
	return n > 0 && (size_t)n == strlen(agent) && !memcmp(whose, agent, (size_t)n);
}

void vftr_patience_of(const char *directory, const char *session)
{
	char path[sizeof(place) + 8], text[64];
	ssize_t n = -1;
	size_t digits;
	int fd;

	snprintf(place, sizeof(place), "%s/%s", directory, session);
	snprintf(hung, sizeof(hung), "%s.hung", place);
	snprintf(path, sizeof(path), "%s.lock", place);
	fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd >= 0) {
		n = sys_read(fd, text, sizeof(text) - 1);
		sys_close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
	digits = strspn(text, "0123456789");
	if (digits >= sizeof(agent))
		digits = 0;
	memcpy(agent, text, digits);
	agent[digits] = '\0';
	if (text[digits] == '\n' && text[digits + 1] > '0' && text[digits + 1] <= '9')
		vftr_process.block_most_ns = strtoull(text + digits + 1, NULL, 10) * 1000000;
}

uint32_t vftr_patience_slice(void)
{
	return marked() ? NOT_ATTACHED_NS : PATIENCE_SLICE_NS;
}

void vftr_patience_begin(struct patience *p)
{
	p->last_ns = clock_raw_ns();
	p->waited_ns = 0;
}

bool vftr_patience_left(struct patience *p)
{
	const bool attached = load_acquire(&vftr_process.state) == PROCESS_ON;
	const uint64_t soon = attached ? ATTACHED_NS : NOT_ATTACHED_NS;
	uint64_t now = clock_raw_ns(), step = now - p->last_ns, most = vftr_process.block_most_ns;

	p->last_ns = now;
	p->waited_ns += step < 2 * PATIENCE_SLICE_NS ? step : 2 * PATIENCE_SLICE_NS;
	if (load_acquire(&vftr_process.state) == PROCESS_OFF)
		return false; /* another thread has given up */
	if (!most)
		most = DEFAULT_NS;
	if (p->waited_ns >= soon && p->waited_ns < most && marked())
		most = soon;
	if (p->waited_ns >= ATTACHED_NS && p->waited_ns < most && vftr_process_is_to_end()) {
		store_relaxed(&in_a_hurry, 1);
		most = ATTACHED_NS;
	}
	return p->waited_ns < most;
}

bool vftr_patience_over(void)
{
	if (!agent[0] || load_relaxed(&in_a_hurry))
		return false;
	/* all of a job come at one moment: who has made it is the one */
	if (!sys_symlink(agent, hung))
		return true;
	if (errno != EEXIST || marked())
		return false;
	sys_unlink(hung); /* of an earlier agent */
	return !sys_symlink(agent, hung);
}

void vftr_patience_over_unseen(void)
{
	char path[sizeof(place) + 32];

	snprintf(path, sizeof(path), "%s.lost-%d", place, (int)getpid());
	if (sys_symlink(agent[0] ? agent : "unknown", path))
		return;
}
