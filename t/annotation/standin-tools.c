/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All those other tools in one library: counts the calls of each function. Their parameters are not
 * looked at, and each gives back the number of the call, from 1001, which those without a result
 * may: nobody sees it.
 */
#include <string.h>

#define TOOL(name)                                                                                 \
	long name(void)                                                                            \
	{                                                                                          \
		return 1001 + calls_##name++;                                                      \
	}
/* These also set a handle. */
#define TOOL_HANDLE(name)                                                                          \
	void name(void **handle)                                                                   \
	{                                                                                          \
		*handle = (void *)(1001 + calls_##name++);                                         \
	}

#define TOOLS(X)                                                                                   \
	X(likwid_markerStartRegion)                                                                \
	X(likwid_markerStopRegion)                                                                 \
	X(PAPI_hl_region_begin)                                                                    \
	X(PAPI_hl_region_end)                                                                      \
	X(roctxRangePushA)                                                                         \
	X(roctxRangePop)                                                                           \
	X(roctxMarkA)                                                                              \
	X(roctxRangeStartA)                                                                        \
	X(roctxRangeStop)                                                                          \
	X(ps_tool_initialize)                                                                      \
	X(ps_tool_timer_create)                                                                    \
	X(ps_tool_timer_start)                                                                     \
	X(ps_tool_timer_stop)                                                                      \
	X(ps_tool_start_string)                                                                    \
	X(ps_tool_stop_string)                                                                     \
	X(ps_tool_dynamic_phase_start)                                                             \
	X(ps_tool_dynamic_phase_stop)                                                              \
	X(ps_tool_finalize)                                                                        \
	X(cali_begin_region)                                                                       \
	X(cali_end_region)                                                                         \
	X(cali_begin_phase)                                                                        \
	X(cali_end_phase)                                                                          \
	X(cali_begin_comm_region)                                                                  \
	X(cali_end_comm_region)                                                                    \
	X(cali_begin_byname)                                                                       \
	X(cali_begin_string_byname)                                                                \
	X(cali_begin_int_byname)                                                                   \
	X(cali_begin_double_byname)                                                                \
	X(cali_end_byname)                                                                         \
	X(cali_begin_string)                                                                       \
	X(cali_begin_int)                                                                          \
	X(cali_end)                                                                                \
	X(SCOREP_User_RegionEnter)                                                                 \
	X(SCOREP_User_RegionEnd)                                                                   \
	X(SCOREP_User_RegionByNameBegin)                                                           \
	X(SCOREP_User_RegionByNameEnd)                                                             \
	X(Tau_start)                                                                               \
	X(Tau_stop)                                                                                \
	X(Extrae_define_event_type)                                                                \
	X(Extrae_event)                                                                            \
	X(Extrae_eventandcounters)
#define TOOLS_HANDLE(X) X(SCOREP_User_RegionInit) X(SCOREP_User_RegionBegin)

#define CALLS(name) static long calls_##name;
TOOLS(CALLS)
TOOLS_HANDLE(CALLS)
TOOLS(TOOL)
TOOLS_HANDLE(TOOL_HANDLE)

/* Calls of all functions whose names begin so. */
long tool_calls(const char *beginning)
{
	static const struct {
		const char *name;
		const long *calls;
	} all[] = {
#define ROW(name) {#name, &calls_##name},
		TOOLS(ROW) TOOLS_HANDLE(ROW)};
	long n = 0;

	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		n += strncmp(all[i].name, beginning, strlen(beginning)) ? 0 : *all[i].calls;
	return n;
}
