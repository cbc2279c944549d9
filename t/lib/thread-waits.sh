# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# For waits of threads for each other: those of a profile, and of --exact.

# thread_waits JSON: "KIND PATH CALLS T_S" of each row
thread_waits() {
	jq -r '.waits[] | select(.kind | IN("lock", "mutex", "condition", "rwlock", "spin_lock", "thread_barrier",
		"semaphore", "thread_end")) | "\(.kind) \(.path | gsub(" "; "")) \(.calls) \(.t_s)"' "$1" | sort
}

# same_thread_waits A B: the same rows, of which there are some; in files all times are in ns
same_thread_waits() {
	thread_waits "$1" >thread_waits.a && thread_waits "$2" >thread_waits.b && [ -s thread_waits.a ] &&
		paste thread_waits.a thread_waits.b | awk '
			{ d = $4 - $8; if (d < 0) d = -d }
			NF != 8 || $1 $2 $3 != $5 $6 $7 || d > 1e-6 + 1e-6 * $4 { print; bad = 1 }
			END { exit bad }'
}
