/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/step/in-step.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/proxy/proxy.h"
#include "nodeagent/agent/step/internal.h"
#include "nodeagent/agent/launch/launch.h"
#include "nodeagent/agent/launch/launcher.h"
#include "nodeagent/net/transport.h"
#include "nodeagent/base/runtime-dir.h"
#include "nodeagent/base/util.h"

#define PATIENCE_S     30	      /* until the agent of this node has come */
#define MARK	       "VFTR_IN_STEP" /* in the environment of COMMAND: the session */
#define LOOK_NS	       2000000
#define LOOKS_A_SECOND 500

bool in_step_wanted(const struct launch *l)
{
	char *const *launcher = launcher_words(l->command);

	return step_has_others() && (!launcher || launcher_kind(launcher[0]) == LAUNCHER_NONE);
}

/* When a process began, in the kernel's clock ticks; 0 if unknown. */
static unsigned long long began(int pid)
{
	char path[64], text[1024], *at;
	unsigned long long ticks = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;
	text[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
	at = strrchr(text, ')'); /* behind the name: field 3, and ours is 22 */
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (at)
		ticks = strtoull(at + 1, NULL, 10);
	return ticks;
}

/* Tasks without a name in common have a parent in common, at least on one node. */
static char *session_of(const struct step *s)
{
	if (s->id[0])
		return xasprintf("step-%.90s", s->id);
	return xasprintf("step-of-%d-%llx", (int)getppid(), began(getppid()));
}

void in_step_append(const char *list, const char *line)
{
	int fd = open(list, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, line, strlen(line)) != (ssize_t)strlen(line))
		die(OWN_FAILURE, "%s: %s", list, strerror(errno));
	close(fd);
}

/* The launcher says who is first, or whoever can create the file is. */
static bool is_first(struct in_step *s, const char *dir, const char *session)
{
	int fd;

	if (s->step.local_rank >= 0)
		return s->step.local_rank == 0;
	s->first = xasprintf("%s/%s.first", dir, session);
	fd = open(s->first, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 && errno != EEXIST)
		die(OWN_FAILURE, "%s: %s", s->first, strerror(errno));
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool has_failed(const char *list)
{
	char text[65536];
	int fd = open(list, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return strstr(text, IN_STEP_FAILED);
}

/* False: it has not come. */
static bool wait_for_agent(const char *dir, const char *session, const char *list)
{
	const struct timespec pause = {0, LOOK_NS};
	char *socket = xasprintf("%s/%s.sock", dir, session);
	bool there = false;

	for (int i = 0; i < PATIENCE_S * LOOKS_A_SECOND && !there; i++) {
		there = !access(socket, F_OK);
		if (there)
			break;
		if (i % 20 == 19 && has_failed(list)) /* it has said why */
			exit(OWN_FAILURE);
		nanosleep(&pause, NULL);
	}
	free(socket);
	return there;
}

static void set_environment(const struct launch *l, const char *session)
{
	struct arguments pass = {0};
	char *error = NULL;

	launch_environment(l, session, &pass, &error);
	if (error)
		die(OWN_FAILURE, "%s", error);
	arguments_free(&pass);
	setenv(MARK, session, 1);
}

_Noreturn static void become_command(const struct launch *l)
{
	int error = launch_exec(l->command);

	complain("cannot run %s: %s", l->command[0], strerror(error));
	exit(launch_not_run_status(error));
}

/* What belongs to COMMAND, such as its line to the launcher, is open there only. */
static void close_all_but(int one, int other)
{
	int low = one < other ? one : other, high = one < other ? other : one;

	if (low > 3)
		close_range(3, (unsigned)low - 1, 0);
	if (high > (low < 3 ? 3 : low + 1))
		close_range((unsigned)(low < 3 ? 3 : low + 1), (unsigned)high - 1, 0);
	close_range((unsigned)high + 1, ~0u, 0);
}

const char *in_step_common(const struct agent *a)
{
	return a->step && a->several && a->step->step.id[0] ? a->step->step.id : NULL;
}

bool in_step_may_have_others(const struct in_step *s)
{
	return s && s->step.size < 0;
}

static bool has_other_nodes(const struct step *s)
{
	return s->rank >= 0 && s->size > 1 && s->local_size != s->size;
}

/* The process that goes on as the agent: away from signals that are meant for the task. */
static void become_agent(struct agent *a, struct launch *l, struct in_step *s)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	close_all_but(s->link, null);
	setsid();
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		if (null > STDERR_FILENO)
			close(null);
	}
	a->form = FORM_STEP;
	a->step = s;
	l->command = NULL;
	l->preload = false;
	unsetenv("LD_PRELOAD");
	a->several = has_other_nodes(&s->step);
	if (a->several)
		proxy_use_tcp(&s->tcp);
}

/* This task is the agent, and keeps the step as long as it runs; other tasks of the node end. */
static void be_agent(struct agent *a, struct in_step *s, const char *dir)
{
	if (!is_first(s, dir, a->host.session))
		exit(0);
	s->parent = getpid();
	in_step_sweep(dir);
	meeting_prepare(a, s);
	a->step = s;
	a->several = has_other_nodes(&s->step);
	if (a->several)
		proxy_use_tcp(&s->tcp);
}

void in_step_start(struct agent *a, struct launch *l, const char *session)
{
	static struct in_step s = {.link = -1};
	const char *mark = getenv(MARK);
	char *error = NULL, *dir = runtime_directory(&error), *line;
	int link[2];
	pid_t agent;

	if (!dir)
		die(OWN_FAILURE, "%s", error);
	step_read(&s.step);
	a->host.session = session ? xstrdup(session) : session_of(&s.step);
	if (l->command && mark &&
		!strcmp(mark, a->host.session)) { /* below a task: the agent is there */
		set_environment(l, a->host.session);
		become_command(l);
	}
	s.list = xasprintf("%s/%s.tasks", dir, a->host.session);
	line = xasprintf("%d %d\n", (int)getpid(), s.step.rank);
	in_step_append(s.list, line);
	free(line);
	if (!l->command) {
		be_agent(a, &s, dir);
		free(dir);
		return;
	}
	if (!is_first(&s, dir, a->host.session)) {
		bool there = wait_for_agent(dir, a->host.session, s.list);

		if (!there)
			complain("the agent of this node has not come within %d s; task %d runs "
				 "untraced",
				PATIENCE_S, s.step.rank);
		set_environment(l, a->host.session);
		if (!there)
			setenv("VFTR_OFF", "1", 1);
		become_command(l);
	}
	s.parent = getpid();
	in_step_sweep(dir);
	meeting_prepare(a, &s);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, link))
		die(OWN_FAILURE, "socketpair: %s", strerror(errno));
	agent = fork();
	if (agent < 0) {
		in_step_append(s.list, IN_STEP_FAILED);
		die(OWN_FAILURE, "fork: %s", strerror(errno));
	}
	s.link = link[agent > 0];
	close(link[agent == 0]);
	if (agent > 0) {
		set_environment(l, a->host.session);
		in_step_parent(&s, l, a->host.session, agent);
	}
	free(dir);
	become_agent(a, l, &s);
}
