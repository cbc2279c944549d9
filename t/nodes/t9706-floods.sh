#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='neighbours that ask much of the agent: the others do not notice, and all is said'
. "$(dirname "$0")/../lib/lib.sh"
need jq gcc ss
need_built "$AGENT" "$LIB/libvftrace.so"

gcc -g -O1 -std=gnu11 -D_GNU_SOURCE= -I"$TOP" -o "$BIN/flood" "$T/nodes/app-flood.c" &&
	cc_traced "$BIN/many" "$T/nodes/app-many.c" || skip_all 'a program cannot be compiled'
FLOOD=$BIN/flood
export FLOOD BIN

# good.sh TIMES: programs that are traced
cat >good.sh <<'END'
i=0
while [ $i -lt $1 ]; do
	timeout 180 "$BIN/many" children 2 1 || exit
	i=$((i + 1))
done
END
# idle.sh N P SECONDS: N connections of each of P processes say nothing; when the agent has taken
# them, so long that is all that happens, then good programs run beside them
cat >idle.sh <<'END'
sock=$VFTR_RUNTIME_DIR/$VFTR_SESSION.sock
agent=$(head -n 1 "$VFTR_RUNTIME_DIR"/*.lock)
mkfifo hold
"$FLOOD" idle "$sock" "$1" "$2" <hold >ready &
exec 9>hold
until [ -s ready ]; do
	kill -0 $! || exit
	sleep 0.02
done
# it was bound by another name
until ss -Hlx | awk -v name="${sock%sock}" 'index($5, name) == 1 { n++; left += $3 } END { exit !n || left }'; do
	kill -0 $agent || exit
	sleep 0.02
done
set -- "$1" "$2" "$3" $(($(sed 's/.*) //' "/proc/$agent/stat" | cut -d ' ' -f 12,13 | tr ' ' +)))
sleep "$3"
echo $(($(sed 's/.*) //' "/proc/$agent/stat" | cut -d ' ' -f 12,13 | tr ' ' +) - $4)) >ticks
ls "/proc/$agent/fd" | wc -l >descriptors
sh ../good.sh 5
status=$?
exec 9>&-
wait
exit $status
END

# five_are_there [MORE]: the good programs, exact, and MORE processes
five_are_there() {
	is $((15 + ${1:-0})) "$(json many_all.json .ranks)" processes
	is 100 "$(calls_of many_all.json "leaf<work<children<main<init")" 'calls of leaf'
	is 10 "$(calls_of many_all.json "work<children<main<init")" 'calls of work'
	is 0 "$(json many_all.json .lost)" lost
}

no_more_than() { # LIMIT GOT WHAT
	[ "$2" -le "$1" ] || { echo "$3: $2, not at most $1" >&2; return 1; }
}

# beside NOFILE CONNECTIONS PROCESSES SECONDS
beside() {
	mkdir "idle-$2-$3"
	cd "idle-$2-$3"
	(ulimit -n "$1" && traced -q -k shm.ring_size=64KiB -k outfile_basename=many -- \
		sh ../idle.sh "$2" "$3" "$4") 2>said
	cat ready
}

test_expect '200 idle connections, 256 descriptors: the programs beside them are traced' '
	beside 256 200 1 1
	five_are_there
	no_more_than 60 "$(cat descriptors)" descriptors
	json many_all.json ".warnings[]" | grep "connections without saying who it is"'
test_expect '... and the agent sleeps meanwhile' '
	no_more_than 30 "$(cat idle-200-1/ticks)" "ticks of CPU time in a second"'
test_expect '80 processes that say nothing: they are closed, or told why not' '
	beside 64 1 80 1.2
	five_are_there
	no_more_than 64 "$(cat descriptors)" descriptors
	no_more_than 30 "$(cat ticks)" "ticks of CPU time"
	grep "was refused: the agent has no descriptors left" said
	no_more_than 25 "$(wc -l <said)" lines
	json many_all.json ".warnings[]" | grep "more like this: process .* was refused"'
test_expect '10 000 idle connections' '
	beside 1024 500 20 0
	five_are_there
	no_more_than 700 "$(cat descriptors)" descriptors'
test_expect 'whoever asks for rings and does not read the answers gets few' '
	mkdir threads && cd threads
	traced -q -k outfile_basename=many -- sh -c "
		\"\$FLOOD\" threads \"\$VFTR_RUNTIME_DIR/\$VFTR_SESSION.sock\" 200 60 &
		sh ../good.sh 5
		status=\$?
		wait
		exit \$status" 2>said
	is 100 "$(calls_of many_all.json "leaf<work<children<main<init")" "calls of leaf"
	no_more_than 4000 "$(json many_all.json "[.each_process[] | select(.executable == \"/bin/flood\") |
		.threads] | add")" "rings for the others"'
test_expect '4000 regions with the greatest numbers cost what 4000 regions cost' '
	mkdir regions && cd regions
	traced -q -k outfile_basename=many -- sh -c "
		\"\$FLOOD\" regions \"\$VFTR_RUNTIME_DIR/\$VFTR_SESSION.sock\" 4000 || exit
		sed -n \"s/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p\" \
			/proc/\$(head -n 1 \"\$VFTR_RUNTIME_DIR\"/*.lock)/status >memory
		sh ../good.sh 5" 2>said
	five_are_there 1
	no_more_than 30000 "$(cat memory)" kB'
test_expect 'names without end are refused when they are more than the library has' '
	mkdir names && cd names
	traced -q -k outfile_basename=many -- sh -c "
		\"\$FLOOD\" names \"\$VFTR_RUNTIME_DIR/\$VFTR_SESSION.sock\" 12000 || exit
		sed -n \"s/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p\" \
			/proc/\$(head -n 1 \"\$VFTR_RUNTIME_DIR\"/*.lock)/status >memory
		sh ../good.sh 5" 2>said
	five_are_there 1
	grep "its names of regions have more than" said
	no_more_than 140000 "$(cat memory)" kB'
test_expect '300 bad connections: the first are named, the rest is counted' '
	mkdir bad && cd bad
	traced -q -k outfile_basename=many -- sh -c "
		\"\$FLOOD\" bad \"\$VFTR_RUNTIME_DIR/\$VFTR_SESSION.sock\" 300 || exit
		sh ../good.sh 5" 2>said
	five_are_there 300
	no_more_than 22 "$(wc -l <said)" lines
	json many_all.json ".warnings[]" >warnings
	is 20 "$(grep -c "^process [0-9]*: its records are damaged" warnings)" "warnings in full"
	grep "^280 more like this: process" warnings'
test_expect '300 different warnings: the list says how many it has not' '
	mkdir notes && cd notes
	traced -q -k outfile_basename=many -- sh -c "
		\"\$FLOOD\" notes \"\$VFTR_RUNTIME_DIR/\$VFTR_SESSION.sock\" 300 || exit
		sh ../good.sh 5" 2>said
	five_are_there 1
	json many_all.json ".warnings[]" >warnings
	is 199 "$(grep -c "^note [ab]*$" warnings)" "notes that are kept"
	grep -x "101 more warnings are not shown" warnings'
test_expect 'a name for terminals is plain where it is said' '
	mkdir escape && cd escape
	traced -- sh -c "\"\$FLOOD\" escape \"\$VFTR_RUNTIME_DIR/\$VFTR_SESSION.sock\"" 2>said
	grep "profile: .*/_\[31mred__all.log" said
	is 0 "$(tr -d "\n\t -~" <said | wc -c)" "bytes that are no text"'

# each agent of a job asks the same file server: 4096 of them listed it 8000 times a second
test_if 'command -v strace' 'no strace' 'an agent to which nobody comes lists its output directory twice' '
	mkdir alone && cd alone
	limit timeout -s TERM 6 strace -f -qq -e trace=openat -o calls \
		"$AGENT" -q --session alone -o "$PWD" 2>said || true
	no_more_than 3 "$(grep -c "openat(AT_FDCWD, \"$PWD\", .*O_DIRECTORY" calls)" listings'

done_testing
