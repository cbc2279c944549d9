/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Will a program be traced when it is run? Here: what the file itself tells;
 * link.c: libraries and hooks; host.c: this machine and environment.
 */
#include "nodeagent/doctor/doctor.h"

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

#include "nodeagent/base/util.h"

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
	*APPEND(d->lines, d->n, d->cap) = (struct diagnosed){finding, text};
	d->refused |= finding == FINDING_NO;
}

/* ---- the file ------------------------------------------------------------ */

static bool is_preloaded(void)
{
	const char *list = getenv("LD_PRELOAD");

	return list && strstr(list, "libvftrace");
}

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
	if (is_preloaded())
		diagnose(p->d, FINDING_DO,
			"add -k profile.sample=20 if its programs are neither instrumented nor use "
			"MPI: then stack samples show their functions");
	else
		diagnose(p->d, FINDING_DO,
			"ask about the program that the script starts, or say --preload: that "
			"traces "
			"programs that are instrumented or use MPI; others also need "
			"-k profile.sample=20");
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

/* Whether the kernel gives the program more rights than its user has (AT_SECURE): a group that is
 * not the user's, or capabilities, which root has anyway. */
static bool is_privileged(const struct stat *st, bool has_capabilities)
{
	const mode_t as_group = S_ISGID | S_IXGRP; /* without the second it means something else */

	return ((st->st_mode & as_group) == as_group && st->st_gid != getgid()) ||
	       (has_capabilities && geteuid());
}

static void look_at_rights(struct patient *p)
{
	struct stat st;
	bool has_capabilities;

	if (access(p->path, X_OK)) {
		diagnose(p->d, FINDING_NO, "it may not be executed");
		diagnose(p->d, FINDING_DO, "chmod +x %s", p->path);
	}
	if (stat(p->path, &st))
		return;
	has_capabilities = getxattr(p->path, "security.capability", NULL, 0) > 0;
	if ((st.st_mode & S_ISUID) && st.st_uid != geteuid()) {
		diagnose(p->d, FINDING_NO,
			"it is setuid to another user, and an agent serves only its own user");
		diagnose(p->d, FINDING_DO, "remove the setuid bit while you measure");
	} else if (is_privileged(&st, has_capabilities)) {
		diagnose(p->d, FINDING_NO,
			"it is run with more rights than its user has, so the library switches "
			"itself off");
		diagnose(p->d, FINDING_DO,
			"measure a copy of it: cp leaves out capabilities and the setgid bit");
	} else if ((st.st_mode & (S_ISUID | S_ISGID)) || has_capabilities) {
		diagnose(p->d, FINDING_NOTE,
			"it is setuid, setgid or has capabilities: the loader ignores LD_PRELOAD "
			"and "
			"LD_LIBRARY_PATH for other users");
	}
}

bool doctor_is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* A program in this directory or on PATH, else any file here. The caller frees. */
char *doctor_find(const char *name)
{
	const char *path = strchr(name, '/') || doctor_is_program(name) ? NULL : getenv("PATH");

	while (path && *path) {
		size_t n = strcspn(path, ":");
		char *file = xasprintf("%.*s/%s", (int)n, path, name);

		if (n && doctor_is_program(file))
			return file;
		free(file);
		path += n + (path[n] == ':');
	}
	return xstrdup(name);
}

static void examine(struct patient *p, const struct doctor_question *q)
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
	if (q->host)
		diagnose_host(
			p->d, p->ours && p->ours != p->self ? p->ours->path : NULL, q->config);
}

const char *doctor_examine(struct diagnosis *d, const struct doctor_question *q)
{
	struct patient p = {.d = d, .path = q->path, .n = 1};
	const char *why = NULL;
	int error;

	p.self = p.objects = xcalloc(1, sizeof(*p.objects));
	*p.self = (struct object){.name = q->name, .path = q->path};
	error = elf_facts_read(&p.self->facts, q->path, &why);
	p.self->known = !error;
	if (!error)
		examine(&p, q);
	else if (error == -ENOEXEC && look_at_script(&p))
		why = NULL;
	for (size_t i = 0; i < p.n; i++)
		elf_facts_done(&p.objects[i].facts);
	free(p.objects);
	loaded_free(&p.list);
	return error ? why : NULL;
}

void diagnosis_free(struct diagnosis *d)
{
	for (size_t i = 0; i < d->n; i++)
		free(d->lines[i].text);
	free(d->lines);
	free(d->limits);
}
