/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Annotations that programs already have: the table of what is understood, and the interface in
 * the process between libvftrace and libvftrace-annotations.so, which stands in for the functions
 * that programs call (libhook/annotation).
 */
#ifndef VFTR_SHM_ANNOTATION_H
#define VFTR_SHM_ANNOTATION_H

#include <stdint.h>

/*
 * X(word, way, what) in the order of vftr-annotations(7)
 *	word	what the key `annotations` calls it
 *	way	how its functions come to the library, enum annotation_way
 *	what	who calls it
 */
/* clang-format off */
#define ANNOTATIONS(X) \
X(kokkos,    ANNOTATION_KOKKOS_LOADS, "Kokkos: kernels, regions, copies, fences") \
X(petsc,     ANNOTATION_IS_PRELOADED, "PETSc: events and stages") \
X(likwid,    ANNOTATION_IS_PRELOADED, "LIKWID's marker API") \
X(papi,      ANNOTATION_IS_PRELOADED, "PAPI's high-level API") \
X(roctx,     ANNOTATION_IS_PRELOADED, "ROCTX ranges and marks") \
X(perfstubs, ANNOTATION_IS_PRELOADED, "PerfStubs timers, of ADIOS2 and others") \
X(caliper,   ANNOTATION_IS_PRELOADED, "Caliper's C functions") \
X(scorep,    ANNOTATION_IS_PRELOADED, "Score-P user regions") \
X(tau,       ANNOTATION_IS_PRELOADED, "TAU's C timers") \
X(extrae,    ANNOTATION_IS_PRELOADED, "Extrae events") \
X(itt,       ANNOTATION_ITT_LOADS,    "ITT tasks and frames, of oneTBB and others") \
X(pcontrol,  ANNOTATION_MPI_WRAPS,    "MPI_Pcontrol(1 or -1, name)")
/* clang-format on */

enum annotation_way {
	ANNOTATION_IS_PRELOADED, /* by LD_PRELOAD */
	ANNOTATION_KOKKOS_LOADS, /* Kokkos loads what KOKKOS_TOOLS_LIBS names */
	ANNOTATION_ITT_LOADS,	 /* users of ITT load what INTEL_LIBITTNOTIFY64 names */
	ANNOTATION_MPI_WRAPS,	 /* the MPI wrapper of the function */
};

enum annotation {
#define ANNOTATION_NUMBER(word, way, what) ANNOTATION_##word,
	ANNOTATIONS(ANNOTATION_NUMBER)
#undef ANNOTATION_NUMBER
		ANNOTATION_KINDS
};

_Static_assert(ANNOTATION_KINDS <= 32, "they are bits of a word in WELCOME");

#define ANNOTATION_SEAM_VERSION 1u

/* Functions of libvftrace. Any thread may call them; errno is kept. */
struct annotation_host {
	uint32_t version;
	/* A region of this name (at most `most` bytes) begins. What ends it, or 0: it is not
	 * recorded. */
	uint64_t (*begin)(enum annotation, const char *name, uint64_t most);
	/* The region ends; 0 is ignored. */
	void (*end)(uint64_t region);
	/* The region of this name ends. */
	void (*end_name)(enum annotation, const char *name, uint64_t most);
};

/* Exported by libvftrace as vftrace_annotation_host(). */
typedef const struct annotation_host *annotation_host_function(void);

#endif
