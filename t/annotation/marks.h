/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions by which programs tell other tools what they do, as those declare them. All are
 * weak here: a program that finds none of them does without. */
#ifndef VFTR_T_ANNOTATION_MARKS_H
#define VFTR_T_ANNOTATION_MARKS_H

#include <stdint.h>

#define WEAK __attribute__((weak))

WEAK int likwid_markerStartRegion(const char *tag);
WEAK int likwid_markerStopRegion(const char *tag);
WEAK int PAPI_hl_region_begin(const char *name);
WEAK int PAPI_hl_region_end(const char *name);
WEAK int roctxRangePushA(const char *message);
WEAK int roctxRangePop(void);
WEAK void roctxMarkA(const char *message);
WEAK uint64_t roctxRangeStartA(const char *message);
WEAK void roctxRangeStop(uint64_t range);
WEAK void ps_tool_initialize(void);
WEAK void *ps_tool_timer_create(const char *name);
WEAK void ps_tool_timer_start(const void *timer);
WEAK void ps_tool_timer_stop(const void *timer);
WEAK void ps_tool_start_string(const char *name);
WEAK void ps_tool_stop_string(const char *name);
WEAK void ps_tool_dynamic_phase_start(const char *name, int index);
WEAK void ps_tool_dynamic_phase_stop(const char *name, int index);
WEAK void ps_tool_finalize(void);
WEAK void cali_begin_region(const char *name);
WEAK void cali_end_region(const char *name);
WEAK void cali_begin_phase(const char *name);
WEAK void cali_end_phase(const char *name);
WEAK void cali_begin_comm_region(const char *name);
WEAK void cali_end_comm_region(const char *name);
WEAK void cali_begin_byname(const char *attribute);
WEAK void cali_begin_string_byname(const char *attribute, const char *text);
WEAK void cali_begin_int_byname(const char *attribute, int number);
WEAK void cali_begin_double_byname(const char *attribute, double number);
WEAK void cali_end_byname(const char *attribute);
WEAK void cali_begin_string(uint64_t attribute, const char *text);
WEAK void cali_begin_int(uint64_t attribute, int number);
WEAK void cali_end(uint64_t attribute);
WEAK void SCOREP_User_RegionInit(void **handle, const char **last_name, void **last_file,
	const char *name, uint32_t type, const char *file, uint32_t line);
WEAK void SCOREP_User_RegionBegin(void **handle, const char **last_name, void **last_file,
	const char *name, uint32_t type, const char *file, uint32_t line);
WEAK void SCOREP_User_RegionEnter(void *handle);
WEAK void SCOREP_User_RegionEnd(void *handle);
WEAK void SCOREP_User_RegionByNameBegin(
	const char *name, uint32_t type, const char *file, uint32_t line);
WEAK void SCOREP_User_RegionByNameEnd(const char *name);
WEAK void Tau_start(const char *name);
WEAK void Tau_stop(const char *name);
WEAK void Extrae_define_event_type(unsigned *type, char *description, unsigned *n_values,
	unsigned long long *values, char **descriptions);
WEAK void Extrae_event(unsigned type, unsigned long long value);
WEAK void Extrae_eventandcounters(unsigned type, unsigned long long value);

#endif
