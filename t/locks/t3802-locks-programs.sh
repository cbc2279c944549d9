#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='locks: programs as they come give the same output, and their waits are there'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$LIB/libvftrace.so" "$LIB/libvftrace-locks.so"

mkdir -p in
seq 1 200000 | awk '{ print ($1 * 7919) % 200003, $1 }' >in/numbers

# with_locks COMMAND...: traced
with_locks() {
	rm -rf prof && mkdir prof
	traced -q --preload -k locks.active=true -k output_directory=prof -- "$@"
}

# same COMMAND: its output and status are those that it has untraced
same() {
	sh -c "$1" >plain.out 2>plain.err && plain=0 || plain=$?
	with_locks sh -c "$1" >out 2>err && now=0 || now=$?
	is "$plain" "$now"
	cmp plain.out out
	# a process in which nobody waits is not attached
	grep -v "^vftr-node-agent: " err | diff plain.err -
	for all in prof/*_all.json; do
		[ ! -e "$all" ] || is "[]" "$(jq -c .warnings "$all")"
	done
}

# kinds: of the locks that threads waited for
kinds() {
	jq -r '[.locks[]?.kind] | unique | join(" ")' prof/*_all.json
}

test_if 'sort --parallel=2 /dev/null' 'no such sort' 'sort with threads' '
	same "sort --parallel=4 -S 1M -n in/numbers | cksum"
'
test_if 'command -v xz' 'no xz' 'xz with threads: its main thread waits for them' '
	same "xz -T3 --block-size=200KiB -c in/numbers | xz -dc | cksum"
	with_locks xz -T3 --block-size=200KiB -c in/numbers >out.xz
	kinds | grep "condition variable"
'
test_if 'command -v git' 'no git' 'git grep with threads' '
	same "cd \"$TOP\" && git grep --threads=4 -c pthread -- libhook | sort | cksum"
'
test_if 'command -v python3' 'no python3' 'Python: threads and their interpreter lock' '
	cat >in/threads.py <<-"END"
	import threading
	lock, sums = threading.Lock(), []
	def work(n):
	    s = sum(i * i for i in range(200000))
	    with lock:
	        sums.append(s + n)
	threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
	for t in threads: t.start()
	for t in threads: t.join()
	print(sorted(sums))
	END
	same "python3 in/threads.py"
	kinds
	kinds | grep -E "condition variable|semaphore"
'
test_if 'command -v "$TEST_CXX"' 'no C++ compiler' 'C++: std::mutex, std::shared_mutex, std::condition_variable, std::thread' '
	$TEST_CXX -O1 -std=c++17 -o "$BIN/cxx-locks" "$T/locks/app-cxx.cpp" -pthread
	with_locks "$BIN/cxx-locks" >out
	is "6 waits" "$(cat out)"
	jq -c ".locks[]" prof/*_all.json
	is "condition variable mutex read-write lock thread" "$(kinds)"
	is "cxx-locks:app::table" "$(jq -r ".locks[] | select(.kind == \"mutex\") | .name" prof/*_all.json | grep table)"
'
test_if "echo 'int main(void){return 0;}' >e.c && gcc -fopenmp e.c" 'no OpenMP' 'OpenMP: its runtime waits by other ways, and its own locks are told as before' '
	gcc -O1 -g -fopenmp -o "$BIN/omp-locks" "$T/openmp/app-openmp-locks.c"
	with_locks "$BIN/omp-locks" >out
	is "" "$(kinds)"
	jq -e "[.waits[] | select(.kind == \"lock\")] | length > 0" prof/*_all.json
'

done_testing
