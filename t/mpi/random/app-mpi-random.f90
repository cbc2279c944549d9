! SPDX-License-Identifier: BSD-3-Clause
! A small random communication program that knows what it does, in mpi_f08, or in
! mpif.h with -DMPIFH:   app-mpi-random PREFIX SEED ROUNDS
! As app-mpi-random.c, rank R writes PREFIXR, with the same lines. All ranks draw
! the same messages and take them in the same order; tags are unique in a round.
! Compile with -cpp.
#ifdef MPIFH
#define HANDLE(kind) integer
#define LAST , ierr
#else
#define HANDLE(kind) type(kind)
#define LAST
#endif
#define COUNTED(name) call count_call(name)
program random
#ifndef MPIFH
  use mpi_f08
#endif
  implicit none
#ifdef MPIFH
  include 'mpif.h'
#endif
  integer, parameter :: i8 = selected_int_kind(18), ranks = 8, n_groups = 4, open_max = 64, longest = 3000
  integer, parameter :: by_send = 1, by_ssend = 2, by_isend = 3, by_bsend = 4, by_start = 5
  HANDLE(MPI_Comm) :: comms(n_groups), other
  character(len=16) :: names(n_groups) = [character(len=16) :: 'MPI_COMM_WORLD', 'reversed', 'even', 'odd']
  integer :: members(0:ranks - 1, n_groups), sizes_of(n_groups)
  HANDLE(MPI_Request) :: requests(open_max)
  integer :: buffers(longest, open_max), n_open, ierr
  integer :: space(400000), wall(longest)
  integer(i8) :: state
  integer :: rank, n, rounds, round
  ! sends, bytes sent, receives, bytes received
  integer(i8) :: pairs(4, 0:ranks - 1) = 0, sizes(4, 0:40) = 0, comm_sums(4, n_groups) = 0
  integer(i8) :: collectives(3, n_groups) = 0, function_sums(4, 64) = 0, function_calls(64) = 0
  character(len=24) :: functions(64) = ''
  integer :: last_function
  character(len=256) :: prefix, word

  call get_command_argument(1, prefix)
  call get_command_argument(2, word)
  read (word, *) state
  call get_command_argument(3, word)
  read (word, *) rounds
  ierr = 0
  COUNTED('MPI_Init')
  call MPI_Init(ierr)
  COUNTED('MPI_Comm_rank')
  call MPI_Comm_rank(MPI_COMM_WORLD, rank LAST)
  COUNTED('MPI_Comm_size')
  call MPI_Comm_size(MPI_COMM_WORLD, n LAST)
  if (n > ranks .or. n < 2) stop 2
  COUNTED('MPI_Buffer_attach')
  call MPI_Buffer_attach(space, 4 * size(space) LAST)
  call make_groups
  do round = 1, rounds
    call one_round
  end do
  call free_groups
  COUNTED('MPI_Finalize')
  call write_counts
  call MPI_Finalize(ierr)

contains

  integer function pick(k)
    integer, intent(in) :: k
    state = mod(state * 48271_i8, 2147483647_i8)
    pick = int(mod(state / 8, int(k, i8)))
  end function

  ! ---- counting ---------------------------------------------------------------

  subroutine count_call(name)
    character(len=*), intent(in) :: name
    last_function = findloc(functions, name, dim=1)
    if (last_function == 0) last_function = findloc(functions, '', dim=1)
    functions(last_function) = name
    function_calls(last_function) = function_calls(last_function) + 1
  end subroutine

  subroutine count_message(g, world, sent, elements)
    integer, intent(in) :: g, world, elements
    logical, intent(in) :: sent
    integer(i8) :: t(4)
    integer :: class
    t = 0
    t(merge(1, 3, sent)) = 1
    t(merge(2, 4, sent)) = 4 * elements
    class = bit_size(elements) - leadz(4 * elements)
    pairs(:, world) = pairs(:, world) + t
    sizes(:, class) = sizes(:, class) + t
    comm_sums(:, g) = comm_sums(:, g) + t
    function_sums(:, last_function) = function_sums(:, last_function) + t
  end subroutine

  subroutine count_collective(g, sends, receives, elements)
    integer, intent(in) :: g, sends, receives, elements
    collectives(:, g) = collectives(:, g) + [1, 4 * sends * elements, 4 * receives * elements]
    function_sums(:, last_function) = function_sums(:, last_function) + &
      [sends, 4 * sends * elements, receives, 4 * receives * elements]
  end subroutine

  subroutine write_counts
    integer :: unit, i
    write (word, '(a,i0)') trim(prefix), rank
    open (newunit=unit, file=trim(word), action='write')
    do i = 0, n - 1
      if (pairs(1, i) > 0) write (unit, '(2(a,i0,1x,i0,1x,i0,1x,i0,a))') &
        'pair ', rank, i, pairs(1:2, i), ' 0 0'
      if (pairs(1, i) > 0) write (unit, '(a,i0,1x,i0,1x,i0,1x,i0,a)') &
        'message ', rank, i, pairs(1:2, i), ' 0 0'
      if (pairs(3, i) > 0) write (unit, '(a,i0,1x,i0,a,i0,1x,i0)') &
        'pair ', i, rank, ' 0 0 ', pairs(3:4, i)
      if (pairs(3, i) > 0) write (unit, '(a,i0,1x,i0,a,i0,1x,i0)') &
        'message ', i, rank, ' 0 0 ', pairs(3:4, i)
    end do
    do i = 0, 40
      if (any(sizes(:, i) > 0)) write (unit, '(a,i0,4(1x,i0))') &
        'size ', merge(0_i8, ishft(1_i8, i - 1), i == 0), sizes(:, i)
    end do
    do i = 1, n_groups
      if (any(comm_sums(:, i) > 0) .or. any(collectives(:, i) > 0)) &
        write (unit, '(a,a,7(1x,i0))') 'comm ', trim(names(i)), comm_sums(:, i), collectives(:, i)
    end do
    do i = 1, size(functions)
      if (functions(i) /= '') write (unit, '(a,a,5(1x,i0))') &
        'function ', trim(functions(i)), function_calls(i), function_sums(:, i)
    end do
    close (unit)
  end subroutine

  ! ---- communicators ------------------------------------------------------------

  subroutine make_groups
    integer :: i
    comms(1) = MPI_COMM_WORLD
    members(:, 1) = [(i, i = 0, ranks - 1)]
    COUNTED('MPI_Comm_split')
    call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, comms(2) LAST)
    members(:, 2) = [(n - 1 - i, i = 0, ranks - 1)]
    COUNTED('MPI_Comm_split')
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, other LAST)
    members(:, 3) = [(2 * i, i = 0, ranks - 1)]
    members(:, 4) = [(2 * i + 1, i = 0, ranks - 1)]
    sizes_of = [n, n, (n + 1) / 2, n / 2]
    comms(3 + mod(rank, 2)) = other
    do i = 2, n_groups
      if (place(i, rank) < 0) cycle
      COUNTED('MPI_Comm_set_name')
      call MPI_Comm_set_name(comms(i), names(i) LAST)
    end do
  end subroutine

  subroutine free_groups
    COUNTED('MPI_Comm_free')
    call MPI_Comm_free(comms(2) LAST)
    COUNTED('MPI_Comm_free')
    call MPI_Comm_free(other LAST)
  end subroutine

  ! Rank in a group, or -1.
  integer function place(g, world)
    integer, intent(in) :: g, world
    place = findloc(members(0:sizes_of(g) - 1, g), world, dim=1) - 1
  end function

  ! ---- a round ---------------------------------------------------------------------

  subroutine one_round
    integer :: i, k
    k = 1 + pick(12)
    n_open = 0
    do i = 1, k
      select case (pick(5))
      case (0)
        call collective
      case (1)
        call ring(i)
      case default
        call message(i)
      end select
    end do
    call complete
    COUNTED('MPI_Barrier')
    call MPI_Barrier(MPI_COMM_WORLD LAST)
    call count_collective(1, 0, 0, 0)
  end subroutine

  ! From one to another rank, which receives it right away or later. To oneself: later.
  subroutine message(tag)
    integer, intent(in) :: tag
    integer :: g, from, to, m, how, spare
    logical :: at_once, wild
    g = 1 + pick(n_groups)
    from = members(pick(sizes_of(g)), g)
    to = members(pick(sizes_of(g)), g)
    m = pick(60)
    if (pick(6) == 0) m = pick(longest - 10)
    how = 1 + pick(5)
    spare = pick(10)
    at_once = pick(2) == 0 .and. from /= to
    wild = pick(3) == 0
    if (how == by_bsend .and. m > 1000) how = by_send
    if (to == rank .and. .not. at_once) call later(g, from, m, spare, tag, wild)
    if (from == rank) call send(g, to, m, tag, how)
    if (to == rank .and. at_once) call receive(g, from, m, spare, tag, wild)
  end subroutine

  subroutine send(g, to, m, tag, how)
    integer, intent(in) :: g, to, m, tag, how
    integer :: dest
    dest = place(g, to)
    wall = tag
    select case (how)
    case (by_send)
      COUNTED('MPI_Send')
      call MPI_Send(wall, m, MPI_INTEGER, dest, tag, comms(g) LAST)
    case (by_ssend)
      COUNTED('MPI_Ssend')
      call MPI_Ssend(wall, m, MPI_INTEGER, dest, tag, comms(g) LAST)
    case (by_bsend)
      COUNTED('MPI_Bsend')
      call MPI_Bsend(wall, m, MPI_INTEGER, dest, tag, comms(g) LAST)
    case (by_isend)
      n_open = n_open + 1
      buffers(:, n_open) = tag
      COUNTED('MPI_Isend')
      call MPI_Isend(buffers(1, n_open), m, MPI_INTEGER, dest, tag, comms(g), requests(n_open) LAST)
    case default
      call send_persistent(g, dest, m, tag)
    end select
    call count_message(g, to, .true., m)
  end subroutine

  subroutine send_persistent(g, dest, m, tag)
    integer, intent(in) :: g, dest, m, tag
    HANDLE(MPI_Request) :: request
    COUNTED('MPI_Request_free')
    COUNTED('MPI_Wait')
    COUNTED('MPI_Send_init')
    COUNTED('MPI_Start') ! the last one: the message is its
    call MPI_Send_init(wall, m, MPI_INTEGER, dest, tag, comms(g), request LAST)
    call MPI_Start(request LAST)
    call MPI_Wait(request, MPI_STATUS_IGNORE LAST)
    call MPI_Request_free(request LAST)
  end subroutine

  subroutine later(g, from, m, spare, tag, wild)
    integer, intent(in) :: g, from, m, spare, tag
    logical, intent(in) :: wild
    n_open = n_open + 1
    COUNTED('MPI_Irecv')
    call MPI_Irecv(buffers(1, n_open), m + spare, MPI_INTEGER, merge(MPI_ANY_SOURCE, place(g, from), wild), &
      tag, comms(g), requests(n_open) LAST)
    call count_message(g, from, .false., m)
  end subroutine

  subroutine receive(g, from, m, spare, tag, wild)
    integer, intent(in) :: g, from, m, spare, tag
    logical, intent(in) :: wild
    integer :: source
    source = merge(MPI_ANY_SOURCE, place(g, from), wild)
#ifdef MPIFH
    call receive_with_status(g, from, m, spare, tag, source)
#else
    if (mod(tag, 2) == 0) then
      call receive_with_status(g, from, m, spare, tag, source)
    else
      COUNTED('MPI_Recv')
      call MPI_Recv(wall, m + spare, MPI_INTEGER, source, tag, comms(g), MPI_STATUS_IGNORE)
    end if
#endif
    call count_message(g, from, .false., m)
    if (m > 0 .and. wall(max(m, 1)) /= tag) stop 3
  end subroutine

  subroutine receive_with_status(g, from, m, spare, tag, source)
    integer, intent(in) :: g, from, m, spare, tag, source
    integer :: got, real_source
#ifdef MPIFH
    integer :: status(MPI_STATUS_SIZE)
#else
    type(MPI_Status) :: status
#endif
    COUNTED('MPI_Probe')
    call MPI_Probe(source, tag, comms(g), status LAST)
    COUNTED('MPI_Get_count')
    call MPI_Get_count(status, MPI_INTEGER, got LAST)
#ifdef MPIFH
    real_source = status(MPI_SOURCE)
#else
    real_source = status%MPI_SOURCE
#endif
    if (got /= m .or. real_source /= place(g, from)) stop 4
    COUNTED('MPI_Recv')
    call MPI_Recv(wall, m + spare, MPI_INTEGER, source, tag, comms(g), status LAST)
  end subroutine

  subroutine ring(tag)
    integer, intent(in) :: tag
    integer :: g, m, me, to, from, k
    logical :: closed
    g = 1 + pick(n_groups)
    m = pick(50)
    closed = pick(2) == 0
    me = place(g, rank)
    if (me < 0) return
    k = sizes_of(g)
    to = mod(me + 1, k)
    from = mod(me + k - 1, k)
    if (.not. closed .and. me == k - 1) to = MPI_PROC_NULL
    if (.not. closed .and. me == 0) from = MPI_PROC_NULL
    if (mod(me + round, 2) == 0) then
      COUNTED('MPI_Sendrecv')
      call MPI_Sendrecv(buffers(1, open_max), m, MPI_INTEGER, to, 20 + tag, wall, m, MPI_INTEGER, from, 20 + tag, &
        comms(g), MPI_STATUS_IGNORE LAST)
    else
      COUNTED('MPI_Sendrecv_replace')
      call MPI_Sendrecv_replace(wall, m, MPI_INTEGER, to, 20 + tag, from, 20 + tag, comms(g), MPI_STATUS_IGNORE LAST)
    end if
    if (to >= 0) call count_message(g, members(to, g), .true., m)
    if (from >= 0) call count_message(g, members(from, g), .false., m)
  end subroutine

  subroutine collective
    integer :: g, m, root, k, what, me
    integer :: x(64 * ranks), y(64 * ranks)
    g = 1 + pick(n_groups)
    m = pick(60)
    root = pick(sizes_of(g))
    what = pick(4)
    me = place(g, rank)
    if (me < 0) return
    k = sizes_of(g)
    x = 1
    select case (what)
    case (0)
      COUNTED('MPI_Bcast')
      call MPI_Bcast(x, m, MPI_INTEGER, root, comms(g) LAST)
      call count_collective(g, merge(k, 0, me == root), merge(0, 1, me == root), m)
    case (1)
      COUNTED('MPI_Allreduce')
      call MPI_Allreduce(MPI_IN_PLACE, x, m, MPI_INTEGER, MPI_SUM, comms(g) LAST)
      call count_collective(g, k - 1, k - 1, m)
    case (2)
      COUNTED('MPI_Gather')
      if (me == root) then
        call MPI_Gather(MPI_IN_PLACE, 0, MPI_INTEGER, y, m, MPI_INTEGER, root, comms(g) LAST)
      else
        call MPI_Gather(x, m, MPI_INTEGER, y, m, MPI_INTEGER, root, comms(g) LAST)
      end if
      call count_collective(g, merge(0, 1, me == root), merge(k - 1, 0, me == root), m)
    case default
      COUNTED('MPI_Alltoall')
      call MPI_Alltoall(x, m, MPI_INTEGER, y, m, MPI_INTEGER, comms(g) LAST)
      call count_collective(g, k, k, m)
    end select
  end subroutine

  subroutine complete
    integer :: i, which
    logical :: flag
    select case (mod(round, 4))
    case (0)
      COUNTED('MPI_Waitall')
      call MPI_Waitall(n_open, requests, MPI_STATUSES_IGNORE LAST)
    case (1)
      do i = 1, n_open
        COUNTED('MPI_Waitany')
        call MPI_Waitany(n_open, requests, which, MPI_STATUS_IGNORE LAST)
      end do
    case (2)
      flag = .false.
      do while (.not. flag)
        COUNTED('MPI_Testall')
        call MPI_Testall(n_open, requests, flag, MPI_STATUSES_IGNORE LAST)
      end do
    case default
      do i = 1, n_open
        COUNTED('MPI_Wait')
        call MPI_Wait(requests(i), MPI_STATUS_IGNORE LAST)
      end do
    end select
  end subroutine
end program
