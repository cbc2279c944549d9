! SPDX-License-Identifier: BSD-3-Clause
! The programs of main.c that matter in Fortran, where arguments are passed in other
! ways. Here the messages and their requests.
#include "fortran.inc"

module transcript
  implicit none
  integer :: rank, peer, comm_number, copied, deleted, combined, handled
  character(len=24) :: running
  character(len=200) :: line
contains
  subroutine say(text)
    character(len=*), intent(in) :: text
    write (10, '(a)') trim(running)//': '//trim(text)
    flush (10)
  end subroutine
  subroutine numbers(what, n)
    character(len=*), intent(in) :: what
    integer, intent(in) :: n(:)
    write (line, '(a,20(1x,i0))') what, n
    call say(line)
  end subroutine
  subroutine check(ok, what)
    logical, intent(in) :: ok
    character(len=*), intent(in) :: what
    if (.not. ok) call say('FAIL '//what)
  end subroutine
end module

module messages
  USE_IT
  use transcript
  implicit none
  INCLUDE_IT
  HANDLE(MPI_Comm) :: comm
  integer :: ierr
  integer :: in_bottom, out_bottom
  common /bottom/ in_bottom, out_bottom
contains
  subroutine say_status(what, s)
    character(len=*), intent(in) :: what
    STATUS(s)
    integer :: n
    logical :: cancelled
    call MPI_Get_count(s, MPI_INTEGER, n LAST)
    call MPI_Test_cancelled(s, cancelled LAST)
    ! the error is not: Open MPI 4.1 copies one that was never set
    write (line, '(a,3(1x,i0),1x,l1)') what, SOURCE(s), TAG(s), n, cancelled
    call say(line)
  end subroutine

  subroutine mark(s)
    STATUS(s)
#ifdef MPIFH
    s = 4711
#else
    s%MPI_SOURCE = 4711
    s%MPI_TAG = 4711
    s%MPI_ERROR = 4711
    call MPI_Status_set_elements(s, MPI_INTEGER, 0)
    call MPI_Status_set_cancelled(s, .false.) ! a probe leaves it so
#endif
  end subroutine

  subroutine send_recv
    STATUS(s)
    integer :: a(5), b(5), i
    a = [(10*rank + i, i=1, 5)]
    b = -1
    call mark(s)
    if (rank == 0) then
      call MPI_Send(a, 4, MPI_INTEGER, peer, 3, comm, ierr)
      call MPI_Recv(b, 5, MPI_INTEGER, peer, 3, comm, s, ierr)
    else
      call MPI_Recv(b, 5, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, s, ierr)
      call MPI_Send(a, 4, MPI_INTEGER, peer, 3, comm, ierr)
    end if
    call say_status('recv', s)
    call check(SOURCE(s) == peer .and. TAG(s) == 3 .and. b(4) == 10*peer + 4 .and. b(5) == -1, 'recv')
  end subroutine

  subroutine ignore_status
    integer :: a, b, c(2), n, indices(2)
    logical :: flag
    HANDLE(MPI_Request) :: r(2)
    a = rank
    call MPI_Sendrecv(a, 1, MPI_INTEGER, peer, 1, b, 1, MPI_INTEGER, MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE LAST)
    call check(b == peer, 'sendrecv')
    call MPI_Irecv(c(1), 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, r(1) LAST)
    call MPI_Isend(a, 1, MPI_INTEGER, peer, 2, comm, r(2) LAST)
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE LAST)
    call check(c(1) == peer .and. r(1) == MPI_REQUEST_NULL .and. r(2) == MPI_REQUEST_NULL, 'waitall')
    call MPI_Waitsome(2, r, n, indices, MPI_STATUSES_IGNORE LAST)
    call check(n == MPI_UNDEFINED, 'waitsome')
    call MPI_Testall(2, r, flag, MPI_STATUSES_IGNORE LAST)
    call check(flag, 'testall')
    call MPI_Wait(r(1), MPI_STATUS_IGNORE LAST)
    call numbers('got', [b, c(1), n])
  end subroutine

  subroutine proc_null
    STATUS(s)
    integer :: x
    HANDLE(MPI_Request) :: r(3)
    STATUSES(all, 3)
    x = 17
    call mark(s)
    call MPI_Recv(x, 1, MPI_INTEGER, MPI_PROC_NULL, 1, comm, s LAST)
    call say_status('nobody', s)
    call check(SOURCE(s) == MPI_PROC_NULL .and. TAG(s) == MPI_ANY_TAG .and. x == 17, 'recv')
    call MPI_Isend(x, 1, MPI_INTEGER, MPI_PROC_NULL, 1, comm, r(1) LAST)
    call MPI_Irecv(x, 1, MPI_INTEGER, MPI_PROC_NULL, 1, comm, r(2) LAST)
    call MPI_Isend(x, 1, MPI_INTEGER, MPI_PROC_NULL, 2, comm, r(3) LAST)
    call mark(ONE_OF(all, 2))
    call MPI_Waitall(3, r, all LAST)
    ! MPICH 4.0 leaves this status as it was
    call numbers('irecv', [x, SOURCE_OF(all, 2), TAG_OF(all, 2)])
  end subroutine

  subroutine test_false
    STATUS(s)
    integer :: x, index, n, indices(1)
    logical :: flag
    HANDLE(MPI_Request) :: r(1), before
    call MPI_Irecv(x, 1, MPI_INTEGER, rank, 9, comm, r(1) LAST)
    before = r(1)
    call mark(s)
    flag = .true.
    call MPI_Test(r(1), flag, s LAST)
    call check(.not. flag .and. SOURCE(s) == 4711 .and. TAG(s) == 4711, 'test')
    flag = .true.
    index = 4
    call MPI_Testany(1, r, index, flag, s LAST)
    call check(.not. flag, 'testany')
    call numbers('index', [index])
    n = -5
    call MPI_Testsome(1, r, n, indices, MPI_STATUSES_IGNORE LAST)
    call check(n == 0 .and. r(1) == before, 'testsome')
    call MPI_Request_get_status(r(1), flag, s LAST)
    call check(.not. flag, 'get_status')
    call MPI_Send(rank, 1, MPI_INTEGER, rank, 9, comm LAST)
    call MPI_Wait(r(1), s LAST)
    call say_status('then', s)
    call check(x == rank .and. r(1) == MPI_REQUEST_NULL, 'wait')
  end subroutine

  subroutine waitany_index
    STATUS(s)
    integer :: x(3), index
    logical :: flag
    HANDLE(MPI_Request) :: r(3)
    r(1) = MPI_REQUEST_NULL
    call MPI_Irecv(x(2), 1, MPI_INTEGER, rank, 2, comm, r(2) LAST)
    call MPI_Irecv(x(3), 1, MPI_INTEGER, rank, 3, comm, r(3) LAST)
    call MPI_Send(rank, 1, MPI_INTEGER, rank, 3, comm LAST)
    call mark(s)
    index = -5
    call MPI_Waitany(3, r, index, s LAST)
    call numbers('index', [index])
    call say_status('any', s)
    ! MPICH 4.0 counts these from 0 in mpi_f08 and adds 1 to MPI_UNDEFINED in mpif.h
    call check(x(3) == rank .and. TAG(s) == 3, 'waitany')
    call MPI_Send(rank, 1, MPI_INTEGER, rank, 2, comm LAST)
    flag = .false.
    do while (.not. flag)
      call MPI_Testany(3, r, index, flag, s LAST)
    end do
    call numbers('index', [index])
    call check(x(2) == rank .and. TAG(s) == 2, 'testany')
    call MPI_Waitany(3, r, index, s LAST)
    call numbers('none left', [index])
    call MPI_Testany(0, r, index, flag, MPI_STATUS_IGNORE LAST)
    call numbers('count 0', [index])
    call check(flag, 'count 0')
  end subroutine

  subroutine waitsome_indices
    STATUSES(s, 4)
    STATUS(one)
    integer :: x(4), n, indices(4), i
    logical :: flag
    HANDLE(MPI_Request) :: r(4)
    r = MPI_REQUEST_NULL
    do i = 2, 4, 2
      call MPI_Irecv(x(i), 1, MPI_INTEGER, MPI_ANY_SOURCE, i, comm, r(i) LAST)
      call MPI_Send(i, 1, MPI_INTEGER, rank, i, comm LAST)
    end do
    do i = 2, 4, 2
      flag = .false.
      do while (.not. flag)
        ! not MPI_STATUS_IGNORE: Open MPI 4.1 says .false. then, always
        call MPI_Request_get_status(r(i), flag, one LAST)
      end do
    end do
    call MPI_Waitsome(4, r, n, indices, s LAST)
    call numbers('some', [n, indices(1), indices(2), TAG_OF(s, 1), TAG_OF(s, 2), SOURCE_OF(s, 1)])
    call check(n == 2 .and. indices(2) - indices(1) == 2 .and. TAG_OF(s, 2) == 4, 'waitsome')
    call MPI_Testsome(4, r, n, indices, s LAST)
    call check(n == MPI_UNDEFINED, 'none left')
  end subroutine

  subroutine in_place
    integer :: a(4), b(2)
    a = [rank, -1, -1, -1]
    call MPI_Allreduce(MPI_IN_PLACE, a, 1, MPI_INTEGER, MPI_SUM, comm LAST)
    call check(a(1) == 1, 'allreduce')
    a = -1
    a(rank + 1) = 5*rank
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, a, 1, MPI_INTEGER, comm LAST)
    call check(a(1) == 0 .and. a(2) == 5, 'allgather')
    b = [rank, 10 + rank]
    call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INTEGER, b, 1, MPI_INTEGER, comm LAST)
    call check(b(peer + 1) == 10*rank + peer, 'alltoall')
    if (rank == 0) then
      call MPI_Reduce(MPI_IN_PLACE, a, 2, MPI_INTEGER, MPI_SUM, 0, comm LAST)
      call check(a(2) == 10, 'reduce')
      call MPI_Gather(MPI_IN_PLACE, 0, MPI_INTEGER, a, 1, MPI_INTEGER, 0, comm LAST)
      call MPI_Scatter(a, 1, MPI_INTEGER, MPI_IN_PLACE, 0, MPI_INTEGER, 0, comm LAST)
    else
      call MPI_Reduce(a, b, 2, MPI_INTEGER, MPI_SUM, 0, comm LAST)
      call MPI_Gather(a(2), 1, MPI_INTEGER, b, 1, MPI_INTEGER, 0, comm LAST)
      call MPI_Scatter(b, 1, MPI_INTEGER, b, 1, MPI_INTEGER, 0, comm LAST)
    end if
    call numbers('data', [a, b])
  end subroutine

  subroutine in_place_requests
    integer :: a(2), b(2)
    HANDLE(MPI_Request) :: r(2)
    a = [rank, 1]
    b = [rank, 1]
    call MPI_Iallreduce(MPI_IN_PLACE, a, 2, MPI_INTEGER, MPI_SUM, comm, r(1) LAST)
    call MPI_Iscan(MPI_IN_PLACE, b, 2, MPI_INTEGER, MPI_SUM, comm, r(2) LAST)
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE LAST)
    call numbers('data', [a, b])
    call check(a(2) == 2 .and. b(2) == rank + 1, 'in place')
  end subroutine

  subroutine from_bottom
    HANDLE(MPI_Datatype) :: to, from, types(1)
    integer(kind=MPI_ADDRESS_KIND) :: place(1)
    integer :: one(1)
    STATUS(s)
    one = 1
    out_bottom = 100 + rank
    in_bottom = -1
    types(1) = MPI_INTEGER
    call MPI_Get_address(out_bottom, place(1) LAST)
    call MPI_Type_create_struct(1, one, place, types, from LAST)
    call MPI_Get_address(in_bottom, place(1) LAST)
    call MPI_Type_create_struct(1, one, place, types, to LAST)
    call MPI_Type_commit(from LAST)
    call MPI_Type_commit(to LAST)
    call mark(s)
    call MPI_Sendrecv(MPI_BOTTOM, 1, from, peer, 1, MPI_BOTTOM, 1, to, peer, 1, comm, s LAST)
    call say_status('bottom', s)
    call see_bottom
    call MPI_Bcast(MPI_BOTTOM, 1, from, 0, comm LAST)
    call MPI_Type_free(from LAST)
    call MPI_Type_free(to LAST)
  end subroutine

  subroutine see_bottom
    call check(in_bottom == 100 + peer, 'bottom')
  end subroutine

  subroutine strings
    character(len=MPI_MAX_OBJECT_NAME) :: name
    character(len=MPI_MAX_ERROR_STRING) :: text
    character(len=MPI_MAX_PROCESSOR_NAME) :: node
    character(len=6) :: value
    character(len=MPI_MAX_INFO_KEY) :: key
    integer :: n
    logical :: flag
    HANDLE(MPI_Info) :: info
    call MPI_Comm_set_name(comm, 'a name, with blanks   ' LAST)
    name = repeat('x', len(name))
    call MPI_Comm_get_name(comm, name, n LAST)
    call say('name `'//name(1:n)//'''')
    call check(n == 19 .and. name(n:n + 1) == 's ', 'name')
    call MPI_Info_create(info LAST)
    call MPI_Info_set(info, '  key ', ' value ' LAST)
    call MPI_Info_get(info, 'key', len(value), value, flag LAST)
    call check(flag, 'key')
    call say('value `'//value//'''')
    call MPI_Info_get_nthkey(info, 0, key LAST)
    call say('key `'//trim(key)//'''')
    call MPI_Info_free(info LAST)
    call MPI_Error_string(MPI_ERR_RANK, text, n LAST)
    call say('error '//text(1:n))
    call MPI_Get_processor_name(node, n LAST)
    call check(len_trim(node) == n, 'node')
  end subroutine

  subroutine non_contiguous
    integer :: a(6, 4), b(6, 4), i
    STATUS(s)
    a = reshape([(100*rank + i, i=1, 24)], [6, 4])
    b = -1
    call mark(s)
    if (rank == 0) then
      call MPI_Send(a(2, :), 4, MPI_INTEGER, peer, 1, comm LAST)
      call MPI_Recv(b(1:6:2, 3), 3, MPI_INTEGER, peer, 2, comm, s LAST)
      call check(b(5, 3) == a(4, 2) + 100 .and. b(2, 3) == -1, 'strided')
    else
      call MPI_Recv(b(2, :), 4, MPI_INTEGER, peer, 1, comm, s LAST)
      call check(b(2, 4) == a(2, 4) - 100 .and. b(1, 4) == -1, 'row')
      call MPI_Send(a(2:4, 2), 3, MPI_INTEGER, peer, 2, comm LAST)
    end if
    call say_status('part', s)
    call MPI_Allreduce(a(1:5:2, 1), b(2:4, 1), 3, MPI_INTEGER, MPI_SUM, comm LAST)
    call numbers('sum', b(:, 1))
    call MPI_Bcast(b(6:1:-1, 2), 6, MPI_INTEGER, 0, comm LAST)
    call numbers('backwards', b(:, 2))
  end subroutine

  subroutine wildcards
    STATUS(s)
    integer :: x
    logical :: flag
    if (rank == 0) then
      call MPI_Send(5, 1, MPI_INTEGER, peer, 77, comm LAST)
    else
      call mark(s)
      call MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, s LAST)
      call say_status('probe', s)
      call MPI_Iprobe(MPI_ANY_SOURCE, 77, comm, flag, MPI_STATUS_IGNORE LAST)
      call check(flag .and. SOURCE(s) == 0 .and. TAG(s) == 77, 'probe')
      call MPI_Recv(x, 1, MPI_INTEGER, SOURCE(s), TAG(s), comm, MPI_STATUS_IGNORE LAST)
      call check(x == 5, 'recv')
    end if
    flag = .true.
    call MPI_Iprobe(MPI_ANY_SOURCE, 5, comm, flag, s LAST)
    call check(.not. flag, 'nothing')
  end subroutine

  subroutine matched
    STATUS(s)
    integer :: x(3)
    logical :: flag
    HANDLE(MPI_Message) :: message
    HANDLE(MPI_Request) :: r
    if (rank == 0) then
      call MPI_Send([1, 2, 3], 3, MPI_INTEGER, peer, 8, comm LAST)
      call MPI_Send([4, 5, 6], 3, MPI_INTEGER, peer, 9, comm LAST)
    else
      call mark(s)
      call MPI_Mprobe(MPI_ANY_SOURCE, 8, comm, message, s LAST)
      call say_status('mprobe', s)
      call MPI_Mrecv(x, 3, MPI_INTEGER, message, s LAST)
      call check(x(3) == 3 .and. message == MPI_MESSAGE_NULL, 'mrecv')
      flag = .false.
      do while (.not. flag)
        call MPI_Improbe(0, MPI_ANY_TAG, comm, flag, message, MPI_STATUS_IGNORE LAST)
      end do
      call MPI_Imrecv(x, 3, MPI_INTEGER, message, r LAST)
      call MPI_Wait(r, s LAST)
      call say_status('imrecv', s)
      call check(x(1) == 4 .and. TAG(s) == 9, 'imrecv')
    end if
    call MPI_Mprobe(MPI_PROC_NULL, 1, comm, message, s LAST)
    call check(message == MPI_MESSAGE_NO_PROC, 'nobody')
    call MPI_Mrecv(x, 1, MPI_INTEGER, message, MPI_STATUS_IGNORE LAST)
  end subroutine

  subroutine replaced
    STATUS(s)
    integer :: x(2)
    x = [rank, 7]
    call mark(s)
    call MPI_Sendrecv_replace(x, 2, MPI_INTEGER, peer, 4, MPI_ANY_SOURCE, 4, comm, s LAST)
    call say_status('replaced', s)
    call check(x(1) == peer .and. x(2) == 7, 'replaced')
    call MPI_Sendrecv_replace(x, 2, MPI_INTEGER, MPI_PROC_NULL, 4, MPI_PROC_NULL, 4, comm, MPI_STATUS_IGNORE LAST)
    call check(x(1) == peer, 'by nothing')
  end subroutine

  subroutine persistent
    STATUSES(s, 2)
    integer :: a, b, i
    HANDLE(MPI_Request) :: r(2), before(2)
    call MPI_Send_init(a, 1, MPI_INTEGER, peer, 6, comm, r(1) LAST)
    call MPI_Recv_init(b, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, r(2) LAST)
    before = r
    do i = 1, 3
      a = 10*rank + i
      call MPI_Startall(2, r LAST)
      call MPI_Waitall(2, r, s LAST)
      call check(b == 10*peer + i .and. SOURCE_OF(s, 2) == peer .and. TAG_OF(s, 2) == 6, 'started')
      call check(r(1) == before(1) .and. r(2) == before(2), 'still there')
    end do
    call MPI_Request_free(r(1) LAST)
    call MPI_Start(r(2) LAST)
    call MPI_Cancel(r(2) LAST)
    call MPI_Wait(r(2), ONE_OF(s, 1) LAST)
    call MPI_Request_free(r(2) LAST)
    call check(r(2) == MPI_REQUEST_NULL, 'freed')
  end subroutine

  subroutine cancelled
    STATUS(s)
    integer :: x
    logical :: flag
    HANDLE(MPI_Request) :: r
    call MPI_Irecv(x, 1, MPI_INTEGER, MPI_ANY_SOURCE, 55, comm, r LAST)
    call MPI_Cancel(r LAST)
    call MPI_Wait(r, s LAST)
    flag = .false.
    call MPI_Test_cancelled(s, flag LAST)
    call check(flag .and. r == MPI_REQUEST_NULL, 'cancelled')
    call say(merge('cancelled    ', 'not cancelled', flag))
  end subroutine

  subroutine truncated
    STATUS(s)
    STATUSES(all, 2)
    integer :: x(4), y, code, class, kind
    HANDLE(MPI_Request) :: r(2)
    if (rank == 0) then
      call MPI_Send([1, 2, 3, 4], 4, MPI_INTEGER, peer, 1, comm LAST)
      call MPI_Send([1, 2, 3, 4], 4, MPI_INTEGER, peer, 2, comm LAST)
      call MPI_Send([5], 1, MPI_INTEGER, peer, 3, comm LAST)
      call MPI_Send([6], 1, MPI_INTEGER, peer, 4, comm LAST)
    else
      x = -1
      call MPI_Recv(x, 2, MPI_INTEGER, MPI_ANY_SOURCE, 1, comm, s, code)
      call MPI_Error_class(code, class LAST)
      call check(class == MPI_ERR_TRUNCATE .and. x(3) == -1, 'truncated')
      call numbers('recv', [class, SOURCE(s), TAG(s)])
      call MPI_Irecv(x, 1, MPI_INTEGER, 0, 2, comm, r(1) LAST)
      call MPI_Irecv(y, 1, MPI_INTEGER, 0, 3, comm, r(2) LAST)
      call MPI_Recv(x(2), 1, MPI_INTEGER, 0, 4, comm, MPI_STATUS_IGNORE LAST)
      call mark(ONE_OF(all, 1))
      call MPI_Waitall(2, r, all, code)
      call MPI_Error_class(code, class LAST)
      ! Open MPI 4.1 now leaves statuses and requests in Fortran as they were
      kind = 4711
      if (ERROR_OF(all, 1) /= 4711) call MPI_Error_class(ERROR_OF(all, 1), kind LAST)
      call numbers('waitall', [class, kind])
      call check(class == MPI_ERR_IN_STATUS .and. y == 5, 'in status')
    end if
  end subroutine
end module
