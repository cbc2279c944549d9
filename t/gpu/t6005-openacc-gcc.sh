#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='programs with OpenACC as gcc and gfortran compile them, on the host'
. "$(dirname "$0")/../lib/lib.sh"
need jq gcc
need_built "$AGENT" "$LIB/libvftrace.so"
TEST_CC=gcc
TEST_FLAGS='-g -O1 -fopenacc'
echo 'int main(void) {
#pragma acc wait
	return 0; }' >try.c
gcc -fopenacc -o try try.c 2>/dev/null || skip_all 'gcc has no -fopenacc here'
FORTRAN=$(command -v gfortran)
echo '#include <acc_prof.h>' | gcc -E - >/dev/null 2>&1 && HEADER=1

# Lines are those of the comments.
cat >heat.c <<'EOF'
#include <stdio.h>
#define N 10000
static double a[N], b[N];
void solve(void)
{
	int i;
#pragma acc data copy(a) /* 7 */
	{
#pragma acc parallel loop /* 9 */
		for (i = 0; i < N; i++)
			a[i] = i * 0.5 + b[i];
#pragma acc update self(a)
	}
}

int main(void)
{
	int i;
	for (int k = 0; k < 5; k++)
		solve();
#pragma acc enter data create(b) /* 21 */
#pragma acc kernels loop async(1) wait(2, 3) num_gangs(3) vector_length(32) /* 22 */
	for (i = 0; i < N; i++)
		a[i] += b[i];
#pragma acc wait(1, 2, 3) async(4)
#pragma acc exit data delete(b) /* 26 */
	printf("%g\n", a[50]);
	return 0;
}
EOF

# acc JSON EVENT MEMBER: the sum over entries of this event
acc() {
	jq -r --arg n "$2" "[.openacc[]? | select(.event == \$n) | .$3] | add // 0" "$1"
}

# lines JSON EVENT: where
lines() {
	jq -r --arg n "$2" '[.openacc[] | select(.event == $n) | "\(.function):\(.lines)"] | sort |
		join(" ")' "$1"
}

test_if '[ "$HEADER" ]' 'no acc_prof.h' 'our structures are those of the header of gcc' '
	cat >layout.c <<-EOF
	#include <stddef.h>
	#include <acc_prof.h>
	#define acc_register_library vftr_register_library
	#include "libhook/accelerator/openacc-tool.h"
	#define SAME(ours, theirs, a, b) \
		_Static_assert(offsetof(struct ours, a) == offsetof(theirs, b) && \
			sizeof(((struct ours *)0)->a) == sizeof(((theirs *)0)->b), #b)
	#define PROF(m) SAME(acc_prof, acc_prof_info, m, m)
	PROF(event_type); PROF(valid_bytes); PROF(version); PROF(device_type); PROF(device_number);
	PROF(thread_id); PROF(async); PROF(async_queue); PROF(src_file); PROF(func_name);
	PROF(line_no); PROF(end_line_no); PROF(func_line_no); PROF(func_end_line_no);
	_Static_assert(sizeof(struct acc_prof) == sizeof(acc_prof_info), "size");
	#define DATA(m) SAME(acc_event, acc_data_event_info, m, m)
	DATA(event_type); DATA(valid_bytes); DATA(parent_construct); DATA(implicit); DATA(tool_info);
	DATA(var_name); DATA(bytes);
	SAME(acc_event, acc_launch_event_info, kernel_name, kernel_name);
	SAME(acc_event, acc_other_event_info, parent_construct, parent_construct);
	#define EVENT(a, b) _Static_assert((int)OPENACC_##a##_EVENT == (int)acc_ev_##b, #b)
	EVENT(DEVICE_INIT, device_init_start); EVENT(DEVICE_SHUTDOWN, device_shutdown_start);
	EVENT(RUNTIME_SHUTDOWN, runtime_shutdown); EVENT(CREATE, create); EVENT(DELETE, delete);
	EVENT(ALLOC, alloc); EVENT(FREE, free); EVENT(ENTER_DATA, enter_data_start);
	EVENT(EXIT_DATA, exit_data_start); EVENT(UPDATE, update_start);
	EVENT(COMPUTE, compute_construct_start); EVENT(LAUNCH, enqueue_launch_start);
	EVENT(UPLOAD, enqueue_upload_start); EVENT(DOWNLOAD, enqueue_download_start);
	EVENT(WAIT, wait_start);
	_Static_assert((int)OPENACC_EVENT_LAST == (int)acc_ev_last, "last");
	_Static_assert(ACC_REG == acc_reg, "registration");
	_Static_assert(OPENACC_RUNTIME_API == acc_construct_runtime_api, "construct");
	EOF
	gcc -std=gnu11 -fopenacc -Wall -Wextra -Werror -I"$TOP" -c layout.c'

test_expect 'constructs are frames at their lines, and the result is the same' '
	gcc $TEST_FLAGS -o heat-alone heat.c
	cc_traced heat heat.c
	limit ./heat-alone >alone
	traced -q -k openacc.show_event_details=true -- ./heat >out
	cmp alone out
	is 5 "$(calls_of heat_all.json "acc_compute_construct@heat.c:9<solve<main<init")"
	is 5 "$(calls_of heat_all.json "acc_enter_data@heat.c:7<solve<main<init")"
	is 5 "$(acc heat_all.json update calls)"
	is 6 "$(acc heat_all.json exit_data calls)"
	is "main:21 solve:7" "$(lines heat_all.json enter_data)"
	is 6 "$(acc heat_all.json compute_construct calls)"
	is "main:22 solve:9" "$(lines heat_all.json compute_construct)"
	jq -e "(.openacc[] | select(.event == \"compute_construct\" and .lines == \"9\")) | .t_s > 0 and .file == \"heat.c\"" heat_all.json
	grep "^| *heat.c:9 | *solve | " heat_all.log
	is 2 "$(grep -c "^--OpenACC" heat_all.log)"
	grep "acc_ev_compute_construct_start: 16" heat_all.log
	is 0 "$(jq ".warnings | length" heat_all.json)"'

test_expect 'the body of a construct may be instrumented, too; the time is the construct'"'"'s' '
	sed "s/b\[i\];/b[i] + slow(i);/; s/^void solve/static double slow(int i) { return i \& 1; }\n&/" heat.c >slow.c
	cc_traced slow -fno-inline slow.c
	traced -q -- ./slow >out
	is 10000 "$(jq "[.stacks[] | select(.function == \"slow\") | .calls] | add / 6" slow_all.json)"
	jq -e "[.openacc[] | select(.event == \"compute_construct\")] | all(.t_s == .t_incl_s and .t_s > 0)" slow_all.json'

test_expect 'a program that is not instrumented, and one that loads its part late' '
	cp heat-alone bare
	traced -q --preload -- ./bare >out
	cmp alone out
	is 5 "$(calls_of bare_all.json "acc_compute_construct@heat.c:9<init")"
	sed "s/int main/int heat/" heat.c >part.c
	gcc $TEST_FLAGS -fPIC -shared -o part.so part.c
	cat >late.c <<-EOF
	#include <dlfcn.h>
	#include <string.h>
	int main(void)
	{
		void *handle = dlopen("./part.so", RTLD_NOW), *found = dlsym(handle, "heat");
		int (*heat)(void);
		memcpy(&heat, &found, sizeof(heat));
		return heat();
	}
	EOF
	gcc -g -o late late.c -ldl
	traced -q --preload -- ./late >out
	cmp alone out
	is 6 "$(acc late_all.json compute_construct calls)"'

test_expect 'openacc.active false and VFTR_OFF: no events, the same result' '
	traced -q -k openacc.active=false -- ./heat >out
	cmp alone out
	is null "$(jq .openacc heat_all.json)"
	is 5 "$(calls_of heat_all.json "solve<main<init")"
	hasnt heat_all.log acc_
	VFTR_OFF=1 limit ./heat >out
	cmp alone out'

test_if '[ "$HEADER" ]' 'no acc_prof.h' 'tools of ACC_PROFLIB and callbacks of the program hear the same; we can be one' '
	cat >tool.c <<-EOF
	#include <acc_prof.h>
	#include <stdio.h>
	static long sum;
	static void count(acc_prof_info *p, acc_event_info *e, acc_api_info *a) { sum += p->event_type; }
	void REGISTER(acc_prof_reg reg, acc_prof_reg unreg, acc_prof_lookup_func lookup)
	{
		for (int i = 1; i < acc_ev_last; i++)
			reg(i, count, acc_reg);
	}
	__attribute__((destructor)) static void end(void) { printf("sum %ld\n", sum); }
	EOF
	gcc -fopenacc -fPIC -shared -DREGISTER=acc_register_library -o tool.so tool.c
	ACC_PROFLIB=./tool.so limit ./heat-alone >alone.tool
	grep -q "sum [1-9]" alone.tool
	traced -q -- env ACC_PROFLIB=./tool.so ./heat >out
	cmp alone.tool out
	is 6 "$(acc heat_all.json compute_construct calls)"
	sed "s/int i;/int i; own(acc_prof_register, acc_prof_unregister, acc_prof_lookup);/" heat.c |
		awk "/int main/ { inside = 1 } !inside { gsub(/own\(.*\);/, \"\") } { print }" >own.main
	cat tool.c own.main >own.c
	gcc $TEST_FLAGS -DREGISTER=own -o own-alone own.c
	cc_traced own -DREGISTER=own own.c
	limit ./own-alone >alone.own
	grep -q "sum [1-9]" alone.own
	traced -q -- ./own >out
	cmp alone.own out
	is 6 "$(acc own_all.json compute_construct calls)"
	# libgomp loads us as a tool, beside the other one, and there is one set of callbacks
	traced -q -- env "ACC_PROFLIB=./tool.so;$LIB/libvftrace.so" ./heat-alone >out
	cmp alone.tool out
	is 6 "$(acc heat-alone_all.json compute_construct calls)"
	traced -q -- env "ACC_PROFLIB=$LIB/libvftrace.so;./tool.so" ./heat >out
	cmp alone.tool out
	is 6 "$(acc heat_all.json compute_construct calls)"'

test_expect 'several threads at once, and the child of a fork' '
	cat >both.c <<-EOF
	#include <pthread.h>
	#include <stdlib.h>
	#include <sys/wait.h>
	#include <unistd.h>
	void *solve(void *unused)
	{
		int a[100] = {0};
		for (int k = 0; k < 50; k++) {
	#pragma acc parallel loop copy(a)
			for (int i = 0; i < 100; i++)
				a[i]++;
		}
		return a[3] == 50 ? unused : NULL;
	}
	int main(void)
	{
		pthread_t t[4];
		for (int i = 0; i < 4; i++)
			pthread_create(&t[i], NULL, solve, t);
		for (int i = 0; i < 4; i++) {
			void *answer;
			pthread_join(t[i], &answer);
			if (!answer)
				return 1;
		}
		if (!fork())
			exit(!solve(t));
		return wait(NULL) < 0;
	}
	EOF
	cc_traced both both.c
	status_of 0 traced -q -- ./both
	is 2 "$(jq .ranks both_all.json)"
	[ "$(acc both_all.json compute_construct calls)" -gt 200 ] # until it has registered, others go on
	[ "$(acc both_all.json compute_construct calls)" -le 250 ]'

test_if '[ "$FORTRAN" ]' 'no gfortran' 'a program in Fortran' '
	cat >heat.f90 <<-EOF
	module work
	contains
	subroutine solve(a)
	  real, intent(inout) :: a(:)
	  integer :: i
	  !\$acc parallel loop copy(a)
	  do i = 1, size(a)
	    a(i) = a(i) + i
	  end do
	  !\$acc end parallel loop
	end subroutine
	end module
	program heat
	  use work
	  real :: a(1000)
	  integer :: k
	  a = 0
	  !\$acc data copy(a)
	  do k = 1, 4
	    call solve(a)
	  end do
	  !\$acc end data
	  print *, a(10)
	end program
	EOF
	fc_traced fheat heat.f90
	traced -q -k strip_module_names=true -- ./fheat >out
	is 40.0000000 "$(tr -d " " <out)"
	is 4 "$(acc fheat_all.json compute_construct calls)"
	is solve:6 "$(lines fheat_all.json compute_construct | sed "s/__work_MOD_//")"
	grep "^| *heat.f90:6 | *solve | " fheat_all.log'

test_if '[ "$(mpi_list | grep openmpi)" ]' 'no Open MPI' 'each rank has its tables, and the summary those of all' '
	sed "s/int i;/int i; if (mpi) MPI_Init(0, 0);/; s/return 0;/MPI_Finalize(); return 0;/" heat.c |
		awk "/int main/ { inside = 1 } !inside { gsub(/if \(mpi\) .*/, \"\") } { print }" |
		sed "s/if (mpi) //; 1s/^/#include <mpi.h>\n/" >mheat.c
	mpicc_traced openmpi mheat mheat.c
	traced -q -k logfile_for_ranks=all -k profile_table.separate=true -- $(mpirun_of openmpi) -np 2 ./mheat >out
	is 12 "$(acc mheat_all.json compute_construct calls)"
	jq -e "[.openacc[] | select(.event == \"compute_construct\")] | all(.ranks == 2 and .calls_min == .calls_max and .calls == 2 * .calls_min)" mheat_all.json
	grep "^| *mheat.c:10 | *solve | " mheat_all_accprof.log
	grep "^| *mheat.c:10 | *solve | " mheat_1_accprof.log
	grep "Total OpenACC time:" mheat_0.log'
done_testing
