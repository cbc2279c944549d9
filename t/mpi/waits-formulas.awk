# SPDX-License-Identifier: BSD-3-Clause
# The formulas of vftr-mpi(7), on the stamps of app-mpi-waits: lines of
# "SCENE COMMUNICATOR WORLD_RANK SECONDS CALLS", one for each rank and scene; in the file late those of
# "SCENE COMMUNICATOR WORLD_RANK LATE_RANK SECONDS".
function kind(scene) {
	return scene ~ /^(bcast|scatter)/ ? "from_root" : scene ~ /^(reduce|gatherv)/ ? "to_root" : \
		scene ~ /^scan/ ? "below" : "all"
}
# whether line a waits for line b
function waits(a, b) {
	if (where[a] == "between" && (rank[a] < 2) == (rank[b] < 2))
		return 0
	if (kind(scene[a]) == "from_root")
		return rank[b] == root[a]
	if (kind(scene[a]) == "to_root")
		return rank[a] == root[a]
	return kind(scene[a]) == "all" || rank[b] < rank[a]
}
BEGIN { offset = 0 }
{
	if (!offset)
		offset = $7 - 1
	scene[NR] = $1; where[NR] = $2; rank[NR] = $4; root[NR] = $5; world[NR] = $6
	enter[NR] = ($7 - offset) / 1e9; leave[NR] = ($8 - offset) / 1e9
	instance = $1 " " $2 " " $3
	of[instance] = of[instance] " " NR
}
END {
	for (instance in of) {
		n = split(of[instance], line, " ")
		for (i = 1; i <= n; i++) {
			a = line[i]
			until = enter[a]
			late = -1
			for (k = 1; k <= n; k++)
				if (waits(a, line[k]) && enter[line[k]] > until) {
					until = enter[line[k]]
					late = world[line[k]]
				}
			if (until > leave[a])
				until = leave[a]
			key = scene[a] " " where[a] " " world[a]
			sum[key] += until - enter[a]
			if (late >= 0)
				for_rank[key " " late] += until - enter[a]
			calls[key]++
		}
	}
	for (key in sum)
		printf "%s %.6f %d\n", key, sum[key], calls[key]
	for (key in for_rank)
		printf "%s %.6f\n", key, for_rank[key] >"late"
}
