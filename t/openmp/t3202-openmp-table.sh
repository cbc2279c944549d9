#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='every function of libgomp is recorded, or left alone for a reason'
. "$(dirname "$0")/../lib/lib.sh"
need gcc nm
need_built "$LIB/libvftrace.so" "$LIB/libvftrace.a" "$LIB/libvftrace-static.a"
GOMP=$(gcc -print-file-name=libgomp.so.1)
[ -e "$GOMP" ] || skip_all 'no libgomp on this machine'
TABLE=$TOP/libhook/openmp/gomp-table.h

none() {
	! grep . >&2
}

# What is left alone. A line is a function, and why.
cat >alone <<'EOT'
GOMP_alloc allocates memory: no time worth a frame
GOMP_atomic_end leaves what GOMP_atomic_start has waited for
GOMP_cancel what it skips is closed by the call or the return that follows
GOMP_cancellation_point what it skips is closed by the call or the return that follows
GOMP_doacross_post does not wait
GOMP_doacross_ull_post does not wait
GOMP_doacross_ull_wait has a variable number of arguments, which cannot be passed on
GOMP_doacross_wait has a variable number of arguments, which cannot be passed on
GOMP_error ends the program
GOMP_free frees memory: no time worth a frame
GOMP_loop_ordered_dynamic_next a part of a loop whose frame is open since its start
GOMP_loop_ordered_guided_next a part of a loop whose frame is open since its start
GOMP_loop_ordered_runtime_next a part of a loop whose frame is open since its start
GOMP_loop_ordered_static_next a part of a loop whose frame is open since its start
GOMP_loop_ull_dynamic_next a part of a loop whose frame is open since its start
GOMP_loop_ull_guided_next a part of a loop whose frame is open since its start
GOMP_loop_ull_maybe_nonmonotonic_runtime_next a part of a loop whose frame is open since its start
GOMP_loop_ull_nonmonotonic_dynamic_next a part of a loop whose frame is open since its start
GOMP_loop_ull_nonmonotonic_guided_next a part of a loop whose frame is open since its start
GOMP_loop_ull_nonmonotonic_runtime_next a part of a loop whose frame is open since its start
GOMP_loop_ull_ordered_dynamic_next a part of a loop whose frame is open since its start
GOMP_loop_ull_ordered_guided_next a part of a loop whose frame is open since its start
GOMP_loop_ull_ordered_runtime_next a part of a loop whose frame is open since its start
GOMP_loop_ull_ordered_static_next a part of a loop whose frame is open since its start
GOMP_loop_ull_runtime_next a part of a loop whose frame is open since its start
GOMP_loop_ull_static_next a part of a loop whose frame is open since its start
GOMP_offload_register called by the loader
GOMP_offload_register_ver called by the loader
GOMP_offload_unregister called by the loader
GOMP_offload_unregister_ver called by the loader
GOMP_single_start there is no call at the end of the block
GOMP_task_reduction_remap looks up an address
GOMP_taskgroup_reduction_register notes addresses
GOMP_taskgroup_reduction_unregister forgets addresses
GOMP_taskyield does nothing in libgomp
GOMP_teams sets two numbers, inside of a target region
GOMP_teams4 sets two numbers, inside of a target region
GOMP_warning prints a message
EOT

nm -D --defined-only "$GOMP" | awk '$2 ~ /[TWi]/ { sub(/@.*/, "", $3); print $3 }' |
	sort -u >defined
grep '^GOMP_[a-z]' defined >functions
awk '{ print $1 }' alone | sort >alone.names
# names of rows, as _(void, NAME, ... and _(NAME)
sed -n 's/^[[:blank:]]*_((\{0,1\}\([a-z]*, \)\{0,1\}\([A-Za-z_0-9]*\)[,)].*/\2/p' "$TABLE" | sort >table

test_expect 'the tables have rows, and no name twice' '
	[ "$(wc -l <table)" -gt 100 ]
	uniq -d table | none'
test_expect 'every function of the installed libgomp is in a table or in the list here' '
	sort table alone.names >known
	comm -23 functions known | none'
test_expect 'what the tables name is in libgomp 12, and nothing is in both' '
	comm -23 table defined | none
	comm -12 table alone.names | none
	comm -23 alone.names functions | none
	awk "NF < 3" alone | none'
test_expect 'its version nodes are known' '
	nm -D --defined-only "$GOMP" | awk "\$2 == \"A\" { print \$3 }" | sed "s/@.*//" >versions
	[ "$(wc -l <versions)" -gt 20 ]
	while read -r v; do
		grep -qF "\"$v\"" "$TABLE" || { echo "$v" >&2; exit 1; }
	done <versions'
test_expect 'the libraries stand in for each of them, but not for fully static programs' '
	grep -Ev "^omp_(get|test)_" table >ours
	nm -D --defined-only "$LIB/libvftrace.so" | awk "{ print \$3 }" | sort >exported
	comm -23 ours exported | none
	nm --defined-only "$LIB/libvftrace.a" 2>/dev/null | awk "{ print \$3 }" | sort >exported
	comm -23 ours exported | none
	nm --defined-only "$LIB/libvftrace-static.a" 2>/dev/null | awk "{ print \$3 }" | sort >exported
	comm -12 ours exported | none'
done_testing
