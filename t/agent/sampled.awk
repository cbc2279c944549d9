#!/usr/bin/awk -f
# SPDX-License-Identifier: BSD-3-Clause
#
# Shares of the time that functions have in a sampled time line, against the exact ones.
#
#	awk -f sampled.awk -v format=NAME EXACT DUMP EXPORT
#
# EXACT: "SECONDS FUNCTION" lines. DUMP: of vftr dump. EXPORT: "B LANE NS FUNCTION" and
# "E LANE NS" lines, or "S NS FUNCTION" where the sums are there. Fails if a function of more
# than 1 % is missing, or has a share that differs by more than three standard deviations:
# binomial ones, of as many samples as the time that was drawn for is windows of their
# mean (by squares) length.

FNR == 1 { file++ }
file == 1 { exact[$2] += $1; all_exact += $1; next }
file == 2 {
	if ($2 == "sampled" || $2 == "call" || $2 == "exit") {
		lane = /thread=[0-9]+$/ ? $NF : 0
		lane = process " " lane
		if ($2 == "sampled" && lane in last) {
			w = $1 - last[lane]
			squares += w * w
			drawn += w
		} else
			last[lane] = $1
	}
	if ($1 == "Process:")
		process++
	next
}
$1 == "S" { time[$3] += $2; next }
$1 == "B" || $1 == "E" {
	lane = $2
	if (depth[lane])
		time[open[lane, depth[lane]]] += $3 - since[lane]
	since[lane] = $3
	if ($1 == "B")
		open[lane, ++depth[lane]] = $4
	else
		depth[lane]--
}
END {
	delete time["(blocked)"] # waits for room in a ring: of no function in the exact profile either
	for (f in time)
		all += time[f]
	if (!all || !all_exact) {
		print format ": nothing to compare"
		exit 1
	}
	n = squares > 0 ? (all * 1e-9) ^ 2 / squares : 1e12
	for (f in exact) {
		p = exact[f] / all_exact
		q = time[f] / all
		sigma = sqrt(p * (1 - p) / n)
		# samples are whole: one of a rare function is more than its share
		most = 3 * sigma + 0.002 + 1 / n
		bad = q > p + most || q < p - most || (p > 0.01 && !(f in time))
		failed += bad
		if (p > 0.01 || bad)
			printf "%s %-12s exact %6.2f %% sampled %6.2f %% sigma %.2f %% samples %d%s\n", format, f,
				100 * p, 100 * q, 100 * sigma, n, bad ? " WRONG" : ""
	}
	for (f in time)
		if (!(f in exact)) {
			print format ": " f " was never called"
			failed++
		}
	exit failed > 0
}
