/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Marks what it does for a tool, argv[1], as programs do for it, and prints what the profile must
 * have ("CALLS PATH") and at last how often the tool itself was called, if it is there. It does
 * without functions that are not there.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include "t/annotation/marks.h"

#define TIMES  5
#define TIMERS 5000

long tool_calls(const char *beginning) __attribute__((weak));

static void likwid(void)
{
	for (int i = 0; i < TIMES; i++) {
		likwid_markerStartRegion("outer");
		likwid_markerStartRegion("inner");
		likwid_markerStopRegion("inner");
		likwid_markerStopRegion("outer");
	}
	puts("5 outer<init\n5 inner<outer<init");
}

static void PAPI(void)
{
	for (int i = 0; i < TIMES; i++) {
		PAPI_hl_region_begin("outer");
		PAPI_hl_region_begin("inner");
		PAPI_hl_region_end("inner");
		PAPI_hl_region_end("outer");
	}
	puts("5 outer<init\n5 inner<outer<init");
}

static void roctx(void)
{
	for (int i = 0; i < TIMES; i++) {
		roctxRangePushA("outer");
		roctxRangePushA("inner");
		roctxMarkA("mark");
		roctxRangePop();
		roctxRangeStop(roctxRangeStartA("anywhere"));
		roctxRangePop();
	}
	puts("5 outer<init\n5 inner<outer<init\n5 mark<inner<outer<init\n5 anywhere<outer<init");
}

/* Two names that are the same for long; and many timers, each of which has its name. */
static void timers(void)
{
	char name[2][402];
	void *timer[TIMERS];

	if (!ps_tool_initialize)
		return;
	for (int i = 0; i < 2; i++) {
		memset(name[i], 'x', 400);
		name[i][400] = (char)('0' + i);
		name[i][401] = '\0';
		timer[i] = ps_tool_timer_create(name[i]);
		ps_tool_timer_start(timer[i]);
		ps_tool_timer_stop(timer[i]);
		printf("1 %s<init\n", name[i]);
	}
	for (int i = 0; i < TIMERS; i++) {
		snprintf(name[0], sizeof(name[0]), "timer %d", i);
		timer[i] = ps_tool_timer_create(name[0]);
	}
	for (int i = 0; i < TIMERS; i++) {
		ps_tool_timer_start(timer[i]);
		ps_tool_timer_stop(timer[i]);
		printf("1 timer %d<init\n", i);
	}
}

static void ps_tool(void)
{
	void *timer, *other;

	if (!ps_tool_initialize) /* the one that the real stubs ask for */
		return;
	ps_tool_initialize();
	timer = ps_tool_timer_create("timer");
	other = ps_tool_timer_create("other timer");
	for (int i = 0; i < TIMES; i++) {
		ps_tool_timer_start(timer);
		ps_tool_timer_start(other);
		ps_tool_timer_stop(other);
		ps_tool_start_string("text");
		ps_tool_stop_string("text");
		ps_tool_timer_stop(timer);
		ps_tool_dynamic_phase_start("iteration", i);
		ps_tool_dynamic_phase_stop("iteration", i);
	}
	ps_tool_finalize();
	puts("5 timer<init\n5 other timer<timer<init\n5 text<timer<init\n5 iteration<init");
}

static void cali(void)
{
	for (int i = 0; i < TIMES; i++) {
		cali_begin_phase("phase");
		cali_begin_comm_region("exchange");
		cali_begin_region("region");
		cali_end_region("region");
		cali_end_comm_region("exchange");
		cali_begin_string_byname("function", "solve");
		cali_begin_int_byname("step", i);
		cali_begin_byname("plain");
		cali_begin_double_byname("residual", 0.5);
		cali_end_byname("residual");
		cali_end_byname("plain");
		cali_end_byname("step");
		cali_end_byname("function");
		cali_begin_string(17, "loop");
		cali_begin_int(18, i);
		cali_end(18);
		cali_end(17);
		cali_end_phase("phase");
	}
	puts("5 phase<init\n5 exchange<phase<init\n5 region<exchange<phase<init\n"
	     "5 solve<phase<init\n5 step<solve<phase<init\n5 plain<step<solve<phase<init\n"
	     "5 residual<plain<step<solve<phase<init\n"
	     "5 loop<phase<init\n5 iteration<loop<phase<init");
}

static void SCOREP(void)
{
	static void *handle, *other, *file;
	static const char *name;

	for (int i = 0; i < TIMES; i++) {
		SCOREP_User_RegionBegin(&handle, &name, &file, "begun", 0, "x.c", 7);
		SCOREP_User_RegionInit(&other, &name, &file, "entered", 0, "x.c", 8);
		SCOREP_User_RegionEnter(other);
		SCOREP_User_RegionByNameBegin("by name", 0, "x.c", 9);
		SCOREP_User_RegionByNameEnd("by name");
		SCOREP_User_RegionEnd(other);
		SCOREP_User_RegionEnd(handle);
	}
	puts("5 begun<init\n5 entered<begun<init\n5 by name<entered<begun<init");
}

static void Tau(void)
{
	for (int i = 0; i < TIMES; i++) {
		Tau_start("outer");
		Tau_start("inner");
		Tau_stop("inner");
		Tau_stop("outer");
	}
	puts("5 outer<init\n5 inner<outer<init");
}

static void Extrae(void)
{
	unsigned type = 1000, n = 3;
	unsigned long long values[] = {0, 1, 2};
	char what[] = "kinds of work", none[] = "End", one[] = "compute", two[] = "write";
	char *texts[] = {none, one, two};

	Extrae_define_event_type(&type, what, &n, values, texts);
	for (unsigned i = 0; i < TIMES; i++) {
		Extrae_event(1000, 1);
		Extrae_event(2000, i + 1);
		Extrae_event(2000, 0);
		Extrae_event(1000, 2); /* ends the other */
		Extrae_event(1000, 0);
		Extrae_eventandcounters(1000, 9);
		Extrae_eventandcounters(1000, 0);
	}
	puts("5 compute<init\n5 event 2000<compute<init\n5 write<init\n5 kinds of work<init");
}

/* Ends of all kinds without a begin, begins without an end, NULL for each name. */
static void misuse(void)
{
	void *nothing = NULL;
	const char *name = NULL;
	pid_t child;
	int status = 0;

	likwid_markerStopRegion("never");
	likwid_markerStartRegion(NULL);
	likwid_markerStopRegion(NULL);
	PAPI_hl_region_end("never");
	roctxRangePushA(NULL);
	roctxMarkA(NULL);
	for (int i = 0; i < 100; i++)
		roctxRangePop();
	roctxRangeStop(77);
	ps_tool_timer_start(NULL);
	ps_tool_timer_stop((void *)0xdead);
	cali_end_region("never");
	cali_begin_string_byname(NULL, NULL);
	cali_end_byname(NULL);
	cali_end_byname("never");
	cali_end(1234567);
	SCOREP_User_RegionEnd((void *)0xdead);
	SCOREP_User_RegionEnter((void *)0xdead);
	SCOREP_User_RegionBegin(&nothing, &name, &nothing, NULL, 0, NULL, 0);
	Tau_stop("never");
	Extrae_event(5, 0);
	for (unsigned i = 0; i < 5000; i++)
		Extrae_event(i, 1);
	child = fork();
	if (!child) {
		roctxRangePushA("child");
		roctxRangePop();
		_exit(7);
	}
	waitpid(child, &status, 0);
	printf("%d\n", WEXITSTATUS(status));
}

static void *thread(void *unused)
{
	(void)unused;
	for (int i = 0; i < 10; i++) {
		roctxRangePushA("in a thread");
		cali_begin_region("inner");
		cali_end_region("inner");
		roctxRangePop();
	}
	return NULL;
}

static int mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	int c, n = 0;

	while (f && (c = getc(f)) != EOF)
		n += c == '\n';
	if (f)
		fclose(f);
	return n;
}

/* 8 at a time; no memory stays for those that have ended. */
static void threads(void)
{
	pthread_t t[8];
	int before = 0;

	for (int i = 0; i < 100; i++) {
		for (int k = 0; k < 8; k++)
			pthread_create(&t[k], NULL, thread, NULL);
		for (int k = 0; k < 8; k++)
			pthread_join(t[k], NULL);
		if (i == 10)
			before = mappings();
	}
	if (mappings() > before + 50)
		puts("memory of threads stays");
	puts("8000 in a thread<init\n8000 inner<in a thread<init");
}

static volatile sig_atomic_t handled;

static void in_handler(int signal)
{
	(void)signal;
	handled++;
	roctxRangePushA("handler");
	roctxMarkA("mark");
	roctxRangePop();
}

/* A handler comes anywhere; what it interrupts is as it was. */
static void signals(void)
{
	const struct itimerval often = {{0, 500}, {0, 500}}, off = {{0, 0}, {0, 0}};
	long outer = 0;

	signal(SIGALRM, in_handler);
	setitimer(ITIMER_REAL, &often, NULL);
	while (handled < 500) {
		roctxRangePushA("outer");
		roctxRangePushA("inner");
		roctxRangePop();
		roctxRangePop();
		outer++;
	}
	setitimer(ITIMER_REAL, &off, NULL);
	printf("%ld outer\n%ld inner\n", outer, outer);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*mark)(void);
	} tools[] = {{"likwid", likwid}, {"PAPI", PAPI}, {"roctx", roctx}, {"ps_tool", ps_tool},
		{"timers", timers}, {"cali", cali}, {"SCOREP", SCOREP}, {"Tau", Tau},
		{"Extrae", Extrae}, {"misuse", misuse}, {"threads", threads}, {"signals", signals}};

	if (argc < 2 || !roctxMarkA) {
		puts("no tool");
		return 3;
	}
	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++)
		if (!strcmp(tools[i].name, argv[1]))
			tools[i].mark();
	if (tool_calls)
		printf("%ld\n", tool_calls(argv[1]));
	return 3;
}
