#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='CUDA by CUPTI, with stand-ins for its libraries'
. "$(dirname "$0")/../lib/lib.sh"
. "$T/lib/cuda.sh"
need jq protoc otf2-print
need_built "$LIB/libvftrace-cupti.so"
cuda_build

test_expect 'kernels have their numbers, and the path of the call that launched them' '
	traced -- ./app kernels 100 20000 wait >out
	has out done
	is 100 "$(gpu app_all.json saxpy calls)"
	is 100 "$(calls_of app_all.json "cudaLaunchKernel<solve<main<init")"
	is "cudaLaunchKernel<solve<main<init" "$(path_of app_all.json saxpy)"
	# the stand-in GPU takes 20 us, by a clock that is 50 ppm fast
	jq -e ".gpu[] | select(.kind == \"kernel\") |
		(.t_s - 0.002 | fabs) < 0.00002 and (.t_min_s - 0.00002 | fabs) < 1e-6 and
		.registers == 32 and .shared_bytes == 1024 and .blocks_min == 100 and
		.blocks_max == 101 and .block_threads_max == 256 and .cbid == 211 and
		.with_latency == 100 and .t_latency_s > 0" app_all.json
	# 2048 threads of a multiprocessor in blocks of 256, with 32 registers each
	jq -e ".gpu[] | select(.kind == \"kernel\") | .occupancy == 1 and .grid == [101, 1, 1] and
		.block == [256, 1, 1] and .occupancy_bound == \"warps\" and .local_bytes == 0" \
		app_all.json'

test_expect 'the table of Vftrace and the ones beyond it are in the log' '
	has app_all.log "--Cuda Summary--"
	has app_all.log "cudaName"
	has app_all.log "Total CUDA time:"
	has app_all.log "CUDA callbacks:"
	has app_all.log "GPU kernels"
	has app_all.log "GPU devices and streams"
	has app_all.log "GPU efficiency"
	has app_all.log "Stand-in GPU"'

test_expect 'what the runtime calls in the driver is no frame; what is called for nothing neither' '
	! jq -r ".stacks[].path" app_all.json | grep -E "cuLaunchKernel|cudaGetLastError"'

test_expect 'copies, sets, peer copies and unified memory have bytes and directions' '
	traced -- ./app copy 100000 memory >out
	is 100000 "$(gpu app_all.json "memcpy HtoD" bytes_to_device)"
	is 100000 "$(gpu app_all.json "memcpy DtoH" bytes_to_host)"
	is 4096 "$(gpu app_all.json memset bytes)"
	is 2500 "$(gpu app_all.json "memcpy PtoP" bytes)"
	is 65536 "$(gpu app_all.json "unified memory HtoD" bytes_to_device)"
	is "cudaMemcpyAsync<copy_there<main<init" "$(path_of app_all.json "memcpy HtoD")"'

test_expect 'what was moved is known by GPU, from each to each; faults are counted' '
	STANDIN_CUPTI=devices=2 traced -- ./app copy 100000 memory prefetch 8192 devices 2 3 1000 >out
	uuid() { jq -r ".gpus[] | select(.device == $1) | .uuid" app_all.json; }
	moved() { jq "[.gpu_transfers[] | select(.from == \"$1\" and .to == \"$2\" and
		.name == \"$3\") | .value] | add" app_all.json; }
	is GPU-9e3779b9-0000-0000-0000-000000000001 "$(uuid 0)"
	is 100000 "$(moved host "$(uuid 0)" "memcpy HtoD")"
	is 100000 "$(moved "$(uuid 0)" host "memcpy DtoH")"
	is 2000 "$(moved "$(uuid 0)" "$(uuid 1)" "memcpy PtoP")"
	is 500 "$(moved "$(uuid 1)" "$(uuid 0)" "memcpy PtoP")"
	is 65536 "$(moved host "$(uuid 0)" "unified memory HtoD")"
	is 8192 "$(moved "$(uuid 0)" host "unified memory DtoH")"
	is 6 "$(moved "$(uuid 0)" host "GPU page faults")"
	has app_all.log "Bytes from GPU to GPU"
	grep -E "^\| +0\.0 \| +0 \| +2000 \|" app_all.log
	has app_all.log "Unified memory: faults and thrashing"'

test_expect 'copies for each kernel, and calls that start nothing, are in the tables of Vftrace' '
	echo "#include \"standin-cuda.h\"
		static char a[64];
		static void step(cudaStream_t s) {
			cudaMemcpyAsync(a, a, 32, cudaMemcpyHostToDevice, s);
			for (int i = 0; i < 4; i++) cudaLaunchKernel(\"axpy\", 1, 32, 1000, s);
			cudaMemcpyAsync(a, a, 16, cudaMemcpyDeviceToHost, s);
		}
		int main(void) {
			cudaStream_t s;
			cudaStreamCreate(&s);
			for (int i = 0; i < 5; i++) step(s);
			return cudaStreamSynchronize(s);
		}" >ratio.c
	cc_traced ratio -I"$T/gpu" ratio.c ./libcudart.so.12 -Wl,-rpath,"$PWD"
	traced -- ./ratio
	sed -n "/^CUDA ratio of memcpy/,/^\$/p" ratio_all.log >block
	is step "$(sed -n 2p block | tr -d " ")"
	grep -E "^ +in .* avg +5\.00 +min +5 +max +5 +0\.25 for each kernel" block
	grep -E "^ +out .* 0\.25 for each kernel" block
	grep -E "^ +kernel .* avg +20\.00 .*axpy" block
	sed -n "/^CUDA functions/,/^\$/p" ratio_all.log >functions
	grep -E "^\| +211 \| runtime +\| cudaLaunchKernel " functions
	grep -E "^\| +129 \| runtime +\| cudaStreamCreate " functions
	is 1 "$(gpu ratio_all.json cudaStreamCreate calls)"
	sed -n "/--Cuda Summary--/,/^\$/p" ratio_all.log | grep " cudaStreamCreate .* 129 "'

test_expect 'each node of a graph is a kernel of the call that launched the graph' '
	traced -- ./app graph 50 3000 wait >out
	is 50 "$(gpu app_all.json node_kernel calls)"
	is "cudaGraphLaunch<graph<main<init" "$(path_of app_all.json node_kernel)"'

test_expect 'the host that waits is known by the call in which it waits' '
	traced -- ./app kernels 10 2000000 wait >out
	is 1 "$(gpu app_all.json "context synchronize" calls)"
	jq -e "(.gpu[] | select(.name == \"context synchronize\") | .t_s) as \$w |
		(.stacks[] | select(.path == \"cudaDeviceSynchronize<main<init\") | .t_incl_s) as \$f |
		\$w > 0.015 and \$w <= \$f * 1.02 and
		(.gpu_efficiency.host_wait_s - \$w | fabs) < 1e-6" app_all.json
	jq -e ".gpu_host_waits | length == 1 and .[0].waited_for == \"saxpy\" and
		.[0].kind == \"context synchronize\" and .[0].t_s > 0.015" app_all.json
	has app_all.log "Host waits for the GPU"'

test_expect 'that wait is a class of its time, and no useful one' '
	jq -e "(.gpu[] | select(.name == \"context synchronize\") | .t_s) as \$w | .per_rank[0] |
		(.gpu_wait_s - \$w | fabs) < 1e-6 and
		(.useful_s + .gpu_wait_s + .blocked_s - .window_s | fabs) < 1e-8" app_all.json
	"$VFTR" efficiency --json -b app . >efficiency.json
	jq -e --slurpfile all app_all.json ".runs[0].device_offload as \$is | \$all[0].per_rank[0] |
		(.useful_s / (.useful_s + .gpu_wait_s) - \$is | fabs) < 1e-9" efficiency.json'

test_expect 'streams and devices are busy for the union of what runs there' '
	traced -- ./app streams 4 10 1000000 >out
	# four streams at a time: the device is busy for a quarter of the sum
	jq -e "([.gpu_streams[].t_busy_s] | add) as \$sum | .gpu_devices[0].t_busy_s as \$d |
		(.gpu_streams | length) == 4 and (\$sum - 0.04 | fabs) < 0.0004 and
		\$d > 0.0099 and \$d < 0.02" app_all.json'

test_expect 'each device has its efficiency' '
	traced -- ./app devices 2 20 500000 >out
	jq -e ".gpu_efficiency | .devices == 2 and .load_balance > 0.9 and .load_balance <= 1 and
		(.parallel - .load_balance * .communication * .orchestration | fabs) < 1e-3" \
		app_all.json
	"$VFTR" efficiency --json -b app . >efficiency.json
	jq -e --slurpfile all app_all.json "\$all[0].gpu_efficiency as \$e | .runs[0] |
		all(.gpu - \$e.parallel, .gpu_load_balance - \$e.load_balance,
			.gpu_communication - \$e.communication, .gpu_orchestration - \$e.orchestration;
			fabs < 1e-8)" efficiency.json
	"$VFTR" efficiency -b app . >text
	has text "| GPU "
	has text "|   Orchestration "'

test_expect 'from several threads, with small buffers, nothing is lost or counted twice' '
	STANDIN_CUPTI=records=7 traced -- ./app threads 8 500 1000 >out
	is 4000 "$(gpu app_all.json saxpy calls)"
	is 4000 "$(gpu app_all.json saxpy with_latency)"
	is 4000 "$(jq "[.stacks[] | select(.path | startswith(\"cudaLaunchKernel<solve<thread\")) |
		.calls] | add" app_all.json)"
	is 0 "$(jq "[.warnings[]? | select(test(\"GPU\"))] | length" app_all.json)"'

test_expect 'sorted as cuda.sort_table says; without cuda.show_table nothing is loaded' '
	for column in time memcpy cbid calls none; do
		echo "{\"cuda\": {\"sort_table\": {\"column\": \"$column\", \"ascending\": true}}}" >c.json
		traced --config c.json -- ./app copy 5000 kernels 30 1000 wait >out
		sed -n "/--Cuda Summary--/,/^\$/p" app_all.log | grep -o "^|.*" | sed 1d |
			awk -F"|" "{ print \$2 + 0, \$4 + 0, \$5 + 0, \$6 + \$7 + \$8, \$9 + \$10 }" >"by.$column"
		[ "$(wc -l <"by.$column")" -gt 3 ]
	done
	for field in 1.none 2.cbid 3.calls 4.time 5.memcpy; do
		cut -d" " -f"${field%.*}" "by.${field#*.}" >k
		sort -g k | cmp - k
	done
	echo "{\"cuda\": {\"show_table\": false}}" >c.json
	traced --config c.json -- ./app kernels 3 1000 wait >out
	hasnt app_all.log Cuda
	is 0 "$(jq "[.stacks[] | select(.path | test(\"cuda\"))] | length" app_all.json)"'

test_expect 'streams are tracks of the sampling file, and go to other viewers' '
	echo "{\"sampling\": {\"active\": true}}" >c.json
	traced --config c.json -- ./app kernels 10 200000 streams 2 5 100000 >out
	vfd=$(echo app_*.vfd)
	"$VFTR" dump "$vfd" >dump
	is 3 "$(grep -cE "^[0-9]+ GPU 0 stream [0-9.]+\$" dump)"
	is 20 "$(grep -c "call saxpy.*thread=" dump)"
	is 20 "$(grep -c "exit saxpy.*thread=" dump)"
	for format in chrome perfetto speedscope; do
		"$VFTR" export "$vfd" --format $format -o out.$format
		grep -q "GPU 0 stream 1.7" out.$format
	done
	for format in otf2 paraver folded vfd3; do "$VFTR" export "$vfd" --format $format -o out.$format; done
	grep -q "^GPU 0 stream 1.7 of " out.paraver.row
	grep -qE ";GPU 0 stream 1.7;saxpy [0-9]+\$" out.folded
	if command -v otf2-print >/dev/null; then
		otf2-print -G out.otf2/traces.otf2 >definitions
		is 3 "$(grep -c "^LOCATION .*\"GPU 0 stream.*ACCELERATOR_STREAM" definitions)"
		grep -q "^REGION .*\"saxpy\".*Paradigm: .CUDA" definitions
		is 20 "$(otf2-print out.otf2/traces.otf2 | grep -c "^ENTER .*saxpy")"
	fi'

test_expect 'arrows lead from the calls to what they started, in every format that has arrows' '
	traced --config c.json -- ./app kernels 10 100000 streams 2 5 100000 copy 5000 graph 3 100000 wait >out
	vfd=$(echo app_*.vfd)
	"$VFTR" dump "$vfd" | grep -qx "GPU launches: *25"
	grep -qE "^ +GPU launches: +25\$" app_node_*.log
	"$VFTR" dump --json "$vfd" >j.json
	# each end stands before its call, and both ends have one flow
	jq -e ".launches == 25 and ([.events[] | select(.flow) | .flow] | group_by(.) |
		length == 25 and all(.[]; length == 2)) and (.events | . as \$e | [range(length) |
		select(\$e[.].event == \"launch\" or \$e[.].event == \"started\") | . as \$i |
		first(range(\$i; \$e | length) | \$e[.] | select(.event == \"call\" and
			.lane == \$e[\$i].lane)) | .t_ns == \$e[\$i].t_ns and
			.stack == \$e[\$i].stack] | length == 50 and all)" j.json
	jq -e "[.events[] | select(.event == \"started\") | .kind + \" \(.bytes)\"] | group_by(.) |
		map(\"\(length) \(.[0])\") | sort == [\"1 copy to device 5000\",
		\"1 copy to host 5000\", \"23 kernel 0\"]" j.json
	for format in chrome perfetto paraver otf2; do
		rm -rf a.$format
		"$VFTR" export "$vfd" --format $format -o a.$format
	done
	jq -e "[.traceEvents[] | select(.ph == \"s\" or .ph == \"f\")] | group_by(.id) | length == 25 and
		all(.[]; map(.ph) | sort == [\"f\", \"s\"])" a.chrome
	protoc --decode perfetto.protos.Trace -I "$T/tool" "$T/tool/perfetto.proto" <a.perfetto >decoded
	sed -n "s/^ *flow_ids: //p" decoded | sort | uniq -c | awk "\$1 != 2 { exit 1 } END { exit NR != 25 }"
	is 25 "$(grep -c "^3:" a.paraver)"
	awk -f "$T/tool/paraver.awk" a.paraver
	otf2-print a.otf2/traces.otf2 >otf2
	is 1 "$(grep -c "^RMA_GET .*Remote: 0 .*thread 0 app.*Bytes: 5000" otf2)"
	is 1 "$(grep -c "^RMA_PUT .*Bytes: 5000" otf2)"
	is 2 "$(grep -c "^RMA_OP_COMPLETE_BLOCKING" otf2)"
	hasnt otf2 ERROR'

done_testing
