# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# For tests of efficiencies: t/mpi/program/app-efficiency.c prints its own clock.

# close A B: they differ by no more than 2 % and 20 ms, which a busy machine needs
close() {
	awk -v a="$1" -v b="$2" 'BEGIN {
		d = a > b ? a - b : b - a
		print a, b
		exit !(a != "" && b != "" && d <= 0.02 * a + 0.02)
	}'
}

# whole JSON: the classes of each rank's first thread are its window, and products hold
whole() {
	jq -e '(.per_rank | length > 0) and all(.per_rank[];
		(.useful_s + (.mpi_s // 0) + (.openmp_wait_s // 0) + (.openmp_idle_s // 0) +
		(.gpu_wait_s // 0) + (.lock_wait_s // 0) + (.io_s // 0) + .blocked_s + (.unknown_s // 0) -
		.window_s | fabs) < 1e-8 and .useful_s >= 0)' "$1" &&
		jq -e '.efficiency | (.load_balance * .communication * (.openmp // 1) - .parallel | fabs) < 1e-9
			and (.load_balance_in_nodes * .load_balance_between_nodes - .load_balance | fabs) < 1e-9
			and (.useful_s / .window_s - .parallel | fabs) < 1e-6
			and all(.parallel, .load_balance, .communication; . > 0 and . <= 1)' "$1"
}

# truth OUT HYBRID: "window useful useful_max load_balance communication parallel" by the stamps
truth() {
	awk -v hybrid="$2" '$1 == "stamps" {
		n++
		useful = $4 - $3 - $5 - $6
		active = hybrid ? $4 - $3 - $5 : useful
		if (n == 1 || $3 < begin) begin = $3
		if ($4 > end) end = $4
		if (active > most) most = active
		sum += active
		all += hybrid ? $7 / 2 : useful
	}
	END {
		window = end - begin
		print window, all / n, sum / n / most, most / window, all / n / window
	}' "$1"
}

# right OUT JSON: the times of each rank and the factors are those of the stamps
right() {
	right_json=$2
	right_hybrid=$(jq -r 'select(.efficiency.model == "hybrid") | 1' "$2")
	whole "$2" || return 1
	grep ^stamps "$1" | while read -r _ rank begin end mpi join team; do
		set -- $(jq -r ".per_rank[] | select(.rank == $rank) | \"\(.window_s) \(.useful_s) \(.mpi_s)
			\(.openmp_wait_s // 0) \(.all_threads.useful_s // 0)\"" "$right_json")
		[ $# = 5 ] && close "$(echo "$end $begin" | awk '{ print $1 - $2 }')" "$1" &&
			close "$(echo "$end $begin $mpi $join" | awk '{ print $1 - $2 - $3 - $4 }')" "$2" &&
			close "$mpi" "$3" && close "$join" "$4" || { echo "rank $rank"; exit 1; }
		[ -z "$right_hybrid" ] || close "$team" "$5" || { echo "threads of rank $rank"; exit 1; }
	done || return 1
	set -- $(truth "$1" "$right_hybrid") $(jq -r '.efficiency | "\(.window_s) \(.useful_s)
		\(.load_balance) \(.communication) \(.parallel)"' "$2")
	[ $# = 10 ] && close "$1" "$6" && close "$2" "$7" && close "$3" "$8" && close "$4" "$9" &&
		close "$5" "${10}"
}
