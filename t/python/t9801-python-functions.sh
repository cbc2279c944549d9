#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='functions of Python programs: exact calls, whatever they do, and nothing changed'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$LIB/libvftrace.so"
A=$T/python

# The first Python that the library knows; PYTHON chooses another one.
python=
for p in ${PYTHON:-} /usr/bin/python3 python3; do
	"$p" -c 'import sys; sys.exit(sys.version_info < (3, 9) or sys.implementation.name != "cpython")' \
		2>/dev/null || continue
	python=$p
	break
done
[ -n "$python" ] || skip_all 'no CPython 3.9 or later'
minor=$($python -c 'import sys; print(sys.version_info[1])')
knows_classes="[ $minor -ge 11 ]"
monitors="[ $minor -ge 12 ]"
ALL=job_all.json

# ours AGENT-OPTION... -- COMMAND...: with functions of Python, files job_*
ours() {
	rm -f job_*
	traced -q --preload -k python.functions=true -k outfile_basename=job "$@"
}

# of_script [PATTERN]: "CALLS PATH" of what matches, without the frames of asyncio and threads
of_script() {
	calls_in $ALL | grep "^[0-9]* ${1:-__main__}" |
		sed 's/<\(asyncio\|threading\|contextlib\)[^<]*//g' | sort
}

# same_end SCRIPT ARGS...: untraced and traced the same output and exit status; the traced one in
# `out' and `err'
same_end() {
	same_status=0
	limit "$python" "$@" >plain.out 2>plain.err || same_status=$?
	status_of $same_status ours -- "$python" "$@" >out 2>err
	diff plain.out out
	sed -i '/^Killed$/d; /^Aborted$/d' plain.err err # says the shell
	diff plain.err err
	is '[]' "$(jq -c .warnings $ALL)" warnings
	is 0 "$(json $ALL .lost)" lost
}

test_if "$knows_classes" 'code knows no class before Python 3.11' 'a known program: each call on its path, output and exit status' '
	same_end "$A/app-known.py"
	of_script >got
	sort "$A/known.wanted" | diff - got'
test_expect 'random programs with exceptions, generators and threads: all calls on all paths' '
	for seed in ${VFTR_LONG:+11 12 13 14 15 16 17 18 19 20} 1 2 3; do
		ours -k "python.include=^__main__[.][fg][0-9]$" -- \
			"$python" "$A/app-random.py" $seed truth $((seed % 4))
		same_calls truth $ALL
		is $((1 + seed % 4)) "$(json $ALL .threads)" threads
		is "[]" "$(jq -c .warnings $ALL)" warnings
	done'
test_expect 'without the key no process of Python comes, and nothing is different' '
	rm -f job_*
	status_of 3 traced -q --preload -k outfile_basename=job -- "$python" "$A/app-known.py" >out
	is known "$(cat out)"
	if [ -f $ALL ]; then
		is 0 "$(jq "[.stacks[] | select(.calls > 0)] | length" $ALL)"
	fi'
test_expect 'filters: what is included and not excluded, below whoever is recorded' '
	status_of 3 ours -k "python.include=^__main__[.](leaf|main|counting)$" -k "python.exclude=count" \
		-- "$python" "$A/app-known.py"
	calls_in $ALL | grep "__main__" | sort >got
	printf "%s\n" "1 __main__.main<init" "1 __main__.leaf<init" "120 __main__.leaf<__main__.main<init" |
		sort | diff - got
	status_of 3 ours -k python.exclude=null -- "$python" "$A/app-known.py"
	calls_in $ALL | grep -q "_frozen_importlib\|importlib._bootstrap"
	status_of 3 ours -- "$python" "$A/app-known.py"
	is 0 "$(calls_in $ALL | grep -c "_frozen_importlib\|importlib._bootstrap")"'
test_expect 'all ways to end: as untraced, and the calls up to there are known' '
	for way in _exit exec kill abort text interrupt wrong too_deep forgets handled traced hooked \
		raw_thread failing_thread daemons plain; do
		echo "$way" >&2
		ulimit -c 0
		same_end "$A/app-ends.py" $way
		calls_in $ALL | grep -q " __main__.leaf<__main__.inner<__main__.<module><init$"
	done'
test_expect 'calls in signal handlers, destructors at the end, and threads of C' '
	same_end "$A/app-ends.py" handled
	of_script ".*leaf<.*handler" >got
	grep -q "^3 " got
	same_end "$A/app-ends.py" forgets
	of_script "__main__.leaf<.*__del__" >got
	grep -q "^1 " got
	same_end "$A/app-ends.py" foreign_threads'
test_if "$monitors" 'only sys.monitoring sees threads of C' 'threads that C has created' '
	same_end "$A/app-ends.py" foreign_threads
	is 3 "$(of_script "__main__.leaf<.*lambda" | cut -d" " -f1)"
	is 4 "$(json $ALL .threads)"'
test_expect 'development mode, and allocators that are chosen when the audit hook is there' '
	for set in PYTHONDEVMODE=1 PYTHONMALLOC=debug PYTHONMALLOC=malloc PYTHONTRACEMALLOC=5; do
		status_of 3 ours -- env $set "$python" "$A/app-known.py" >out 2>err
		is known "$(cat out)"
		[ ! -s err ]
		is 1 "$(of_script | grep -c " __main__.main<")"
	done'
test_expect 'processes by fork, spawn and forkserver, with the calls of each' '
	for how in fork spawn forkserver; do
		ours -- "$python" "$A/app-processes.py" $how >out
		is "4 0 0" "$(cat out)"
		is 3 "$(calls_of $ALL "__main__.leaf<__main__.work<__main__.<module><init")"
		is 14 "$(calls_in $ALL | grep "__main__.leaf<__main__.work<multi\|__mp_main__.leaf<__mp_main__.work<multi" |
			awk "{ n += \$1 } END { print n }")"
		is "[]" "$(jq -c .warnings $ALL)"
	done'
test_if "! $monitors" 'sys.monitoring has room for both' 'a profile function of the program takes ours: what is open ends, and one line says so' '
	limit "$python" "$A/app-profiles.py" >plain.out
	ours -- "$python" "$A/app-profiles.py" >out
	diff plain.out out
	is 1 "$(calls_of $ALL "__main__.five<__main__.<module><init")"
	is 5 "$(calls_of $ALL "__main__.leaf<__main__.five<__main__.<module><init")"
	is 1 "$(jq ".warnings | length" $ALL)"
	has $ALL "the program sets a profile function of its own"'
test_expect 'module profile, which expects not one event more than it has untraced' '
	for module in profile cProfile; do
		ours -- "$python" -m $module "$A/app-ends.py" plain >out 2>err
		[ ! -s err ]
		has out "function calls"
	done'
test_if "$monitors" 'before 3.12 a thread has one profile function' 'cProfile beside us' '
	same_end "$A/app-profiles.py"
	is 5 "$(json $ALL "[.functions[] | select(.function == \"__main__.five\") | .calls] | add")"
	is 25 "$(json $ALL "[.functions[] | select(.function == \"__main__.leaf\") | .calls] | add")"'
test_expect 'an audit hook of the program sees nothing of ours, and what it forbids harms no thread' '
	for way in forbids sees; do
		limit "$python" "$A/app-audited.py" $way >plain.out 2>plain.err
		ours -- "$python" "$A/app-audited.py" $way >out 2>err
		diff plain.out out
		diff plain.err err
		is 2 "$(calls_of $ALL "__main__.leaf<__main__.<module><init")"
		if [ $minor -lt 12 ]; then
			has $ALL "the program has an audit hook"
		else
			is 4 "$(json $ALL "[.functions[] | select(.function == \"__main__.leaf\") | .calls] | add")"
		fi
	done'
headers=$($python -c 'import sysconfig; print(sysconfig.get_path("include"))')
test_if '[ $minor -lt 12 ] && [ -f "$headers/Python.h" ] && command -v cython3' \
	'no Cython, no headers of Python, or one in which Cython does not tell of calls' \
	'functions that Cython has compiled, in their own module' '
	cython3 -3 -o compiled.c --module-name compiled "$A/app-cython.pyx"
	$TEST_CC -shared -fPIC -w -I"$headers" -o compiled.so compiled.c
	limit env PYTHONPATH=. "$python" "$A/app-cython.py" >plain.out
	PYTHONPATH=. ours -- "$python" "$A/app-cython.py" >out
	diff plain.out out
	is 5 "$(calls_of $ALL "compiled.inner<compiled.outer<compiled.counting<__main__.main<__main__.<module><init")"'
test_expect 'a second interpreter, also where others have numbers at the code of the first one' '
	printf "%s\n" "import ctypes, sys" \
		"name = \"PyUnstable_Eval\" if sys.version_info >= (3, 12) else \"_PyEval\"" \
		"getattr(ctypes.pythonapi, name + \"_RequestCodeExtraIndex\")(None)" >sitecustomize.py
	for path in "" .; do
		export PYTHONPATH=$path
		same_end "$A/app-interpreters.py"
		is 2 "$(json $ALL "[.functions[] | select(.function == \"__main__.leaf\") | .calls] | add")"
		is 7 "$(json $ALL "[.functions[] | select(.function == \"__main__.other\") | .calls] | add")"
	done'
test_expect 'threads with a method run of their own, also if they do something before it' '
	same_end "$A/app-threads.py"
	is 5 "$(json $ALL "[.functions[] | select(.function | test(\"^__main__[.](Plain[.])?run$\")) | .calls] | add")"
	of_script "__main__.leaf<__main__[.a-zA-Z]*run<" >got
	is 5 "$(cut -d" " -f1 got)"'
test_expect 'destructors that the garbage collector calls' '
	same_end "$A/app-garbage.py"
	is 400 "$(json $ALL "[.functions[] | select(.function == \"__main__.leaf\") | .calls] | add")"'
test_expect '20 000 open calls' '
	same_end "$A/app-deep.py"
	is 10001 "$(json $ALL "[.functions[] | select(.function == \"__main__.even\") | .calls] | add")"
	is 10000 "$(json $ALL "[.functions[] | select(.function == \"__main__.odd\") | .calls] | add")"'
test_expect 'with stack samples, counters switched on, pauses of the agent, and full rings' '
	status_of 3 ours -k profile.sample=200 -- "$python" "$A/app-known.py"
	is 106 "$(calls_of $ALL "__main__.leaf<__main__.main<__main__.<module><init")"
	ours -k shm.ring_size=64KiB -k "python.include=^__main__[.][fg][0-9]$" -- \
		"$python" "$A/app-random.py" 5 truth 3
	same_calls truth $ALL'
# of what is too old, 3.8 alone has audit hooks, by which it is seen
old=
for p in /usr/bin/python3.8 "$HOME"/.pyenv/versions/3.8.*/bin/python; do
	[ -x "$p" ] && old=$p
done
test_if '[ -n "$old" ]' 'no Python 3.8' 'an interpreter that is too old is named' '
	status_of 3 ours -- env LD_PRELOAD="$LIB/libvftrace.so" "$old" -c "exit(3)"
	has $ALL "this Python, 3.8"'
libpython=$(ls /usr/lib/*/libpython3.*.so.1.0 2>/dev/null | tail -n 1)
test_if '[ -n "$libpython" ]' 'no libpython3' 'an interpreter inside of another program' '
	cc_plain "$BIN/embedded" "$A/app-embedded.c" "$libpython"
	status_of 5 "$BIN/embedded" >plain.out
	status_of 5 ours -- "$BIN/embedded" >out
	diff plain.out out
	is 5 "$(calls_of $ALL "__main__.leaf<__main__.<module><main<init")"
	is 1 "$(calls_of $ALL "json.dumps<main<init")"'

mpi=
for p in ${PYTHON:-} /usr/bin/python3 python3; do
	"$p" -c 'import mpi4py.MPI' 2>/dev/null || continue
	mpi=$p
	break
done
test_if '[ -n "$mpi" ] && [ -f "$LIB/libvftrace-openmpi.so" ]' 'no mpi4py, or not for Open MPI' 'mpi4py: calls of MPI below functions of Python' '
	limit $(mpirun_of openmpi) -np 2 "$mpi" "$A/app-mpi.py" >plain.out
	ours -- $(mpirun_of openmpi) -np 2 "$mpi" "$A/app-mpi.py" >out
	diff plain.out out
	is 2 "$(json $ALL .ranks)" ranks
	is 20 "$(calls_of $ALL "MPI_Sendrecv<__main__.ring<__main__.main<__main__.<module><init")"
	is 20 "$(calls_of $ALL "MPI_Allreduce<__main__.total<__main__.main<__main__.<module><init")"
	# the first malloc() attaches before it is known that functions of Python will be seen
	ours -k memory.active=true -- $(mpirun_of openmpi) -np 2 "$mpi" "$A/app-mpi.py" >out
	is 20 "$(calls_of $ALL "MPI_Sendrecv<__main__.ring<__main__.main<__main__.<module><init")"
	is 20 "$(calls_of $ALL "MPI_Allreduce<__main__.total<__main__.main<__main__.<module><init")"'
done_testing
