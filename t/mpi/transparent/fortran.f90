! SPDX-License-Identifier: BSD-3-Clause
! The other Fortran programs, and the main program. Run on two ranks; `-o PREFIX' as
! in main.c. Compile after fortran-messages.f90, with -cpp and -DMPIFH or -DF08.
#include "fortran.inc"

module others
  use messages
  implicit none
contains
  subroutine errors
    integer :: x, code, class(8)
    HANDLE(MPI_Request) :: r(1)
    x = 0
    call MPI_Send(x, 1, MPI_INTEGER, 99, 1, comm, code)
    call MPI_Error_class(code, class(1) LAST)
    call MPI_Send(x, -1, MPI_INTEGER, 0, 1, comm, code)
    call MPI_Error_class(code, class(2) LAST)
    call MPI_Send(x, 1, MPI_DATATYPE_NULL, 0, 1, comm, code)
    call MPI_Error_class(code, class(3) LAST)
    call MPI_Send(x, 1, MPI_INTEGER, 0, 1, MPI_COMM_NULL, code)
    call MPI_Error_class(code, class(4) LAST)
    call MPI_Recv(x, 1, MPI_INTEGER, 0, -9, comm, MPI_STATUS_IGNORE, code)
    call MPI_Error_class(code, class(5) LAST)
    call MPI_Bcast(x, 1, MPI_INTEGER, 99, comm, code)
    call MPI_Error_class(code, class(6) LAST)
    r(1) = MPI_REQUEST_NULL
    call MPI_Waitall(-1, r, MPI_STATUSES_IGNORE, code)
    call MPI_Error_class(code, class(7) LAST)
    call MPI_Allreduce(MPI_IN_PLACE, x, 1, MPI_INTEGER, MPI_OP_NULL, comm, code)
    call MPI_Error_class(code, class(8) LAST)
    call numbers('classes', class)
    call check(class(1) == MPI_ERR_RANK .and. class(4) == MPI_ERR_COMM, 'classes')
  end subroutine

  subroutine counted_errors
    HANDLE(MPI_Errhandler) :: handler
    integer :: x, code
    handled = 0
    call MPI_Comm_create_errhandler(on_error, handler LAST)
    call MPI_Comm_set_errhandler(comm, handler LAST)
    call MPI_Send(x, 1, MPI_INTEGER, 99, 1, comm, code)
    call MPI_Send(x, -1, MPI_INTEGER, 0, 1, comm, code)
    call MPI_Isend(x, 1, MPI_DATATYPE_NULL, 0, 1, comm, unused(), code)
    call numbers('handled', [handled])
    call check(handled == 3, 'once each')
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN LAST)
    call MPI_Errhandler_free(handler LAST)
  end subroutine

  function unused()
    HANDLE(MPI_Request), pointer :: unused
    allocate (unused)
  end function

  subroutine on_error(c, code)
    HANDLE(MPI_Comm) :: c
    integer :: code
    handled = handled + 1
  end subroutine

  subroutine attributes
    integer(kind=MPI_ADDRESS_KIND) :: extra, value
    integer :: key
    logical :: flag
    HANDLE(MPI_Comm) :: other
    copied = 0
    deleted = 0
    extra = 5
    call MPI_Comm_create_keyval(on_copy, on_delete, key, extra LAST)
    value = 40
    call MPI_Comm_set_attr(comm, key, value LAST)
    call MPI_Comm_dup(comm, other LAST)
    call MPI_Comm_get_attr(other, key, value, flag LAST)
    call check(flag .and. value == 45, 'copied')
    call MPI_Comm_free(other LAST)
    call MPI_Comm_delete_attr(comm, key LAST)
    call MPI_Comm_get_attr(comm, key, value, flag LAST)
    call check(.not. flag, 'deleted')
    call MPI_Comm_free_keyval(key LAST)
    call numbers('calls', [copied, deleted])
    call check(copied == 1 .and. deleted == 2, 'calls')
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag LAST)
    call check(flag .and. value >= 32767, 'tag_ub')
  end subroutine

  subroutine on_copy(c, key, extra, in, out, flag, code)
    HANDLE(MPI_Comm) :: c
    integer :: key, code
    integer(kind=MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    copied = copied + 1
    out = in + extra
    flag = .true.
    code = MPI_SUCCESS
  end subroutine

  subroutine on_delete(c, key, value, extra, code)
    HANDLE(MPI_Comm) :: c
    integer :: key, code
    integer(kind=MPI_ADDRESS_KIND) :: value, extra
    deleted = deleted + 1
    code = MPI_SUCCESS
  end subroutine

  subroutine alltoallw
    integer :: counts(2), places(2), a(2), b(2)
    HANDLE(MPI_Datatype) :: types(2)
    HANDLE(MPI_Request) :: r
    counts = 1
    places = [0, 4]
    types(1) = MPI_INTEGER
    types(2) = MPI_REAL
    types = MPI_INTEGER
    a = [10*rank, 10*rank + 1]
    b = -1
    call MPI_Alltoallw(a, counts, places, types, b, counts, places, types, comm LAST)
    call check(b(peer + 1) == 10*peer + rank, 'alltoallw')
    call MPI_Ialltoallw(b, counts, places, types, a, counts, places, types, comm, r LAST)
    call MPI_Wait(r, MPI_STATUS_IGNORE LAST)
    call numbers('data', [a, b])
    call MPI_Alltoallv(a, counts, [0, 1], MPI_INTEGER, b, counts, [0, 1], MPI_INTEGER, comm LAST)
    call numbers('data', b)
  end subroutine

  subroutine communicators
    HANDLE(MPI_Comm) :: half, none, copy
    HANDLE(MPI_Group) :: group, part
    HANDLE(MPI_Request) :: r
    integer :: n, result
    logical :: flag
    call MPI_Comm_split(comm, rank, 0, half LAST)
    call MPI_Comm_size(half, n LAST)
    call check(n == 1, 'half')
    call MPI_Comm_split(comm, MPI_UNDEFINED, 0, none LAST)
    call check(none == MPI_COMM_NULL, 'none')
    call MPI_Comm_idup(comm, copy, r LAST)
    call MPI_Wait(r, MPI_STATUS_IGNORE LAST)
    call MPI_Comm_compare(comm, copy, result LAST)
    call check(result == MPI_CONGRUENT, 'idup')
    call MPI_Comm_group(copy, group LAST)
    call MPI_Group_incl(group, 1, [1], part LAST)
    call MPI_Comm_create(copy, part, none LAST)
    call check((none == MPI_COMM_NULL) .eqv. (rank == 0), 'create')
    if (rank == 1) call MPI_Comm_free(none LAST)
    call MPI_Comm_test_inter(copy, flag LAST)
    call check(.not. flag, 'intra')
    call MPI_Group_free(part LAST)
    call MPI_Group_free(group LAST)
    call MPI_Comm_free(copy LAST)
    call MPI_Comm_free(half LAST)
    call numbers('size', [n])
  end subroutine

  subroutine topology
    HANDLE(MPI_Comm) :: ring
    integer :: down, up, coords(1), a(1), b(2)
    logical :: periods(1), got(1)
    integer :: dims(1)
    periods = .true.
    call MPI_Cart_create(comm, 1, [2], periods, .false., ring LAST)
    call MPI_Cart_shift(ring, 0, 1, down, up LAST)
    got = .false.
    call MPI_Cart_get(ring, 1, dims, got, coords LAST)
    call check(got(1) .and. dims(1) == 2 .and. coords(1) == rank, 'cart')
    a = rank
    b = -1
    call MPI_Neighbor_allgather(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, ring LAST)
    call numbers('ring', [down, up, b])
    call check(b(1) == peer .and. b(2) == peer, 'neighbours')
    call MPI_Comm_free(ring LAST)
  end subroutine

  subroutine one_sided
    HANDLE(MPI_Win) :: win
    integer(kind=MPI_ADDRESS_KIND) :: bytes, place
    integer :: memory(4), x
    memory = [1, 2, 3, 4] + 10*rank
    bytes = 16
    call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, comm, win LAST)
    call MPI_Win_fence(0, win LAST)
    place = 2
    call MPI_Get(x, 1, MPI_INTEGER, peer, place, 1, MPI_INTEGER, win LAST)
    call MPI_Win_fence(0, win LAST)
    call check(x == 10*peer + 3, 'get')
    call MPI_Accumulate(rank + 1, 1, MPI_INTEGER, peer, place, 1, MPI_INTEGER, MPI_SUM, win LAST)
    call MPI_Win_fence(0, win LAST)
    call numbers('memory', memory)
    call MPI_Win_free(win LAST)
    call check(win == MPI_WIN_NULL, 'freed')
  end subroutine

  subroutine files
    HANDLE(MPI_File) :: file
    STATUS(s)
    integer :: x(2), y(2), n
    integer(kind=MPI_OFFSET_KIND) :: at
    call MPI_File_open(comm, 'transparent.f.data  ', MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file LAST)
    x = [rank, 50]
    at = 8*rank
    call MPI_File_write_at_all(file, at, x, 2, MPI_INTEGER, s LAST)
    call MPI_Get_count(s, MPI_INTEGER, n LAST)
    call MPI_File_read_at(file, at, y, 2, MPI_INTEGER, MPI_STATUS_IGNORE LAST)
    call check(n == 2 .and. all(x == y), 'read')
    call MPI_File_close(file LAST)
    if (rank == 0) call MPI_File_delete('transparent.f.data', MPI_INFO_NULL LAST)
    call numbers('data', y)
  end subroutine

  subroutine packed
    character(len=100) :: buffer
    integer :: place, x, y
    real :: a, b
    place = 0
    x = rank
    a = 1.5*rank
    call MPI_Pack(x, 1, MPI_INTEGER, buffer, len(buffer), place, comm LAST)
    call MPI_Pack(a, 1, MPI_REAL, buffer, len(buffer), place, comm LAST)
    call MPI_Sendrecv_replace(buffer, place, MPI_PACKED, peer, 1, peer, 1, comm, MPI_STATUS_IGNORE LAST)
    place = 0
    call MPI_Unpack(buffer, len(buffer), place, y, 1, MPI_INTEGER, comm LAST)
    call MPI_Unpack(buffer, len(buffer), place, b, 1, MPI_REAL, comm LAST)
    call check(y == peer .and. b == 1.5*peer, 'unpacked')
    call numbers('place', [place])
  end subroutine

  subroutine text_messages
    character(len=12) :: a, b
    character(len=3) :: parts(2)
    STATUS(s)
    integer :: n
    write (a, '(a,i0)') 'from rank ', rank
    b = '            '
    call MPI_Sendrecv(a, 12, MPI_CHARACTER, peer, 1, b, 12, MPI_CHARACTER, peer, 1, comm, s LAST)
    call MPI_Get_count(s, MPI_CHARACTER, n LAST)
    call say(b)
    call check(n == 12 .and. b(1:9) == 'from rank', 'text')
    parts = ['abc', 'def']
    call MPI_Bcast(parts, 6, MPI_CHARACTER, 0, comm LAST)
    call MPI_Bcast(b(5:8), 4, MPI_CHARACTER, 1, comm LAST)
    call say(b//parts(1)//parts(2))
  end subroutine

  subroutine own_operation
    HANDLE(MPI_Op) :: op
    integer :: a(2), b(2)
    combined = 0
    call MPI_Op_create(weighted, .true., op LAST)
    a = [rank + 1, 10]
    call MPI_Allreduce(a, b, 2, MPI_INTEGER, op, comm LAST)
    call numbers('result', b)
    call check(b(1) == 3 .and. b(2) == 20, 'operation')
    call MPI_Reduce_local(a, b, 2, MPI_INTEGER, op LAST)
    call numbers('local', b)
    call MPI_Op_free(op LAST)
    call check(op == MPI_OP_NULL, 'freed')
  end subroutine

#ifdef MPIFH
  subroutine weighted(a, b, n, t)
    integer :: a(*), b(*), n, t
    b(1:n) = a(1:n) + b(1:n)
    combined = combined + n
  end subroutine
#else
  subroutine weighted(a, b, n, t)
    use, intrinsic :: iso_c_binding
    type(c_ptr), value :: a, b
    integer :: n
    type(MPI_Datatype) :: t
    integer, pointer :: x(:), y(:)
    call c_f_pointer(a, x, [n])
    call c_f_pointer(b, y, [n])
    y = x + y
    combined = combined + n
  end subroutine
#endif

  subroutine logicals
    logical :: a, b, c(3)
    a = rank == 0
    call MPI_Allreduce(a, b, 1, MPI_LOGICAL, MPI_LOR, comm LAST)
    call check(b, 'lor')
    call MPI_Allreduce(a, b, 1, MPI_LOGICAL, MPI_LAND, comm LAST)
    call check(.not. b, 'land')
    call MPI_Initialized(c(1) LAST)
    call MPI_Finalized(c(2) LAST)
    call MPI_Is_thread_main(c(3) LAST)
    call check(c(1) .and. .not. c(2) .and. c(3), 'state')
    write (line, '(5(1x,l1))') a, b, c
    call say(line)
  end subroutine

  subroutine statuses_made
    STATUS(s)
    integer :: n
    integer(kind=MPI_COUNT_KIND) :: large
    call mark(s)
    call MPI_Status_set_elements(s, MPI_INTEGER, 6 LAST)
    call MPI_Status_set_cancelled(s, .false. LAST)
    call MPI_Get_elements(s, MPI_INTEGER, n LAST)
    call MPI_Get_elements_x(s, MPI_INTEGER, large LAST)
    call check(n == 6 .and. large == 6, 'elements')
    call say_status('made', s)
  end subroutine

  subroutine reused
    integer :: i, x, sum
    HANDLE(MPI_Request) :: r(2)
    STATUSES(s, 2)
    sum = 0
    do i = 1, 500
      call MPI_Irecv(x, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, r(1) LAST)
      call MPI_Isend(i, 1, MPI_INTEGER, rank, i, comm, r(2) LAST)
      if (mod(i, 3) == 0) then
        call MPI_Request_free(r(2) LAST)
        call MPI_Wait(r(1), ONE_OF(s, 1) LAST)
      else
        call MPI_Waitall(2, r, s LAST)
      end if
      call check(x == i .and. SOURCE_OF(s, 1) == rank .and. TAG_OF(s, 1) == i, 'reused')
      sum = mod(31*sum + x, 65521)
    end do
    call numbers('sum', [sum])
  end subroutine

  subroutine controlled
#ifdef MPIFH
    call MPI_Pcontrol(0)
    call MPI_Pcontrol(1)
#else
    call MPI_Pcontrol(0)
    call MPI_Pcontrol(1)
#endif
    call say('controlled')
  end subroutine
end module

program transparent
  use others
  implicit none
  integer :: n, provided
  logical :: flag
  character(len=300) :: prefix
  character(len=320) :: name
  running = 'start'
  call get_command_argument(2, prefix)
  call MPI_Initialized(flag LAST)
  call MPI_Init(ierr)
  call MPI_Query_thread(provided, ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank LAST)
  call MPI_Comm_size(MPI_COMM_WORLD, n LAST)
  peer = 1 - rank
  if (n /= 2) call MPI_Abort(MPI_COMM_WORLD, 3 LAST)
  if (rank == 0) then
    open (10, file='/dev/stdout')
  else
    write (name, '(a,a,i0)') trim(prefix), '.', rank
    open (10, file=name)
  end if
  call numbers('level', [provided])
  call check(.not. flag, 'initialized')
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN LAST)
  call run('send_recv', send_recv)
  call run('ignore_status', ignore_status)
  call run('proc_null', proc_null)
  call run('test_false', test_false)
  call run('waitany_index', waitany_index)
  call run('waitsome_indices', waitsome_indices)
  call run('in_place', in_place)
  call run('in_place_requests', in_place_requests)
  call run('from_bottom', from_bottom)
  call run('strings', strings)
  call run('non_contiguous', non_contiguous)
  call run('wildcards', wildcards)
  call run('matched', matched)
  call run('replaced', replaced)
  call run('persistent', persistent)
  call run('cancelled', cancelled)
  call run('truncated', truncated)
  call run('errors', errors)
  call run('counted_errors', counted_errors)
  call run('attributes', attributes)
  call run('alltoallw', alltoallw)
  call run('communicators', communicators)
  call run('topology', topology)
  call run('one_sided', one_sided)
  call run('files', files)
  call run('packed', packed)
  call run('text_messages', text_messages)
  call run('own_operation', own_operation)
  call run('logicals', logicals)
  call run('statuses_made', statuses_made)
  call run('reused', reused)
  call run('controlled', controlled)
  running = 'end'
  call MPI_Finalize(ierr)
  call MPI_Finalized(flag LAST)
  call check(flag, 'finalized')
  call say('after: finalized')
contains
  subroutine run(name, what)
    character(len=*), intent(in) :: name
    external :: what
    running = name
    call MPI_Comm_dup(MPI_COMM_WORLD, comm LAST)
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN LAST)
    call what
    call say('done')
    call MPI_Barrier(comm LAST)
    call MPI_Comm_free(comm LAST)
  end subroutine
end program
