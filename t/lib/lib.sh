# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2034
# The library of the shell tests: TAP output, one throw-away directory, time
# limits, and helpers to build, run and read back traced programs. A test says
#
#	test_description='what this file is about'
#	. "$(dirname "$0")/../lib/lib.sh"
#	test_expect 'one behaviour in one sentence' 'shell code'
#	done_testing
#
# The code runs in a subshell with `set -e`, in the throw-away directory. t/README
# explains the rest. Plain POSIX shell.

T=$(cd "$(dirname "$0")/.." && pwd) || exit 99
TOP=${T%/t}
BUILD=${BUILD:-$TOP/obj}
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
AGENT=$BUILD/bin/vftr-node-agent
VFTR=$BUILD/bin/vftr
LIB=$BUILD/lib
AGENT_LIBS=$(sed -n "s/^AGENT_LIBS := //p" "$TOP/Makefile") # for programs with core.a
: "${VFTR_LONG:=}" "${TEST_SKIPS:=}" "${TEST_FAILURES:=}"
: "${TEST_SECONDS:=${VFTR_LONG:+1500}}" "${TEST_COMMAND_SECONDS:=${VFTR_LONG:+500}}"
: "${TEST_SECONDS:=1200}" "${TEST_COMMAND_SECONDS:=180}" # only what hangs takes as long
export T TOP BUILD AGENT VFTR LIB

# ---- one outer shell cleans up whatever becomes of the test itself ----------

# Kills what the test left: its session, and agents that have one of their own.
test_kill_left() {
	for test_p in "$1"/run/*.lock; do
		[ -s "$test_p" ] && kill -9 "$(head -n 1 "$test_p")" 2>/dev/null
	done
	[ -n "$test_session" ] && pkill -9 -s "$test_session"
	return 0
}

test_outer_end() {
	trap '' EXIT HUP INT TERM
	test_kill_left "$test_dir"
	[ -d "$test_dir/nodes/slurm" ] && sh "$T/lib/slurm.sh" down "$test_dir/nodes"
	[ -d "$test_dir/nodes" ] && sh "$T/lib/nodes.sh" down "$test_dir/nodes"
	test_kill_left "$test_dir"
	if [ -n "$TEST_KEEP" ]; then
		echo "# kept: $test_dir" >&2
	else
		grep -o " $test_dir/[^ ]*" /proc/mounts | sort -r | while read -r test_m; do
			umount -l "$test_m" 2>/dev/null
		done
		rm -rf "$test_dir"
	fi
}

if [ -z "$VFTR_TEST_DIR" ]; then
	test_dir=$(mktemp -d "${TMPDIR:-/tmp}/vftr-test-XXXXXX") || exit 99
	test_dir=$(cd "$test_dir" && pwd -P)
	trap test_outer_end EXIT
	trap 'exit 130' HUP INT TERM
	env VFTR_TEST_DIR="$test_dir" setsid -w timeout -s KILL "$TEST_SECONDS" \
		"$(readlink /proc/$$/exe)" "$0" "$@" </dev/null &
	test_session=$!
	wait $!
	test_status=$?
	if [ "$test_status" -gt 128 ]; then
		echo "Bail out! ${0##*/}: still running after $TEST_SECONDS s, or killed ($test_status)"
	fi
	exit "$test_status"
fi

mkdir -p "$VFTR_TEST_DIR/work" "$VFTR_TEST_DIR/run" "$VFTR_TEST_DIR/bin"
# MPI's compilers and LD_PRELOAD know no path with a blank: the tests go round by links
case $TOP in *[[:space:]]*) ln -sfn "$TOP" "$VFTR_TEST_DIR/top" && TOP=$VFTR_TEST_DIR/top T=$TOP/t ;; esac
case $BUILD in *[[:space:]]*) ln -sfn "$BUILD" "$VFTR_TEST_DIR/build" && BUILD=$VFTR_TEST_DIR/build ;; esac
AGENT=$BUILD/bin/vftr-node-agent VFTR=$BUILD/bin/vftr LIB=$BUILD/lib
chmod 700 "$VFTR_TEST_DIR/run"
VFTR_RUNTIME_DIR=$VFTR_TEST_DIR/run
BIN=$VFTR_TEST_DIR/bin
OMPI_ALLOW_RUN_AS_ROOT=1
OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
OMPI_MCA_orte_tmpdir_base=$VFTR_TEST_DIR/ompi
OMPI_MCA_btl_vader_single_copy_mechanism=none
# One node needs no network. MPICH fails where an interface goes while it looks (another
# test's node), and Open MPI 4.1 at times breaks in mca_btl_tcp as it starts.
UCX_TLS=sm,self
OMPI_MCA_btl=self,vader
# Ranks that wait give their processor to others, among them the rank that they wait for. Without
# that 400 rounds of t4116 on a busy machine took 29 s in place of 5, and 7 times the CPU, and of jobs
# of Slurm, untraced ones, 3 in 30 hung for a minute.
OMPI_MCA_mpi_yield_when_idle=1
# Each process of an MPI looks for devices as it starts, loads components, those for other networks
# and schedulers, too, and fills megabytes of buffers and tables; a launcher closes each descriptor that
# there might be. That was 40 % of a job that does next to nothing. What is left out here is not what
# is used where all is there; t4202 has all of it (with_all_of_mpi).
ulimit -Sn 4096 2>/dev/null || :
HWLOC_COMPONENTS=-linux:pci HWLOC_PLUGINS_PATH=$VFTR_TEST_DIR/none PMIX_MCA_gds=hash
UCX_POSIX_RX_BUFS_GROW=64 UCX_SYSV_RX_BUFS_GROW=64
OMPI_MCA_pml=ob1 OMPI_MCA_shmem=mmap OMPI_MCA_reachable=weighted
OMPI_MCA_coll=^monitoring,sync,adapt,han,sm OMPI_MCA_schizo=^flux,jsm OMPI_MCA_pmix=^flux
export HWLOC_COMPONENTS HWLOC_PLUGINS_PATH PMIX_MCA_gds OMPI_MCA_pml OMPI_MCA_shmem OMPI_MCA_reachable
export OMPI_MCA_coll OMPI_MCA_schizo OMPI_MCA_pmix UCX_POSIX_RX_BUFS_GROW UCX_SYSV_RX_BUFS_GROW
with_all_of_mpi() {
	unset HWLOC_COMPONENTS HWLOC_PLUGINS_PATH PMIX_MCA_gds OMPI_MCA_pml OMPI_MCA_shmem OMPI_MCA_reachable
	unset OMPI_MCA_coll OMPI_MCA_schizo OMPI_MCA_pmix UCX_POSIX_RX_BUFS_GROW UCX_SYSV_RX_BUFS_GROW
}
LC_ALL=C
export UCX_TLS OMPI_MCA_btl VFTR_RUNTIME_DIR BIN OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
export OMPI_MCA_orte_tmpdir_base OMPI_MCA_btl_vader_single_copy_mechanism OMPI_MCA_mpi_yield_when_idle LC_ALL
unset VFTR_OFF VFTR_SESSION VFTR_CONFIG VFTR_AGENT LD_PRELOAD XDG_RUNTIME_DIR
cd "$VFTR_TEST_DIR/work" || exit 99

# ---- TAP -------------------------------------------------------------------

test_n=0
test_failed=0
[ -n "$test_description" ] && echo "# $test_description"

# test_expect SENTENCE CODE
test_expect() {
	test_n=$((test_n + 1))
	set +e
	(
		set -e
		eval "$2"
	) >"$VFTR_TEST_DIR/output" 2>&1
	test_status=$?
	if [ "$test_status" = 0 ]; then
		echo "ok $test_n - $1"
		return 0
	fi
	echo "not ok $test_n - $1"
	test_failed=$((test_failed + 1))
	{
		echo "status $test_status of:"
		printf '%s\n' "$2"
		echo "it printed:"
		tail -n 60 "$VFTR_TEST_DIR/output"
	} | sed "s/^/# ${0##*/} $test_n: /" >&2
	test_note_failure "$1"
	return 0
}

# `make check` prints these at its end: the row, and the end of what it printed
test_note_failure() {
	[ -n "$TEST_FAILURES" ] || return 0
	{
		echo "${0##*/} $test_n: $1"
		echo "status $test_status; it printed last:"
		tail -n 8 "$VFTR_TEST_DIR/output" | cut -c 1-300
	} | sed '2,$s/^/	/' >>"$TEST_FAILURES"
}

# test_skip SENTENCE REASON: counted and shown, not run
test_skip() {
	test_n=$((test_n + 1))
	test_note_skip "$1: $2"
	echo "ok $test_n - $1 # SKIP $2"
}

# `make check` prints these at its end
test_note_skip() {
	[ -z "$TEST_SKIPS" ] || echo "${0##*/}: $1" >>"$TEST_SKIPS"
}

# test_if CONDITION REASON SENTENCE CODE: skipped with REASON unless CONDITION
test_if() {
	if (eval "$1") >/dev/null 2>&1; then
		test_expect "$3" "$4"
	else
		test_skip "$3" "$2"
	fi
}

# skip_all REASON: nothing in this file can run here, or nothing that follows
skip_all() {
	if [ "$test_n" -gt 0 ]; then
		test_skip 'the rest of this file' "$1"
		done_testing
	fi
	test_note_skip "all of it: $1"
	echo "1..0 # SKIP $1"
	exit 0
}

done_testing() {
	echo "1..$test_n"
	[ "$test_failed" = 0 ]
	exit $?
}

# need COMMAND...: skip the file unless all are there
need() {
	for test_c; do
		command -v "$test_c" >/dev/null 2>&1 || skip_all "no $test_c on this machine"
	done
}

# need_built FILE...: the file is part of the build; wanting it is a failure
need_built() {
	for test_c; do
		[ -e "$test_c" ] || { echo "Bail out! $test_c is not built"; exit 1; }
	done
}

# ---- running ----------------------------------------------------------------

# limit COMMAND...: at most TEST_COMMAND_SECONDS, then TERM, then KILL
limit() {
	timeout -k 5 "$TEST_COMMAND_SECONDS" "$@"
}

# status_of WANTED COMMAND...: the command must end with this exit status
status_of() {
	test_wanted=$1
	shift
	test_got=0
	"$@" || test_got=$?
	[ "$test_got" = "$test_wanted" ] && return 0
	echo "exit status $test_got, wanted $test_wanted: $*" >&2
	return 1
}

# refuse COMMAND...: must fail, and not by a signal or a time-out
refuse() {
	test_got=0
	"$@" || test_got=$?
	[ "$test_got" -gt 0 ] && [ "$test_got" -lt 124 ] && return 0
	[ "$test_got" = 125 ] && return 0
	echo "exit status $test_got, wanted a refusal: $*" >&2
	return 1
}

# traced [AGENT OPTION...] -- COMMAND...: the everyday form, limited in time
traced() {
	limit "$AGENT" "$@"
}

# wait_for SECONDS CODE: until CODE holds; three times as long where the machine is busy
wait_for() {
	test_left=$(($1 * 60))
	until (eval "$2") >/dev/null 2>&1; do
		test_left=$((test_left - 1))
		if [ "$test_left" -le 0 ]; then
			echo "not within $1 s: $2" >&2
			return 1
		fi
		sleep 0.05
	done
}

# patient SECONDS: as many times more as there are processes that want each CPU of this machine: in the
# last minute, or, if these are more, now
patient() {
	read -r test_load test_rest test_rest test_now test_rest </proc/loadavg
	test_load=${test_load%.*} test_now=$((${test_now%/*} - 1))
	[ "$test_load" -ge "$test_now" ] || test_load=$test_now
	echo $(($1 * (1 + test_load / $(getconf _NPROCESSORS_ONLN))))
}

# no_later SECONDS BEGAN: no more than so many (patient) seconds after BEGAN, of `date +%s'
no_later() {
	test_took=$(($(date +%s) - $2))
	test_most=$(patient "$1")
	echo "after $test_took s; at most $1, here $test_most"
	[ $test_took -le "$test_most" ]
}

# stands_still FILE: the number in it stays the same for a while
stands_still() {
	test_number=$(number_in "$1")
	sleep 0.2
	[ "$test_number" = "$(number_in "$1")" ]
}

# ---- building ----------------------------------------------------------------

: "${TEST_CC:=gcc}" "${TEST_CXX:=g++}" "${TEST_FC:=gfortran}"
TEST_FLAGS='-g -O1'

test_link() {
	echo "-L$LIB -Wl,--no-as-needed -l$1 -Wl,-rpath,$LIB"
}

# What several files compile is compiled once (lib/cached).
# cc_plain OUT SRC...: instrumented, not linked with us (for --preload)
cc_plain() {
	test_out=$1
	shift
	"$T/lib/cached" $TEST_CC $TEST_FLAGS -I"$TOP/libhook" -finstrument-functions -o "$test_out" "$@" -pthread -lm
}

# cc_traced, cxx_traced, fc_traced OUT SRC...: linked with libvftrace
cc_traced() {
	test_out=$1
	shift
	"$T/lib/cached" $TEST_CC $TEST_FLAGS -I"$TOP/libhook" -finstrument-functions -o "$test_out" "$@" \
		-pthread -lm $(test_link vftrace)
}

cxx_traced() {
	test_out=$1
	shift
	"$T/lib/cached" $TEST_CXX $TEST_FLAGS -I"$TOP/libhook" -finstrument-functions -o "$test_out" "$@" \
		-pthread $(test_link vftrace)
}

fc_traced() {
	test_out=$1
	shift
	"$T/lib/cached" $TEST_FC $TEST_FLAGS -finstrument-functions -o "$test_out" "$@" $(test_link vftrace)
}

# flagged OPTIONS COMMAND...: COMMAND, and behind it what `vftr flags OPTIONS' prints, as a shell
# or make reads it: a blank in the folder of vftr has a backslash before it
flagged() {
	test_words=$("$VFTR" flags $1) || return
	shift
	eval "\"\$@\" $test_words"
}

# installed FOLDER: this build, installed and then moved there. Its list of parts has no names of
# packages: dpkg reads all of its lists for each (t8331 has them).
installed() {
	test_prefix=$(cat "$BUILD/prefix")
	mkdir -p "$VFTR_TEST_DIR/unasked"
	printf '#!/bin/sh\nexit 1\n' >"$VFTR_TEST_DIR/unasked/dpkg-query"
	chmod +x "$VFTR_TEST_DIR/unasked/dpkg-query"
	limit env -u MAKEFLAGS -u MFLAGS PATH="$VFTR_TEST_DIR/unasked:$PATH" make -C "$TOP" --no-print-directory O="$BUILD" \
		PREFIX="$test_prefix" DESTDIR="$PWD/stage" install >made 2>&1 || { tail made; return 1; }
	mv "stage$test_prefix" "$1"
}

# as_installed: the folder and the PATH of a user: the product in vftr/, and one MPI that is the
# default, with mpicc, mpif90 and mpirun; $mpi: its name, or nothing
as_installed() {
	mpi=$(mpi_list | head -n 1)
	mkdir tools
	for tool in mpicc mpif90; do
		printf '#!/bin/sh\nexec %s.%s "$@"\n' "$tool" "$mpi" >tools/$tool
	done
	for launcher in $(mpirun_of "${mpi:-mpich}"); do
		ln -s "$(command -v "$launcher")" tools/mpirun # a link, as distributions have it
		break
	done
	export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
	printf '#!/bin/sh\nexec /usr/bin/python3 "$@"\n' >tools/python3
	chmod +x tools/*
	installed "$PWD/vftr" || { echo "Bail out! make install has failed"; exit 1; }
	PATH=$PWD/tools:$PWD/vftr/bin:$PATH
	export PATH
}

# Which MPIs can be compiled for and run here: openmpi mpich
mpi_list() {
	command -v mpicc.openmpi >/dev/null && command -v mpirun.openmpi >/dev/null &&
		[ -e "$LIB/libvftrace-openmpi.so" ] && echo openmpi
	command -v mpicc.mpich >/dev/null && command -v mpiexec.hydra >/dev/null &&
		[ -e "$LIB/libvftrace-mpich.so" ] && echo mpich
	return 0
}

# mpi_list_short: the MPIs for rows about what is behind the wrappers, and the same with each MPI:
# all in the long form; in the short form one, Open MPI where the number of the test is even, else
# MPICH, or the one that is there.
mpi_list_short() {
	case $VFTR_LONG:${0##*/} in
	:t[0-9][0-9][0-9][02468]-*) mpi_list | head -n 1 ;;
	:*) mpi_list | tail -n 1 ;;
	*) mpi_list ;;
	esac
}

# mpirun_of MPI: the command that runs its programs; append -np N PROGRAM
mpirun_of() {
	case $1 in
	openmpi) echo "$T/lib/mpirun.openmpi --oversubscribe --bind-to none" ;;
	mpich) echo "$T/lib/mpiexec.hydra -bind-to none" ;;
	*) echo "mpirun_of: no MPI named $1" >&2; return 1 ;;
	esac
}

# mpicc_traced MPI OUT SRC...; mpifc_traced the same for Fortran
mpicc_traced() {
	test_mpi=$1
	test_out=$2
	shift 2
	"$T/lib/cached" "mpicc.$test_mpi" $TEST_FLAGS -I"$TOP/libhook" -finstrument-functions -o "$test_out" "$@" \
		-lm $(test_link "vftrace-$test_mpi")
}

mpifc_traced() {
	test_mpi=$1
	test_out=$2
	shift 2
	"$T/lib/cached" "mpif90.$test_mpi" $TEST_FLAGS -finstrument-functions -o "$test_out" "$@" \
		$(test_link "vftrace-$test_mpi")
}

# ---- reading back -------------------------------------------------------------

# jq is gojq where that is installed: it starts in a tenth of the 20 ms that jq 1.6 takes, and the
# tests start it some thousand times. It has objects in the order of their keys, and no option for
# that: where the order in the file matters a test says `command jq'.
if command -v gojq >/dev/null 2>&1; then
	jq() {
		case $1 in
		-S) command jq "$@" ;;
		*) gojq "$@" ;;
		esac
	}
fi

# json FILE EXPRESSION
json() {
	jq -r "$2" "$1"
}

# calls_of FILE PATH: calls of the stack with this path, 0 if there is none
calls_of() {
	jq -r --arg p "$2" '($p | gsub(" < "; "<")) as $p |
		[.stacks[] | select((.path | gsub(" < "; "<")) == $p) | .calls] | add // 0' "$1"
}

# is WANTED GOT [WHAT]
is() {
	[ "$1" = "$2" ] && return 0
	echo "${3:-value}: wanted \"$1\", got \"$2\"" >&2
	return 1
}

# has FILE WORDS...: the file contains this fixed text
has() {
	test_file=$1
	shift
	grep -qF -e "$*" "$test_file" && return 0
	echo "not in $test_file: $*" >&2
	tail -n 20 "$test_file" >&2
	return 1
}

# hasnt FILE WORDS...
hasnt() {
	test_file=$1
	shift
	grep -nF -e "$*" "$test_file" >&2 || return 0
	echo "is in $test_file: $*" >&2
	return 1
}

# Paths and calls of a profile as "CALLS PATH", sorted; without the root.
test_calls='.stacks[] | select(.path != "init" and .calls > 0) | "\(.calls) \(.path)"'
calls_in() {
	jq -r "$test_calls" "$1" | sort -k2
}

# same_calls COUNTS JSON: every path on both sides, with the same calls. A line of
# COUNTS is "CALLS PATH"; equal paths are added up (several processes).
same_calls() {
	[ -s "$1" ] || { echo "$1 has no counts" >&2; return 1; }
	jq -r "$test_calls" "$2" >"$VFTR_TEST_DIR/got" || return
	awk '{ n = $1; sub(/^[0-9]+ /, "") }
		NR == FNR { wanted[$0] += n; next }
		{ got[$0] += n }
		END {
			for (p in wanted)
				if (!(p in got) || got[p] != wanted[p]) {
					print "-" wanted[p], p
					bad = 1
				}
			for (p in got)
				if (!(p in wanted) || got[p] != wanted[p]) {
					print "+" got[p], p
					bad = 1
				}
			exit bad
		}' "$1" "$VFTR_TEST_DIR/got"
}

# exclusive_sums_up JSON: with one rank of one thread, the exclusive times and that of
# waits for room are its runtime (0.1 %)
exclusive_sums_up() {
	jq -e '(([.stacks[].t_excl_s] | add) + .blocked_s) as $s | (.runtime_s * .ranks) as $r |
		if $r > 0 and (($s - $r) | fabs) <= 0.001 * $r then true
		else "t_excl_s adds up to \($s), runtime_s is \($r)\n" | halt_error end' "$1"
}

# number_in FILE: the 64-bit number a program keeps there (app-end counted)
number_in() {
	od -An -t d8 -N 8 "$1" | tr -d " "
}

# agent_pids: the agents of this test that are running now; not the supervisor of one, which
# has the agent's name and, for an instant, no child
agent_pids() {
	for test_p in $(grep -lzxF "VFTR_TEST_DIR=$VFTR_TEST_DIR" /proc/[0-9]*/environ 2>/dev/null); do
		test_p=${test_p#/proc/}
		test_p=${test_p%/environ}
		case $(cat "/proc/$test_p/comm" 2>/dev/null) in
		vftr-agent) echo "$test_p" ;;
		vftr-node-agent)
			pgrep -P "$test_p" -x vftr-agent >/dev/null && continue
			case "$(cat "/proc/$test_p/cmdline" 2>/dev/null | tr '\0' ' ')" in
			*' --in-step '*) echo "$test_p" ;;
			'' | *' -- '*) ;; # it has gone meanwhile, or is a supervisor
			*) echo "$test_p" ;;
			esac ;;
		esac
	done
}

# signal_agents SIGNAL: to all of them. Of several processes that start an agent one succeeds, and
# the agents of the others, which may be listed, end meanwhile.
signal_agents() {
	for test_p in $(agent_pids); do
		kill "-$1" "$test_p" || [ ! -d "/proc/$test_p" ] || return
	done
}

# ---- several nodes --------------------------------------------------------------

# nodes_up N: pseudo-nodes node1..nodeN until the end of the test; skips the file if
# this machine cannot have them. Makes $NODES/rsh.
nodes_up() {
	NODES=$VFTR_TEST_DIR/nodes
	export NODES
	unset UCX_TLS OMPI_MCA_btl
	test_status=0
	sh "$T/lib/nodes.sh" up "$1" "$NODES" >"$VFTR_TEST_DIR/output" 2>&1 || test_status=$?
	[ "$test_status" = 77 ] && skip_all "$(tail -n 1 "$VFTR_TEST_DIR/output")"
	[ "$test_status" = 0 ] || { echo "Bail out! $(tail -n 1 "$VFTR_TEST_DIR/output")"; exit 1; }
}

# nodes_run NODE COMMAND...
nodes_run() {
	limit sh "$T/lib/nodes.sh" run "$NODES" "$@"
}

# nodes_mpirun [SLOTS [NODE...]]: the mpirun command for these nodes (all), SLOTS
# ranks each (2). A new folder for the job's own files each time: two jobs that share
# one sometimes fail to start.
nodes_mpirun() {
	sh "$T/lib/nodes.sh" mpirun "$NODES" "$@"
}

# ---- a real Slurm ------------------------------------------------------------------

# slurm_up N [cgroup] [LINE...]: pseudo-nodes node1..nodeN with a Slurm over them, until
# the end of the test; this side is its login node. Skips the file where impossible.
slurm_up() {
	test_nodes=$1
	shift
	nodes_up "$test_nodes"
	test_status=0
	sh "$T/lib/slurm.sh" up "$NODES" "$@" >"$VFTR_TEST_DIR/output" 2>&1 || test_status=$?
	[ "$test_status" = 77 ] && skip_all "$(tail -n 1 "$VFTR_TEST_DIR/output")"
	[ "$test_status" = 0 ] || { echo "Bail out! $(tail -n 1 "$VFTR_TEST_DIR/output")"; exit 1; }
	SLURM_CONF=$NODES/slurm/slurm.conf
	read -r test_net <"$NODES/set"
	# the processes of one job meet on the set's bridge only
	OMPI_MCA_oob_tcp_if_include=10.77.$test_net.0/24
	OMPI_MCA_btl_tcp_if_include=10.77.$test_net.0/24
	export SLURM_CONF OMPI_MCA_oob_tcp_if_include OMPI_MCA_btl_tcp_if_include
}

# core_stack CORE: what gdb says of the program that CORE is of. Told another program, gdb names no
# function of a library.
core_stack() {
	test_program=$(gdb -batch -ex 'info auxv' -c "$1" 2>/dev/null |
		sed -n 's/^31 .* "\(.*\)"$/\1/p') # AT_EXECFN
	gdb -batch -ex bt "$test_program" "$1" 2>/dev/null || true
}

# open_mpi_broke STDERR: a job in this directory has failed by a fault of others on a
# busy machine: slurmstepd cannot send what PMIx exchanges, or one of two of Open MPI 4.1.4:
# connections of two ranks cross, and a rank that is still in PMPI_Init, at the first fence, gets the
# first message of another one (tag 0x41) and jumps to address 0, as nothing has been
# registered for it (untraced ranks that start some 10 ms apart: 6 runs in 314, each with both; with
# 30 processes that want each of two CPUs 17 in 103). Another crash is none of these. Wants
# `ulimit -c unlimited' before slurm_up. Each is told by broken_told.
open_mpi_broke() {
	test_core=$(ls core* 2>/dev/null | head -n 1)
	if [ -n "$test_core" ]; then
		core_stack "$test_core" >"$VFTR_TEST_DIR/stack"
		rm -f core*
		cat "$VFTR_TEST_DIR/stack"
		grep -q "^#0 *0x0* in" "$VFTR_TEST_DIR/stack" &&
			grep -q "^#1 .*mca_btl_tcp" "$VFTR_TEST_DIR/stack" &&
			grep -q " in PMPI_Init" "$VFTR_TEST_DIR/stack" &&
			echo "Open MPI jumped to address 0 from mca_btl_tcp, in PMPI_Init" >>"$VFTR_TEST_DIR/broken"
	else
		grep -E "connect\(\) to|pmixp_p2p_send: .*exceeded the retry limit" "$1" >"$VFTR_TEST_DIR/stack" &&
			! grep -q "Segmentation fault" "$1" &&
			head -n 1 "$VFTR_TEST_DIR/stack" >>"$VFTR_TEST_DIR/broken"
	fi
}

# broken_told: at the end of a file of tests, the jobs that were run again
broken_told() {
	[ ! -s "$VFTR_TEST_DIR/broken" ] || sed "s/^/# run again: /" "$VFTR_TEST_DIR/broken"
}

# slurm_batch SCRIPT [SBATCH OPTION...]: submits `sh SCRIPT' and waits for its end;
# returns its exit status. What it printed is in SCRIPT.out.
slurm_batch() {
	test_script=$1
	shift
	rm -f "$test_script.status"
	test_job=$(sbatch --parsable -o "$test_script.out" "$@" --wrap \
		"sh $test_script; echo \$? >$test_script.ends; mv $test_script.ends $test_script.status") ||
		return
	wait_for "$TEST_COMMAND_SECONDS" "[ -e $test_script.status ]" || {
		scancel "$test_job"
		tail -n 30 "$test_script.out" >&2
		return 1
	}
	return "$(cat "$test_script.status")"
}
