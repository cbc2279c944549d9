/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signals and job control as a program sees them. What it saw is in the file `state'.
 *	app-signals program [SIGNAL...]   counts these (none: all that can be caught), until
 *	                                  state->end; then exits with 7
 *	app-signals get NAME [SIGNAL]     prints a number of the file
 *	app-signals end                   ends the program
 *	app-signals terminal COMMAND...   a small shell on a terminal of its own: types ^C, ^\,
 *	                                  ^Z, stops, continues, and prints what it sees
 *	app-signals hang PID SECONDS      nothing runs in PID, though it is not stopped
 */
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 30000

struct state {
	volatile int ready, beat, foreground, want_read, was_read, end, value;
	volatile int count[66];
};

static struct state *state;

static void open_state(void)
{
	int fd = open("state", O_RDWR | O_CREAT | O_CLOEXEC, 0666);

	if (fd < 0 || ftruncate(fd, sizeof(*state)))
		exit(99);
	state = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
}

static void count(int signal, siginfo_t *info, void *context)
{
	__atomic_add_fetch(&state->count[signal], 1, __ATOMIC_RELAXED);
	if (info->si_code == SI_QUEUE)
		state->value = info->si_value.sival_int;
}

static int work(int n)
{
	return n + 1;
}

static int program(int n, char **signals)
{
	struct sigaction a = {.sa_sigaction = count, .sa_flags = SA_SIGINFO | SA_RESTART};

	for (int i = 0; i < n; i++)
		sigaction(atoi(signals[i]), &a, NULL);
	for (int i = 1; !n && i <= SIGRTMAX; i++)
		if (i < 32 || i >= SIGRTMIN)
			if (i != SIGTSTP && i != SIGTTIN && i != SIGTTOU && i != SIGCHLD)
				sigaction(i, &a, NULL);
	state->foreground = tcgetpgrp(STDIN_FILENO) == getpgrp();
	state->ready = 1;
	while (!state->end) {
		char c;

		usleep(2000);
		state->beat = work(state->beat);
		if (state->want_read) {
			state->want_read = 0;
			state->was_read = (int)read(STDIN_FILENO, &c, 1);
		}
	}
	return 7;
}

#define UNTIL(condition)                                                                           \
	do {                                                                                       \
		int ms = 0;                                                                        \
		while (!(condition) && ms++ < PATIENCE_MS)                                         \
			usleep(1000);                                                              \
		if (!(condition))                                                                  \
			printf("not: %s\n", #condition);                                           \
	} while (0)

static void goes_on(void)
{
	int beat = state->beat;

	UNTIL(state->beat > beat + 2);
}

static void say_stop(pid_t job, const char *how)
{
	int status = 0, ms = 0;

	while (waitpid(job, &status, WUNTRACED | WNOHANG) != job && ms++ < PATIENCE_MS)
		usleep(1000);
	if (WIFSTOPPED(status))
		printf("%s: stopped by %s\n", how, strsignal(WSTOPSIG(status)));
	else
		printf("%s: status %x\n", how, status);
}

/* Session leader with a terminal; types into it through the other end. */
static int shell(int master, char **command)
{
	struct winsize size = {.ws_row = 33, .ws_col = 99};
	pid_t job;
	int status;

	signal(SIGTTOU, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	job = fork();
	if (!job) {
		setpgid(0, 0);
		tcsetpgrp(STDIN_FILENO, getpid());
		signal(SIGTTOU, SIG_DFL);
		signal(SIGHUP, SIG_DFL);
		execvp(command[0], command);
		_exit(98);
	}
	UNTIL(state->ready);
	printf("in the foreground: %d\n", state->foreground);
	(void)!write(master, "\003", 1);
	UNTIL(state->count[SIGINT]);
	(void)!write(master, "\034", 1);
	UNTIL(state->count[SIGQUIT]);
	ioctl(master, TIOCSWINSZ, &size);
	UNTIL(state->count[SIGWINCH]);
	(void)!write(master, "\032", 1);
	say_stop(job, "^Z");
	kill(-job, SIGCONT);
	goes_on();
	kill(job, SIGTSTP);
	say_stop(job, "TSTP to it alone");
	kill(job, SIGCONT);
	goes_on();
	kill(-job, SIGSTOP);
	say_stop(job, "STOP to its group");
	kill(-job, SIGCONT);
	goes_on();
	tcsetpgrp(STDIN_FILENO, getpgrp());
	state->want_read = 1;
	say_stop(job, "reading in the background");
	tcsetpgrp(STDIN_FILENO, job);
	kill(-job, SIGCONT);
	(void)!write(master, "x\n", 2);
	UNTIL(state->was_read);
	printf("read: %d\n", state->was_read);
	kill(job, SIGINT); /* to it alone */
	UNTIL(state->count[SIGINT] > 1);
	usleep(100000);
	printf("INT %d, QUIT %d, WINCH %d\n", state->count[SIGINT], state->count[SIGQUIT],
		state->count[SIGWINCH]);
	state->end = 1;
	waitpid(job, &status, 0);
	printf("status %d\n", WEXITSTATUS(status));
	fflush(stdout);
	return 0;
}

static int terminal(char **command)
{
	int master, slave, out = dup(STDOUT_FILENO);
	char drain[256];
	pid_t pid;

	if (openpty(&master, &slave, NULL, NULL, NULL))
		return 99;
	pid = fork();
	if (!pid) {
		setsid();
		ioctl(slave, TIOCSCTTY, 0);
		dup2(slave, STDIN_FILENO);
		dup2(out, STDOUT_FILENO);
		fcntl(master, F_SETFD, FD_CLOEXEC);
		exit(shell(master, command));
	}
	close(slave);
	fcntl(master, F_SETFL, O_NONBLOCK);
	while (!waitpid(pid, NULL, WNOHANG)) {
		while (read(master, drain, sizeof(drain)) > 0)
			;
		usleep(2000);
	}
	return 0;
}

static int hang(pid_t pid, int seconds)
{
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) || ptrace(PTRACE_INTERRUPT, pid, NULL, NULL))
		return 99;
	sleep((unsigned)seconds);
	return 0;
}

int main(int argc, char **argv)
{
	open_state();
	if (argc > 1 && !strcmp(argv[1], "program"))
		return program(argc - 2, argv + 2);
	if (argc > 2 && !strcmp(argv[1], "terminal"))
		return terminal(argv + 2);
	if (argc > 3 && !strcmp(argv[1], "hang"))
		return hang(atoi(argv[2]), atoi(argv[3]));
	if (argc > 1 && !strcmp(argv[1], "end"))
		state->end = 1;
	else if (argc > 2 && !strcmp(argv[2], "ready"))
		printf("%d\n", state->ready);
	else if (argc > 2 && !strcmp(argv[2], "value"))
		printf("%d\n", state->value);
	else if (argc > 3 && !strcmp(argv[2], "count"))
		printf("%d\n", state->count[atoi(argv[3])]);
	else
		return 99;
	return 0;
}
