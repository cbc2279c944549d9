! SPDX-License-Identifier: BSD-3-Clause
! One of everything that is awkward to wrap in Fortran: MPI_IN_PLACE, ignored
! statuses, requests, character arguments, callbacks, absent ierror. Run on an
! even number of ranks, it prints `ok' on rank 0 if every result was right.
! Compile with -cpp and one of -DMPIFH, -DUSE_MPI; mpi_f08 is the default.
module callbacks
  implicit none
contains
  subroutine add(a, b, n, t)
#if defined(MPIFH) || defined(USE_MPI)
    integer :: a(*), b(*), n, t
    b(1:n) = a(1:n) + b(1:n)
#else
    use mpi_f08, only: MPI_Datatype
    use, intrinsic :: iso_c_binding
    type(c_ptr), value :: a, b
    integer :: n
    type(MPI_Datatype) :: t
    integer, pointer :: x(:), y(:)
    call c_f_pointer(a, x, [n])
    call c_f_pointer(b, y, [n])
    y = x + y
#endif
  end subroutine
end module

#if defined(MPIFH) || defined(USE_MPI)
#define HANDLE(kind) integer
#define LAST , ierr
#else
#define HANDLE(kind) type(kind)
#define LAST
#endif

program bindings
#if defined(MPIFH)
  use callbacks
  implicit none
  include 'mpif.h'
#elif defined(USE_MPI)
  use mpi
  use callbacks
  implicit none
#else
  use mpi_f08
  use callbacks
  implicit none
#endif
  integer :: ierr, rank, size, peer, provided, total, n, got, bad, sums(2)
  integer :: x, y
  double precision :: now
  HANDLE(MPI_Comm) :: half
  HANDLE(MPI_Request) :: req(2)
  HANDLE(MPI_Datatype) :: pair
  HANDLE(MPI_Op) :: plus
  HANDLE(MPI_Info) :: info
  character(len=MPI_MAX_OBJECT_NAME) :: name
  character(len=40) :: value
  logical :: flag

  bad = 0
  ierr = 0
#if defined(THREADS)
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided LAST)
  if (provided < MPI_THREAD_FUNNELED) bad = bad + 1
#else
  call MPI_Init(ierr)
#endif
  call MPI_Comm_rank(MPI_COMM_WORLD, rank LAST)
  call MPI_Comm_size(MPI_COMM_WORLD, size LAST)
  peer = ieor(rank, 1)

  total = rank
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD LAST)
  if (total /= size * (size - 1) / 2) bad = bad + 1

  call MPI_Sendrecv(rank, 1, MPI_INTEGER, peer, 7, got, 1, MPI_INTEGER, peer, 7, &
    MPI_COMM_WORLD, MPI_STATUS_IGNORE LAST)
  if (got /= peer) bad = bad + 1

  x = 100 + rank
  call MPI_Irecv(y, 1, MPI_INTEGER, peer, 8, MPI_COMM_WORLD, req(1) LAST)
  call MPI_Isend(x, 1, MPI_INTEGER, peer, 8, MPI_COMM_WORLD, req(2) LAST)
  call MPI_Waitall(2, req, MPI_STATUSES_IGNORE LAST)
  if (y /= 100 + peer) bad = bad + 1

  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half LAST)
  call MPI_Comm_set_name(half, 'half the world' LAST)
  name = 'x'
  call MPI_Comm_get_name(half, name, n LAST)
  if (name /= 'half the world' .or. n /= 14) bad = bad + 1

  call MPI_Type_contiguous(2, MPI_INTEGER, pair LAST)
  call MPI_Type_commit(pair LAST)
  call MPI_Op_create(add, .true., plus LAST)
  sums = [1, rank]
  call MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INTEGER, plus, half LAST)
  if (sums(1) /= size / 2) bad = bad + 1
  call MPI_Bcast(sums, 1, pair, 0, half LAST)
  call MPI_Op_free(plus LAST)
  call MPI_Type_free(pair LAST)
  call MPI_Comm_free(half LAST)

  call MPI_Info_create(info LAST)
  call MPI_Info_set(info, 'colour', 'blue' LAST)
  value = ''
  call MPI_Info_get(info, 'colour', len(value), value, flag LAST)
  if (.not. flag .or. value /= 'blue') bad = bad + 1
  call MPI_Info_free(info LAST)

  call MPI_Barrier(MPI_COMM_WORLD LAST)
  call MPI_Pcontrol(1)
  now = MPI_Wtime()
  if (MPI_Wtick() <= 0 .or. now < 0) bad = bad + 1
  n = bad
  call MPI_Reduce(n, bad, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD LAST)
  if (rank == 0 .and. bad == 0 .and. ierr == 0) print '(a)', 'ok'
#if defined(ABORT)
  call MPI_Abort(MPI_COMM_WORLD, 7 LAST)
#endif
  call MPI_Finalize(ierr)
end program
