/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How agents of one step find each other without an option of the user. In the output
 * directory, which they have in common, is a folder with the name of the step, that only the
 * user may enter. In it is a secret, made by the first who comes, and a file of each agent:
 *
 *	TASKS CONTACT
 *
 * the number of tasks on its node, and how it can be reached. The agent of rank 0 reads them
 * until their tasks are all that the step has, and invites the others over TCP.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/conf.h"
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/proxy/proxy.h"
#include "nodeagent/agent/step/internal.h"
#include "nodeagent/net/tcp/secret.h"
#include "nodeagent/base/util.h"

#define LOOK_S	 0.05
#define SLOW_S	 0.5 /* some seconds after the start */
#define QUICK_S	 5.0
#define CONTACT	 ".contact"
#define ALL_HERE "all"
#define SECRET	 "secret"
#define LATEST_S 30.0 /* those who have not come then are missing */

void meeting_prepare(struct agent *a, struct in_step *s)
{
	struct meeting *m = &s->meeting;

	if (s->step.id[0]) {
		m->folder = xasprintf("%s/.vftr-%s", a->host.output_directory, a->host.session);
		m->secret = xasprintf("%s/" SECRET, m->folder);
	}
	s->tcp = (struct tcp_options){.listen = ":0", .secret = m->secret, .me = -1};
}

static bool folder_is_ours(const char *folder, char **error)
{
	const char *why = not_own_folder(folder);

	if (why)
		*error = xasprintf("the agents' folder %s: %s", folder, why);
	return !why;
}

/* Makes a file that appears complete; if several processes make it, one of them counts. */
static bool write_once(const char *path, const char *text, bool replace, char **error)
{
	char *tmp, host[65] = "";
	int fd;
	bool written;

	gethostname(host, sizeof(host) - 1);
	tmp = xasprintf("%s.%s.%d", path, host, (int)getpid());
	fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	errno = fd < 0 ? errno : EIO;
	written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && !fsync(fd);
	if (written && replace)
		written = !rename(tmp, path);
	else if (written)
		written = !link(tmp, path) || errno == EEXIST;
	if (!written)
		*error = xasprintf("%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	unlink(tmp);
	free(tmp);
	return written;
}

static bool make_secret(struct meeting *m)
{
	char text[SECRET_TEXT_BYTES];

	secret_make(text);
	return write_once(m->secret, text, false, &m->error);
}

/* The contacts of those that are there, as a list; *tasks: how many they have. */
static char *contacts_so_far(const struct meeting *m, unsigned *tasks)
{
	DIR *d = opendir(m->folder);
	struct dirent *e;
	char *all = xstrdup("");

	*tasks = 0;
	while (d && (e = readdir(d))) {
		size_t n = strlen(e->d_name), k = strlen(CONTACT);
		char *path, line[4096] = "";
		unsigned here;
		int at = 0, fd;

		if (n <= k || strcmp(e->d_name + n - k, CONTACT))
			continue;
		path = xasprintf("%s/%s", m->folder, e->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
		if (fd >= 0 && read(fd, line, sizeof(line) - 1) > 0 &&
			sscanf(line, "%u %n", &here, &at) == 1 && at) {
			*tasks += here;
			all = xappend(all, "%s", line + at);
		}
		if (fd >= 0)
			close(fd);
		free(path);
	}
	if (d)
		closedir(d);
	return all;
}

static bool join_others(struct agent *a, struct in_step *s, const char *contacts)
{
	struct meeting *m = &s->meeting;
	char *text;

	if (!proxy_there()) {
		m->error = xstrdup("cannot join the other agents: fork failed");
		return false;
	}
	if (!proxy_join(a->host.name, "", a->host.conf->agent_deadline_s, conf_more_s(a->host.conf),
		    a->host.conf->clock_sync_interval_s, contacts, &text)) {
		m->error = text;
		return false;
	}
	m->joined = true;
	m->contact = text;
	if (a->host.conf->agent_remote_viewers)
		proxy_admit_viewers(a->host.socket_path);
	return true;
}

/* Rank 0 is here: all the others are read, or it is late. */
static void lead(struct agent *a, struct in_step *s)
{
	struct meeting *m = &s->meeting;
	unsigned tasks;
	char *all = contacts_so_far(m, &tasks), *path = xasprintf("%s/" ALL_HERE, m->folder), *at;
	bool late = 1e-9 * (double)(clock_raw_ns() - m->since) > LATEST_S;

	if (tasks + s->n_tasks >= (size_t)s->step.size || late) {
		if (tasks + s->n_tasks < (size_t)s->step.size)
			host_warn(&a->host, true,
				"of the %d tasks of this step %zu are on nodes whose agent has not "
				"come within %.0f s",
				s->step.size, (size_t)s->step.size - tasks - s->n_tasks, LATEST_S);
		at = xasprintf("@%s", path);
		if (!all[0]) /* all that there are run here, or none has come */
			a->several = a->joining = false;
		else if (write_once(path, all, true, &m->error))
			join_others(a, s, at);
		free(at);
	}
	free(path);
	free(all);
}

static void follow(struct agent *a, struct in_step *s)
{
	struct meeting *m = &s->meeting;
	char *path, *line;

	if (!m->joined && !join_others(a, s, NULL))
		return;
	if (m->announced == s->n_tasks)
		return;
	m->announced = (unsigned)s->n_tasks;
	path = xasprintf("%s/%s" CONTACT, m->folder, a->host.name);
	line = xasprintf("%u %s\n", m->announced, m->contact);
	write_once(path, line, true, &m->error);
	free(line);
	free(path);
}

static bool begin_meeting(struct agent *a, struct in_step *s)
{
	struct meeting *m = &s->meeting;

	m->since = clock_raw_ns();
	a->joining = true;
	if (!m->folder) {
		m->error = xasprintf("%s has no name for this launch that all nodes know",
			s->step.launcher ? s->step.launcher : "the launcher");
		return false;
	}
	return folder_is_ours(m->folder, &m->error) && make_secret(m);
}

double meeting_tick(struct agent *a, struct in_step *s)
{
	struct meeting *m = &s->meeting;
	double age = 0;

	if (m->error || (m->joined && (m->lead || s->complete)))
		return NEVER_S;
	if (!m->since && !begin_meeting(a, s))
		goto failed;
	age = 1e-9 * (double)(clock_raw_ns() - m->since);
	for (size_t i = 0; i < s->n_tasks; i++)
		m->lead |= s->tasks[i].rank == 0;
	if (!s->complete && s->step.local_size >= 0 && age < LATEST_S)
		return LOOK_S;
	if (m->lead)
		lead(a, s);
	else
		follow(a, s);
failed:
	if (m->error) {
		host_warn(&a->host, true, "%s: this node is on its own", m->error);
		a->joining = false;
		a->orphaned = true;
	}
	return age < QUICK_S ? LOOK_S : SLOW_S;
}

void meeting_end(const struct in_step *s)
{
	const struct meeting *m = &s->meeting;
	DIR *d = m->folder ? opendir(m->folder) : NULL;
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	if (d)
		rmdir(m->folder);
}
