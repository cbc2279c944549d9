# SPDX-License-Identifier: BSD-3-Clause
# From a dump of callgrind: instructions of each function of the objects whose names match
# `ours', without those of what it calls, as "FUNCTION N"; and their sum, as "sum N".

# A name stands there once, then only its number.
function named(kind, text,   id) {
	if (!match(text, /^\([0-9]+\)/))
		return text
	id = kind substr(text, 1, RLENGTH)
	if (length(text) > RLENGTH)
		name[id] = substr(text, RLENGTH + 2)
	return name[id]
}

/^c?ob=/ {
	object = named("ob", substr($0, index($0, "=") + 1))
	if (!/^c/)
		counts = object ~ ours
	next
}
/^c?fn=/ {
	f = named("fn", substr($0, index($0, "=") + 1))
	if (!/^c/)
		function_ = f
	next
}
/^calls=/ { getline; next } # the line behind it is the callee's
/^[0-9+*-]/ && NF == 2 && counts {
	sum += $2
	n[function_] += $2
}
END {
	printf "sum %d\n", sum
	for (f in n)
		printf "%s %d\n", f, n[f]
}
