#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='ranges of NVTX are regions, with and without a GPU'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$LIB/libvftrace-cupti.so"

# NVTX's functions are in its header: instrumented, they would hold the ranges
TEST_FLAGS="$TEST_FLAGS -finstrument-functions-exclude-function-list=nvtx"

same_ranges() {
	traced -- ./"$1" >out
	has out done
	is 1 "$(calls_of "$1_all.json" "outer<main<init")"
	is 3 "$(calls_of "$1_all.json" "registered<step<outer<main<init")"
	is 3 "$(calls_of "$1_all.json" "inner<registered<step<outer<main<init")"
	# 64 of 100 ranges in each other have a place, and they are one recursion
	is 64 "$(calls_of "$1_all.json" "deep<main<init")"
	is 0 "$(jq ".warnings | length" "$1_all.json")"
	is 2 "$(calls_of "$1_all.json" "beacon<across<main<init")"
	# started here and ended on another thread
	jq -e "(.stacks | map({(.id | tostring): .path}) | add) as \$p |
		[.gpu[] | select(.kind == \"range\")] | length == 1 and .[0].name == \"across\" and
		.[0].calls == 2 and .[0].t_max_s > 0.0019 and
		\$p[.[0].id | tostring] == \"across<main<init\"" "$1_all.json"
	has "$1_all.log" "NVTX ranges"
	hasnt "$1_all.log" "Cuda Summary"
}

$TEST_CC $TEST_FLAGS -finstrument-functions -I"$TOP" -o plain "$T/gpu/app-nvtx.c" $(test_link vftrace) -ldl -pthread ||
	exit 99

test_expect 'a program that does what the header of NVTX does' 'same_ranges plain'

test_expect 'threads have the names that NVTX gives them, and ranges are tracks' '
	echo "{\"sampling\": {\"active\": true}}" >c.json
	traced --config c.json -- ./plain >out
	"$VFTR" dump plain_*.vfd >dump
	grep -w pilot dump
	# two ranges at once
	is 2 "$(grep -c "NVTX ranges [01]\$" dump)"
	is 2 "$(grep -c "call across.*thread=" dump)"'

. "$T/lib/cuda.sh"
test_expect 'and streams of CUDA, in tables, waits and tracks' '
	cuda_build
	$TEST_CC $TEST_FLAGS -finstrument-functions -DHAS_CUDA -I"$TOP" -I"$T/gpu" -o named "$T/gpu/app-nvtx.c" \
		./libcudart.so.12 -pthread -Wl,-rpath,"$PWD" $(test_link vftrace) -ldl -pthread
	echo "{\"sampling\": {\"active\": true}}" >c.json
	traced --config c.json -- ./named >out
	has out done
	is halo "$(jq -r ".gpu_streams[] | .name // empty" named_all.json)"
	"$VFTR" dump named_*.vfd | grep -F "(halo)"
	jq -e ".gpu_host_waits[] | .waited_for == \"exchange\" and .calls == 1" named_all.json'

test_expect 'untraced the library is loaded and not in the way' '
	has_no_tracer() { NVTX_INJECTION64_PATH=$LIB/libvftrace-cupti.so "$@"; }
	VFTR_OFF=1 has_no_tracer ./plain >out
	has out done
	$TEST_CC $TEST_FLAGS -I"$TOP" -o alone "$T/gpu/app-nvtx.c" -ldl -pthread
	has_no_tracer ./alone >out
	has out done'

test_expect 'a program without CUDA gets regions, and no CUPTI' '
	LD_DEBUG=files LD_DEBUG_OUTPUT=$PWD/loaded traced -- ./plain >out
	cat loaded.* >all
	has all libvftrace-cupti.so
	! grep -E "libcupti\.so|libcuda" all'

for dir in "$CUDA_HOME/include" /usr/local/cuda/include /usr/include; do
	[ -e "$dir/nvtx3/nvToolsExt.h" ] && nvtx=$dir
done
test_if '[ -n "$nvtx" ]' 'no header of NVTX on this machine' \
	'a program that is compiled with the header of NVTX' '
	$TEST_CC $TEST_FLAGS -finstrument-functions -DHAS_NVTX -isystem "$nvtx" -o real "$T/gpu/app-nvtx.c" \
		$(test_link vftrace) -ldl -pthread
	same_ranges real'

done_testing
