# SPDX-License-Identifier: BSD-3-Clause
# Checks OUT.prv by Paraver's grammar: header, communicators, records 1, 2 and 3,
# their objects within the header's, times sorted and within the trace. Prints
# each fault; "ok STATES EVENTS COMMUNICATIONS" if there is none.
BEGIN { FS = ":" }

function fault(why) {
	print FILENAME ":" FNR ": " why ": " $0
	faults++
}

function number(s) {
	return s ~ /^[0-9]+$/
}

# cpu:application:task:thread from field i on
function object(i) {
	if (!number($i) || $i < 1 || $i > cpus || $(i + 1) != 1 || $(i + 2) < 1 ||
	    $(i + 2) > tasks || $(i + 3) < 1 || $(i + 3) > threads[$(i + 2)])
		fault("no such object in field " i)
}

function moment(i) {
	if (!number($i) || $i + 0 > duration)
		fault("no time of the trace in field " i)
}

function sorted(i) {
	if ($i + 0 < last)
		fault("earlier than the record before")
	last = $i + 0
}

FNR == 1 {
	if (!match($0, /^#Paraver \([0-9][0-9]\/[0-9][0-9]\/[0-9]+ at [0-9][0-9]:[0-9][0-9]\):[0-9]+_ns:[0-9]+\([0-9,]+\):1:[0-9]+\([0-9:,]+\),[0-9]+$/))
		fault("no header")
	rest = $0
	sub(/^[^)]*\):/, "", rest)
	duration = rest + 0
	sub(/^[0-9]+_ns:/, "", rest)
	nodes = rest + 0
	list = rest
	sub(/^[0-9]+\(/, "", list)
	sub(/\).*/, "", list)
	if (split(list, c, ",") != nodes)
		fault("not as many numbers of CPUs as nodes")
	for (i in c)
		cpus += c[i]
	sub(/^[^)]*\):1:/, "", rest)
	tasks = rest + 0
	sub(/^[0-9]+\(/, "", rest)
	sub(/\),/, ",", rest)
	comms = rest
	sub(/.*,/, "", comms)
	sub(/,[0-9]+$/, "", rest)
	if (split(rest, t, ",") != tasks)
		fault("not as many tasks as announced")
	for (i = 1; i <= tasks; i++) {
		split(t[i], one, ":")
		threads[i] = one[1] + 0
		if (one[2] < 1 || one[2] > nodes)
			fault("a task on no node")
	}
	next
}

$1 == "c" {
	if (records)
		fault("a communicator behind records")
	if ($2 != 1 || $3 != ++seen || NF != 4 + $4)
		fault("no communicator")
	for (i = 5; i <= NF; i++)
		if ($i < 1 || $i > tasks)
			fault("a member that is no task")
	next
}

{ records++ }

$1 == 1 {
	states++
	object(2); moment(6); moment(7); sorted(6)
	if (NF != 8 || $7 + 0 < $6 + 0 || !number($8))
		fault("no state")
	next
}

$1 == 2 {
	events++
	object(2); moment(6); sorted(6)
	if (NF < 8 || NF % 2)
		fault("no pairs of type and value")
	for (i = 7; i <= NF; i++)
		if (!number($i))
			fault("no number")
	next
}

$1 == 3 {
	communications++
	object(2); moment(6); moment(7); sorted(6)
	object(8); moment(12); moment(13)
	if (NF != 15 || $7 + 0 < $6 + 0 || $13 + 0 < $12 + 0 || !number($14) || !number($15))
		fault("no communication")
	next
}

{ fault("no record") }

END {
	if (seen + 0 != comms + 0) {
		print "communicators: " seen + 0 " of " comms
		faults++
	}
	if (!faults)
		print "ok", states + 0, events + 0, communications + 0
	exit faults > 0
}
