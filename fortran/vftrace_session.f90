! SPDX-License-Identifier: BSD-3-Clause
! Fortran's side of vftrace-session.h: `use vftrace_session'. See vftrace-session(3).
!
! Functions return the codes of C. Texts are passed without their trailing blanks. Only C,
! and what compilers put in line, is called here: see vftrace.f90.
module vftrace_session
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_double, c_f_pointer, c_int, &
    c_int64_t, c_loc, c_null_char, c_null_ptr, c_ptr
  implicit none
  private

  integer(c_int), parameter, public :: vftrace_ok = 0
  integer(c_int), parameter, public :: vftrace_no_agent = 1
  integer(c_int), parameter, public :: vftrace_error_not_joined = 2
  integer(c_int), parameter, public :: vftrace_error_not_started = 3
  integer(c_int), parameter, public :: vftrace_error_already = 4
  integer(c_int), parameter, public :: vftrace_error_number = 5
  integer(c_int), parameter, public :: vftrace_error_contact = 6
  integer(c_int), parameter, public :: vftrace_error_timeout = 7
  integer(c_int), parameter, public :: vftrace_error_aborted = 8
  integer(c_int), parameter, public :: vftrace_error_dead = 9
  integer(c_int), parameter, public :: vftrace_error_mismatch = 10
  integer(c_int), parameter, public :: vftrace_error_argument = 11
  integer(c_int), parameter, public :: vftrace_error_busy = 12
  integer(c_int), parameter, public :: vftrace_error_limit = 13
  integer(c_int), parameter, public :: vftrace_error_agent_gone = 14

  integer(c_int), parameter, public :: vftrace_comm_invalid = -1
  integer(c_int), parameter, public :: vftrace_comm_world = 1
  integer(c_int), parameter, public :: vftrace_comm_self = 2
  integer(c_int), parameter, public :: vftrace_comm_parent = 3

  integer(c_int), parameter, public :: vftrace_barrier = 0
  integer(c_int), parameter, public :: vftrace_broadcast = 1
  integer(c_int), parameter, public :: vftrace_reduce = 2
  integer(c_int), parameter, public :: vftrace_allreduce = 3
  integer(c_int), parameter, public :: vftrace_gather = 4
  integer(c_int), parameter, public :: vftrace_allgather = 5
  integer(c_int), parameter, public :: vftrace_scatter = 6
  integer(c_int), parameter, public :: vftrace_alltoall = 7

  integer(c_int), parameter, public :: vftrace_counter_integer = 0
  integer(c_int), parameter, public :: vftrace_counter_real = 1

  public :: vftrace_join
  public :: vftrace_expect
  public :: vftrace_start
  public :: vftrace_start_async
  public :: vftrace_test
  public :: vftrace_finish
  public :: vftrace_abort
  public :: vftrace_reset
  public :: vftrace_leave
  public :: vftrace_enabled
  public :: vftrace_round
  public :: vftrace_comm_rank
  public :: vftrace_comm_size
  public :: vftrace_comm_create
  public :: vftrace_comm_free
  public :: vftrace_children
  public :: vftrace_attach
  public :: vftrace_parent
  public :: vftrace_log_send
  public :: vftrace_log_receive
  public :: vftrace_collective_begin
  public :: vftrace_collective_end
  public :: vftrace_log_collective
  public :: vftrace_log_data
  public :: vftrace_begin_unordered
  public :: vftrace_end_unordered
  public :: vftrace_class
  public :: vftrace_state
  public :: vftrace_location
  public :: vftrace_enter
  public :: vftrace_leave_state
  public :: vftrace_counter_define
  public :: vftrace_counter_set
  public :: vftrace_counter_set_integer
  public :: vftrace_time
  public :: vftrace_error_text
  public :: vftrace_last_error

  integer, parameter :: name_most = 255, contact_most = 2048, error_most = 512, blank = 32

  interface
    function c_join(number, name, contact) bind(c, name="vftrace_join") result(code)
      import :: c_int, c_char, c_ptr
      integer(c_int), value :: number
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(inout) :: contact
      integer(c_int) :: code
    end function c_join

    function c_expect(processes, n_contacts, contacts) bind(c, name="vftrace_expect") result(code)
      import :: c_int, c_ptr
      integer(c_int), value :: processes
      integer(c_int), value :: n_contacts
      type(c_ptr), intent(in) :: contacts(*)
      integer(c_int) :: code
    end function c_expect

    function vftrace_start(timeout_s) bind(c, name="vftrace_start") result(code)
      import :: c_int, c_double
      real(c_double), value :: timeout_s
      integer(c_int) :: code
    end function vftrace_start

    function vftrace_start_async() bind(c, name="vftrace_start_async") result(code)
      import :: c_int
      integer(c_int) :: code
    end function vftrace_start_async

    function vftrace_test(done) bind(c, name="vftrace_test") result(code)
      import :: c_int
      integer(c_int), intent(out) :: done
      integer(c_int) :: code
    end function vftrace_test

    function vftrace_finish(timeout_s) bind(c, name="vftrace_finish") result(code)
      import :: c_int, c_double
      real(c_double), value :: timeout_s
      integer(c_int) :: code
    end function vftrace_finish

    function vftrace_abort() bind(c, name="vftrace_abort") result(code)
      import :: c_int
      integer(c_int) :: code
    end function vftrace_abort

    function vftrace_reset() bind(c, name="vftrace_reset") result(code)
      import :: c_int
      integer(c_int) :: code
    end function vftrace_reset

    function vftrace_leave() bind(c, name="vftrace_leave") result(code)
      import :: c_int
      integer(c_int) :: code
    end function vftrace_leave

    function vftrace_enabled() bind(c, name="vftrace_enabled") result(code)
      import :: c_int
      integer(c_int) :: code
    end function vftrace_enabled

    function vftrace_round() bind(c, name="vftrace_round") result(code)
      import :: c_int
      integer(c_int) :: code
    end function vftrace_round

    function vftrace_comm_rank(comm, rank) bind(c, name="vftrace_comm_rank") result(code)
      import :: c_int
      integer(c_int), value :: comm
      integer(c_int), intent(out) :: rank
      integer(c_int) :: code
    end function vftrace_comm_rank

    function vftrace_comm_size(comm, size) bind(c, name="vftrace_comm_size") result(code)
      import :: c_int
      integer(c_int), value :: comm
      integer(c_int), intent(out) :: size
      integer(c_int) :: code
    end function vftrace_comm_size

    function vftrace_comm_create(comm, n, ranks, timeout_s, new_comm) &
      bind(c, name="vftrace_comm_create") result(code)
      import :: c_int, c_double
      integer(c_int), value :: comm
      integer(c_int), value :: n
      integer(c_int), intent(in) :: ranks(*)
      real(c_double), value :: timeout_s
      integer(c_int), intent(out) :: new_comm
      integer(c_int) :: code
    end function vftrace_comm_create

    function vftrace_comm_free(comm) bind(c, name="vftrace_comm_free") result(code)
      import :: c_int
      integer(c_int), intent(inout) :: comm
      integer(c_int) :: code
    end function vftrace_comm_free

    function c_children(contact) bind(c, name="vftrace_children") result(code)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: contact
      integer(c_int) :: code
    end function c_children

    function c_attach(root, comm, children, contact, timeout_s, new_comm) &
      bind(c, name="vftrace_attach") result(code)
      import :: c_int, c_double, c_char
      integer(c_int), value :: root
      integer(c_int), value :: comm
      integer(c_int), value :: children
      character(kind=c_char), intent(in) :: contact(*)
      real(c_double), value :: timeout_s
      integer(c_int), intent(out) :: new_comm
      integer(c_int) :: code
    end function c_attach

    function vftrace_parent(comm) bind(c, name="vftrace_parent") result(code)
      import :: c_int
      integer(c_int), intent(out) :: comm
      integer(c_int) :: code
    end function vftrace_parent

    function vftrace_log_send(comm, peer, tag, bytes) &
      bind(c, name="vftrace_log_send") result(code)
      import :: c_int, c_int64_t
      integer(c_int), value :: comm
      integer(c_int), value :: peer
      integer(c_int), value :: tag
      integer(c_int64_t), value :: bytes
      integer(c_int) :: code
    end function vftrace_log_send

    function vftrace_log_receive(comm, peer, tag, bytes) &
      bind(c, name="vftrace_log_receive") result(code)
      import :: c_int, c_int64_t
      integer(c_int), value :: comm
      integer(c_int), value :: peer
      integer(c_int), value :: tag
      integer(c_int64_t), value :: bytes
      integer(c_int) :: code
    end function vftrace_log_receive

    function vftrace_collective_begin() bind(c, name="vftrace_collective_begin") result(code)
      import :: c_int
      integer(c_int) :: code
    end function vftrace_collective_begin

    function vftrace_collective_end() bind(c, name="vftrace_collective_end") result(code)
      import :: c_int
      integer(c_int) :: code
    end function vftrace_collective_end

    function vftrace_log_collective(operation, comm, root, bytes_sent, bytes_received) &
      bind(c, name="vftrace_log_collective") result(code)
      import :: c_int, c_int64_t
      integer(c_int), value :: operation
      integer(c_int), value :: comm
      integer(c_int), value :: root
      integer(c_int64_t), value :: bytes_sent
      integer(c_int64_t), value :: bytes_received
      integer(c_int) :: code
    end function vftrace_log_collective

    function c_log_data(bytes, label) bind(c, name="vftrace_log_data") result(code)
      import :: c_int, c_int64_t, c_char
      integer(c_int64_t), value :: bytes
      character(kind=c_char), intent(in) :: label(*)
      integer(c_int) :: code
    end function c_log_data

    function vftrace_begin_unordered(time) bind(c, name="vftrace_begin_unordered") result(code)
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: time
      integer(c_int) :: code
    end function vftrace_begin_unordered

    function vftrace_end_unordered() bind(c, name="vftrace_end_unordered") result(code)
      import :: c_int
      integer(c_int) :: code
    end function vftrace_end_unordered

    function c_class(name, number) bind(c, name="vftrace_class") result(code)
      import :: c_int, c_char
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), intent(out) :: number
      integer(c_int) :: code
    end function c_class

    function c_state(name, class_number, number) bind(c, name="vftrace_state") result(code)
      import :: c_int, c_char
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: class_number
      integer(c_int), intent(out) :: number
      integer(c_int) :: code
    end function c_state

    function c_location(file, line, number) bind(c, name="vftrace_location") result(code)
      import :: c_int, c_char
      character(kind=c_char), intent(in) :: file(*)
      integer(c_int), value :: line
      integer(c_int), intent(out) :: number
      integer(c_int) :: code
    end function c_location

    function vftrace_enter(state, location) bind(c, name="vftrace_enter") result(code)
      import :: c_int
      integer(c_int), value :: state
      integer(c_int), value :: location
      integer(c_int) :: code
    end function vftrace_enter

    function vftrace_leave_state(state, location) bind(c, name="vftrace_leave_state") result(code)
      import :: c_int
      integer(c_int), value :: state
      integer(c_int), value :: location
      integer(c_int) :: code
    end function vftrace_leave_state

    function c_counter_define(name, unit, type, number) &
      bind(c, name="vftrace_counter_define") result(code)
      import :: c_int, c_char
      character(kind=c_char), intent(in) :: name(*)
      character(kind=c_char), intent(in) :: unit(*)
      integer(c_int), value :: type
      integer(c_int), intent(out) :: number
      integer(c_int) :: code
    end function c_counter_define

    function vftrace_counter_set(number, value) bind(c, name="vftrace_counter_set") result(code)
      import :: c_int, c_double
      integer(c_int), value :: number
      real(c_double), value :: value
      integer(c_int) :: code
    end function vftrace_counter_set

    function vftrace_counter_set_integer(number, value) &
      bind(c, name="vftrace_counter_set_integer") result(code)
      import :: c_int, c_int64_t
      integer(c_int), value :: number
      integer(c_int64_t), value :: value
      integer(c_int) :: code
    end function vftrace_counter_set_integer

    function vftrace_time() bind(c, name="vftrace_time") result(code)
      import :: c_int64_t
      integer(c_int64_t) :: code
    end function vftrace_time

    function c_error_text(code) bind(c, name="vftrace_error_text") result(text)
      import :: c_int, c_ptr
      integer(c_int), value :: code
      type(c_ptr) :: text
    end function c_error_text

    function c_last_error() bind(c, name="vftrace_last_error") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function c_last_error
  end interface

contains

  ! As C wants it: without trailing blanks, with a NUL. What is too long is cut.
  pure subroutine to_c(text, c)
    character(len=*), intent(in) :: text
    character(kind=c_char), intent(out) :: c(:)
    integer :: i, n

    n = 0
    do i = 1, min(len(text), size(c) - 1)
      c(i) = text(i:i)
      if (iachar(text(i:i)) /= blank) n = i
    end do
    c(n + 1) = c_null_char
  end subroutine to_c

  subroutine from_c(text, to, most)
    type(c_ptr), intent(in) :: text
    character(len=*), intent(inout) :: to
    integer, intent(in) :: most
    character(kind=c_char), pointer :: from(:)
    integer :: i, k

    do k = 1, len(to)
      to(k:k) = ' '
    end do
    if (.not. c_associated(text)) return
    call c_f_pointer(text, from, [most + 1])
    do i = 1, min(len(to), most)
      if (from(i) == c_null_char) exit
      to(i:i) = from(i)
    end do
  end subroutine from_c

  ! contact: as in C, where blanks are NULL.
  function vftrace_join(number, name, contact) result(code)
    integer(c_int), intent(in) :: number
    character(len=*), intent(in) :: name
    character(len=*), intent(inout) :: contact
    integer(c_int) :: code
    character(kind=c_char), target :: own(name_most + 2), theirs(contact_most + 2)
    type(c_ptr) :: at

    call to_c(name, own)
    call to_c(contact, theirs)
    at = c_null_ptr
    if (theirs(1) /= c_null_char) at = c_loc(theirs(1))
    code = c_join(number, own, at)
    if (code == vftrace_ok) call from_c(at, contact, contact_most)
  end function vftrace_join

  ! contacts: of processes that have joined; any number, or left out.
  function vftrace_expect(processes, contacts) result(code)
    integer(c_int), intent(in) :: processes
    character(len=*), intent(in), optional :: contacts(:)
    integer(c_int) :: code
    character(kind=c_char), allocatable, target :: text(:, :)
    type(c_ptr), allocatable :: at(:)
    integer :: failed, i, n

    n = 0
    if (present(contacts)) n = size(contacts)
    allocate(text(contact_most + 2, n), at(n + 1), stat=failed)
    if (failed /= 0) then
      code = vftrace_error_limit
      return
    end if
    at(n + 1) = c_null_ptr
    do i = 1, n
      call to_c(contacts(i), text(:, i))
      at(i) = c_loc(text(1, i))
    end do
    code = c_expect(processes, n, at)
  end function vftrace_expect

  function vftrace_children(contact) result(code)
    character(len=*), intent(inout) :: contact
    integer(c_int) :: code
    type(c_ptr) :: at

    at = c_null_ptr
    code = c_children(at)
    if (code == vftrace_ok) call from_c(at, contact, contact_most)
  end function vftrace_children

  function vftrace_attach(root, comm, children, contact, timeout_s, new_comm) result(code)
    integer(c_int), intent(in) :: root, comm, children
    character(len=*), intent(in) :: contact
    real(c_double), intent(in) :: timeout_s
    integer(c_int), intent(out) :: new_comm
    integer(c_int) :: code
    character(kind=c_char) :: theirs(contact_most + 2)

    call to_c(contact, theirs)
    code = c_attach(root, comm, children, theirs, timeout_s, new_comm)
  end function vftrace_attach

  function vftrace_log_data(bytes, label) result(code)
    integer(c_int64_t), intent(in) :: bytes
    character(len=*), intent(in) :: label
    integer(c_int) :: code
    character(kind=c_char) :: c(name_most + 2)

    call to_c(label, c)
    code = c_log_data(bytes, c)
  end function vftrace_log_data

  function vftrace_class(name, number) result(code)
    character(len=*), intent(in) :: name
    integer(c_int), intent(out) :: number
    integer(c_int) :: code
    character(kind=c_char) :: c(name_most + 2)

    number = 0
    call to_c(name, c)
    code = c_class(c, number)
  end function vftrace_class

  function vftrace_state(name, class_number, number) result(code)
    character(len=*), intent(in) :: name
    integer(c_int), intent(in) :: class_number
    integer(c_int), intent(out) :: number
    integer(c_int) :: code
    character(kind=c_char) :: c(name_most + 2)

    number = 0
    call to_c(name, c)
    code = c_state(c, class_number, number)
  end function vftrace_state

  function vftrace_location(file, line, number) result(code)
    character(len=*), intent(in) :: file
    integer(c_int), intent(in) :: line
    integer(c_int), intent(out) :: number
    integer(c_int) :: code
    character(kind=c_char) :: c(name_most + 2)

    number = 0
    call to_c(file, c)
    code = c_location(c, line, number)
  end function vftrace_location

  ! unit: blank if there is none.
  function vftrace_counter_define(name, unit, type, number) result(code)
    character(len=*), intent(in) :: name, unit
    integer(c_int), intent(in) :: type
    integer(c_int), intent(out) :: number
    integer(c_int) :: code
    character(kind=c_char) :: c(name_most + 2), u(name_most + 2)

    number = 0
    call to_c(name, c)
    call to_c(unit, u)
    code = c_counter_define(c, u, type, number)
  end function vftrace_counter_define

  subroutine vftrace_error_text(code, text)
    integer(c_int), intent(in) :: code
    character(len=*), intent(inout) :: text

    call from_c(c_error_text(code), text, error_most)
  end subroutine vftrace_error_text

  ! What went wrong last on this thread; blank if nothing did.
  subroutine vftrace_last_error(text)
    character(len=*), intent(inout) :: text

    call from_c(c_last_error(), text, error_most)
  end subroutine vftrace_last_error
end module vftrace_session
