/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/launch/launch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "conf/conf.h"
#include "nodeagent/agent/launch/annotations.h"
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/agent/launch/launcher.h"
#include "nodeagent/agent/launch/launcher-slurm.h"
#include "nodeagent/agent/launch/program-name.h"
#include "nodeagent/doctor/doctor.h"
#include "nodeagent/symbols/elf.h"
#include "nodeagent/base/hash.h"
#include "nodeagent/base/installed.h"
#include "nodeagent/base/runtime-dir.h"
#include "nodeagent/agent/launch/supervisor.h"
#include "nodeagent/agent/launch/untraced.h"
#include "nodeagent/base/util.h"
#include "shm/runtime-dir.h"

#define IDLE_S 15 /* an agent that has done nothing for so long does not answer */

int launch_exit_status(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

int launch_not_run_status(int error)
{
	return error == ENOENT ? 127 : 126;
}

bool launch_is_distributed(const struct launch *l)
{
	return l->agent_launcher || launcher_is_distributed(l->command);
}

/* The MPI that a program is linked with: "openmpi", "mpich" or NULL. */
static const char *mpi_of_program(const char *path)
{
	struct elf_facts facts;
	const char *mpi = NULL;

	if (elf_facts_read(&facts, path, NULL))
		return NULL;
	for (size_t i = 0; i < facts.n_needed; i++) {
		if (!strncmp(facts.needed[i], "libmpi.so.40", 12))
			mpi = "openmpi";
		if (!strncmp(facts.needed[i], "libmpich.so", 11) ||
			!strncmp(facts.needed[i], "libmpi.so.12", 12))
			mpi = "mpich";
	}
	elf_facts_done(&facts);
	return mpi;
}

/* The library for this MPI, or for none; where it should be if it is not there. */
static char *library_path(const char *mpi)
{
	char *name = xasprintf("libvftrace%s%s.so", mpi ? "-" : "", mpi ? mpi : "");
	char *prefix = installed_prefix();
	char *folder = prefix ? installed_library_folder(prefix, name) : NULL;
	char *path = folder ? xasprintf("%s/%s", folder, name)
			    : xasprintf("%s/lib/%s", prefix ? prefix : "", name);

	free(folder);
	free(prefix);
	free(name);
	return path;
}

/* srun starts programs of any MPI: what the program is linked with, then what --mpi is for. */
static const char *mpi_of_step(char *const *argv)
{
	const char *program = launcher_program(argv), *mpi = NULL;
	char path[PATH_MAX];

	if (program && launcher_resolve(program, path))
		mpi = mpi_of_program(path);
	return mpi ? mpi : slurm_mpi(argv);
}

/*
 * The first word that says it; others start it: timeout, env, nice, numactl, a debugger. What
 * follows on a program may be one that is linked with MPI, but is no launcher to be asked.
 */
static const char *mpi_of_command(char *const *command)
{
	static const char *const mpi_of_kind[] = {
		[LAUNCHER_OPENMPI] = "openmpi", [LAUNCHER_HYDRA] = "mpich"};
	const char *mpi = NULL;
	bool is_argument = false;

	for (char *const *word = command; *word && !mpi; word++) {
		enum launcher_kind kind = is_argument ? LAUNCHER_NONE : launcher_kind(*word);
		char path[PATH_MAX];

		if (kind == LAUNCHER_SLURM)
			return mpi_of_step(word);
		if (kind != LAUNCHER_NONE)
			return mpi_of_kind[kind];
		if (!launcher_resolve(*word, path))
			continue;
		mpi = mpi_of_program(path);
		is_argument |= !launcher_starts_another(*word);
	}
	return mpi;
}

bool launch_names_mpi(const struct launch *l)
{
	return mpi_of_command(l->command);
}

/*
 * LD_PRELOAD ends a name at a blank or a colon. Such a folder gets a link in the runtime
 * directory, which stays: processes that outlive the job still name it. Frees `library`.
 */
static char *preloadable(const struct launch *l, char *library, char **error)
{
	char *slash = strrchr(library, '/'), *dir, *link, *result = NULL;

	if (!strpbrk(library, " :\t\n"))
		return library;
	if (launch_is_distributed(l)) {
		*error = xasprintf("--preload: LD_PRELOAD cannot name '%s' on other nodes, as it "
				   "has a blank or a colon",
			library);
		free(library);
		return NULL;
	}
	*slash = '\0';
	dir = runtime_directory(error);
	link = dir ? xasprintf("%s/lib-%016" PRIx64, dir, stack_hash(library, strlen(library) + 1))
		   : NULL;
	if (link && symlink(library, link) && errno != EEXIST)
		*error = xasprintf("--preload: cannot make the link %s: %s", link, strerror(errno));
	else if (link)
		result = xasprintf("%s/%s", link, slash + 1);
	free(link);
	free(dir);
	free(library);
	return result;
}

static char *preloads; /* LD_PRELOAD=... */

const char *launch_preloads(void)
{
	return preloads ? preloads + strlen("LD_PRELOAD=") : NULL;
}

void launch_settle_preload(struct launch *l, const struct conf *conf)
{
	const char *program = program_words(l->command)[0];
	struct diagnosis d = {0};
	bool scripted;
	char *path;

	l->python = conf->python_functions;
	l->annotations = conf->annotations;
	l->files = conf->files_active;
	l->memory = conf->memory_active;
	l->locks = conf->locks_active;
	if (!l->preload)
		return;
	path = doctor_find(program);
	scripted = is_shell(program) || is_script(path);
	if (!is_interpreter(program))
		doctor_examine(&d, &(struct doctor_question){.name = program, .path = path});
	if (l->preload == PRELOAD_AUTO && ((d.linked && !d.no_mpi) || scripted))
		l->preload = PRELOAD_NO;
	l->attach_at_start = conf->profile_sample == CONF_AUTO
				     ? !d.instrumented && !scripted && !conf->python_functions
				     : conf->profile_sample > 0;
	diagnosis_free(&d);
	free(path);
}

/* The absolute path of libvftrace-NAME.so, or NULL if it is not there. */
static char *part_path(const char *name)
{
	char *path = library_path(name), real[4096];
	bool found = realpath(path, real);

	free(path);
	return found ? xstrdup(real) : NULL;
}

/* A library to preload: name as library_path() takes it. NULL and *error if it is not there. */
static char *preload_library(const struct launch *l, const char *name, char **error)
{
	char *path = library_path(name), real[4096];

	if (realpath(path, real)) {
		free(path);
		return preloadable(l, xstrdup(real), error);
	}
	*error = xasprintf("--preload: no library %s", path);
	free(path);
	return NULL;
}

/*
 * CUDA's driver and NVTX load what these name when they start: the way to programs that
 * have the CUDA runtime inside of them. Another tool's are left alone.
 */
static void offer_gpu(struct arguments *pass)
{
	static const char *const variables[] = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"};
	char *path = part_path("cupti");

	for (size_t i = 0; path && i < ARRAY_SIZE(variables); i++) {
		if (getenv(variables[i]))
			continue;
		setenv(variables[i], path, 1);
		arguments_add(pass, variables[i]);
	}
	free(path);
}

static void offer_annotations(const struct launch *l, struct arguments *pass)
{
	char *path = part_path("annotations");

	if (path)
		annotations_offer(l->annotations, path, l->command, pass);
	free(path);
}

/* The shared runtime of gcc's address sanitizer ends programs that have another library first. */
static void allow_before_asan(struct arguments *pass)
{
	static const char option[] = "verify_asan_link_order";
	const char *old = getenv("ASAN_OPTIONS");
	char *value;

	if (old && strstr(old, option))
		return;
	value = xasprintf("%s=0%s%s", option, old && old[0] ? ":" : "", old ? old : "");
	setenv("ASAN_OPTIONS", value, 1);
	arguments_add(pass, "ASAN_OPTIONS");
	free(value);
}

/* The usual directory is another user's: should he let it go, processes still find the agent. */
static void keep_directory(void)
{
	char directory[PATH_MAX], passed[PATH_MAX], *error = NULL, *dir;

	if (vftr_runtime_dir(directory, passed, sizeof(directory)) || !passed[0])
		return;
	dir = runtime_directory(&error);
	if (dir)
		setenv("VFTR_RUNTIME_DIR", dir, 1);
	free(error); /* who needs it says it */
	free(dir);
}

/* Both are allocated, and freed here; either may be NULL. */
static char *with_colon(char *libraries, char *another)
{
	char *both;

	if (!libraries || !another)
		return libraries ? libraries : another;
	both = xasprintf("%s:%s", libraries, another);
	free(libraries);
	free(another);
	return both;
}

/* All libraries to preload, with colons. NULL: none, or *error. That of annotations may not be
 * there. */
static char *libraries_of(const struct launch *l, char **error)
{
	char *libraries = NULL, *annotations = NULL;

	if (l->preload)
		libraries = preload_library(l, mpi_of_command(l->command), error);
	if (!libraries && l->preload == PRELOAD_AUTO) {
		free(*error);
		*error = NULL;
	}
	if (libraries && annotations_need_preload(l->annotations))
		annotations = part_path("annotations");
	if (annotations)
		libraries = with_colon(libraries, preloadable(l, annotations, error));
	/* memory first: it is to see who calls mmap(), which both stand in for */
	if (l->memory && !*error)
		libraries = with_colon(libraries, preload_library(l, "memory", error));
	if (l->files && !*error)
		libraries = with_colon(libraries, preload_library(l, "files", error));
	if (l->locks && !*error)
		libraries = with_colon(libraries, preload_library(l, "locks", error));
	return libraries;
}

/* Before what COMMAND preloads anyway. */
static void set_preloads(const char *libraries, enum launcher_kind kind, struct arguments *pass)
{
	const char *old = getenv("LD_PRELOAD");
	char *variable =
		xasprintf("LD_PRELOAD=%s%s%s", libraries, old && old[0] ? ":" : "", old ? old : "");

	if (kind == LAUNCHER_NONE || kind == LAUNCHER_SLURM)
		setenv("LD_PRELOAD", variable + strlen("LD_PRELOAD="), 1);
	else
		arguments_add(pass, variable);
	free(preloads);
	preloads = variable;
}

void launch_environment(
	const struct launch *l, const char *session, struct arguments *pass, char **error)
{
	const char *dir = getenv("VFTR_RUNTIME_DIR");
	char *const *launcher = launcher_words(l->command);
	char *libraries;

	setenv("VFTR_SESSION", session, 1);
	setenv("VFTR_AGENT", "off", 1); /* if we die, nobody starts another one */
	arguments_add(pass, "VFTR_SESSION");
	arguments_add(pass, "VFTR_AGENT");
	if (dir && dir[0])
		arguments_add(pass, "VFTR_RUNTIME_DIR");
	else if (!launch_is_distributed(l))
		keep_directory();
	if (getenv("VFTR_OFF"))
		arguments_add(pass, "VFTR_OFF");
	if (getenv("VFTR_PROGRAMS"))
		arguments_add(pass, "VFTR_PROGRAMS");
	if (l->python) {
		setenv("VFTR_PYTHON", "functions", 1);
		arguments_add(pass, "VFTR_PYTHON");
	}
	offer_gpu(pass);
	offer_annotations(l, pass);
	libraries = libraries_of(l, error);
	if (!libraries)
		return;
	allow_before_asan(pass);
	set_preloads(libraries, launcher ? launcher_kind(launcher[0]) : LAUNCHER_NONE, pass);
	if (l->preload && l->attach_at_start && !mpi_of_command(l->command))
		setenv("VFTR_ATTACH", "start", 1);
	free(libraries);
}

/* Signals and limits that we treat in our own way; COMMAND gets them as we did. */
static const int ours[] = {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD, SIGUSR1,
	SIGTTIN, SIGTTOU, SIGTSTP};
static struct sigaction before[ARRAY_SIZE(ours)];
static sigset_t mask_before;
static struct rlimit files_before;
static int *inherited; /* descriptors */
static size_t n_inherited;

static void remember_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	size_t cap = 0;
	struct dirent *e;

	while (d && (e = readdir(d))) {
		int fd = atoi(e->d_name);

		if (fd <= STDERR_FILENO || fd == dirfd(d))
			continue;
		inherited = grow(inherited, n_inherited + 1, &cap, sizeof(*inherited));
		inherited[n_inherited++] = fd;
	}
	if (d)
		closedir(d);
}

/* Opens unused standard descriptors, so that no file of ours gets one; COMMAND has them closed. */
static void fill_standard(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

void launch_close_inherited(void)
{
	for (size_t i = 0; i < n_inherited; i++)
		close(inherited[i]);
	free(inherited);
	inherited = NULL;
	n_inherited = 0;
}

bool launch_ignored(int signal)
{
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		if (ours[i] == signal)
			return before[i].sa_handler == SIG_IGN;
	return false;
}

void launch_remember(void)
{
	remember_descriptors();
	fill_standard();
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		sigaction(ours[i], NULL, &before[i]);
	sigprocmask(SIG_SETMASK, NULL, &mask_before);
	getrlimit(RLIMIT_NOFILE, &files_before);
}

static void restore(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		sigaction(ours[i], &before[i], NULL);
	sigprocmask(SIG_SETMASK, &mask_before, NULL);
	setrlimit(RLIMIT_NOFILE, &files_before);
}

int launch_exec(char *const *argv)
{
	restore();
	execvp(argv[0], argv);
	return errno;
}

/* Runs argv as a child; its exec error comes back. */
pid_t launch_child(char *const *argv, int when_we_die, int *exec_error)
{
	int pipe_fds[2], error = 0;
	pid_t pid;

	*exec_error = 0;
	if (pipe2(pipe_fds, O_CLOEXEC))
		return -1;
	pid = fork();
	if (pid == 0) {
		restore();
		if (when_we_die)
			prctl(PR_SET_PDEATHSIG, when_we_die);
		execvp(argv[0], argv);
		error = errno;
		if (write(pipe_fds[1], &error, sizeof(error)) < 0)
			_exit(126);
		_exit(127);
	}
	close(pipe_fds[1]);
	if (pid > 0 && read(pipe_fds[0], &error, sizeof(error)) == sizeof(error)) {
		waitpid(pid, NULL, 0);
		*exec_error = error;
		pid = -1;
	}
	close(pipe_fds[0]);
	return pid;
}

/* The supervisor's command line and its parts; valid to its end. */
static struct {
	char *const *command;
	struct arguments pass, argv;
	const char *nodes;
} to_run;

static char *const *command_now(void)
{
	const char *nodes = to_run.nodes && to_run.nodes[0] ? to_run.nodes : NULL;

	launcher_pass_environment(to_run.command, to_run.pass.v, nodes, &to_run.argv);
	return to_run.argv.v;
}

void launch_supervised(const struct agent *a, const struct launch *l, const char *nodes,
	bool (*bereaved)(void *ctx), void *ctx)
{
	static struct supervision s;
	char *error = NULL;

	to_run.command = l->command;
	to_run.nodes = nodes;
	launch_environment(l, a->host.session, &to_run.pass, &error);
	if (error)
		die(OWN_FAILURE, "%s", error);
	s = (struct supervision){.command = command_now,
		.bereaved = bereaved,
		.ctx = ctx,
		.require_profile = l->require_profile};
	s.patience_s =
		a->host.conf->agent_deadline_s < IDLE_S ? a->host.conf->agent_deadline_s : IDLE_S;
	if (a->several)
		s.patience_s = 2 * a->host.conf->agent_deadline_s + IDLE_S;
	if (!a->several && !launch_is_distributed(l) && !untraced_is_off(a->host.conf))
		untraced_elsewhere(l);
	if (supervise(&s))
		die(OWN_FAILURE, "cannot start the agent: %s", strerror(errno));
}
