#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What Vftrace's own black-box scripts found wrong here, one by one.
test_description='defects that scripts for Vftrace have found'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"

test_expect 'a missing colon in a configuration: the string that stands there is quoted' '
	printf "{\n\"off\"\n\n\"true\"}\n" >colon.json
	status_of 1 "$VFTR" config check colon.json >said 2>&1
	cat said
	grep -q "4: a .:. after the key is expected, not the string .true." said'

# the receive is logged 0.1 s before the send
cat >order.c <<-'END'
	#include <sys/wait.h>
	#include <unistd.h>
	#include "vftrace-session.h"
	int main(void)
	{
		int k = fork();
		vftrace_join(k ? 0 : 1, "p", NULL);
		if (k)
			vftrace_expect(2, 0, NULL);
		vftrace_start(10);
		if (k) {
			vftrace_log_receive(VFTRACE_COMM_WORLD, 1, 0, 8);
		} else {
			usleep(100000);
			vftrace_log_send(VFTRACE_COMM_WORLD, 0, 0, 8);
		}
		vftrace_finish(10);
		if (k)
			wait(0);
		return 0;
	}
END

test_expect 'a receive that is logged before its send on one host: the clock is not blamed' '
	cc_traced "$BIN/order" "$PWD/order.c" -I"$TOP/libhook" -I"$TOP/shm"
	traced -q -- "$BIN/order"
	grep "received before it was sent" order_all.log
	grep -q "on one host, with one clock, the program has logged them in that order" order_all.log
	hasnt order_all.log "clocks are wrong"
	is 1 "$(json order_all.json .matching.violations)"'

mpi=$(mpi_list | tail -n 1)
if [ -z "$mpi" ]; then
	test_skip 'communication' 'no MPI on this machine'
	done_testing
	exit
fi

cat >quiet.c <<-'END'
	#include <mpi.h>
	#include <string.h>
	static void quiet(void) {}
	int main(int c, char **v)
	{
		int rank, x = 0;
		MPI_Init(&c, &v);
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		quiet();
		if (c > 1 && rank < 2)
			MPI_Sendrecv_replace(&x, 1, MPI_INT, 1 - rank, 0, 1 - rank, 0, MPI_COMM_WORLD,
				MPI_STATUS_IGNORE);
		MPI_Finalize();
		return 0;
	}
END
mpicc_traced "$mpi" "$BIN/quiet" "$PWD/quiet.c"

test_expect 'each log of an MPI run has its communication profile, with messages or without' '
	traced -q --set logfile_for_ranks=all -- $(mpirun_of "$mpi") -np 3 "$BIN/quiet"
	for log in all 0 1 2; do
		is 1 "$(grep -c "^Communication profile" quiet_$log.log)" "titles in quiet_$log.log"
		grep -A2 "^Communication profile" quiet_$log.log | grep -q "| Messages |"
	done
	traced -q --set logfile_for_ranks=all -- $(mpirun_of "$mpi") -np 3 "$BIN/quiet" 2
	for log in all 0 1 2; do
		is 1 "$(grep -c "^Communication profile" quiet_$log.log)" "titles in quiet_$log.log"
	done
	rm quiet_*
	traced -q --set logfile_for_ranks=all --set profile_table.separate=true -- \
		$(mpirun_of "$mpi") -np 3 "$BIN/quiet"
	for log in all 0 1 2; do
		is 1 "$(grep -c "^Communication profile" quiet_${log}_mpi.log)" "titles in quiet_${log}_mpi.log"
	done'

test_expect 'the columns of show_calltime_imbalances are told apart from those of MPI functions' '
	traced -q -- $(mpirun_of "$mpi") -np 2 "$BIN/quiet" 2
	is 0 "$(grep -c "Imbalances\[%\]" quiet_all.log)"
	is 1 "$(grep -c "Imbalance\[%\]" quiet_all.log)"
	traced -q --set profile_table.show_calltime_imbalances=true -- $(mpirun_of "$mpi") -np 2 "$BIN/quiet" 2
	is 1 "$(grep -c "Imbalances\[%\]" quiet_all.log)"'

cat >types.c <<-'END'
	#include <mpi.h>
	#include <stdlib.h>
	#include <string.h>
	/* all types of a call are one; or two; or derived; or differ where nothing is sent */
	static int n, cn[8], at[8], a[64], b[64];
	static MPI_Datatype type[8], pair;
	static void call(int count)
	{
		for (int i = 0; i < n; i++)
			cn[i] = count, at[i] = i * 8;
		MPI_Alltoallw(a, cn, at, type, b, cn, at, type, MPI_COMM_WORLD);
	}
	static void same(void) { call(2); }
	static void two(void) { type[1] = MPI_FLOAT; call(1); type[1] = MPI_INT; }
	static void derived(void)
	{
		for (int i = 0; i < n; i++)
			type[i] = pair;
		call(1);
		for (int i = 0; i < n; i++)
			type[i] = MPI_INT;
	}
	static void empty(void)
	{
		int rank, out[8] = {0}, in[8] = {0};
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		out[rank] = in[rank] = 3;
		type[!rank] = pair;
		MPI_Alltoallw(a, out, at, type, b, in, at, type, MPI_COMM_WORLD);
		type[!rank] = MPI_INT;
	}
	static void unblocked(void)
	{
		MPI_Request r;
		for (int i = 0; i < n; i++)
			cn[i] = 4, at[i] = i * 16;
		MPI_Ialltoallw(a, cn, at, type, b, cn, at, type, MPI_COMM_WORLD, &r);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
	}
	static void neighbours(void)
	{
		MPI_Comm ring;
		MPI_Aint far[2] = {0, 16};
		int dims = 2, yes = 1, two[2] = {5, 5};
		MPI_Cart_create(MPI_COMM_WORLD, 1, &dims, &yes, 0, &ring);
		MPI_Neighbor_alltoallw(a, two, far, type, b, two, far, type, ring);
		MPI_Comm_free(&ring);
	}
	static void complex(void)
	{
		MPI_Status s;
		int rank;
		float x[2] = {0}, y[2];
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		MPI_Sendrecv(x, 1, MPI_C_COMPLEX, !rank, 1, y, 1, MPI_C_COMPLEX, !rank, 1,
			MPI_COMM_WORLD, &s);
	}
	int main(int c, char **v)
	{
		MPI_Init(&c, &v);
		MPI_Comm_size(MPI_COMM_WORLD, &n);
		MPI_Type_contiguous(2, MPI_INT, &pair);
		MPI_Type_commit(&pair);
		for (int i = 0; i < 8; i++)
			type[i] = MPI_INT;
		same();
		two();
		derived();
		empty();
		unblocked();
		neighbours();
		complex();
		MPI_Type_free(&pair);
		MPI_Finalize();
		return 0;
	}
END

test_expect 'the datatype of MPI_Alltoallw and its family, where all of a call are one' '
	mpicc_traced "$mpi" "$BIN/types" "$PWD/types.c"
	traced -q --set sampling.active=true -- $(mpirun_of "$mpi") -np 2 "$BIN/types"
	"$VFTR" dump -p types_*.vfd >all
	for wanted in "count=2 type=MPI_INT(4Bytes)" "count=4 type=MPI_INT(4Bytes)" \
		"count=5 type=MPI_INT(4Bytes)" "count=4 type=MPI_DERIVED_TYPE(1Bytes)" \
		"count=8 type=MPI_DERIVED_TYPE(1Bytes)" "count=3 type=MPI_INT(4Bytes)"; do
		grep -q "$wanted" all || { echo "no $wanted"; grep -o "count=.*" all | sort | uniq -c; false; }
	done
	is 0 "$(grep -c "MPI_DERIVED(" all)"'

test_expect 'MPI_C_COMPLEX has its own name' '
	"$VFTR" dump -p types_*.vfd >all
	is 4 "$(grep -c "count=1 type=MPI_C_COMPLEX(8Bytes) .*tag=1" all)" || { grep COMPLEX all; false; }
	"$VFTR" export -f vfd3 -o classic types_*.vfd
	ln -sf "$VFTR" vftrace_vfd_dump
	for f in classic/*.vfd; do ./vftrace_vfd_dump "$f"; done >classic.all
	grep -q "type=MPI_C_COMPLEX(8Bytes)" classic.all'

cat >inter.c <<-'END'
	#include <mpi.h>
	static int in[64], out[64];
	/* groups of ranks 0, 1 and 2, 3; of 10 integers rank 0 of a group gets 4, the other 6 */
	int main(int c, char **v)
	{
		int rank, group, counts[2] = {4, 6};
		MPI_Comm half, both;
		MPI_Request r;
		MPI_Init(&c, &v);
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		group = rank / 2;
		MPI_Comm_split(MPI_COMM_WORLD, group, rank, &half);
		MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, group ? 0 : 2, 7, &both);
		switch (v[1][0]) {
		case '0':
			MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, both);
			break;
		case '1':
			MPI_Ireduce_scatter(out, in, counts, MPI_INT, MPI_SUM, both, &r);
			MPI_Wait(&r, MPI_STATUS_IGNORE);
			break;
		case '2':
			MPI_Reduce_scatter_block(out, in, 5, MPI_INT, MPI_SUM, both);
			break;
		default:
			MPI_Ireduce_scatter_block(out, in, 5, MPI_INT, MPI_SUM, both, &r);
			MPI_Wait(&r, MPI_STATUS_IGNORE);
		}
		MPI_Comm_free(&both);
		MPI_Comm_free(&half);
		MPI_Finalize();
		return 0;
	}
END

# scattered RANK COUNTS: what this rank has of the call, as send or receive, count, peer
wanted() {
	other=$((2 - $1 / 2 * 2))
	own=$(($1 / 2 * 2))
	case $1 in
	0 | 2)
		printf "%s\n" "send 10 $other" "recv 10 $other" "recv 10 $((other + 1))" \
			"send $2 $own" "send $((10 - $2)) $((own + 1))" "recv $2 $own"
		;;
	*) printf "%s\n" "send 10 $other" "recv $((10 - $2)) $own" ;;
	esac | sort
}

test_expect 'what rank 0 of a group of an intercommunicator scatters has its ranks and lengths' '
	mpicc_traced "$mpi" "$BIN/inter" "$PWD/inter.c"
	ln -sf "$VFTR" vftrace_vfd_dump
	for form in 0 1 2 3; do
		rm -rf inter_* classic
		traced -q --set sampling.active=true -- $(mpirun_of "$mpi") -np 4 "$BIN/inter" $form
		"$VFTR" export -f vfd3 -o classic inter_*.vfd
		for rank in 0 1 2 3; do
			wanted $rank $((form < 2 ? 4 : 5)) >wanted
			for f in classic/*_$rank.vfd; do ./vftrace_vfd_dump "$f"; done |
				sed -n "s/.* \\(send\\|recv\\) in .*/\\1/p; s/ *count=\\([0-9]*\\) .*peer=\\(-*[0-9]*\\) tag=-1.*/\\1 \\2/p" |
				paste -d" " - - | sort >got
			diff wanted got || { echo "form $form, rank $rank"; ls classic; exit 1; }
		done
	done'

# Ranks 0 and 2 are rank 0 of their groups, and send each other all; 0 scatters to itself.
test_expect 'mpi.only_for_ranks: of a scattering in a group, too' '
	traced -q --set mpi.only_for_ranks=0,2 -- $(mpirun_of "$mpi") -np 4 "$BIN/inter" 0
	is "4 4 112 112" "$(json inter_all.json "[.mpi[] | select(.function == \"MPI_Reduce_scatter\") |
		[.sends, .recvs, .bytes_sent, .bytes_received]] | transpose | map(add | tostring) | join(\" \")")"
	traced -q --set mpi.only_for_ranks=0,1 -- $(mpirun_of "$mpi") -np 4 "$BIN/inter" 0
	is "2 2 40 40" "$(json inter_all.json "[.mpi[] | select(.function == \"MPI_Reduce_scatter\") |
		[.sends, .recvs, .bytes_sent, .bytes_received]] | transpose | map(add | tostring) | join(\" \")")"'

done_testing
