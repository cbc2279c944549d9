#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='however a program ends or jumps: right profile, same exit status'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$LIB/libvftrace.so"

cc_traced "$BIN/end" "$T/hook/app-end.c" || skip_all 'app-end.c cannot be compiled'
cc_plain "$BIN/end-plain" "$T/hook/app-end.c"
ALL=end_all.json

# silent FILE: no message of ours (backtraces name folders, and these may be called vftr)
silent() {
	hasnt "$1" vftrace:
	hasnt "$1" vftr-node-agent:
}

# after STATUS HOW...: run it traced and untraced; both must end with STATUS
after() {
	wanted=$1
	shift
	rm -f end_*
	status_of "$wanted" limit "$BIN/end-plain" "$@" >out.untraced 2>err.untraced
	status_of "$wanted" traced -q -- "$BIN/end" "$@" >out 2>err
	cmp out.untraced out
	silent err
	is '[]' "$(jq -c .warnings $ALL)" 'warnings'
	is 0 "$(json $ALL .lost)" 'lost'
}

# profile LINE...: exactly these "CALLS PATH", in any order
profile() {
	printf '%s\n' "$@" >wanted.profile
	same_calls wanted.profile $ALL
}

dead() {
	is "$1" "$(jq -c '[.dead[].signal]' $ALL)" 'signals of the dead'
}

usual() {
	profile '1 main<init' '1 outer<main<init' '1 work<outer<main<init' \
		'10 leaf<work<outer<main<init' '1 inner<outer<main<init' \
		'1 leaf<inner<outer<main<init'
}

while read -r how status what; do
	test_expect "$how: $what" "after $status $how; usual; dead '[]'"
done <<'END'
return 0 the ordinary end
exit3 3 exit in a callee leaves frames open, which is normal
_exit 4 no destructor runs
quick_exit 5 only at_quick_exit handlers run
END

while read -r how signal what; do
	test_expect "$how: $what" "
		ulimit -c 0
		after $((128 + signal)) $how
		usual
		dead '[$signal]'
		has end_node_*.log 'signal $signal'"
done <<'END'
abort 6 everything before it is in the profile
segv 11 the default action is taken, no handler is in the way
bad-pointer 11 the same for a real fault
kill9 9 what was stored is in the profile
term 15 the default action is taken
END

test_expect 'exec: two lives of one process, both counted' "
	after 3 exec exit3
	profile '2 main<init' '2 outer<main<init' '2 work<outer<main<init' \
		'20 leaf<work<outer<main<init' '2 inner<outer<main<init' \
		'2 leaf<inner<outer<main<init'"

test_expect 'fork: parent and child are both profiled, nothing is mixed' "
	after 0 fork
	profile '1 main<init' '1 end_fork<main<init' \
		'1 work<end_fork<main<init' '10 leaf<work<end_fork<main<init' \
		'1 in_child<end_fork<main<init' '1 work<in_child<end_fork<main<init' \
		'20 leaf<work<in_child<end_fork<main<init' \
		'1 in_parent<end_fork<main<init' '1 work<in_parent<end_fork<main<init' \
		'30 leaf<work<in_parent<end_fork<main<init'
	is 2 \"\$(json \$ALL .processes)\" processes"

for how in vfork system; do
	test_expect "$how: the child is no part of the profile" "
		after 0 $how
		profile '1 main<init' '1 end_$how<main<init' \
			'1 work<end_$how<main<init' '10 leaf<work<end_$how<main<init' \
			'1 in_parent<end_$how<main<init' \
			'1 work<in_parent<end_$how<main<init' \
			'30 leaf<work<in_parent<end_$how<main<init'"
done

test_expect 'longjmp over three frames, 100 times: paths after it are right' "
	after 0 longjmp
	profile '1 main<init' '1 end_longjmp<main<init' '100 leaf<end_longjmp<main<init' \
		'100 first<end_longjmp<main<init' '100 second<first<end_longjmp<main<init' \
		'100 third<second<first<end_longjmp<main<init' \
		'100 leaf<third<second<first<end_longjmp<main<init' \
		'1 work<end_longjmp<main<init' '10 leaf<work<end_longjmp<main<init'"

# after_jump HOW PATH...: after a jump, whatever is called first; with $keys
keys='-k files.active=true -k memory.active=true'
after_jump() {
	rm -f after-jump_*
	traced -q $keys -k memory.large=0 -- "$BIN/after-jump" "$1"
	shift
	printf '%s\n' '1 main<init' '100 decode<main<init' '100 work<main<init' "$@" >wanted.profile
	same_calls wanted.profile after-jump_all.json
}

test_expect 'what is called after a longjmp, of libvftrace or of the C library, is not below what was left' '
	cc_traced "$BIN/after-jump" "$T/hook/app-after-jump.c" -I"$TOP/libhook"
	after_jump nothing
	after_jump file "100 fopen<main<init" "100 fclose<main<init"
	after_jump library "100 fopen<main<init" "100 fclose<decode<main<init"
	after_jump memory
	after_jump io
	after_jump pause "100 vftrace_pause<main<init"
	after_jump stack'

test_if '[ "$(mpi_list_short)" ]' 'no MPI' 'nor is what is called after a call of MPI, whose place is not known' '
	set -- $(mpi_list_short)
	mpicc_traced $1 "$BIN/after-jump" "$T/hook/app-after-jump.c" -I"$TOP/libhook" -DWITH_MPI
	keys=
	after_jump mpi "1 MPI_Init<main<init" "1 MPI_Finalize<main<init" "100 MPI_Comm_rank<decode<main<init"
	keys="-k mpi.call_sites=on"
	after_jump mpi >differs || :
	refuse grep "MPI_Comm_rank.*decode" differs'

test_expect '20000 deep direct recursion is one frame of 20000 calls' "
	after 0 deep
	profile '1 main<init' '1 end_deep<main<init' '20000 deeper<end_deep<main<init'"

test_expect '20000 deep mutual recursion: every call is counted' "
	after 0 mutual
	is 20002 \"\$(json \$ALL '[.stacks[].calls] | add')\" calls"

test_expect 'threads have stacks of their own' "
	after 0 threads
	profile '1 main<init' '1 end_threads<main<init' '1 work<end_threads<main<init' \
		'10 leaf<work<end_threads<main<init' '2 thread_main<init' \
		'2 work<thread_main<init' '300 leaf<work<thread_main<init'
	is 3 \"\$(json \$ALL .threads)\" threads"

test_expect 'pthread_exit of main: the others run on, and nothing is lost' "
	after 0 pthread_exit_main
	profile '1 main<init' '1 end_pthread_exit<main<init' \
		'1 work<end_pthread_exit<main<init' '10 leaf<work<end_pthread_exit<main<init' \
		'1 late_thread<init' '1 work<late_thread<init' '100 leaf<work<late_thread<init'"

test_expect "signal handlers at 1 kHz: each call is in the profile or counted as lost" "
	sum() {
		jq --arg p \"\$1\" '[.stacks[] | select(.path | test(\$p)) | .calls] | add' \$ALL
	}
	# where the agent does not get to read, more of them come while we wait for room
	for try in 1 2 3 4 5; do
		status_of 0 traced -q -- $BIN/end signals >out
		read -r _ rounds _ signals <out
		# one that interrupts us at work is not recorded, but counted as lost
		lost=\$(json \$ALL .lost)
		is \$((2 * signals)) \$((\$(sum '^in_handler<') + \$(sum '^leaf<in_handler<') + lost)) \
			'calls of and in the handler, and lost'
		is \$rounds \$(calls_of \$ALL 'work<end_signals<main<init') 'calls of work'
		is \${rounds}00 \$(calls_of \$ALL 'leaf<work<end_signals<main<init') 'calls of leaf'
		echo \"\$signals signals, \$lost calls lost\"
		[ \$signals -le 100 ] || [ \$lost -gt \$((signals / 10)) ] || break
	done
	[ \$signals -gt 100 ]
	[ \$lost -le \$((signals / 10)) ]"

test_expect "the program's own SIGTERM handler runs" "
	after 7 own-handler
	profile '1 main<init' '1 end_own_handler<main<init' \
		'1 work<end_own_handler<main<init' '10 leaf<work<end_own_handler<main<init' \
		'1 last_words<end_own_handler<main<init' \
		'1 leaf<last_words<end_own_handler<main<init'"

test_expect 'no signal handler, no blocked signal, no child of ours in the program' "
	after 0 dispositions"

test_expect 'the same when the process starts its own agent' "
	limit env VFTR_AGENT=$AGENT $BIN/end dispositions
	wait_for 20 '[ -z \"\$(agent_pids)\" ]' # or it writes over what comes next"

test_expect 'a busy program ended by SIGTERM from outside loses nothing stored' "
	$BIN/end-plain busy 0.01 >/dev/null
	for seconds in 1 5 20; do # until it has had some time
		rm -f end_*
		status=0
		traced -q -- sh -c 'exec timeout -s TERM '\$seconds' $BIN/end busy 90' || status=\$?
		[ \$status = 143 ] || is 124 \$status 'exit status'
		[ \$(calls_of \$ALL 'work<end_busy<main<init') -le 1000 ] || break
	done
	work=\$(calls_of \$ALL 'work<end_busy<main<init')
	leaf=\$(calls_of \$ALL 'leaf<work<end_busy<main<init')
	[ \$work -gt 1000 ] && [ \$leaf -le \$((work * 100)) ] &&
		[ \$leaf -ge \$((work * 100 - 100)) ]"

for how in stop:0 code:3 error:4; do
	test_if 'command -v gfortran' 'no gfortran' "Fortran STOP (${how%:*}) in nested subroutines" "
		fc_traced $BIN/end \$T/hook/app-stop.f90
		rm -f end_*
		status_of ${how#*:} traced -q -- $BIN/end ${how%:*} 2>err
		silent err
		is '[]' \"\$(jq -c .warnings \$ALL)\" warnings
		profile '1 main<init' '1 MAIN<main<init' '1 nested::middle<MAIN<main<init' \
			'2 nested::innermost<nested::middle<MAIN<main<init'"
done

done_testing
