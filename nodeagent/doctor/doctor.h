/* SPDX-License-Identifier: BSD-3-Clause */
/* The findings of `vftr doctor`, one sentence each. */
#ifndef VFTR_NODEAGENT_DOCTOR_DOCTOR_H
#define VFTR_NODEAGENT_DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "nodeagent/symbols/elf.h"

enum finding {
	FINDING_OK,   /* as it should be */
	FINDING_NOTE, /* good to know */
	FINDING_NO,   /* prevents tracing */
	FINDING_DO,   /* what to do about the line before */
};

struct diagnosis {
	size_t n, cap;
	struct diagnosed {
		enum finding finding;
		char *text;
	} * lines;
	bool linked;	   /* the program is linked with our library, even if that is not enough */
	bool instrumented; /* the program, or a library of it, calls the hooks */
	bool no_mpi;	   /* it uses MPI, and is linked with the shared library without MPI */
	bool refused;	   /* something prevents tracing */
	char *limits;	   /* all that will be traced, "its MPI calls"; NULL: functions, too */
};

struct doctor_question {
	const char *name;   /* as it was written */
	const char *path;   /* of the file */
	bool host;	    /* examine its surroundings, too: diagnose_host() */
	const char *config; /* file for diagnose_host(), or NULL */
};

/* Adds findings to *d. Returns NULL, or why there is nothing to examine. */
const char *doctor_examine(struct diagnosis *d, const struct doctor_question *q);
void diagnosis_free(struct diagnosis *d);

/* VFTR_OFF if it switches tracing off, as libvftrace reads it, or NULL. */
const char *doctor_off(void);
/* A program in this directory or on PATH, else the name itself. The caller frees. */
char *doctor_find(const char *name);
/* A file that may be executed. */
bool doctor_is_program(const char *path);

/* ---- its parts --------------------------------------------------------------- */

void diagnose(struct diagnosis *d, enum finding finding, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * loaded.c: the libraries that a program would be loaded with, by its own dynamic
 * loader, as ldd does. The program itself is not run.
 */
struct loaded_object {
	char *name; /* as needed: "libm.so.6" */
	char *path; /* NULL: not found */
};

/* The objects after the program, in the order in which symbols are looked up. */
struct loaded {
	size_t n, cap;
	struct loaded_object *objects;
	char *trouble; /* first line of the loader's other output, or NULL */
};

/*
 * interpreter is the loader named in the program. 0, -errno, or -EPERM if it is not a known
 * loader that belongs to root (then it is not run). Preloaded libraries of this environment
 * are among the objects. loaded_free() is needed after an error, too.
 */
int loaded_list(struct loaded *list, const char *program, const char *interpreter);
void loaded_free(struct loaded *list);

/* The program is objects[0], its libraries follow in the order of look-up. */
struct object {
	const char *name, *path;
	struct elf_facts facts;
	bool known; /* facts could be read */
};

struct patient {
	struct diagnosis *d;
	const char *path;
	struct loaded list;
	size_t n;
	struct object *objects;
	struct object *self;	 /* objects[0] */
	struct object *ours;	 /* our library, or the program that holds it, or NULL */
	struct object *provider; /* whose hooks are called, or NULL */
	size_t n_instrumented;
};

/* Fills in all but d, path, n and objects, with the caller's one object. */
void diagnose_linking(struct patient *p);

/*
 * The surroundings: environment, configuration, runtime directory, kernel, and
 * whether an agent is found by the library at `library` (NULL: not known, it
 * is looked for beside the tool). config: a file, or NULL for $VFTR_CONFIG.
 */
void diagnose_host(struct diagnosis *d, const char *library, const char *config);

#endif
