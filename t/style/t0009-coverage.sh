#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make coverage: the table, of a program whose lines and branches are known. make mutate: changes
# that a unit notices, and one that none can.
test_description='what tests have run of a program, and what they would not notice, is told'
. "$(dirname "$0")/../lib/lib.sh"
need gcov python3 git make

table() {
	limit python3 "$T/analysis/coverage.py" "$@"
}

row() { # FOLDER
	awk -v folder="$1" '$1 == folder { print $2, $3, $4, $5 }' out
}

mkdir -p shm conf empty
cat >shm/once.h <<'END'
static inline int once(int n)
{
	return n > 5;
}
END
cat >shm/part.c <<'END'
#include "shm/once.h"
int part(int n)
{
	if (n > 2)
		return 2;
	return once(n);
}
END
cat >conf/never.c <<'END'
#include "shm/once.h"
int never(int n)
{
	return once(n + 1);
}
END
cat >main.c <<'END'
int part(int n);
int main(void)
{
	return part(1);
}
END
cat >want <<END
conf/never.c:2: not run: int never(int n)
conf/never.c:4: not run: return once(n + 1);
shm/part.c:4: a branch not taken: if (n > 2)
shm/part.c:5: not run: return 2;
END

test_expect 'lines and branches of each folder; a header that two files include counts once' '
	for f in shm/part conf/never main; do
		gcc -O0 -I. --coverage -c -o $f.o $f.c || exit
	done
	gcc --coverage -o app main.o shm/part.o conf/never.o && ./app &&
	table . missed >out &&
	is "6 83.3 2 50.0" "$(row shm)" &&
	is "2 0.0 0 -" "$(row conf)" &&
	is "8 62.5 2 50.0" "$(row all)"'

test_expect 'each line that was not run, and each with a branch that was not taken' '
	cmp want missed'

test_expect 'a folder without a build for it' '
	status_of 1 table empty 2>err &&
	is "coverage.py: nothing in empty is compiled with --coverage" "$(cat err)"'

# a unit that looks at less() and not at unseen()
mkdir -p tree/shm tree/t/unit/shm
cat >tree/shm/less.c <<'END'
int less(int a, int b)
{
	return a < b;
}
END
cat >tree/shm/unseen.c <<'END'
int unseen(int a, int b)
{
	return a + b;
}
END
cat >tree/t/unit/shm/u-less.c <<'END'
int less(int a, int b);
int unseen(int a, int b);
int main(void)
{
	unseen(1, 2);
	return less(1, 1) || !less(1, 2);
}
END
printf '%s\n' 'obj/t/unit/shm/u-less: shm/less.c shm/unseen.c t/unit/shm/u-less.c' \
	'	@mkdir -p $(@D) && $(CC) -o $@ $^' >tree/Makefile

test_expect 'a change that a unit notices is told with its name, another one is a survivor' '
	(cd tree && git init -q && git add . && git -c user.name=n -c user.email=e commit -q -m tree &&
		mkdir obj && echo obj >.git/info/exclude &&
		limit python3 "$T/analysis/mutate.py" obj 9 1 >../changes 2>&1 &&
		git diff --exit-code) &&
	tr "\t" "|" <changes >told &&
	has told "u-less|shm/less.c:3|return a < b;|return a <= b;" &&
	has told "SURVIVED|shm/unseen.c:3|return a + b;|return a - b;" &&
	has told "1 of 2 changes were noticed by units of their room: 50 %" &&
	is "shm/unseen.c:3" "$(head -n 1 tree/obj/survivors)"'

test_expect 'a working tree with changes is left alone' '
	echo "int more;" >>tree/shm/less.c
	(cd tree && status_of 1 python3 "$T/analysis/mutate.py" obj 9 1 2>../err)
	is "mutate.py: the working tree is not that of the last commit" "$(cat err)"'

done_testing
