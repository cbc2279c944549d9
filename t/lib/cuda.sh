# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2034
# For tests of CUDA without a GPU: the stand-ins for its libraries, and a program.

CUDA_FLAGS="-g -O1 -fPIC -I$T/gpu -I$TOP"

# cuda_build: libcudart.so.12, libcupti.so.12 beside it, and the program ./app
cuda_build() {
	$TEST_CC $CUDA_FLAGS -shared -Wl,-soname,libcudart.so.12 -o libcudart.so.12 \
		"$T/gpu/standin-cudart.c" -pthread || exit 99
	$TEST_CC $CUDA_FLAGS -shared -Wl,-soname,libcupti.so.12 -o libcupti.so.12 \
		"$T/gpu/standin-cupti.c" ./libcudart.so.12 -pthread || exit 99
	$TEST_CC $TEST_FLAGS -I"$T/gpu" -finstrument-functions -o app "$T/gpu/app-cuda.c" \
		./libcudart.so.12 -pthread -Wl,-rpath,"$PWD" $(test_link vftrace) || exit 99
}

# gpu JSON NAME MEMBER: the sum over entries of this name
gpu() {
	jq -r --arg n "$2" "[.gpu[]? | select(.name == \$n) | .$3] | add // 0" "$1"
}

# path_of JSON NAME: the call paths that started it
path_of() {
	jq -r --arg n "$2" '(.stacks | map({(.id | tostring): .path}) | add) as $p |
		.gpu[]? | select(.name == $n) | $p[.id | tostring]' "$1" | sort
}
