#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
[ -z "$VFTR_LONG" ] || TEST_SECONDS=1500
test_description='threads that leave the usual ways: jumps out of handlers, small stacks, plug-ins'
. "$(dirname "$0")/../lib/lib.sh"
need jq nm
need_built "$AGENT" "$LIB/libvftrace.so" "$LIB/libvftrace.a"

TEST_FLAGS="$TEST_FLAGS -D_GNU_SOURCE"
cc_traced "$BIN/left" "$T/hook/app-left.c" || skip_all 'app-left.c cannot be compiled'

# left WAY: traced; nothing is said
left() {
	rm -f left_*
	traced -q -- "$BIN/left" "$@" >counts 2>err
	is '' "$(cat err)" 'standard error'
}

# calls FUNCTION [JSON]: recorded
calls() {
	jq --arg p "^$1<" '[.stacks[] | select(.path | test($p)) | .calls] | add // 0' \
		"${2:-left_all.json}"
}

# counted FUNCTION: what the program says
counted() {
	awk -v f="$1" '$2 == f { print $1 }' counts
}

# jumped JSON [drop]: each call is there; where a jump came between the enter and the body,
# there is one more. What was called before the jump had been noticed is counted.
jumped() {
	n=$(counted jumps)
	lost=$(json "$1" .lost)
	[ "$n" -gt 20 ]
	if [ "$2" != drop ]; then # or the ring was full because the agent had no CPU
		[ "$lost" -le "$n" ]
		is '[]' "$(jq -c .warnings "$1")" warnings
	fi
	for f in leaf work; do
		got=$(calls "$f(@[^<]*)?" "$1")
		all=$(counted $f)
		if [ "$got" -lt $((all - lost)) ] || [ "$got" -gt $((all + n)) ]; then
			echo "$f: recorded $got, lost $lost, called $all, jumps $n"
			exit 1
		fi
	done
}

test_expect 'a timer whose handler leaves by siglongjmp(), 600 times' '
	left timer
	jumped left_all.json'

test_expect 'the same out of frames that a full ring has dropped: recording goes on' '
	rm -f left_*
	traced -q -k shm.ring_size=32KiB -k shm.when_full=drop -- "$BIN/left" deep >counts
	is 1 $(calls work)
	is 300 $(calls "leaf<work")'

steps='uname -m | grep -q x86_64'
if (eval "$steps") >/dev/null; then
	gcc $TEST_FLAGS -o "$BIN/stepper" "$T/hook/app-stepper.c"
	gcc $TEST_FLAGS -finstrument-functions -no-pie -o "$BIN/stepped" "$T/hook/app-left.c" \
		"$LIB/libvftrace.a" -ldl -lpthread
fi
stride=31
[ -z "$VFTR_LONG" ] || { stride=1; TEST_COMMAND_SECONDS=500; }

# step FUNCTION STEP [AGENT OPTION...]
step() {
	[ -s symbols ] || nm "$BIN/stepped" >symbols
	address=$(awk -v f="$1" '$3 == f { print $1 }' symbols)
	skip=$2
	shift 2
	rm -f stepped_*
	traced -q "$@" -- "$BIN/stepper" "$address" 1 "$skip" 5000 "$BIN/stepped" rounds \
		>counts 2>err
	cat err >&2
	hasnt err '(not all)'
}

test_if "$steps" 'x86-64 only' 'a handler that jumps after each instruction of the hooks' '
	for hook in enter exit; do
		step __cyg_profile_func_$hook 1
		jumped stepped_all.json
	done'

test_if "$steps" 'x86-64 only' "... and after each ${stride}th of the turn of a block" '
	step vftr_slow $stride
	jumped stepped_all.json
	step vftr_slow $stride -k shm.ring_size=32KiB -k shm.when_full=drop
	jumped stepped_all.json drop'

test_expect 'the first call of a process in a handler on a stack of 8 KiB' '
	left altstack
	is 3000 $(calls leaf)'

test_expect '... and that of a child' '
	left altstack-fork
	is 3001 $(calls leaf)'

test_expect 'the first call of a process in a thread with the smallest stack there is' '
	left thread
	is 300 $(calls leaf)'

test_expect 'a bare fork whose child calls something in a new thread first' '
	left bare-fork
	is 1200 $(calls leaf)
	is 0 "$(json left_all.json .lost)" lost'

test_expect 'a program with a close(), sendmsg() and getenv() of its own: what we call is no loss of its' '
	cat >own.c <<-"EOF"
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <stdlib.h>
		#include <sys/socket.h>
		#include <sys/wait.h>
		#include <unistd.h>
		int close(int fd) { return ((int (*)(int))dlsym(RTLD_NEXT, "close"))(fd); }
		char *getenv(const char *n) { return ((char *(*)(const char *))dlsym(RTLD_NEXT, "getenv"))(n); }
		ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
		{
			return ((ssize_t(*)(int, const struct msghdr *, int))dlsym(RTLD_NEXT, "sendmsg"))(fd, m, flags);
		}
		int main(void)
		{
			for (int i = 0; i < 3; i++)
				if (!fork())
					_exit(close(dup(0)));
			for (int i = 0; i < 3; i++)
				wait(NULL);
			return 0;
		}
	EOF
	cc_traced own own.c -ldl
	traced -q -- ./own
	is "3 0" "$(calls close own_all.json) $(json own_all.json .lost)"'

test_expect 'clone() with the memory of a thread that has not called anything yet' '
	left guest
	is 3300 $(calls leaf)'

cat >throws.cc <<-"EOF"
	#include <pthread.h>
	#include <stdio.h>
	static int caught;
	static void *run(void *unused)
	{
		try { throw 1; } catch (int i) { caught = i; }
		return unused;
	}
	__attribute__((constructor)) static void begin(void)
	{
		pthread_t t;
		if (!pthread_create(&t, NULL, run, NULL))
			pthread_join(t, NULL);
		printf("caught %d\n", caught);
	}
EOF
cat >loads.cc <<-"EOF"
	#include <dlfcn.h>
	#include <stdexcept>
	int main(int argc, char **argv)
	{
		if (argc > 2)
			throw std::runtime_error("links the library");
		return !dlopen(argv[1], RTLD_NOW);
	}
EOF

test_expect 'a constructor of a plug-in that waits for a thread that throws' '
	g++ $TEST_FLAGS -fPIC -shared -finstrument-functions -o throws.so throws.cc -pthread
	cxx_traced loads loads.cc -ldl
	rm -f loads_*
	TEST_COMMAND_SECONDS=$(patient 60)
	is "caught 1" "$(traced -q -- ./loads ./throws.so)"'

cat >plugin.c <<-"EOF"
	int run(void)
	{
		int n = 0;
	#pragma omp parallel num_threads(2)
		{
	#pragma omp atomic
			n++;
		}
		return n;
	}
EOF
cat >takes.c <<-"EOF"
	#include <dlfcn.h>
	int main(int argc, char **argv)
	{
		for (int i = 0; i < 6; i++) {
			void *h = dlopen(argv[1 + i % (argc - 1)], RTLD_NOW);
			int (*run)(void) = (int (*)(void))dlsym(h, "run");
			if (run() != 2 || dlclose(h))
				return 1;
		}
		return 0;
	}
EOF

test_expect 'plug-ins with OpenMP, each loaded where another was before' '
	for p in red blue green; do
		{ echo "#line 1 \"$p.c\""; cat plugin.c; } >$p.c
		gcc $TEST_FLAGS -fPIC -shared -fopenmp -finstrument-functions -o $p.so $p.c
	done
	gcc $TEST_FLAGS -finstrument-functions -o takes takes.c -fopenmp -ldl $(test_link vftrace)
	rm -f takes_*
	traced -q -- ./takes ./red.so ./blue.so ./green.so
	for p in red blue green; do
		is 4 $(calls "omp_parallel@$p.c:[0-9]*" takes_all.json) "$p"
	done
	is "[]" "$(jq -c .warnings takes_all.json)" warnings'

cat >churns.c <<-"EOF"
	#include <dlfcn.h>
	#include <pthread.h>
	#include <stdio.h>
	static void *churn(void *number)
	{
		char name[32];
		snprintf(name, sizeof(name), "./leaf%ld.so", (long)number + 1);
		for (int i = 0; i < 200; i++) {
			void *h = dlopen(name, RTLD_NOW);
			((int (*)(void))dlsym(h, "run"))();
			dlclose(h);
		}
		return NULL;
	}
	int main(void)
	{
		pthread_t t[4];
		for (long i = 0; i < 4; i++)
			pthread_create(&t[i], NULL, churn, (void *)i);
		for (int i = 0; i < 4; i++)
			pthread_join(t[i], NULL);
		return 0;
	}
EOF

# One that is loaded where another was a moment ago may still get that one's name.
test_expect 'four threads that load and unload plug-ins: all calls have names' '
	for i in 1 2 3 4; do
		printf "%s\n" "static int leaf$i(void) { __asm__(\"\"); return 1; }" \
			"int run(void) { return leaf$i(); }" >leaf$i.c
		gcc -g -fPIC -shared -finstrument-functions -o leaf$i.so leaf$i.c
	done
	cc_traced churns churns.c -ldl
	rm -f churns_*
	traced -q -- ./churns
	is 0 "$(calls "\\(unknown\\)" churns_all.json)" unknown
	is 800 "$(calls "leaf[1-4]" churns_all.json)"
	for i in 1 2 3 4; do
		n=$(calls leaf$i churns_all.json)
		[ $n -ge 180 ]
		[ $n -le 220 ]
	done'

# $BUILD may be where others cannot look: the library comes along
test_if '[ "$(id -u)" = 0 ]' 'needs root' 'a program with more rights than its user starts nothing for him' '
	gcc $TEST_FLAGS -finstrument-functions -o secure "$T/hook/app-left.c" "$LIB/libvftrace.a" -ldl -lpthread
	printf "#!/bin/sh\\nid -u >%s/started\\nexit 1\\n" "$PWD" >agent
	chmod 755 agent
	chmod 4755 secure
	chmod 711 "$VFTR_TEST_DIR"
	chmod 777 .
	for program in ./secure ./plain; do
		[ -e plain ] || { cp secure plain; chmod 755 plain; }
		limit setpriv --reuid=65534 --clear-groups env VFTR_AGENT="$PWD/agent" \
			VFTR_RUNTIME_DIR="$PWD/none" $program thread >out 2>err
		cat err
		has out 300 leaf
		[ $program = ./plain ] || [ ! -e started ]
	done
	[ -e started ]'

done_testing
