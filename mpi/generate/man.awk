# SPDX-License-Identifier: BSD-3-Clause
# Writes vftr-mpi(7): the page in man/ with the list of functions in the place
# of the line `.\" THE LIST'.
#
#   awk -f man.awk kinds.tab classes.tab mpi.tab vftr-mpi.7.in
#
# Each row of classes.tab becomes an entry with all functions of these classes;
# `-' is the class of functions without one. POSIX awk only.

FILENAME !~ /\.in$/ && (/^#/ || !NF) { next }
FILENAME ~ /kinds\.tab$/ {
	split($0, k, "|")
	if (k[3] != "=" && k[3] != k[2])
		large[k[1]] = 1
	next
}
FILENAME ~ /classes\.tab$/ {
	if (split($0, k, "|") != 4)
		die("a row of classes has four columns")
	heading[++n] = k[3]
	text[n] = k[4]
	m = split(k[1], a, " ")
	for (i = 1; i <= m; i++) {
		if (a[i] in entry)
			die("class " a[i] " is there twice")
		entry[a[i]] = n
	}
	next
}
FILENAME ~ /mpi\.tab$/ {
	sub(/:.*/, "", $1)
	class = $2 ~ /^@/ ? substr($2, 2) : "-"
	if (!(class in entry))
		die($1 ": class " class " is not in classes.tab")
	suffix = ""
	for (i = 2; i <= NF; i++) {
		split($i, a, ":")
		if (a[2] in large)
			suffix = "[_c]"
	}
	i = entry[class]
	count[i]++
	names[i] = names[i] (names[i] ? " ,\n" : "") ".Fn " $1 suffix
	next
}
/^\.\\" THE LIST$/ {
	print ".Bl -tag -width Ds"
	for (i = 1; i <= n; i++) {
		if (!count[i])
			die("`" heading[i] "' has no functions")
		print ".It Sy " heading[i]
		print sentences(text[i])
		print ".Pp"
		print names[i] " ."
	}
	print ".El"
	next
}
{ print }

# mdoc wants a new line for each sentence, and none longer than 80 characters.
function sentences(s,    word, words, i, line, all)
{
	words = split(s, word, " ")
	for (i = 1; i <= words; i++) {
		gsub(/MPI_[A-Za-z_]+/, "\\fI&\\fP", word[i])
		if (line != "" && length(line " " word[i]) > 76) {
			all = all line "\n"
			line = ""
		}
		line = line (line == "" ? "" : " ") word[i]
		if (line ~ /\.$/ && i < words) {
			all = all line "\n"
			line = ""
		}
	}
	return all line
}

function die(message)
{
	printf "man.awk: %s:%d: %s\n", FILENAME, FNR, message >"/dev/stderr"
	exit 1
}
