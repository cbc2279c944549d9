/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agent's side of the in-step form. A node is done when all of its tasks have ended:
 * they are in a list, and the kernel tells the end of each. The parent is asked to wait for
 * the files. Where COMMAND has failed, and other tasks run, the launcher has to know: the
 * parent is let go as soon as what is known so far is in files.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conf/conf.h"
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/net/ending.h"
#include "nodeagent/agent/step/internal.h"
#include "nodeagent/agent/step/in-step.h"
#include "nodeagent/profile/merge.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/base/util.h"

#define LOOK_S	   0.05 /* at the list, until all are in it */
#define SLOW_S	   1.0
#define MORE_S	   10 /* we say so twice a second that we are there */
#define BEAT_S	   0.5
#define SETTLE_S   0.3	/* for tasks, where nobody says how many there are */
#define PATIENCE_S 10.0 /* ... and where somebody does and they do not come */
#define HOLD_S	   5.0	/* a launcher that watches its tasks is not kept longer */
#define FAILED_S   3.0	/* ... nor any other, where COMMAND has failed */
#define HURRY_S	   8.0	/* after SIGTERM, SIGKILL follows */

static double since(uint64_t raw_ns)
{
	return raw_ns ? 1e-9 * (double)(clock_raw_ns() - raw_ns) : 0;
}

static void tell_parent(struct in_step *s, int kind, int value)
{
	const struct in_step_message m = {kind, value};

	if (s->link >= 0)
		send(s->link, &m, sizeof(m), MSG_NOSIGNAL | MSG_DONTWAIT);
}

int in_step_link(const struct agent *a)
{
	return a->step->link;
}

void in_step_ready(struct agent *a, void (*save)(struct agent *a, bool wait))
{
	struct in_step *s = a->step;

	s->ready_at = clock_raw_ns();
	s->save = save;
	tell_parent(s, IN_STEP_READY, 0);
}

/* ---- the tasks of this node --------------------------------------------------- */

static void add_task(struct agent *a, int pid, int rank)
{
	struct in_step *s = a->step;
	struct task *t;

	t = LIST_ADD(s, tasks);
	*t = (struct task){.pid = pid, .rank = rank, .pidfd = -1};
	if (pid == s->parent) /* tells us more than its end */
		return;
	t->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (t->pidfd >= 0)
		host_watch(&a->host, t->pidfd, WATCH_STEP, NULL);
	else
		t->ended = errno == ESRCH;
}

static void read_list(struct agent *a)
{
	struct in_step *s = a->step;
	int fd = open(s->list, O_RDONLY | O_CLOEXEC), pid, rank;
	FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;
	char line[64];

	if (!f)
		return;
	fseek(f, s->list_read, SEEK_SET);
	while (fgets(line, sizeof(line), f) && strchr(line, '\n')) {
		if (sscanf(line, "%d %d", &pid, &rank) == 2)
			add_task(a, pid, rank);
		s->list_read = ftell(f);
	}
	fclose(f);
	s->complete = s->step.local_size >= 0 && s->n_tasks >= (size_t)s->step.local_size;
}

static void see_ends(struct agent *a)
{
	struct in_step *s = a->step;

	EACH(struct task, t, s->tasks, s->n_tasks) {
		struct pollfd p = {t->pidfd, POLLIN, 0};

		if (t->ended)
			continue;
		if (t->pid == s->parent)
			t->ended = s->own_ended;
		else if (t->pidfd >= 0)
			t->ended = poll(&p, 1, 0) == 1;
		else
			t->ended = kill(t->pid, 0) && errno == ESRCH;
		if (t->ended)
			host_close(&a->host, &t->pidfd);
	}
}

static bool others_run(const struct in_step *s)
{
	return ANY(i, s->n_tasks, !s->tasks[i].ended);
}

/* Whether all that there will be have ended. */
static bool all_ended(struct in_step *s)
{
	if (others_run(s)) {
		s->all_ended_at = 0;
		return false;
	}
	if (!s->all_ended_at)
		s->all_ended_at = clock_raw_ns();
	if (s->complete)
		return true;
	return since(s->all_ended_at) > (s->step.local_size < 0 ? SETTLE_S : PATIENCE_S);
}

/* ---- the parent ----------------------------------------------------------------- */

static void hear_parent(struct agent *a)
{
	struct in_step *s = a->step;
	struct in_step_message m;
	ssize_t n;

	while (s->link >= 0 && (n = recv(s->link, &m, sizeof(m), MSG_DONTWAIT)) >= 0) {
		if (n == sizeof(m) && m.kind == IN_STEP_ENDED) {
			s->own_ended = true;
			s->own_status = m.value;
			s->own_ended_at = clock_raw_ns();
		} else if (n == sizeof(m) && m.kind == IN_STEP_HURRY) {
			in_step_hurry(a);
		} else if (n == 0) { /* it was killed, and COMMAND with it */
			host_close(&a->host, &s->link);
			s->own_ended = s->let_go = true;
		}
	}
}

/*
 * A launcher ends a job of which one task has failed; Open MPI's and MPICH's also one of
 * which a task has ended without MPI_Finalize. They have to see it.
 */
static bool must_let_go(const struct in_step *s)
{
	double held = since(s->own_ended_at);

	if (!s->own_ended || s->let_go)
		return false;
	if (!s->step.watches)
		return s->own_status && held > FAILED_S;
	return s->own_status ? others_run(s) || held > BEAT_S : held > HOLD_S;
}

static void let_go(struct agent *a)
{
	struct in_step *s = a->step;

	if (a->host.n_ever) /* we may be ended with the step any moment */
		s->save(a, true);
	s->let_go = true;
	tell_parent(s, IN_STEP_LET_GO, 0);
}

static void attend_parent(struct agent *a)
{
	struct in_step *s = a->step;

	if (must_let_go(s))
		let_go(a);
	if (s->own_ended && !s->let_go && since(s->told_at) > BEAT_S) {
		s->told_at = clock_raw_ns();
		tell_parent(s, IN_STEP_WAIT, MORE_S);
	}
}

bool in_step_meets(const struct agent *a)
{
	return a->step && !a->step->meeting.joined;
}

void in_step_hear(struct agent *a)
{
	if (a->step)
		hear_parent(a);
}

void in_step_hurry(struct agent *a)
{
	ending_begin();
	if (!a->step->hurried_at)
		a->step->hurried_at = clock_raw_ns();
}

void in_step_abort(struct agent *a)
{
	struct in_step *s = a->step;

	if (!s || !s->save || s->aborted)
		return;
	s->aborted = true; /* those who come next are killed */
	s->save(a, true);
}

double in_step_tick(struct agent *a)
{
	struct in_step *s = a->step;
	double again = SLOW_S, meeting_s;

	if (!s)
		return NEVER_S;
	hear_parent(a);
	if (!s->complete && (!s->list_read_at || since(s->list_read_at) >= LOOK_S)) {
		s->list_read_at = clock_raw_ns();
		read_list(a);
	}
	see_ends(a);
	if (!a->told_to_stop && s->own_ended && all_ended(s))
		a->told_to_stop = true;
	if (s->hurried_at && since(s->hurried_at) > HURRY_S && a->host.n_ever) {
		s->hurried_at = 0; /* some go on after SIGTERM: so do we */
		s->save(a, false);
	}
	attend_parent(a);
	meeting_s = a->several ? meeting_tick(a, s) : NEVER_S;
	if (!s->complete)
		again = LOOK_S;
	else if (!s->own_ended && !s->hurried_at)
		again = NEVER_S; /* descriptors tell */
	else
		again = BEAT_S / 2;
	return meeting_s < again ? meeting_s : again;
}

/* ---- the end ---------------------------------------------------------------------- */

void in_step_writes(struct agent *a)
{
	if (a->step)
		tell_parent(a->step, IN_STEP_WAIT,
			(int)ending_left(2 * a->host.conf->agent_deadline_s + MORE_S, 0));
}

void in_step_end(struct agent *a)
{
	struct in_step *s = a->step;

	if (!s)
		return;
	unlink(s->list);
	if (s->first)
		unlink(s->first);
	if (s->meeting.lead)
		meeting_end(s);
}

void in_step_name_missing(const struct agent *a, struct profile *whole)
{
	char host[256];

	if (!a->step)
		return;
	for (unsigned i = 0; step_host(a->step->step.hosts, i, host, sizeof(host)); i++) {
		size_t k = 0;

		host[strcspn(host, ".")] = '\0';
		while (k < whole->n_agents && strcmp(whole->agents[k].host, host))
			k++;
		if (k < whole->n_agents)
			continue;
		whole->agents =
			xrealloc(whole->agents, (whole->n_agents + 1) * sizeof(*whole->agents));
		whole->agents[whole->n_agents++] =
			(struct profile_agent){.host = xstrdup(host), .missing = true};
	}
	profile_sort(whole);
}
