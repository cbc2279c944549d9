# SPDX-License-Identifier: BSD-3-Clause
# Writes tree-gen.h: 200 functions in 18 layers that call downwards, the same on
# every machine (a generator of our own, as awk's differs). Seeds are tried until
# the tree is like that of a real program: 140 functions or more are reached on
# 2000 to 6000 paths of a mean depth of 12 or more.

function rnd(n) # 0 .. n-1
{
	state = (state * 16807) % 2147483647
	return int(state / 2147483647 * n)
}

function layout(	i, l)
{
	LAYERS = 18
	N = 200
	first[0] = 0
	layer[0] = 0
	for (i = 1; i < N; i++) {
		l = 1 + int((i - 1) / 11)
		layer[i] = l < LAYERS ? l : LAYERS - 1
	}
	for (i = N - 1; i >= 0; i--)
		first[layer[i]] = i
	for (l = 0; l < LAYERS; l++)
		width[l] = (l < LAYERS - 1 ? first[l + 1] : N) - first[l]
}

function grow(seed,	i, j, l, k)
{
	state = seed * 7919 + 1
	for (i = 0; i < 10; i++)
		rnd(2)
	for (i = 0; i < N; i++) {
		l = layer[i]
		calls[i] = 0
		if (l == LAYERS - 1 || (l >= 10 && rnd(100) < 12))
			continue
		k = l > 1 ? (rnd(5) < 2 ? 1 : 2) : 3
		for (j = 0; j < k; j++) {
			to = l + (rnd(4) < 3 ? 1 : 2)
			to = to < LAYERS ? to : LAYERS - 1
			callee[i, j] = first[to] + rnd(width[to])
			times[i, j] = rnd(6) ? 1 : 2
		}
		calls[i] = k
	}
}

function measure(	i, j, c, seen, l)
{
	for (i = N - 1; i >= 0; i--) {
		paths[i] = total[i] = depths[i] = 1
		for (j = 0; j < calls[i]; j++) {
			c = callee[i, j]
			if (!((i, c) in seen))
				paths[i] += paths[c]
			seen[i, c] = 1
			total[i] += total[c] * times[i, j]
			depths[i] += (depths[c] + total[c]) * times[i, j]
		}
		reached[i] = i == 0
	}
	reach = 0
	for (i = 0; i < N; i++) {
		reach += reached[i]
		for (j = 0; reached[i] && j < calls[i]; j++)
			reached[callee[i, j]] = 1
	}
}

BEGIN {
	layout()
	# none before it gives one, which takes 4 s to find out
	for (seed = 4841; seed < 20000; seed++) {
		grow(seed)
		measure()
		if (paths[0] >= 4500 && paths[0] <= 6000 && total[0] >= 50000 &&
		    total[0] <= 400000 && depths[0] / total[0] >= 12 && reach >= 140)
			break
	}
	if (seed == 20000) {
		print "tree.awk: no seed gives such a tree" > "/dev/stderr"
		exit 1
	}
	printf "/* seed %d: %d paths, %d calls, mean depth %.1f, %d functions reached */\n",
		seed, paths[0], total[0], depths[0] / total[0], reach
	printf "#define TREE_CALLS %d\n#define TREE_PATHS %d\n", total[0], paths[0]
	for (i = 0; i < N; i++)
		printf "BENCHED uint64_t f%d(uint64_t x);\n", i
	state = 7
	for (i = 0; i < N; i++) {
		printf "BENCHED uint64_t f%d(uint64_t x)\n{\n", i
		for (j = 1 + rnd(5); j > 0; j--)
			printf "\tx ^= x >> %d;\n\tx = x * 0x9E3779B97F4A7C15u + %du;\n",
				20 + rnd(21), 1 + rnd(1000000000)
		for (j = 0; j < calls[i]; j++) {
			if (times[i, j] > 1)
				printf "\tfor (unsigned i = 0; i < %d; i++)\n\t\tx ^= f%d(x + i);\n",
					times[i, j], callee[i, j]
			else
				printf "\tx += f%d(x);\n", callee[i, j]
		}
		printf "\treturn x + %d;\n}\n", i
	}
}
