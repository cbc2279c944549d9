/* SPDX-License-Identifier: BSD-3-Clause */
/* For app-sentinels.f90: what fortran/sentinel.c says of an address. */
#include <string.h>
#include "mpi/call.h"

#define SEEN __attribute__((visibility("default")))

SEEN int in_place_(const void *buffer, const int *language);
SEEN int in_place_ts(const void *buffer);
SEEN int ignored_(void *status, const int *language);

int in_place_(const void *buffer, const int *language)
{
	struct mpi_call k = {.language = (uint8_t)*language};

	return vftr_call_in_place(&k, buffer);
}

int in_place_ts(const void *buffer)
{
	struct mpi_call k = {.language = LANGUAGE_F08TS};

	return vftr_call_in_place(&k, buffer);
}

int ignored_(void *status, const int *language)
{
	struct mpi_call k = {.language = (uint8_t)*language, .status = status};

	return vftr_call_status_ignored(&k);
}
