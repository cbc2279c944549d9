/* SPDX-License-Identifier: BSD-3-Clause */
/* Does with files what its first argument says, by as many calls as the test knows. */
#define _GNU_SOURCE /* copy_file_range() */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static char data[65536];

#define MUST(x)                                                                                    \
	do {                                                                                       \
		if (!(x)) {                                                                        \
			perror(#x);                                                                \
			exit(9);                                                                   \
		}                                                                                  \
	} while (0)

static int make(const char *path)
{
	int fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0644);

	MUST(fd >= 0);
	return fd;
}

/* 100 writes of 100 bytes, 10 of 8192, all sequential; 20 reads of 4096 and one of what is left,
 * one at the end; 5 reads elsewhere. */
static void descriptors(void)
{
	struct iovec v[2] = {{data, 10}, {data, 20}};
	int fd = make("plain"), again;

	for (int i = 0; i < 100; i++)
		MUST(write(fd, data, 100) == 100);
	for (int i = 0; i < 10; i++)
		MUST(write(fd, data, 8192) == 8192);
	MUST(lseek(fd, 0, SEEK_SET) == 0);
	while (read(fd, data, 4096) > 0)
		;
	for (int i = 0; i < 5; i++)
		MUST(pread(fd, data, 10, 1000 * i) == 10);
	MUST(fsync(fd) == 0 && ftruncate(fd, 50000) == 0);
	MUST(close(fd) == 0);
	MUST(close(fd) < 0); /* nothing is known of it: no record */
	MUST(open("nowhere/at/all", O_RDONLY) < 0);

	fd = make("vectors");
	MUST(writev(fd, v, 2) == 30 && pwritev(fd, v, 2, 30) == 30); /* both sequential */
	MUST(pwrite(fd, data, 40, 100) == 40);			     /* not */
	again = dup(fd);
	MUST(write(again, data, 5) == 5); /* where writev() ended, but pwrite() was last: not */
	MUST(close(again) == 0);
	MUST(dup2(fd, 100) == 100 && close(fd) == 0);
	MUST(write(100, data, 6) == 6); /* as the one before */
	close(100);

	fd = open("appended", O_CREAT | O_TRUNC | O_WRONLY | O_APPEND, 0644);
	for (int i = 0; i < 7; i++)
		MUST(write(fd, data, 11) == 11);
	close(fd);
}

static void jumps(void)
{
	int fd = make("jumps");

	MUST(ftruncate(fd, 1 << 20) == 0);
	for (int i = 0; i < 50; i++) {
		MUST(lseek(fd, (i * 37 % 64) * 8192, SEEK_SET) >= 0);
		MUST(read(fd, data, 512) == 512);
	}
	close(fd);
}

/* Offsets of the caller move no descriptor. */
static void copies(void)
{
	int in = make("copied"), out = make("copy");
	off_t at = 4096, from = 0, to = 20000;

	MUST(ftruncate(in, 16384) == 0);
	for (int i = 0; i < 3; i++) /* the first one jumps */
		MUST(sendfile(out, in, &at, 4096) == 4096);
	for (int i = 0; i < 4; i++) /* so does the first one of these, as in is still at 0 */
		MUST(read(in, data, 4096) == 4096);
	for (int i = 0; i < 2; i++) /* and of these, in both */
		MUST(copy_file_range(in, &from, out, &to, 1000, 0) == 1000);
	MUST(write(out, data, 10) == 10); /* and this */
	MUST(sendfile(out, in, (off_t *)16, 1) == -1);
	close(in);
	close(out);
}

/* What has the number of a folder that was closed is no folder. */
static void folders(void)
{
	int fd = open("many", O_RDONLY | O_DIRECTORY), p[2];
	DIR *d = fdopendir(fd);

	MUST(d && readdir(d) && closedir(d) == 0 && pipe(p) == 0 && p[0] == fd);
	MUST(write(p[1], data, 3) == 3 && read(p[0], data, 3) == 3);
	d = NULL;
	__asm__("" : "+r"(d)); /* the compiler does not know */
	MUST(closedir(d) == -1);
}

static void streams(void)
{
	char line[100];
	int lines = 0;
	FILE *f = fopen("text", "w");

	for (int i = 0; i < 1000; i++)
		fprintf(f, "%04d\n", i);
	MUST(fwrite(data, 1, 1000, f) == 1000);
	MUST(fclose(f) == 0);
	f = fopen("text", "r");
	while (lines < 1000 && fgets(line, sizeof(line), f))
		lines++;
	MUST(fread(data, 10, 100, f) == 100);
	MUST(fseek(f, 5, SEEK_SET) == 0);
	MUST(getc(f) == '0');
	MUST(fclose(f) == 0);
	printf("%d lines\n", lines);
}

/* To a file that has something; and by two streams in turns. */
static void appends(void)
{
	FILE *f, *a, *b;
	int fd = make("log");

	MUST(write(fd, data, 10000) == 10000);
	close(fd);
	f = fopen("log", "a+");
	MUST(f && fwrite(data, 1, 10, f) == 10 && !fclose(f));
	f = fopen("log", "a+");
	MUST(f && fread(data, 1, 5, f) == 5 && getc(f) == 0);
	MUST(!fseek(f, 0, SEEK_END) && fwrite(data, 1, 20, f) == 20 && !fclose(f));
	a = fopen("two", "a");
	b = fopen("two", "a");
	for (int i = 0; i < 100; i++) {
		MUST(fwrite(data, 1, 10, a) == 10 && !fflush(a));
		MUST(fwrite(data, 1, 10, b) == 10 && !fflush(b));
	}
	MUST(!fclose(a) && !fclose(b));
}

/* A stream on a descriptor that nobody has seen opened: some blocks, and the rest by lines. */
static void inherited(void)
{
	char line[100];

	MUST(fread(data, 1, 100, stdin) == 100);
	while (fgets(line, sizeof(line), stdin))
		;
	MUST(!fclose(stdin));
	MUST(printf("%040d\n", 0) == 41 && fwrite(data, 1, 10, stdout) == 10);
	MUST(!fclose(stdout));
}

static void others(void)
{
	int p[2], s[2], in = make("from"), out = make("to");
	void *at;
	FILE *f;

	MUST(!pipe(p) && !socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	MUST(write(p[1], data, 3) == 3 && read(p[0], data, 3) == 3);
	MUST(write(s[1], data, 4) == 4 && read(s[0], data, 4) == 4);
	MUST(write(in, data, 10000) == 10000 && lseek(in, 0, SEEK_SET) == 0);
	MUST(sendfile(out, in, NULL, 10000) == 10000);
	at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, in, 0);
	MUST(at != MAP_FAILED);
	f = tmpfile();
	MUST(f && fwrite(data, 1, 77, f) == 77 && !fclose(f));
	MUST(!access("to", R_OK) && !rename("to", "other") && !unlink("other"));
}

static void *reader(void *arg)
{
	int fd = make(arg);

	for (int i = 0; i < 1000; i++)
		MUST(write(fd, data, 64) == 64);
	close(fd);
	return NULL;
}

static void threads(void)
{
	static char names[8][8];
	pthread_t t[8];

	for (int i = 0; i < 8; i++) {
		snprintf(names[i], sizeof(names[i]), "t%d", i / 2); /* each of two threads */
		MUST(!pthread_create(&t[i], NULL, reader, names[i]));
	}
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
}

/* Parent and child write 10 times 7 bytes each through one descriptor. */
static void forks(void)
{
	int fd = make("shared"), status;
	pid_t child = fork();

	for (int i = 0; i < 10; i++)
		MUST(write(fd, data, 7) == 7);
	if (!child)
		exit(0);
	MUST(waitpid(child, &status, 0) == child && !status);
}

/* What the child does with descriptors is not the parent's. */
static void vforks(void)
{
	int fd = make("mine"), its = make("its"), status;
	pid_t child = vfork();

	if (!child) {
		dup2(its, fd);
		if (write(fd, data, 100) != 100)
			_exit(1);
		close(its);
		execl("/bin/true", "true", (char *)NULL);
		_exit(2);
	}
	MUST(waitpid(child, &status, 0) == child && !status);
	MUST(write(fd, data, 9) == 9 && write(its, data, 8) == 8);
}

static int handled = -1;
static volatile int ran;

static void handler(int sig)
{
	(void)sig;
	if (write(handled, data, 1) != 1)
		_exit(9);
	ran++;
}

/* Signals at any instruction. Prints how many writes there were outside of handlers, and in them.
 */
static volatile int over;

static void *shooter(void *main_thread)
{
	while (!over) {
		pthread_kill(*(pthread_t *)main_thread, SIGUSR1);
		sched_yield();
	}
	return NULL;
}

static void handlers(void)
{
	int fd = make("outer"), n;
	pthread_t me = pthread_self(), t;
	struct sigaction a = {.sa_handler = handler, .sa_flags = SA_RESTART};

	handled = make("inner");
	sigaction(SIGUSR1, &a, NULL);
	MUST(!pthread_create(&t, NULL, shooter, &me));
	for (n = 0; n < 20000 || ran < 500; n++)
		MUST(write(fd, data, 16) == 16);
	over = 1;
	pthread_join(t, NULL);
	printf("%d %d\n", n, ran);
}

/* Writes, and is killed. */
static void killed(void)
{
	int fd = make("killed");
	for (int i = 0; i < 1234; i++)
		MUST(write(fd, data, 10) == 10);
	kill(getpid(), SIGKILL);
}

/* All descriptors are closed, ours too, and the numbers used again. */
static void closes(void)
{
	int fd = make("before"), null;

	MUST(write(fd, data, 5) == 5);
	for (int i = 3; i < 1024; i++)
		close(i);
	null = open("/dev/null", O_WRONLY);
	for (int i = 3; i < 60; i++)
		if (i != null)
			MUST(dup2(null, i) == i);
	fd = make("after");
	MUST(write(fd, data, 6) == 6);
}

/* More names than are kept. */
static void many(void)
{
	char name[32];

	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "many/%d", i);
		close(make(name));
	}
}

static const struct {
	const char *name;
	void (*run)(void);
} modes[] = {
	{"descriptors", descriptors},
	{"jumps", jumps},
	{"copies", copies},
	{"folders", folders},
	{"streams", streams},
	{"appends", appends},
	{"inherited", inherited},
	{"others", others},
	{"threads", threads},
	{"forks", forks},
	{"vforks", vforks},
	{"handlers", handlers},
	{"killed", killed},
	{"closes", closes},
	{"many", many},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (argc > 1 && !strcmp(argv[1], modes[i].name)) {
			modes[i].run();
			return 0;
		}
	}
	return 2;
}
