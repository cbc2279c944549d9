#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='the first event beside a fork, a dlopen(), many keys, and names of the program'"'"'s own'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$LIB/libvftrace.so" "$LIB/libvftrace-static.a"

cc_traced "$BIN/beside" "$T/hook/app-beside.c" -pthread -ldl || skip_all 'app-beside.c cannot be compiled'
TEST_FLAGS="$TEST_FLAGS -fno-builtin -w"

test_expect 'the fork handlers of the program wait for a thread that has its first event' '
	traced -q -- "$BIN/beside" handlers
	is "2 event<init" "$(calls_in beside_all.json)"'

test_expect 'a fork while another thread begins the process: no child hangs, each is recorded' '
	is 0 "$(traced -q -- "$BIN/beside" attaching 40)" "hanging children"
	is "41 event<init" "$(calls_in beside_all.json)"
	is 0 "$(limit env VFTR_AGENT="$AGENT" "$BIN/beside" attaching 40)" "hanging children of one that starts its agent"'

test_expect 'a library is loaded whose constructor has an event, and the agent is to be started' '
	cc_traced plug.so "$T/hook/app-beside-plug.c" -shared -fPIC
	limit env -u VFTR_AGENT "$BIN/beside" loading ./plug.so'

test_expect 'the first event is in a constructor before ours: the agent beside the library is found' '
	mkdir -p own/lib own/bin
	cp "$LIB/libvftrace.so" own/lib/ && cp "$AGENT" own/bin/
	cc_plain early.so "$T/hook/app-beside-plug.c" -shared -fPIC
	echo "int main(void) { return 0; }" >main.c
	gcc -o early main.c -Wl,--no-as-needed ./early.so
	limit env -u VFTR_AGENT LD_PRELOAD="$PWD/own/lib/libvftrace.so" ./early 2>err
	is "" "$(cat err)"
	wait_for 20 "[ -s early_all.json ]"
	is "1 event<init" "$(calls_in early_all.json)"'

test_expect 'a plug-in that is loaded and closed again and again leaves no key of a thread behind' '
	cat >load.c <<-END
		#include <dlfcn.h>
		#include <pthread.h>
		int main(void)
		{
			pthread_key_t key;

			for (int i = 0; i < 1100; i++) {
				void *plug = dlopen("./closed.so", RTLD_NOW);

				if (!plug || dlclose(plug))
					return 2;
			}
			return pthread_key_create(&key, 0) != 0;
		}
	END
	gcc $TEST_FLAGS -o load load.c -ldl -pthread
	echo "int plug(void) { return 1; }" >closed.c
	gcc $TEST_FLAGS -finstrument-functions -shared -fPIC -o closed.so closed.c $(test_link :libvftrace.a) -ldl -pthread
	limit ./load'

test_expect 'a plug-in with libvftrace.a is closed before a thread ends that has recorded in it' '
	cat >outlives.c <<-END
		#include <dlfcn.h>
		#include <pthread.h>
		#include <stdio.h>
		#include <sys/wait.h>
		#include <unistd.h>

		static pthread_barrier_t both;

		static void *record(void *plug)
		{
			((void (*)(void))dlsym(plug, "plug"))();
			pthread_barrier_wait(&both);
			pthread_barrier_wait(&both);
			return 0;
		}

		int main(void)
		{
			void *plug = dlopen("./records.so", RTLD_NOW);
			pthread_t thread;
			int status = 1;

			pthread_barrier_init(&both, 0, 2);
			pthread_create(&thread, 0, record, plug);
			pthread_barrier_wait(&both);
			dlclose(plug);
			printf("%d", dlopen("./records.so", RTLD_NOW | RTLD_NOLOAD) != 0);
			pthread_barrier_wait(&both);
			pthread_join(thread, 0);
			if (!fork())
				_exit(0);
			wait(&status);
			printf(" %d\\n", status);
			return 0;
		}
	END
	gcc $TEST_FLAGS -o outlives outlives.c -ldl -pthread
	printf "%s\n" "#include <vftrace.h>" "void plug(void)" "{" "vftrace_region_begin(\"solve\");" \
		"vftrace_region_end(\"solve\");" "}" >records.c
	gcc $TEST_FLAGS -I"$TOP/libhook" -shared -fPIC -o records.so records.c $(test_link :libvftrace.a) -ldl -pthread
	is "0 0" "$(traced -q -- ./outlives)"
	is 1 "$(calls_of outlives_all.json "solve<init")"'

test_expect 'the first event of a thread allocates nothing, however many keys the program has' '
	is 0 "$(traced -q -- "$BIN/beside" keys)"'

test_expect 'functions of the program that are named as those of POSIX are not called' '
	cc_traced "$BIN/own-names" "$T/hook/app-own-names.c"
	traced -q -- "$BIN/own-names"
	calls_in own-names_all.json >got
	is 21 "$(wc -l <got)"
	is 20 "$(grep -c "^1 [a-z]*<main<init" got)"
	limit env VFTR_AGENT="$AGENT" "$BIN/own-names"
	$TEST_CC $TEST_FLAGS -finstrument-functions -static -o "$BIN/own-static" "$T/hook/app-own-names.c" \
		"$LIB/libvftrace-static.a" -lpthread
	traced -q -- "$BIN/own-static"
	calls_in own-static_all.json | diff got -'

test_expect '... for no library refers to these names' '
	names=$(sed -n "s/^static inline .*[ *]sys_\([a-z]*\)(.*/\1/p" "$TOP/shm/system.h" | paste -sd"|")
	is 20 "$(echo "$names" | tr "|" "\n" | wc -l)"
	for library in "$LIB"/libvftrace.so "$LIB"/libvftrace-openmpi.so "$LIB"/libvftrace-mpich.so; do
		[ ! -e "$library" ] || nm -D --undefined-only "$library" | awk "{ sub(/@.*/, \"\", \$NF); print \$NF }" |
			grep -xE "$names" >found || continue
		cat found
		return 1
	done'

done_testing
