#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Calls, messages and bytes are exact, so their models are those of the program; of times only
# what does not depend on the machine is compared. t/unit/tool/u-fit.c has the models themselves.
test_description='vftr models: how functions grow over runs'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR"

mpi=$(mpi_list | head -n 1)
[ -n "$mpi" ] || skip_all 'no MPI'
run=$(mpirun_of "$mpi")
mpicc_traced "$mpi" "$BIN/models" "$T/mpi/scaling/app-models.c" &&
	for p in 1 2 3 4 6 8; do
		limit "$VFTR" run -q -o p$p --tag n=$((1 << p)) --tag name=x -- \
			$run -np $p "$BIN/models" $((1 << p)) || exit
	done || { echo "Bail out! no runs"; exit 1; }
all='p1 p2 p3 p4 p6 p8'

# model METRIC FUNCTION: "MODEL ERROR EXTRAPOLATED", of the file models.json
model() {
	jq -r --arg f "$2" ".metrics.$1[] | select((.function // .path) == \$f) |
		\"\(.model), \(.error_percent * 1e6 | round), \(.extrapolated * 1e6 | round / 1e6)\"" models.json
}

test_expect 'the models of exact numbers are those of the program' '
	"$VFTR" models --json --at 100 $all >models.json 2>err
	is "" "$(cat err)"
	is "10, 0, 10" "$(model calls fixed)"
	is "5 * p, 0, 500" "$(model calls linear)"
	is "3 * p^2, 0, 30000" "$(model calls square)"
	is "p, 0, 100" "$(model calls around)"
	# what is sent, and what is received
	is "2 * p, 0, 200" "$(model messages MPI_Sendrecv)"
	is "800 * p, 0, 80000" "$(model bytes MPI_Sendrecv)"
	is "" "$(model bytes square)"
	is "1 2 3 4 6 8" "$(jq -r ".p | join(\" \")" models.json)"
	is "p1 p2 p3 p4 p6 p8" "$(jq -r "[.runs[].run] | join(\" \")" models.json)"
	is "square" "$(jq -r ".metrics.calls[0].function" models.json)" "that grows most"
	jq -e "[.metrics.calls[].share] | add - 1 | fabs < 1e-9" models.json
	jq -e "all(.metrics.time[]; (.points | length) == 6)" models.json'

test_expect 'the order of the arguments is all the same, and of runs with one p there is the median' '
	"$VFTR" models --json --at 100 p8 p1 p6 p1 p2 p4 p3 p1 >models.json
	is "3 * p^2, 0, 30000" "$(model calls square)"
	is "1 2 3 4 6 8" "$(jq -r ".p | join(\" \")" models.json)"
	is 8 "$(jq ".runs | length" models.json)"
	# 1 of 8, 1 of 1 and 1 of 2: not the same p
	"$VFTR" models --json -p n --at 1024 p1 p2 p3 p4 p6 p8 p8 >models.json
	is "log2(n), 0, 10" "$(model calls levels)"'

test_expect '-p: the parameter is a tag of the runs' '
	"$VFTR" models -p n --json --at 1048576 $all >models.json
	is "log2(n), 0, 20" "$(model calls levels)"
	is "2 4 8 16 64 256" "$(jq -r ".p | join(\" \")" models.json)"
	is n "$(jq -r .parameter models.json)"
	status_of 1 "$VFTR" models -p n $all nothing >text 2>err
	has err nothing
	status_of 2 "$VFTR" models -p size $all >text 2>err
	has err "p4: the run has no tag size"
	is "" "$(cat text)"
	status_of 2 "$VFTR" models -p name $all >text 2>err
	has err "the tag name=x is no number"'

test_expect '--per rank: values are divided by the number of ranks' '
	"$VFTR" models --per rank --json --at 100 $all >models.json
	is "5, 0, 5" "$(model calls linear)"
	is "3 * p, 0, 300" "$(model calls square)"
	is "800, 0, 800" "$(model bytes MPI_Sendrecv)"'

test_expect '--by-path: rows are call paths' '
	"$VFTR" models --by-path --json --at 100 $all >models.json
	is "800 * p, 0, 80000" "$(model bytes "init->main->around->MPI_Sendrecv")"
	is "" "$(model calls around)"'

test_expect 'tables: -m and -n choose what is there, and no line is too long' '
	"$VFTR" models -n 2 $all >text
	has text "6 runs, p is the number of ranks; p = 1 2 3 4 6 8; values are sums over ranks"
	grep -q "^| square  *|  *192 | 3 \* p^2  *|  *0.0 |  *3072 |" text
	grep -q "^2 of [0-9]*; -n 0 shows all$" text
	for title in "Time\[s\]" Calls Messages "Bytes\[B\]"; do
		grep -q "^|  *Function .*|  *$title  *|" text || { echo "$title"; exit 1; }
	done
	! grep -n ".\{121\}" text >&2 || exit 1
	"$VFTR" models -m calls -m bytes $all >text
	has text " Calls "
	hasnt text Time
	hasnt text Messages
	status_of 2 "$VFTR" models -m frames $all 2>err
	has err "time, calls, messages or bytes"'

test_expect '--csv has the numbers of --json' '
	"$VFTR" models --csv $all >table.csv
	"$VFTR" models --json $all >models.json
	is 1 "$(awk -F, "{ print NF }" table.csv | sort -u | wc -l)" "numbers of columns"
	is "$(jq "[.metrics[] | length] | add + 1" models.json)" "$(wc -l <table.csv)"
	is "calls,\"square\",2,0" "$(awk -F, "/^calls,\"square\"/ { print \$1 \",\" \$2 \",\" \$5 \",\" \$6 }" table.csv)"
	# four times the greatest p
	is 3072 "$(awk -F, "/^calls,\"square\"/ { printf \"%.0f\", \$11 }" table.csv)"'

test_expect 'few points: below 5 a warning, below 3 no model' '
	"$VFTR" models -m calls p1 p2 p4 p8 >text 2>err
	grep -q "3 \* p^2" text
	has err "models from 4 values of the number of ranks are a guess; use 5 or more"
	status_of 2 "$VFTR" models p1 p2 p1 >text 2>err
	has err "these have 2"
	is "" "$(cat text)"
	status_of 2 "$VFTR" models 2>err
	has err "name folders of runs"
	status_of 2 "$VFTR" models --csv --json $all 2>err
	status_of 2 "$VFTR" models --at 0 $all 2>err
	has err "a number from 1 on"'

# By the grammar of docs/file-formats.md of Extra-P: every region of a metric has one line of
# data for each point.
cat >check.awk <<'EOF'
function ended() { if (region != "" && data != points) { print "data of " region ": " data; bad = 1 } }
!/^(PARAMETER|POINTS|METRIC|REGION|DATA) / { print "line " NR ": " $0; bad = 1 }
$1 == "PARAMETER" { parameter = $2 }
$1 == "POINTS" { points = NF - 1; for (i = 2; i <= NF; i++) if ($i !~ /^\([0-9]+(\.[0-9]+)?\)$/) bad = 1 }
$1 == "METRIC" || $1 == "REGION" { ended(); region = "" }
$1 == "METRIC" { metric = $2; if (seen[metric]++) bad = 1 }
$1 == "REGION" { region = substr($0, 8); data = 0; if (metric == "" || had[metric, region]++) bad = 1 }
$1 == "DATA" { data++; for (i = 2; i <= NF; i++) { if ($i !~ /^[0-9]+(\.[0-9]*)?$/) bad = 1
	values[metric " " region] = values[metric " " region] " " ($i + 0) } }
END { ended(); for (v in values) print parameter, v values[v]; exit bad }
EOF
test_expect '--extrap: the values of call paths, all of a point in one line, as Extra-P reads them' '
	"$VFTR" models --extrap runs.txt $all p2
	awk -f check.awk runs.txt >values
	has values "p calls init->main->square 3 12 12 27 48 108 192"
	has values "p bytes init->main->around->MPI_Sendrecv 800 1600 1600 2400 3200 4800 6400"
	has runs.txt "POINTS (1) (2) (3) (4) (6) (8)"
	"$VFTR" models -p n -m calls --extrap - p1 p4 >two.txt
	awk -f check.awk two.txt >values
	has values "n calls init->main->levels 1 4"
	hasnt two.txt "METRIC time"
	status_of 2 "$VFTR" models --extrap nowhere/file $all 2>err
	has err nowhere/file'
done_testing
