! SPDX-License-Identifier: BSD-3-Clause
! A session of one process, from Fortran; says what went wrong. With names of files as arguments it
! leads processes whose contacts are in these, and sends 5 messages around.
program app_session
  use, intrinsic :: iso_c_binding, only: c_double, c_int, c_int64_t
  use vftrace_session
  implicit none
  character(len=2048) :: contact, text
  integer(c_int) :: rank, size, comm, class, state, place, done
  integer(c_int64_t) :: then

  contact = ' '
  call check('join', vftrace_join(0, 'fortran ', contact))
  if (command_argument_count() > 0) then
    call lead()
    stop
  end if
  if (index(trim(contact), ' ') /= 0 .or. index(contact, '#') == 0) stop 2
  if (vftrace_join(0, 'again', contact) /= vftrace_error_already) stop 3
  call vftrace_last_error(text)
  if (text /= 'vftrace_join: this process has joined already') stop 4
  call vftrace_error_text(vftrace_error_number, text)
  if (index(text, 'number') == 0) stop 5
  call check('expect', vftrace_expect(1))
  call check('start', vftrace_start_async())
  call check('test', vftrace_test(done))
  if (done /= 1) stop 6
  call check('rank', vftrace_comm_rank(vftrace_comm_world, rank))
  call check('size', vftrace_comm_size(vftrace_comm_world, size))
  if (rank /= 0 .or. size /= 1) stop 7
  call check('create', vftrace_comm_create(vftrace_comm_world, 1, [0_c_int], 5.0_c_double, comm))
  then = vftrace_time()
  call check('begin', vftrace_begin_unordered(then))
  call check('send', vftrace_log_send(comm, 0, 3, 5000000000_c_int64_t))
  call check('end', vftrace_end_unordered())
  call check('receive', vftrace_log_receive(comm, 0, 3, 5000000000_c_int64_t))
  call check('collective', vftrace_log_collective(vftrace_allreduce, vftrace_comm_world, -1, &
    8_c_int64_t, 8_c_int64_t))
  call check('data', vftrace_log_data(17_c_int64_t, 'words'))
  call check('class', vftrace_class('class ', class))
  call check('state', vftrace_state('state', class, state))
  call check('location', vftrace_location('file.f90', 7, place))
  call check('enter', vftrace_enter(state, place))
  call check('leave', vftrace_leave_state(state, place))
  call check('counter', vftrace_counter_define('queue ', 'items ', vftrace_counter_integer, class))
  call check('set', vftrace_counter_set_integer(class, 7_c_int64_t))
  call check('counter', vftrace_counter_define('load', ' ', vftrace_counter_real, class))
  call check('set', vftrace_counter_set(class, 0.25_c_double))
  call check('free', vftrace_comm_free(comm))
  call check('finish', vftrace_finish(5.0_c_double))
  print '(a)', 'done'

contains

  subroutine lead()
    character(len=1000) :: file
    character(len=2000) :: contacts(command_argument_count())
    integer :: i, unit
    integer(c_int) :: n

    n = command_argument_count()
    contacts = '#'
    if (vftrace_expect(n + 1, contacts) /= vftrace_error_contact) stop 8
    contacts(n) = ' '
    if (vftrace_expect(n + 1, contacts(n:)) /= vftrace_error_contact) stop 9
    if (vftrace_expect(n - 1, contacts) /= vftrace_error_argument) stop 10
    do i = 1, n
      call get_command_argument(i, file)
      open (newunit=unit, file=file, status='old')
      read (unit, '(a)') contacts(n + 1 - i)
      close (unit)
    end do
    call check('expect', vftrace_expect(n + 1, contacts(n:1:-1)))
    call check('start', vftrace_start(20.0_c_double))
    do i = 1, 5
      call check('send', vftrace_log_send(vftrace_comm_world, 1, 7, 64_c_int64_t))
      call check('receive', vftrace_log_receive(vftrace_comm_world, n, 7, 64_c_int64_t))
    end do
    call check('finish', vftrace_finish(20.0_c_double))
    print '(a)', 'led'
  end subroutine lead

  subroutine check(what, code)
    character(len=*), intent(in) :: what
    integer(c_int), intent(in) :: code

    if (code == vftrace_ok) return
    call vftrace_last_error(text)
    print '(3a)', what, ': ', trim(text)
    stop 1
  end subroutine check
end program app_session
