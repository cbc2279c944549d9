#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='CUDA by CUPTI, with stand-ins for its libraries'
. "$(dirname "$0")/lib.sh"
. "$T/cuda.sh"
need jq
need_built "$LIB/libvftrace-cupti.so"
cuda_build

test_expect 'kernels have their numbers, and the path of the call that launched them' '
	traced -- ./app kernels 100 20000 wait >out
	has out done
	is 100 "$(gpu app_all.json _Z5saxpyfPKfPf calls)"
	is 100 "$(calls_of app_all.json "cudaLaunchKernel<solve<main<init")"
	is "cudaLaunchKernel<solve<main<init" "$(path_of app_all.json _Z5saxpyfPKfPf)"
	# the stand-in GPU takes 20 us, by a clock that is 50 ppm fast
	jq -e ".gpu[] | select(.kind == \"kernel\") |
		(.t_s - 0.002 | fabs) < 0.00002 and (.t_min_s - 0.00002 | fabs) < 1e-6 and
		.registers == 32 and .shared_bytes == 1024 and .blocks_min == 100 and
		.blocks_max == 101 and .block_threads_max == 256 and .cbid == 211 and
		.with_latency == 100 and .t_latency_s > 0" app_all.json'

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
	is 2000 "$(gpu app_all.json "memcpy PtoP" bytes)"
	is 65536 "$(gpu app_all.json "unified memory HtoD" bytes_to_device)"
	is "cudaMemcpyAsync<copy_there<main<init" "$(path_of app_all.json "memcpy HtoD")"'

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
		(.gpu_efficiency.host_wait_s - \$w | fabs) < 1e-6" app_all.json'

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
		app_all.json'

test_expect 'from several threads, with small buffers, nothing is lost or counted twice' '
	STANDIN_CUPTI=records=7 traced -- ./app threads 8 500 1000 >out
	is 4000 "$(gpu app_all.json _Z5saxpyfPKfPf calls)"
	is 4000 "$(gpu app_all.json _Z5saxpyfPKfPf with_latency)"
	is 4000 "$(jq "[.stacks[] | select(.path | startswith(\"cudaLaunchKernel<solve<thread\")) |
		.calls] | add" app_all.json)"
	is 0 "$(jq "[.warnings[]? | select(test(\"GPU\"))] | length" app_all.json)"'

test_expect 'sorted as cuda.sort_table says; without cuda.show_table nothing is loaded' '
	for column in time memcpy cbid calls none; do
		VFTR_CONFIG= traced -- ./app copy 5000 kernels 3 1000 wait >out
	done
	echo "{\"cuda\": {\"sort_table\": {\"column\": \"calls\", \"ascending\": true}}}" >c.json
	traced --config c.json -- ./app copy 5000 kernels 30 1000 wait >out
	sed -n "/--Cuda Summary--/,/^\$/p" app_all.log | grep -o "^|.*" | sed 1d |
		awk -F"|" "{print \$5 + 0}" >calls
	sort -n calls | cmp - calls
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
	is 20 "$(grep -c "call _Z5saxpyfPKfPf.*thread=" dump)"
	is 20 "$(grep -c "exit _Z5saxpyfPKfPf.*thread=" dump)"
	for format in chrome perfetto speedscope; do
		"$VFTR" export "$vfd" --format $format -o out.$format
		grep -q "GPU 0 stream 1.7" out.$format
	done'

done_testing
