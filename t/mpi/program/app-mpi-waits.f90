! SPDX-License-Identifier: BSD-3-Clause
! app-mpi-waits.c in Fortran, with module mpi: collective calls whose members come at
! different times, in MPI_COMM_WORLD with root 0 and among ranks 3, 2, 1 with root 2.
! It prints the same lines.
module waits
  use mpi
  use iso_c_binding, only: c_int
  implicit none

  interface
    function usleep(us) bind(c)
      import :: c_int
      integer(c_int), value :: us
      integer(c_int) :: usleep
    end function
  end interface

  integer, parameter :: ranks = 4, times = 5, late_us = 20000, scenes = 6, most = 100
  integer, parameter :: ns = selected_int_kind(18)
  character(len=17), parameter :: names(scenes) = [character(len=17) :: "bcast_late_root", &
    "bcast_late_other", "scatter", "reduce_early_root", "gatherv", "scan"]
  character(len=8), parameter :: places(2) = ["on_world", "on_some "]
  ! by ranks above the root, in units of late_us
  integer, parameter :: late(ranks, scenes) = reshape([2, 0, 1, 0, 0, 0, 2, 0, 1, 0, 2, 0, &
    0, 1, 2, 1, 0, 2, 0, 1, 2, 0, 1, 0], [ranks, scenes])
  integer :: comm, some, world_rank, stamped = 0, error
  integer :: x(ranks) = 1, y(ranks) = 0
  integer :: counts(ranks) = 1, offsets(ranks) = [0, 1, 2, 3]
  integer(ns) :: stamps(7, most) = 0

contains
  subroutine bcast_late_root(root)
    integer, intent(in) :: root

    call MPI_Bcast(x, 1, MPI_INTEGER, root, comm, error)
  end subroutine

  subroutine bcast_late_other(root)
    integer, intent(in) :: root

    call MPI_Bcast(x, 1, MPI_INTEGER, root, comm, error)
  end subroutine

  subroutine scatter(root)
    integer, intent(in) :: root

    call MPI_Scatter(x, 1, MPI_INTEGER, y, 1, MPI_INTEGER, root, comm, error)
  end subroutine

  subroutine reduce_early_root(root)
    integer, intent(in) :: root

    call MPI_Reduce(x, y, 1, MPI_INTEGER, MPI_SUM, root, comm, error)
  end subroutine

  subroutine gatherv(root)
    integer, intent(in) :: root

    call MPI_Gatherv(x, 1, MPI_INTEGER, y, counts, offsets, MPI_INTEGER, root, comm, error)
  end subroutine

  subroutine scan()
    call MPI_Scan(x, y, 1, MPI_INTEGER, MPI_SUM, comm, error)
  end subroutine

  subroutine play(scene, root)
    integer, intent(in) :: scene, root

    select case (scene)
    case (1)
      call bcast_late_root(root)
    case (2)
      call bcast_late_other(root)
    case (3)
      call scatter(root)
    case (4)
      call reduce_early_root(root)
    case (5)
      call gatherv(root)
    case (6)
      call scan()
    end select
  end subroutine

  subroutine play_all(on, place, root)
    integer, intent(in) :: on, place, root
    integer :: rank, members, above, s, i, ignored
    integer(ns) :: before, after

    comm = on
    call MPI_Comm_rank(comm, rank, error)
    call MPI_Comm_size(comm, members, error)
    do s = 1, scenes
      above = modulo(rank - root, members)
      if (names(s) == "scan") above = rank
      do i = 1, times
        call MPI_Barrier(comm, error)
        if (late(above + 1, s) > 0) ignored = usleep(late(above + 1, s) * late_us)
        call system_clock(before)
        call play(s, root)
        call system_clock(after)
        stamped = stamped + 1
        stamps(:, stamped) = [int(s, ns), int(place, ns), int(i, ns), int(rank, ns), &
          int(root, ns), before, after]
      end do
    end do
  end subroutine

  subroutine on_world()
    call play_all(MPI_COMM_WORLD, 1, 0)
  end subroutine

  subroutine on_some()
    call play_all(some, 2, 2)
  end subroutine

  subroutine everywhere()
    call on_world()
    if (some /= MPI_COMM_NULL) call on_some()
  end subroutine

  subroutine rank_0()
    call everywhere()
  end subroutine

  subroutine rank_1()
    call everywhere()
  end subroutine

  subroutine rank_2()
    call everywhere()
  end subroutine

  subroutine rank_3()
    call everywhere()
  end subroutine

  subroutine report()
    integer(ns) :: all(7, most, 0:ranks - 1)
    integer :: r, i

    call MPI_Gather(stamps, size(stamps), MPI_INTEGER8, all, size(stamps), MPI_INTEGER8, 0, &
      MPI_COMM_WORLD, error)
    if (world_rank /= 0) return
    do r = 0, ranks - 1
      do i = 1, most
        if (all(1, i, r) /= 0) print '(a, 1x, a, 6(1x, i0))', trim(names(all(1, i, r))), &
          trim(places(all(2, i, r))), all(3:5, i, r), r, all(6:7, i, r)
      end do
    end do
  end subroutine
end module

program app
  use waits
  implicit none
  integer :: colour

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, world_rank, error)
  colour = merge(1, MPI_UNDEFINED, world_rank > 0)
  call MPI_Comm_split(MPI_COMM_WORLD, colour, -world_rank, some, error)
  select case (world_rank)
  case (0)
    call rank_0()
  case (1)
    call rank_1()
  case (2)
    call rank_2()
  case (3)
    call rank_3()
  end select
  call report()
  call MPI_Finalize(error)
end program
