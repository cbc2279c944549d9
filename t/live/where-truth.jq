# SPDX-License-Identifier: BSD-3-Clause
# What a view of `vftr where' says of each rank, and what the ranks of app-mpi-where-random say
# themselves ($truth): {seen, truth, deadlock}, of which the first two are to be the same, and the
# last true.
def ranks: if . == "" then [] else split(",") | map(split("-") | map(tonumber) | [range(.[0]; .[-1] + 1)]) | add end;
def waits: map({for, peer, tag, communicator, requests, of}) | sort;
# the cycle goes along waits of ranks that are stuck, and there is one if any are
def deadlock_is_true($truth):
	. as $d | length as $n |
	(any($truth[]; .stuck) == ($n > 0)) and
	all(range($n); . as $i | $d[($i + 1) % $n] as $next |
		any($truth[]; .rank == $d[$i] and .stuck and any(.edges[]; . == $next)));
. as $view |
{
	seen: [.places[] | . as $p | (.ranks | ranks[]) as $rank | {
		rank: $rank,
		state,
		at: (if .state == "ended" then null else .path[-1] end),
		collective: (if .collective and .state == "running" then
			[.collective.communicator, .collective.call, (.collective.missing | ranks)] else null end),
		waits: ([$view.waits[] | select(.rank == $rank)] | waits)}] | sort_by(.rank),
	truth: [$truth[] | {
		rank,
		state,
		at: (if .state == "ended" then null else .at end),
		collective: (if .missing == [] then null else [.communicator, .call, (.missing | sort)] end),
		waits: (.waits | waits)}] | sort_by(.rank),
	deadlock: (.deadlock | deadlock_is_true($truth))
}
