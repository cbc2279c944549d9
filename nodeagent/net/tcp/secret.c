/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/net/tcp/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "nodeagent/base/util.h"

char *secret_usual(void)
{
	const char *home = getenv("HOME");
	struct passwd *me = home && home[0] ? NULL : getpwuid(geteuid());

	return xasprintf("%s/.vftr-secret", home && home[0] ? home : me ? me->pw_dir : "");
}

void secret_make(char text[SECRET_TEXT_BYTES])
{
	unsigned char bytes[(SECRET_TEXT_BYTES - 2) / 2];

	randombytes_buf(bytes, sizeof(bytes));
	sodium_bin2hex(text, SECRET_TEXT_BYTES - 1, bytes, sizeof(bytes));
	strcpy(text + SECRET_TEXT_BYTES - 2, "\n");
}

/* Whole under its name or not at all, also on a file system that several nodes share. */
static int make_secret(const char *path)
{
	char text[SECRET_TEXT_BYTES], host[65] = "", *tmp;
	int fd, error = 0;

	secret_make(text);
	gethostname(host, sizeof(host) - 1);
	tmp = xasprintf("%s.%s.%d", path, host, (int)getpid());
	fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		error = -errno;
		free(tmp);
		return error;
	}
	errno = EIO;
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text) || fsync(fd))
		error = -errno;
	close(fd);
	if (!error && link(tmp, path) && errno != EEXIST)
		error = -errno;
	unlink(tmp);
	free(tmp);
	return error;
}

/* NULL and *fd, or a text why it is no valid file. */
static const char *open_it(const char *path, int *fd)
{
	struct stat st;

	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (*fd < 0 || fstat(*fd, &st))
		return strerror(errno);
	if (!S_ISREG(st.st_mode))
		return "it is not a file";
	if (st.st_uid != geteuid())
		return "it belongs to another user";
	if (st.st_mode & 077)
		return "others may read or write it (it must have mode 0600)";
	return NULL;
}

int secret_read(const char *path, char **secret, size_t *bytes, char **error)
{
	char *name = path ? xstrdup(path) : secret_usual(), *buf = xcalloc(1, SECRET_BYTES_MAX + 1);
	char counted[64];
	const char *why = NULL;
	ssize_t n = 0;
	int fd = -1, made = 0;

	*error = NULL;
	if (!path && access(name, F_OK) && errno == ENOENT)
		made = make_secret(name);
	why = made ? strerror(-made) : open_it(name, &fd);
	if (!why) {
		n = read(fd, buf, SECRET_BYTES_MAX + 1);
		if (n < 0)
			why = strerror(errno);
		else if (n > SECRET_BYTES_MAX)
			why = "it has more than 4096 bytes";
		while (n > 0 && memchr(" \t\r\n", buf[n - 1], 4)) /* a NUL is part of it */
			n--;
		if (!why && n < SECRET_BYTES_MIN) {
			snprintf(counted, sizeof(counted), "it has %zd bytes; %d are the least", n,
				SECRET_BYTES_MIN);
			why = counted;
		}
	}
	if (why)
		*error = xasprintf("the agents' secret %s: %s", name, why);
	if (fd >= 0)
		close(fd);
	free(name);
	if (why) {
		free(buf);
		return -1;
	}
	*secret = buf;
	*bytes = (size_t)n;
	return 0;
}
