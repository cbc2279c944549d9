#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='CUDA: what goes wrong, what dies, and what is not there'
. "$(dirname "$0")/../lib/lib.sh"
. "$T/lib/cuda.sh"
need jq
need_built "$LIB/libvftrace-cupti.so"
cuda_build

gpu_warnings() {
	jq -r "[.warnings[]? | select(test(\"GPU|CUPTI|libcupti|buffers\"))] | .[]" app_all.json
}

test_expect 'a killed process keeps what ran half a second ago; the unfinished buffer is counted' '
	status_of 137 traced -- ./app kernels 120 1000 wait sleep 1500 kernels 30 1000 kill
	is 120 "$(gpu app_all.json saxpy calls)"
	is 120 "$(gpu app_all.json saxpy with_latency)"
	gpu_warnings | grep "1 buffers .* not delivered"'

test_expect 'so does a killed child of a process that does not use CUDA' '
	traced -- ./app fork 70 1000 1500 >out
	is 70 "$(gpu app_all.json saxpy with_latency)"'

test_expect 'CUPTI is told which functions are left out: it does not call us for them' '
	STANDIN_CUPTI=tell traced -- ./app kernels 10 1000 wait >out 2>err
	is "calls told in vain: 0" "$(grep "in vain" err)"'

test_expect 'buffers that come late, and in the wrong order, are all counted' '
	export STANDIN_CUPTI=late,records=20
	traced -- ./app kernels 500 1000 copy 100 wait
	is 500 "$(gpu app_all.json saxpy calls)"
	is 500 "$(gpu app_all.json saxpy with_latency)"
	is "" "$(gpu_warnings)"'

test_expect 'what CUPTI drops is counted' '
	export STANDIN_CUPTI=drop=10,records=16
	traced -- ./app kernels 300 1000
	n=$(gpu app_all.json saxpy calls)
	lost=$(gpu_warnings | sed -n "s/.*no room for \([0-9]*\) activities.*/\1/p")
	is 30 "$lost"
	[ "$n" -ge 270 ] && [ "$n" -le 272 ]'

test_expect 'buffers that never come are counted, and nothing waits for them' '
	export STANDIN_CUPTI=never,records=10
	traced -- ./app kernels 95 1000 wait
	is 0 "$(gpu app_all.json saxpy calls)"
	is 95 "$(calls_of app_all.json "cudaLaunchKernel<solve<main<init")"
	gpu_warnings | grep "buffers .* not delivered"'

test_expect 'CUPTI in use by another tool: one warning, and the program is traced' '
	STANDIN_CUPTI=busy traced -- ./app kernels 10 1000 wait >out
	has out done
	is 1 "$(gpu_warnings | wc -l)"
	gpu_warnings | grep "in use by another tool"
	is 1 "$(calls_of app_all.json "solve<main<init")"
	is 0 "$(calls_of app_all.json "cudaLaunchKernel<solve<main<init")"'

test_expect 'activities that are refused: the calls are traced, and one warning says so' '
	STANDIN_CUPTI=denied traced -- ./app kernels 10 1000 wait >out
	is 1 "$(gpu_warnings | wc -l)"
	is 10 "$(calls_of app_all.json "cudaLaunchKernel<solve<main<init")"'

test_expect 'no libcupti, or one that finds no driver: one warning, and the program is traced' '
	mkdir lone && cp libcudart.so.12 lone/
	$TEST_CC $TEST_FLAGS -I"$T/gpu" -finstrument-functions -o lone/app "$T/gpu/app-cuda.c" \
		lone/libcudart.so.12 -pthread -Wl,-rpath,"$PWD/lone" $(test_link vftrace)
	traced -- lone/app kernels 10 1000 wait >out
	has out done
	is 1 "$(gpu_warnings | wc -l)"
	gpu_warnings | grep -E "no libcupti was found|CUPTI refuses"
	is 1 "$(calls_of app_all.json "solve<main<init")"'

test_expect 'random numbers for times, kinds and names do no harm' '
	export STANDIN_CUPTI=garbage,records=30
	traced -- ./app kernels 2000 1000 wait >out
	has out done
	jq -e ".gpu | length > 0" app_all.json'

test_expect 'a call that ends while another thread has paused recording has ended' '
	unset STANDIN_CUPTI
	echo "#include <pthread.h>
		#include <unistd.h>
		#include \"standin-cuda.h\"
		#include \"vftrace.h\"
		static volatile int waits, waited, go;
		static void *work(void *x) {
			cudaLaunchKernel(\"long\", 1, 32, 300000000, 0);
			waits = 1;
			cudaDeviceSynchronize();
			waited = 1;
			while (!go) usleep(1000);
			for (int i = 0; i < 10; i++) cudaLaunchKernel(\"short\", 1, 32, 1000, 0);
			return x;
		}
		int main(void) {
			pthread_t t;
			pthread_create(&t, 0, work, 0);
			while (!waits) usleep(1000);
			usleep(150000);
			vftrace_pause();
			while (!waited) usleep(1000);
			vftrace_resume();
			go = 1;
			pthread_join(t, 0);
			return cudaDeviceSynchronize();
		}" >paused.c
	cc_traced paused -I"$T/gpu" -I"$TOP/libhook" paused.c ./libcudart.so.12 -pthread -Wl,-rpath,"$PWD"
	traced -- ./paused
	is 10 "$(gpu paused_all.json short with_latency)"
	is 11 "$(jq "[.stacks[] | select(.path | startswith(\"cudaLaunchKernel<work<\")) | .calls] | add" paused_all.json)"'

[ -z "$VFTR_LONG" ] || test_expect 'an agent that stands still costs 5 s, not 5 s for each packet' '
	unset STANDIN_CUPTI
	rm -f app_* pid
	"$AGENT" -q -k shm.when_full=drop -- sh -c "./app kernels 1000 0 wait sleep 2000 \
		kernels 20000 0 wait >out; echo \$? >status" &
	job=$!
	sleep 1.5
	agent=$(agent_pids)
	kill -STOP $agent
	wait_for 60 "[ -s status ]"
	kill -CONT $agent
	wait $job || :
	is 0 "$(cat status)"
	n=$(gpu app_all.json saxpy calls)
	lost=$(gpu_warnings | sed -n "s/.*no room for \([0-9]*\) activities.*/\1/p")
	[ "$n" -ge 1000 ] && [ $((n + ${lost:-0})) -le 21000 ]'

test_expect 'two processes at once, and a child of fork, have their own' '
	unset STANDIN_CUPTI
	traced -- sh -c "./app kernels 40 1000 wait & ./app kernels 60 1000 wait; wait" >out
	is 100 "$(gpu app_all.json saxpy calls)"
	is 2 "$(jq ".gpu_devices | length" app_all.json)"
	# but they shared one GPU
	jq -e "(.gpus | length) == 1 and .gpus[0].processes == 2 and .gpus[0].kernels == 100 and
		.gpu_efficiency.devices == 1 and
		.gpus[0].t_busy_s <= .gpus[0].t_sum_of_processes_s + 1e-9" app_all.json
	traced -- ./app kernels 5 1000 wait fork 20 1000 >out
	is 25 "$(jq "[.stacks[] | select(.path | startswith(\"cudaLaunchKernel\")) | .calls] | add" \
		app_all.json)"'

test_expect 'nothing that CUDA needs is loaded by a program without CUDA' '
	cc_traced plain "$T/agent/app-names.c" "$T/agent/app-names-other.c" 2>/dev/null ||
		{ echo "int main(void) { return 0; }" >plain.c && cc_traced plain plain.c; }
	LD_DEBUG=files LD_DEBUG_OUTPUT=$PWD/loaded traced -- ./plain >out
	cat loaded.* >all
	has all libvftrace.so
	! grep -E "libvftrace-cupti|libcupti|libcuda" all'

test_expect 'a driver that knows nothing of us: the library is loaded with the CUDA runtime' '
	unset STANDIN_CUPTI
	CUDA_INJECTION64_PATH=/nowhere traced -- ./app kernels 30 1000 wait >out
	is 30 "$(gpu app_all.json saxpy with_latency)"'

test_expect 'a process that only forks those that use CUDA does not load CUPTI' '
	unset STANDIN_CUPTI
	LD_DEBUG=files LD_DEBUG_OUTPUT=$PWD/forked traced -- ./app fork 20 1000 >out
	is 20 "$(gpu app_all.json saxpy with_latency)"
	is 1 "$(grep -l "calling init.*libcupti" forked.* | wc -l)"
	is 0 "$(grep -h "calling init.*libcupti" "forked.$(jq ".processes[0].pid // 0" app_all.json)" | wc -l)"'

test_expect 'the driver can load the library itself, before anything else is known' '
	# as with a CUDA runtime that is part of the program: CUDA_INJECTION64_PATH
	cat >late.c <<-EOF
		#include <dlfcn.h>
		#include <stdio.h>
		#include "standin-cuda.h"
		static void work(void *rt) {
			int (*launch)(const char *, unsigned, unsigned, uint64_t, cudaStream_t);
			*(void **)&launch = dlsym(rt, "cudaLaunchKernel");
			for (int i = 0; i < 7; i++) launch("inside", 1, 1, 1000, NULL);
		}
		int main(int n, char **word) {
			void *rt = dlopen(word[1], RTLD_NOW | RTLD_GLOBAL), *part;
			int (*inject)(void);
			if (!rt || !(part = dlopen(word[2], RTLD_NOW))) return puts(dlerror()), 1;
			*(void **)&inject = dlsym(part, "InitializeInjection");
			if (inject() != 1) return 2;
			work(rt);
			return 0;
		}
	EOF
	cc_traced late -I"$T/gpu" late.c -ldl
	traced -- ./late "$PWD/libcudart.so.12" "$LIB/libvftrace-cupti.so"
	is 7 "$(gpu late_all.json inside calls)"
	is "cudaLaunchKernel<work<main<init" "$(path_of late_all.json inside)"'

test_expect 'whichever call of CUPTI fails, the program runs as it does without' '
	unset STANDIN_CUPTI CUDA_INJECTION64_PATH
	traced -- sh -c "for n in \$(seq 1 40); do
		STANDIN_CUPTI=fail=\$n,records=3 ./app kernels 3 1000 copy 10 wait >out.\$n || echo \$n: \$? &
		done; wait" >out
	is "" "$(cat out)"
	is 40 "$(cat out.* | grep -c "^done$")"
	is 40 "$(jq ".processes | length" app_all.json)"
	gpu_warnings | grep "CUPTI refuses its callbacks (error 999)"
	gpu_warnings | grep "CUPTI refuses to tell of kernels (error 999)"
	gpu_warnings | grep "CUPTI could not read a buffer of its own"
	[ "$(gpu_warnings | wc -l)" -le 40 ]'

test_expect 'of 100000 kernels none is lost, and memory does not grow with them' '
	unset STANDIN_CUPTI CUDA_INJECTION64_PATH
	VFTR_OFF=1 ./app kernels 1 0 peak >plain
	traced -- ./app kernels 100000 0 wait peak >out
	is 100000 "$(gpu app_all.json saxpy calls)"
	is 100000 "$(gpu app_all.json saxpy with_latency)"
	is "" "$(gpu_warnings)"
	# rings and buffers; the records themselves are 20 MB
	kib() { sed -n "s/^peak //p" "$1"; }
	[ "$(kib out)" -lt $(($(kib plain) + 100000)) ]'

test_expect 'a program that has CUDA and never uses it does not load CUPTI' '
	unset STANDIN_CUPTI CUDA_INJECTION64_PATH
	rm -f loaded.*
	LD_DEBUG=files LD_DEBUG_OUTPUT=$PWD/loaded traced -- ./app sleep 1 >out
	has out done
	! cat loaded.* | grep "calling init.*libcupti" || exit 1
	is 0 "$(jq "[.gpu[]?] | length" app_all.json)"'

test_expect 'a signal handler that ends the program inside of a call of CUDA: nothing is flushed there' '
	STANDIN_CUPTI=inside status_of 3 traced -- ./app alarm 300 kernels 1 60000000000 wait
	STANDIN_CUPTI=inside status_of 3 traced -- ./app kernels 10 1000 wait alarm 100 sleep 60000
	is 10 "$(gpu app_all.json saxpy calls)"'

test_expect 'a program that aborts keeps its status and what was delivered' '
	unset CUDA_INJECTION64_PATH
	status_of 134 traced -- ./app kernels 50 1000 wait sleep 1500 kernels 10 1000 abort
	is 50 "$(gpu app_all.json saxpy calls)"
	gpu_warnings | grep "1 buffers .* not delivered"'

test_expect 'the driver is told of the library, unless another tool has told it of its own' '
	unset CUDA_INJECTION64_PATH
	traced -- sh -c "echo \$CUDA_INJECTION64_PATH" >out
	is "$(cd "$LIB" && pwd -P)/libvftrace-cupti.so" "$(cat out)"
	CUDA_INJECTION64_PATH=/else traced -- sh -c "echo \$CUDA_INJECTION64_PATH" >out
	is /else "$(cat out)"'

done_testing
