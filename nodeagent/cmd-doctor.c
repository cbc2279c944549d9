/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vftr doctor PROGRAM: will it be traced when it is run, and if not, why not?
 * Here: the command and what the file itself tells; doctor-link.c: libraries
 * and hooks; doctor-host.c: this machine and environment.
 */
#include "nodeagent/cmd.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "nodeagent/doctor.h"
#include "nodeagent/util.h"

static const struct {
	uint16_t machine;
	const char *name;
} machines[] = {
	{EM_386, "32-bit x86"},
	{EM_X86_64, "x86-64"},
	{EM_ARM, "32-bit ARM"},
	{EM_AARCH64, "aarch64"},
	{EM_PPC64, "POWER"},
	{EM_RISCV, "RISC-V"},
	{EM_S390, "s390"},
	{251, "NEC SX-Aurora"},
};

void diagnose(struct diagnosis *d, enum finding finding, const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		die(125, "out of memory");
	va_end(args);
	d->lines = grow(d->lines, d->n, &d->cap, sizeof(*d->lines));
	d->lines[d->n++] = (struct diagnosed){finding, text};
	d->refused |= finding == FINDING_NO;
}
/* ---- the file ------------------------------------------------------------ */

static bool look_at_script(struct patient *p)
{
	char line[256], *end;
	int fd = open(p->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd >= 0 ? read(fd, line, sizeof(line) - 1) : 0;
	char *word = line + 2;

	if (fd >= 0)
		close(fd);
	line[n > 0 ? n : 0] = 0;
	if (strncmp(line, "#!", 2))
		return false;
	word += strspn(word, " \t");
	end = word + strcspn(word, "\r\n");
	*end = 0;
	diagnose(p->d, FINDING_NO, "it is a script, run by %s, which is not compiled for tracing",
		*word ? word : "the shell");
	diagnose(p->d, FINDING_DO,
		"ask about the program that the script starts: processes below the script are "
		"traced if they are linked or preloaded for it");
	return true;
}

static const char *machine_name(uint16_t machine)
{
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++)
		if (machines[i].machine == machine)
			return machines[i].name;
	return "another processor";
}

static bool look_at_machine(struct patient *p)
{
	struct elf_facts own;
	bool same = true;

	if (!elf_facts_read(&own, "/proc/self/exe", NULL)) {
		same = own.machine == p->self->facts.machine && own.bits64 == p->self->facts.bits64;
		if (!same) {
			diagnose(p->d, FINDING_NO, "it is made for %s, and this machine is %s",
				machine_name(p->self->facts.machine), machine_name(own.machine));
			diagnose(p->d, FINDING_DO,
				"compile it for this machine, or ask on a node "
				"where it runs");
		}
		elf_facts_done(&own);
	}
	return same;
}

static void look_at_rights(struct patient *p)
{
	struct stat st;

	if (access(p->path, X_OK)) {
		diagnose(p->d, FINDING_NO, "it may not be executed");
		diagnose(p->d, FINDING_DO, "chmod +x %s", p->path);
	}
	if (stat(p->path, &st))
		return;
	if ((st.st_mode & S_ISUID) && st.st_uid != geteuid()) {
		diagnose(p->d, FINDING_NO,
			"it is setuid to another user, and an agent serves only its own user");
		diagnose(p->d, FINDING_DO, "remove the setuid bit while you measure");
	} else if ((st.st_mode & (S_ISUID | S_ISGID)) ||
		   getxattr(p->path, "security.capability", NULL, 0) > 0) {
		diagnose(p->d, FINDING_NOTE,
			"it is setuid, setgid or has capabilities: the loader ignores LD_PRELOAD "
			"and "
			"LD_LIBRARY_PATH for other users");
	}
}

/* ---- the command --------------------------------------------------------- */

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* A program in this directory or on PATH, else any file here. The caller frees. */
static char *find_program(const char *name)
{
	const char *path = strchr(name, '/') || is_program(name) ? NULL : getenv("PATH");

	while (path && *path) {
		size_t n = strcspn(path, ":");
		char *file = xasprintf("%.*s/%s", (int)n, path, name);

		if (n && is_program(file))
			return file;
		free(file);
		path += n + (path[n] == ':');
	}
	return xstrdup(name);
}

static void print(const struct diagnosis *d, const char *name)
{
	static const char *const lead[] = {
		[FINDING_OK] = "  ok    ",
		[FINDING_NOTE] = "  note  ",
		[FINDING_NO] = "  no    ",
		[FINDING_DO] = "        -> ",
	};

	if (d->refused)
		printf("%s: will not be traced\n", name);
	else if (d->limits)
		printf("%s: only %s will be traced\n", name, d->limits);
	else
		printf("%s: will be traced\n", name);
	for (size_t i = 0; i < d->n; i++)
		printf("%s%s\n", lead[d->lines[i].finding], d->lines[i].text);
}

static void examine(struct patient *p, const char *config)
{
	if (!look_at_machine(p))
		return;
	if (!p->self->facts.executable) {
		diagnose(p->d, FINDING_NO, "it is a shared library, not a program");
		diagnose(p->d, FINDING_DO, "ask about the program that loads it");
		return;
	}
	look_at_rights(p);
	diagnose_linking(p);
	diagnose_host(p->d, p->ours && p->ours != p->self ? p->ours->path : NULL, config);
}

/* 0, or 2 if there is nothing to examine. */
static int doctor(const char *name, const char *config)
{
	struct diagnosis d = {0};
	struct patient p = {.d = &d};
	char *path = find_program(name);
	const char *why;
	int rc = 0, error;

	p.path = path;
	p.n = 1;
	p.self = p.objects = xcalloc(1, sizeof(*p.objects));
	*p.self = (struct object){.name = name, .path = path};
	error = elf_facts_read(&p.self->facts, path, &why);
	p.self->known = !error;
	if (!error) {
		examine(&p, config);
	} else if (error != -ENOEXEC || !look_at_script(&p)) {
		complain("doctor: %s: %s", name, why);
		rc = 2;
	}
	if (!rc)
		print(&d, name);
	rc = rc ? rc : d.refused;
	for (size_t i = 0; i < d.n; i++)
		free(d.lines[i].text);
	for (size_t i = 0; i < p.n; i++)
		elf_facts_done(&p.objects[i].facts);
	free(d.lines);
	free(d.limits);
	free(p.objects);
	loaded_free(&p.list);
	free(path);
	return rc;
}

static const char usage[] =
	"usage: vftr doctor [OPTION...] PROGRAM\n"
	"\n"
	"Says whether PROGRAM will be traced when it is run as it is, here, and if not,\n"
	"why not. It is not run.\n"
	"\n"
	"  -c, --config FILE  check this configuration, too; default: $VFTR_CONFIG\n"
	"  -h, --help         this text\n"
	"\n"
	"Exit status: 0 it will, 1 it will not, 2 it cannot be read, or wrong usage.\n";

static bool is_config(const char *option)
{
	return !strcmp(option, "-c") || !strcmp(option, "--config");
}

int cmd_doctor(int argc, char **argv)
{
	const char *config = NULL;
	int i = 1;

	for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			fputs(usage, stdout);
			return 0;
		}
		if (!strcmp(argv[i], "--")) {
			i++;
			break;
		}
		if (is_config(argv[i]) && i + 1 < argc) {
			config = argv[++i];
		} else if (!strncmp(argv[i], "--config=", 9)) {
			config = argv[i] + 9;
		} else {
			complain("doctor: %s `%s'",
				is_config(argv[i]) ? "no file after" : "unknown option", argv[i]);
			return 2;
		}
	}
	if (argc - i != 1) {
		complain("doctor: give one program: vftr doctor [--config FILE] PROGRAM");
		return 2;
	}
	return doctor(argv[i], config);
}
