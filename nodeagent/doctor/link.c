/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of `vftr doctor` about linking. A program is traced if somebody in
 * it calls the hooks (compiled so) and the hooks it gets are ours: the first
 * object in the order of look-up that exports them. glibc exports empty ones,
 * so nothing else tells a user that ours are missing.
 */
#include "nodeagent/doctor/doctor.h"
#include "nodeagent/doctor/hooked.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "nodeagent/base/util.h"

enum mpi { MPI_NONE = 0, MPI_OPEN = 1, MPI_CH = 2 };

static const char *const mpi_title[] = {"no MPI", "Open MPI", "MPICH"};
static const char *const mpi_library[] = {"libvftrace", "libvftrace-openmpi", "libvftrace-mpich"};

/* Beginnings of library names; the first that fits counts. */
static const struct {
	const char *prefix;
	enum mpi mpi;
} mpi_of_library[] = {
	{"libmpich", MPI_CH},
	{"libmpi_cray", MPI_CH},
	{"libmpi.so.12", MPI_CH},
	{"libmpifort.so.12", MPI_CH},
	{"libmpi.so.", MPI_OPEN},
	{"libmpi_mpifh.so", MPI_OPEN},
	{"libmpi_usempi", MPI_OPEN},
};

/* ---- its libraries ------------------------------------------------------- */

static void add_object(struct patient *p, const char *name, const char *path)
{
	struct object *o = &p->objects[p->n++];

	*o = (struct object){.name = name, .path = path};
	o->known = path && !elf_facts_read(&o->facts, path, NULL);
}

/* Without a loader to ask: only what the program itself names. */
static void explain_no_list(struct patient *p, int error)
{
	const char *loader = p->self->facts.interpreter;

	if (error == -EPERM)
		diagnose(p->d, FINDING_NOTE,
			"its loader %s is not the system's: libraries not searched", loader);
	else
		diagnose(p->d, FINDING_NO, "its loader %s cannot be run: %s", loader,
			strerror(-error));
}

static void look_at_libraries(struct patient *p)
{
	const char *loader = p->self->facts.interpreter;
	int error;

	if (!loader)
		return;
	error = loaded_list(&p->list, p->path, loader);
	if (error) {
		explain_no_list(p, error);
		return;
	}
	p->objects = xrealloc(p->objects, (p->list.n + 1) * sizeof(*p->objects));
	p->self = p->objects;
	for (size_t i = 0; i < p->list.n; i++) {
		const struct loaded_object *o = &p->list.objects[i];

		add_object(p, o->name, o->path);
		if (o->path)
			continue;
		diagnose(p->d, FINDING_NO, "its library %s is not found", o->name);
		diagnose(p->d, FINDING_DO, "%s",
			strchr(o->name, '/')
				? "it is looked for at this path only: start the program in the "
				  "folder that this begins in, link with -l, or give the library a "
				  "soname (-Wl,-soname,NAME)"
				: "add its directory to LD_LIBRARY_PATH, or link with "
				  "-Wl,-rpath,DIRECTORY");
	}
	if (p->list.trouble)
		diagnose(p->d, p->list.n ? FINDING_NOTE : FINDING_NO, "the loader says: %s",
			p->list.trouble);
}

/* An object with our code inside. From an archive, the marker may not come along. */
static bool holds_ours(const struct object *o)
{
	const struct elf_facts *f = &o->facts;

	if (!o->known || f->marker == ELF_DEFINED)
		return o->known;
	return f->executable && f->vftr_text &&
	       (f->hook == ELF_DEFINED || (f->stripped && !f->dynamic));
}

static bool is_instrumented(const struct object *o)
{
	return o->known &&
	       (o->facts.hook == ELF_USED || (o->facts.executable && o->facts.hook == ELF_DEFINED));
}

static void find_hooks(struct patient *p)
{
	for (size_t i = 0; i < p->n; i++) {
		struct object *o = &p->objects[i];

		if (!p->ours && holds_ours(o))
			p->ours = o;
		p->n_instrumented += is_instrumented(o);
		if (!p->provider && o->known &&
			(o->facts.hook_exported || (!i && o->facts.hook == ELF_DEFINED)))
			p->provider = o;
	}
	p->d->linked = p->ours;
	p->d->instrumented = p->n_instrumented;
	if (!p->self->facts.dynamic && p->ours == p->self && p->self->facts.stripped)
		p->provider = p->self;
}

/* ---- verdicts ------------------------------------------------------------ */

static void advise_instrumentation(struct patient *p)
{
	diagnose(p->d, FINDING_NO,
		p->n > 1 ? "it is not instrumented: neither it nor its libraries call "
			   "the hooks"
			 : "it is not instrumented: it calls no hooks");
	diagnose(p->d, FINDING_DO, "compile it with -finstrument-functions");
}

/* libhook/switches/sleds.h */
static bool has_sleds(const struct patient *p)
{
	return p->self->facts.sleds && p->self->facts.machine == EM_X86_64;
}

static void judge_static(struct patient *p)
{
	const struct elf_facts *f = &p->self->facts;

	if (p->ours == p->self) {
		diagnose(p->d, FINDING_OK,
			"it is statically linked, with libvftrace-static.a inside");
	} else if (f->hook == ELF_DEFINED) {
		diagnose(p->d, FINDING_NO,
			"it is statically linked without libvftrace-static.a: its hooks are "
			"glibc's empty ones");
		diagnose(p->d, FINDING_DO,
			"link it with libvftrace-static.a after the objects; a statically "
			"linked program cannot be preloaded");
	} else if (has_sleds(p)) {
		diagnose(p->d, FINDING_NO,
			"it is statically linked, with sleds of -fxray-instrument, and without "
			"libvftrace-static.a");
		diagnose(p->d, FINDING_DO,
			"link it with -Wl,-u,vftrace_version and libvftrace-static.a");
	} else if (f->stripped) {
		diagnose(p->d, FINDING_NO,
			"it is statically linked and stripped, and holds no trace of "
			"libvftrace-static.a");
		diagnose(p->d, FINDING_DO, "link it with libvftrace-static.a after the objects");
	} else {
		advise_instrumentation(p);
		diagnose(p->d, FINDING_DO,
			"and link it with libvftrace-static.a: a statically linked program "
			"cannot be preloaded");
	}
}

/* MPI calls need no instrumentation, but our library. */
static void advise_preload(struct patient *p)
{
	for (size_t i = 0; i < p->n; i++) {
		if (p->objects[i].facts.mpi != ELF_USED)
			continue;
		diagnose(p->d, FINDING_DO,
			"to see its MPI calls alone, run it under `vftr run -- mpirun ...'");
		return;
	}
}

static void advise_samples(struct patient *p)
{
	if (p->self->facts.dynamic)
		diagnose(p->d, FINDING_DO,
			"or see call paths of the program as it is, by stack samples: run it under "
			"`vftr run --' (vftr-stack(7))");
}

static void judge_uninstrumented(struct patient *p)
{
	bool regions = false, mpi = false;

	if (has_sleds(p)) {
		diagnose(p->d, FINDING_OK,
			"the program has sleds of -fxray-instrument: its functions are recorded%s",
			p->ours ? "" : " under `vftr run --'");
		return;
	}
	for (size_t i = 0; i < p->n && p->ours; i++) {
		if (&p->objects[i] == p->ours)
			continue;
		regions |= p->objects[i].facts.regions == ELF_USED;
		mpi |= p->objects[i].facts.mpi == ELF_USED && p->ours->facts.mpi == ELF_DEFINED;
	}
	if (!regions && !mpi) {
		advise_instrumentation(p);
		if (!p->ours) {
			advise_preload(p);
			advise_samples(p);
		}
		return;
	}
	p->d->limits = xstrdup(regions && mpi ? "its regions and MPI calls"
			       : regions      ? "its regions"
					      : "its MPI calls");
	diagnose(p->d, FINDING_NOTE, "it is not instrumented: only %s are recorded", p->d->limits);
	diagnose(p->d, FINDING_DO, "compile it with -finstrument-functions to see its functions");
}

static void name_instrumented(struct patient *p)
{
	size_t shown = 0;

	for (size_t i = 0; i < p->n; i++)
		if (is_instrumented(&p->objects[i]) && shown++ < 20)
			diagnose(p->d, FINDING_OK, "%s is instrumented",
				i ? p->objects[i].name : "the program");
	if (shown > 20)
		diagnose(p->d, FINDING_OK, "... and %zu more libraries are", shown - 20);
}

static bool is_glibc(const struct object *o)
{
	return !strncmp(o->name, "libc.so", 7);
}

/* Our library is needed but not found, or nothing is known of any. */
static bool is_missing(const struct patient *p)
{
	return !p->list.n || ANY(i, p->list.n,
				     !p->list.objects[i].path &&
					     !strncmp(p->list.objects[i].name, "libvftrace", 10));
}

static void judge_dropped(struct patient *p)
{
	const char *version = NULL;

	for (size_t i = 0; i < p->n && !version; i++)
		version = p->objects[i].facts.hook_version;
	diagnose(p->d, FINDING_NO,
		"it is not linked with libvftrace: its hooks are %s%s, which are empty",
		version ? "__cyg_profile_func_enter@" : "the C library's", version ? version : "");
	diagnose(p->d, FINDING_NOTE,
		"the C library exports these functions, so linking without "
		"libvftrace succeeds silently, and --as-needed drops a library that "
		"stands before the objects");
	diagnose(p->d, FINDING_DO,
		"put -lvftrace after the objects, or link with -Wl,--no-as-needed, or "
		"run it under `vftr run --'");
}

static void judge_dynamic(struct patient *p)
{
	if (!p->n_instrumented) {
		judge_uninstrumented(p);
		return;
	}
	name_instrumented(p);
	if (is_missing(p)) {
		return; /* has been said */
	} else if (!p->provider || (is_glibc(p->provider) && !p->ours)) {
		judge_dropped(p);
	} else if (holds_ours(p->provider)) {
		diagnose(p->d, FINDING_OK, "its hooks are those of %s",
			p->provider == p->self ? "libvftrace.a inside it" : p->provider->path);
	} else if (is_glibc(p->provider)) {
		diagnose(p->d, FINDING_NO,
			"%s is loaded, but behind the C library, whose empty hooks come "
			"first",
			p->ours->name);
		diagnose(p->d, FINDING_DO,
			"put -lvftrace before -lc and after the objects, or run it under "
			"`vftr run --'");
	} else {
		diagnose(p->d, FINDING_NO, "its hooks are those of %s, another tool",
			p->provider == p->self ? "the program itself" : p->provider->path);
		diagnose(p->d, FINDING_DO, "link without that tool");
	}
}

static void judge_names(struct patient *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (is_instrumented(&p->objects[i]) && p->objects[i].facts.stripped)
			diagnose(p->d, FINDING_NOTE,
				"%s is stripped: names will be module+0xoffset unless exported",
				i ? p->objects[i].name : "it");
	if (!p->n_instrumented && p->self->facts.stripped && p->ours == p->self)
		diagnose(p->d, FINDING_NOTE, "it is stripped: names will be module+0xoffset");
}

/* ---- MPI ----------------------------------------------------------------- */

static enum mpi mpi_of(const char *library)
{
	for (size_t i = 0; i < ARRAY_SIZE(mpi_of_library); i++)
		if (!strncmp(library, mpi_of_library[i].prefix, strlen(mpi_of_library[i].prefix)))
			return mpi_of_library[i].mpi;
	return MPI_NONE;
}

/* The set of MPIs that an object wants itself. */
static unsigned mpi_needed_by(const struct object *o)
{
	unsigned set = 0;

	for (size_t i = 0; i < o->facts.n_needed; i++)
		set |= mpi_of(o->facts.needed[i]);
	return set;
}

/* ... and all of them want, but for our library and the MPIs' own parts. */
static unsigned mpi_needed(const struct patient *p)
{
	unsigned set = 0;

	for (size_t i = 0; i < p->n; i++)
		if (!i || (&p->objects[i] != p->ours && !mpi_of(p->objects[i].name)))
			set |= mpi_needed_by(&p->objects[i]);
	return set;
}

static void judge_mpi(struct patient *p)
{
	unsigned theirs = mpi_needed(p), ours = MPI_NONE;

	if (p->ours)
		ours = p->ours != p->self		   ? mpi_needed_by(p->ours)
		       : p->self->facts.mpi == ELF_DEFINED ? theirs
							   : MPI_NONE;
	if (theirs == (MPI_OPEN | MPI_CH)) {
		diagnose(p->d, FINDING_NO, "it is linked with Open MPI and with MPICH");
		diagnose(p->d, FINDING_DO, "link it and all its libraries with one MPI");
	} else if (!theirs && p->self->facts.mpi == ELF_USED &&
		   (ours == MPI_OPEN || ours == MPI_CH)) {
		/* the wrappers have all that it calls, so the linker dropped the MPI */
		diagnose(p->d, FINDING_OK, "it uses MPI by way of the library for %s",
			mpi_title[ours]);
	} else if (!p->ours || !theirs) {
		return;
	} else if (ours == theirs) {
		diagnose(
			p->d, FINDING_OK, "it uses %s, and so does the library", mpi_title[theirs]);
	} else if (ours == MPI_NONE) {
		diagnose(p->d, FINDING_NOTE,
			"it uses %s, but has the library without MPI: MPI calls will "
			"not be recorded",
			mpi_title[theirs]);
		diagnose(p->d, FINDING_DO, "link it with %s instead", mpi_library[theirs]);
		p->d->no_mpi = p->ours != p->self;
	} else {
		diagnose(p->d, FINDING_NO, "it uses %s, but the library is the one for %s",
			mpi_title[theirs], ours < 3 ? mpi_title[ours] : "both MPIs");
		diagnose(p->d, FINDING_DO, "link it with %s", mpi_library[theirs]);
	}
}
/* ---- the interface ------------------------------------------------------- */

void diagnose_linking(struct patient *p)
{
	look_at_libraries(p);
	find_hooks(p);
	if (p->self->facts.dynamic && p->self->facts.interpreter)
		judge_dynamic(p);
	else
		judge_static(p);
	judge_names(p);
	if (is_instrumented(p->self) && !p->d->refused)
		diagnose_namespaces(p);
	judge_mpi(p);
}
