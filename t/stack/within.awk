# SPDX-License-Identifier: BSD-3-Clause
# usage: awk -v period=S -f within.awk KNOWN SAMPLED: lines "FUNCTION SECONDS", of CPU time by the
# program's own clock and by samples, one each `period' s. Fails if the share of a function is
# farther than 4 sigma from the known one, or all of them together: a whole check compares some 50,
# of which 3 sigma would refuse a right one in every eighth check.
FNR == NR {
	known[$1] += $2
	sum += $2
	next
}
$1 in known {
	sampled[$1] += $2
	n += $2 / period
}
END {
	bad = sum <= 0 || n < 20
	printf "%.0f samples, of %.1f\n", n, sum / period
	if ((n - sum / period) ^ 2 > 16 * sum / period)
		bad = 1
	for (f in known) {
		p = known[f] / sum
		sigma = sqrt(n * p * (1 - p))
		got = sampled[f] / period
		printf "%s: %.1f of %.0f, wanted %.1f +- %.1f\n", f, got, n, n * p, 4 * sigma
		if (got < n * p - 4 * sigma - 1 || got > n * p + 4 * sigma + 1)
			bad = 1
	}
	exit bad
}
