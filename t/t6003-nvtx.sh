#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='ranges of NVTX are regions, with and without a GPU'
. "$(dirname "$0")/lib.sh"
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
}

$TEST_CC $TEST_FLAGS -finstrument-functions -I"$TOP" -o plain "$T/app-nvtx.c" $(test_link vftrace) -ldl ||
	exit 99

test_expect 'a program that does what the header of NVTX does' 'same_ranges plain'

test_expect 'untraced the library is loaded and not in the way' '
	has_no_tracer() { NVTX_INJECTION64_PATH=$LIB/libvftrace-cupti.so "$@"; }
	VFTR_OFF=1 has_no_tracer ./plain >out
	has out done
	$TEST_CC $TEST_FLAGS -I"$TOP" -o alone "$T/app-nvtx.c" -ldl
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
	$TEST_CC $TEST_FLAGS -finstrument-functions -DHAS_NVTX -isystem "$nvtx" -o real "$T/app-nvtx.c" \
		$(test_link vftrace) -ldl
	same_ranges real'

done_testing
