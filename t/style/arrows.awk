# SPDX-License-Identifier: BSD-3-Clause
# awk -v top=nodeagent -f arrows.awk TABLE INCLUDES: what of INCLUDES (lines "FILE: INCLUDED")
# the table of allowed arrows of the folder `top' does not allow, one complaint a line.
# TABLE: see nodeagent/ARROWS; a line "*: FOLDERS" is for all folders that have none.
# Nothing is printed if all is well.

function folder(file) {
	sub("/[^/]*$", "", file)
	return file == top ? "." : substr(file, length(top) + 2)
}

function module(file) {
	sub("\\.[ch]$", "", file)
	return file
}

# all that can be reached from each of `names' over edge[FROM, TO]
function close_over(edge, names,   a, b, via) {
	for (via in names)
		for (a in names)
			if ((a, via) in edge)
				for (b in names)
					if ((via, b) in edge)
						edge[a, b]
}

/^[ \t]*(#|$)/ { next }

FNR == NR && /^wrong, to be cut:/ { wrong_section = 1; next }

FNR == NR && wrong_section {
	if ($1 == "cycle:")
		known_cycle[$2] = $3
	else
		wrong[$1 " " $2]
	next
}

FNR == NR {
	from = $1
	sub(":$", "", from)
	if (from == "*") {
		for (i = 2; i <= NF; i++)
			allowed_to_all[$i]
		any = 1
		next
	}
	if (from in known)
		print "table: " from " stands twice"
	known[from]
	for (i = 2; i <= NF; i++) {
		target[$i]
		allowed[from, $i]
		reach[from, $i]
	}
	next
}

{
	file = $1
	sub(":$", "", file)
	from = folder(file)
	to = folder($2)
	seen[from]
	if ($2 ~ "/internal\\.h$" && from != to && !((file ": " $2) in wrong))
		print file " includes " $2 ", which is for its own folder"
	if (from == to) {
		if (module(file) != module($2)) {
			modules[module(file)]
			modules[module($2)]
			within[module(file), module($2)]
		}
		next
	}
	seen[to]
	if (!(from in known) && to in allowed_to_all)
		next
	if (!((from, to) in allowed) || $2 ~ "/internal\\.h$") {
		if ((file ": " $2) in wrong)
			used[file ": " $2]
		else if (!((from, to) in allowed))
			print file " includes " $2 ": " from " may not include " to
	}
}

END {
	for (name in target)
		if (!(name in known))
			print "table: no line for " name
	for (name in seen)
		if (!any && !(name in known))
			print "table: no line for " name
	for (name in known)
		if (!(name in seen))
			print "table: there is no folder " name
	close_over(reach, known)
	for (name in known)
		if ((name, name) in reach)
			print "table: " name " is on a cycle"
	for (name in wrong)
		if (!(name in used))
			print "table: not there or not wrong any more: " name
	close_over(within, modules)
	for (a in modules) {
		size = 0
		for (b in modules)
			size += (a, b) in within && (b, a) in within
		name = folder(a)
		if (size > largest[name])
			largest[name] = size
	}
	for (name in known)
		if (largest[name] > 6 && largest[name] != known_cycle[name])
			print "a cycle of " largest[name] " modules in " name
	for (name in known_cycle)
		if (largest[name] <= 6)
			print "table: not there any more: cycle of " name
}
