/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/launch/launcher-file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nodeagent/base/util.h"
#include "shm/clock.h"

#define READ_MOST (16u << 20)
#define ANSWER_MS 5000

/* Words of files and of versions. */
static const struct {
	const char *word;
	enum launcher_kind kind;
} words[] = {
	{"orterun", LAUNCHER_OPENMPI},
	{"prterun", LAUNCHER_OPENMPI},
	{"openmpi", LAUNCHER_OPENMPI},
	{"Open MPI", LAUNCHER_OPENMPI},
	{"OpenRTE", LAUNCHER_OPENMPI},
	{"hydra", LAUNCHER_HYDRA},
	{"HYDRA", LAUNCHER_HYDRA},
	{"mpich", LAUNCHER_HYDRA},
	{"MPICH", LAUNCHER_HYDRA},
	{"Intel(R) MPI", LAUNCHER_HYDRA},
};

/* LAUNCHER_NONE also if there are words of several. */
static enum launcher_kind kind_by_words(const char *text, size_t bytes)
{
	enum launcher_kind kind = LAUNCHER_NONE;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!memmem(text, bytes, words[i].word, strlen(words[i].word)))
			continue;
		if (kind != LAUNCHER_NONE && kind != words[i].kind)
			return LAUNCHER_NONE;
		kind = words[i].kind;
	}
	return kind;
}

/* Programs answer; a script may start a job whatever its arguments are. */
static bool may_be_asked(const char *text, size_t bytes)
{
	static const char *const all[] = {"$@", "$*", "${@", "${*"}; /* its arguments */
	bool may = bytes < 2 || memcmp(text, "#!", 2);

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		may |= memmem(text, bytes, all[i], strlen(all[i])) != NULL;
	return may;
}

/* Until its end, ANSWER_MS, or `most' bytes. */
static size_t read_answer(int fd, char *buf, size_t most)
{
	const uint64_t until = clock_raw_ns() + ANSWER_MS * 1000000ull;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	size_t have = 0;

	for (uint64_t now; have < most && (now = clock_raw_ns()) < until;) {
		ssize_t n;

		if (poll(&p, 1, (int)((until - now) / 1000000) + 1) <= 0)
			continue;
		n = read(fd, buf + have, most - have);
		if (n > 0)
			have += (size_t)n;
		else if (!n || errno != EINTR)
			break;
	}
	return have;
}

static bool start_asking(const char *path, const char *question, int fd, pid_t *pid)
{
	char *argv[] = {(char *)path, (char *)question, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t own_group;
	int error;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, fd, 1);
	posix_spawn_file_actions_adddup2(&actions, fd, 2);
	posix_spawnattr_init(&own_group);
	posix_spawnattr_setflags(&own_group, POSIX_SPAWN_SETPGROUP);
	posix_spawnattr_setpgroup(&own_group, 0);
	error = posix_spawn(pid, path, &actions, &own_group, argv, environ);
	posix_spawnattr_destroy(&own_group);
	posix_spawn_file_actions_destroy(&actions);
	return !error;
}

static enum launcher_kind kind_by_answer(const char *path, const char *question)
{
	enum launcher_kind kind = LAUNCHER_NONE;
	char answer[4096];
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return kind;
	if (start_asking(path, question, ends[1], &pid)) {
		close(ends[1]);
		kind = kind_by_words(answer, read_answer(ends[0], answer, sizeof(answer)));
		kill(-pid, SIGKILL); /* what has not ended by now */
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	} else {
		close(ends[1]);
	}
	close(ends[0]);
	return kind;
}

static enum launcher_kind look_into(const char *path, const char *question)
{
	enum launcher_kind kind = LAUNCHER_NONE;
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *text = MAP_FAILED;
	struct stat st;
	bool may;

	if (fd >= 0 && !fstat(fd, &st) && st.st_size && st.st_size < READ_MOST)
		text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fd >= 0)
		close(fd);
	if (text == MAP_FAILED)
		return kind;
	kind = kind_by_words(text, (size_t)st.st_size);
	may = may_be_asked(text, (size_t)st.st_size);
	munmap(text, (size_t)st.st_size);
	return kind == LAUNCHER_NONE && question && may ? kind_by_answer(path, question) : kind;
}

enum launcher_kind launcher_file_kind(const char *path, const char *question)
{
	static char last_path[PATH_MAX];
	static enum launcher_kind last_kind;

	if (!question)
		return look_into(path, NULL);
	if (strcmp(path, last_path)) {
		last_kind = look_into(path, question);
		snprintf(last_path, sizeof(last_path), "%s", path);
	}
	return last_kind;
}
