/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that a program compiled by gcc calls for OpenACC. Most of them have a
 * variable number of arguments, so nothing of ours may lie on the stack when they run:
 * each of ours only looks who calls, and jumps. libgomp tells a tool (openacc.c) neither
 * of itself nor of lines, so we register at the first call, and the caller is the line.
 */
#include "libhook/openmp/gomp-jump.h"
#include "libhook/openmp/gomp.h"
#include "libhook/accelerator/openacc-tool.h"

/* Numbers for the assembler. */
#define CALLS(_)                                                                                   \
	_(0, GOACC_parallel_keyed)                                                                 \
	_(1, GOACC_parallel)                                                                       \
	_(2, GOACC_data_start)                                                                     \
	_(3, GOACC_data_end)                                                                       \
	_(4, GOACC_enter_exit_data)                                                                \
	_(5, GOACC_enter_data)                                                                     \
	_(6, GOACC_exit_data)                                                                      \
	_(7, GOACC_update)                                                                         \
	_(8, GOACC_wait)                                                                           \
	_(9, GOACC_declare)

void *vftr_goacc(unsigned call, const void *caller)
{
	static const enum gomp_row rows[] = {
#define ROW(number, name) [number] = GOMP_ROW_##name,
		CALLS(ROW)
#undef ROW
	};
	struct gomp *library;
	void *real = vftr_gomp_find(rows[call], caller, &library);

	vftr_openacc_called(caller, real);
	return real;
}

CALLS(GOACC_JUMP)
