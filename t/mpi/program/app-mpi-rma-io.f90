! SPDX-License-Identifier: BSD-3-Clause
! The same as app-mpi-rma-io.c with what Fortran does otherwise: sentinels,
! descriptors, an absent ierror, names with blanks. With -DF08, -DUSE_MPI or -DMPIFH.
program rma_io
#ifdef F08
  use mpi_f08
#elif defined(USE_MPI)
  use mpi
#endif
  implicit none
#ifdef MPIFH
  include 'mpif.h'
#endif
#ifdef F08
#define HANDLE(kind) type(kind)
  type(MPI_Status) :: status
#else
#define HANDLE(kind) integer
  integer :: status(MPI_STATUS_SIZE)
#endif
  HANDLE(MPI_Win) :: win
  HANDLE(MPI_File) :: f
  HANDLE(MPI_Request) :: request
  integer, parameter :: n = 10
  integer(MPI_OFFSET_KIND) :: mine
  integer(MPI_ADDRESS_KIND) :: bytes, place
  double precision :: memory(64), from(64), to(64)
  integer :: data(n), back(3 * n), rank, size, right, left, ierror, got, i
  character(len=200) :: name
  character(len=16) :: number
  integer(8) :: put(2), get(2), reads(2), writes(2)

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  call get_command_argument(1, name)
  right = mod(rank + 1, size)
  left = mod(rank + size - 1, size)
  put = 0
  get = 0
  reads = 0
  writes = 0
  memory = 0
  from = 0
  data = [(rank * n + i, i = 1, n)]

  bytes = 64 * 8
  call MPI_Win_create(memory, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
  call MPI_Win_set_name(win, 'places   ', ierror)
  call MPI_Win_fence(0, win, ierror)
  place = 0
  call MPI_Put(from, 5, MPI_DOUBLE_PRECISION, right, place, 5, MPI_DOUBLE_PRECISION, win, ierror)
  call count(put, 5 * 8)
  call MPI_Put(from, 5, MPI_DOUBLE_PRECISION, MPI_PROC_NULL, place, 5, MPI_DOUBLE_PRECISION, win, ierror)
  call MPI_Win_fence(0, win, ierror)
  call MPI_Get(to, 7, MPI_INTEGER, left, place, 7, MPI_INTEGER, win, ierror)
  call count(get, 7 * 4)
  call MPI_Win_fence(0, win, ierror)
  call MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win, ierror)
  call MPI_Rput(from, 4, MPI_DOUBLE_PRECISION, right, place, 4, MPI_DOUBLE_PRECISION, win, request, ierror)
  call count(put, 4 * 8)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  call MPI_Win_unlock(right, win, ierror)
  call MPI_Win_lock_all(0, win, ierror)
  place = 8
  call MPI_Get_accumulate(from, 2, MPI_DOUBLE_PRECISION, to, 2, MPI_DOUBLE_PRECISION, left, place, 2, &
    MPI_DOUBLE_PRECISION, MPI_NO_OP, win, ierror)
  call count(get, 2 * 8)
  call MPI_Win_unlock_all(win, ierror)
#ifdef F08
  call MPI_Win_fence(0, win)
  call MPI_Put(from(1:10:2), 5, MPI_DOUBLE_PRECISION, right, place, 5, MPI_DOUBLE_PRECISION, win)
  call count(put, 5 * 8)
  call MPI_Win_fence(0, win)
#endif
  call MPI_Win_free(win, ierror)

  mine = rank * 4 * n
  call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, f, ierror)
  call need(ierror == MPI_SUCCESS)
  call MPI_File_write_at(f, mine, data, n, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
  call count(writes, 4 * n)
  call MPI_File_sync(f, ierror)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_File_read_at(f, mine, back, n, MPI_INTEGER, status, ierror)
  call count(reads, 4 * n)
  call MPI_Get_count(status, MPI_INTEGER, got, ierror)
  call need(got == n .and. all(back(1:n) == data))
  call MPI_File_read_at_all(f, mine, back, n, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
  call count(reads, 4 * n)
  mine = (size - 1) * 4 * n
  call MPI_File_read_at(f, mine, back, 3 * n, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
  call count(reads, 4 * n)
  call MPI_File_iread_at(f, mine, back, n, MPI_INTEGER, request, ierror)
  call count(reads, 4 * n)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  call MPI_File_read_at_all_begin(f, mine, back, n, MPI_INTEGER, ierror)
  call MPI_File_read_at_all_end(f, back, MPI_STATUS_IGNORE, ierror)
  call count(reads, 4 * n)
  call MPI_File_close(f, ierror)

  write (number, '(i0)') rank
  open (10, file=trim(name)//'.counts.'//trim(number))
  write (10, '(a,2(1x,i0),2(1x,i0))') 'put', rank, right, put
  write (10, '(a,2(1x,i0),2(1x,i0))') 'get', left, rank, get
  write (10, '(a,2(1x,i0))') 'read', reads
  write (10, '(a,2(1x,i0))') 'write', writes
  close (10)
  call MPI_Finalize(ierror)
contains
  subroutine count(what, bytes)
    integer(8), intent(inout) :: what(2)
    integer, intent(in) :: bytes
    what = what + [1, bytes]
  end subroutine
  subroutine need(ok)
    logical, intent(in) :: ok
    if (.not. ok) call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine
end program
