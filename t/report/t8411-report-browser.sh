#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='vftr report in a browser: what readers can do with the page'
. "$(dirname "$0")/../lib/lib.sh"
[ -n "$VFTR_LONG" ] || skip_all 'only in the long form, and by make report-check'
CHROMIUM=$(command -v chromium || command -v chromium-browser) || skip_all "no chromium"
PLAYWRIGHT=$BUILD/browser
export CHROMIUM PLAYWRIGHT
command -v node >/dev/null || skip_all "no node"
[ -d "$PLAYWRIGHT/node_modules/axe-core" ] ||
	skip_all "no playwright-core and axe-core: make report-check and make check-long fetch them"
need_built "$VFTR" "$BUILD/t/golden/make-golden" "$BUILD/t/report/make-large"

# seen CHECK FILE [ARGUMENT]
seen() {
	limit node "$T/report/browser.mjs" "$@"
}

mkdir made few mpi
"$BUILD/t/golden/make-golden" made "$T/golden/default.json" "$T/golden/all.json" "$T/golden/separate.json" ||
	bail "make-golden fails"
"$VFTR" report -o made.html made/whole.vfp >/dev/null || bail "no report of made-up profiles"
for f in "$T/golden/in/cuda"-*.vfp.gz; do
	gzip -dc "$f" >"few/$(basename "${f#*/cuda-}" .gz)"
done
"$VFTR" report -o few.html few >/dev/null || bail "no report of the CUDA run"
for f in "$T/golden/in/mpi"-*.vfp.gz; do
	gzip -dc "$f" >"mpi/$(basename "${f#*/mpi-}" .gz)"
done
"$VFTR" report -o mpi.html mpi >/dev/null || bail "no report of the MPI run"

test_expect 'a check that fails is noticed' '
	sed "s|<main>|<main><img src=x alt=x>|" made.html >wrong.html
	status_of 1 seen alone wrong.html
	sed "s|<main>|<main><div style=\"width:900px\">x</div>|" made.html >wrong.html
	status_of 1 seen narrow wrong.html
	sed "s|<main>|<main><p style=\"color:#aaa;background:#fff\">can hardly be read</p>|" made.html >wrong.html
	status_of 1 seen axe wrong.html light'

"$VFTR" report -o two.html few made/whole.vfp >/dev/null || bail "no report of two runs"

# what the others lack: waits of ranks; locks, memory, files and threads
cat >threads.c <<'EOF'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void have_lock(void) { pthread_mutex_lock(&lock); usleep(20000); pthread_mutex_unlock(&lock); }
int main(void)
{
	char *room = malloc(1 << 20);
	FILE *f = fopen("threads.out", "w");
#pragma omp parallel num_threads(3)
	for (int i = 0; i < 5; i++)
		have_lock();
	fwrite(room, 1, 1 << 20, f);
	fclose(f);
	free(room);
	return 0;
}
EOF
cc_traced threads threads.c -O0 -fopenmp -pthread || bail "threads.c cannot be compiled"
limit "$VFTR" run -q --preload -k locks.active=true -k memory.active=true -k files.active=true \
	-k profile_table.threads=all -o threads.run -- ./threads || bail "threads cannot be traced"
limit "$VFTR" report -o threads.html threads.run >/dev/null || bail "no report of threads"
pages="made few mpi two threads"
for mpi in $(mpi_list | cut -d' ' -f1); do
	mpicc_traced "$mpi" waits "$T/mpi/program/app-findings.c" || bail "app-findings.c cannot be compiled"
	# shellcheck disable=SC2046
	limit "$VFTR" run -q -o waits.run -- $(mpirun_of "$mpi") -np 4 ./waits slow || bail "waits cannot be traced"
	limit "$VFTR" report -o waits.html waits.run >/dev/null || bail "no report of waits"
	pages="$pages waits"
done

test_if '[ -e waits.html ]' 'no MPI' 'among them are all pages, and all pictures' '
	cat ./*.html | grep -o "<section id=\"[a-z]*\"\|<svg [^>]*id=\"[a-z-]*\"" | sed "s/.* id=\"//; s/\"//" | sort -u >shown
	cat shown
	sed -n "s/^	{\"\([a-z]*\)\", .*page_.*/\1/p" "$TOP/nodeagent/html/page/pages.c" >pages
	[ "$(wc -l <pages)" -gt 10 ]
	# the time line is below
	is "" "$(grep -v timeline pages | grep -vxFf shown)"
	for picture in waits-delays waits-cells openmp-ranks openmp-regions openmp-threads gpu-devices io-bytes io-times \
		io-mpi-bytes io-mpi-times memory-high-water memory-paths iterations-times slices-mpi slices-waits; do
		grep -x "$picture" shown
	done'

for page in $pages; do
	test_expect "$page: nothing is asked of anybody, and nothing goes wrong" "seen alone $page.html"
	test_expect "$page: links lead to what they name" "seen links $page.html"
	test_expect "$page: a box of the flame graph grows by mouse and keys, and Esc shows all" "seen zoom $page.html"
	test_expect "$page: so it is on 400 pixels, where what is told of a box takes several lines" "seen zoomNarrow $page.html"
	test_expect "$page: all can be read without JavaScript" "seen plain $page.html"
	test_expect "$page: 400 pixels are wide enough" "seen narrow $page.html"
	test_expect "$page: what is printed has its pages" "seen print $page.html"
	for how in light light-narrow dark dark-narrow; do
		test_expect "$page: no rule of axe-core is broken, $how" "seen axe $page.html $how"
	done
	test_expect "$page: something is to be seen, light and dark" "seen drawn $page.html"
done
test_expect 'boxes are coloured by the difference to another run, without JavaScript, and back' 'seen difference two.html'
test_expect 'call paths are marked by a text' 'seen mark made.html'
test_expect 'tables are sorted by numbers and by names' 'seen sort made.html'
test_expect 'names of columns of numbers stand above them, at the right' 'seen heads made.html'
test_expect 'tables are searched' 'seen search made.html'

test_if '[ -e "$LIB/vftr/speedscope.js" ]' 'no speedscope: make report-assets fetches it' \
	'calls over time are shown where a reader asks for them, in a page that passes axe-core and needs no network' '
	printf "%s\\n" "static volatile int n;" "static void step(void) { n++; }" \
		"int main(void) { for (int i = 0; i < 100; i++) step(); return 0; }" >short.c
	cc_traced short short.c
	limit "$VFTR" run -q --trace -o traced -- ./short
	limit "$VFTR" report -o traced.html traced
	seen timeline traced.html
	seen alone traced.html
	seen plain traced.html
	seen narrow traced.html
	seen axe traced.html light
	seen axe traced.html dark'

test_expect '100 000 call paths and 4 096 ranks can be seen within a second' '
	"$BUILD/t/report/make-large" large.vfp
	limit "$VFTR" report -o large.html large.vfp
	seen paint large.html "$(patient 1)000"'

done_testing
