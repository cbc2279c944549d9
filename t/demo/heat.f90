! SPDX-License-Identifier: BSD-3-Clause
! Heat spreading over a square plate: heat.c in Fortran, with mpi_f08. It makes
! the same calls and prints the same numbers.
!
!   mpirun -np 4 heat [NX NY STEPS]
module heat_plate
  use mpi_f08
  implicit none
  private
  public :: plate, cut, warm, step, output

  integer, parameter :: real8 = kind(1.0d0)
  integer, parameter :: west = 1, east = 2, north = 3, south = 4
  real(real8), parameter :: conductivity = 0.2_real8

  type plate
    integer :: nx, ny ! points of this rank, without the rim
    integer :: x0, y0 ! where they begin on the whole plate
    real(real8), allocatable :: now(:, :), next(:, :)
    type(MPI_Comm) :: comm
    type(MPI_Datatype) :: row
    integer :: neighbour(4)
  end type

contains

  ! The share of n points that part k of `parts' gets, and where it begins.
  subroutine share(n, parts, k, points, begin)
    integer, intent(in) :: n, parts, k
    integer, intent(out) :: points, begin

    begin = n * k / parts
    points = n * (k + 1) / parts - begin
  end subroutine

  subroutine cut(p, nx, ny)
    type(plate), intent(out) :: p
    integer, intent(in) :: nx, ny
    integer :: size, rank, dims(2), at(2)

    dims = 0
    call MPI_Comm_size(MPI_COMM_WORLD, size)
    call MPI_Dims_create(size, 2, dims)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.false., .false.], .false., p%comm)
    call MPI_Comm_rank(p%comm, rank)
    call MPI_Cart_coords(p%comm, rank, 2, at)
    call MPI_Cart_shift(p%comm, 0, 1, p%neighbour(north), p%neighbour(south))
    call MPI_Cart_shift(p%comm, 1, 1, p%neighbour(west), p%neighbour(east))
    call share(ny, dims(1), at(1), p%ny, p%y0)
    call share(nx, dims(2), at(2), p%nx, p%x0)
    ! what lies side by side in x lies side by side in memory; in y it does not
    call MPI_Type_vector(p%ny, 1, p%nx + 2, MPI_DOUBLE_PRECISION, p%row)
    call MPI_Type_commit(p%row)
  end subroutine

  ! A hot spot in the middle third of a cold plate with cold edges.
  subroutine warm(p, nx, ny)
    type(plate), intent(inout) :: p
    integer, intent(in) :: nx, ny
    integer :: x, y, gx, gy

    allocate (p%now(0:p%nx + 1, 0:p%ny + 1), p%next(0:p%nx + 1, 0:p%ny + 1))
    p%now = 0
    p%next = 0
    do y = 1, p%ny
      do x = 1, p%nx
        gx = p%x0 + x - 1
        gy = p%y0 + y - 1
        if (gx >= nx / 3 .and. gx < 2 * nx / 3 .and. gy >= ny / 3 .and. gy < 2 * ny / 3) &
          p%now(x, y) = 100
      end do
    end do
  end subroutine

  subroutine exchange_halo(p)
    type(plate), intent(inout), target :: p
    type(MPI_Request) :: req(8)

    associate (u => p%now, nx => p%nx, ny => p%ny, to => p%neighbour)
      call MPI_Irecv(u(1, 0), nx, MPI_DOUBLE_PRECISION, to(north), 1, p%comm, req(1))
      call MPI_Irecv(u(1, ny + 1), nx, MPI_DOUBLE_PRECISION, to(south), 2, p%comm, req(2))
      call MPI_Irecv(u(0, 1), 1, p%row, to(west), 3, p%comm, req(3))
      call MPI_Irecv(u(nx + 1, 1), 1, p%row, to(east), 4, p%comm, req(4))
      call MPI_Isend(u(1, ny), nx, MPI_DOUBLE_PRECISION, to(south), 1, p%comm, req(5))
      call MPI_Isend(u(1, 1), nx, MPI_DOUBLE_PRECISION, to(north), 2, p%comm, req(6))
      call MPI_Isend(u(nx, 1), 1, p%row, to(east), 3, p%comm, req(7))
      call MPI_Isend(u(1, 1), 1, p%row, to(west), 4, p%comm, req(8))
    end associate
    call MPI_Waitall(8, req, MPI_STATUSES_IGNORE)
  end subroutine

  subroutine update_row(above, here, below, next, nx)
    integer, intent(in) :: nx
    real(real8), intent(in) :: above(0:nx + 1), here(0:nx + 1), below(0:nx + 1)
    real(real8), intent(inout) :: next(0:nx + 1)
    integer :: x

    do x = 1, nx
      next(x) = here(x) + conductivity * (above(x) + below(x) + here(x - 1) + here(x + 1) &
        - 4 * here(x))
    end do
  end subroutine

  subroutine update(p)
    type(plate), intent(inout) :: p
    integer :: y

    do y = 1, p%ny
      call update_row(p%now(:, y - 1), p%now(:, y), p%now(:, y + 1), p%next(:, y), p%nx)
    end do
  end subroutine

  function row_change(now, next, nx) result(change)
    integer, intent(in) :: nx
    real(real8), intent(in) :: now(0:nx + 1), next(0:nx + 1)
    real(real8) :: change
    integer :: x

    change = 0
    do x = 1, nx
      change = change + (next(x) - now(x))**2
    end do
  end function

  ! How much the plate has changed in this step, over all ranks.
  function residual(p) result(change)
    type(plate), intent(in) :: p
    real(real8) :: change, total
    integer :: y

    change = 0
    do y = 1, p%ny
      change = change + row_change(p%now(:, y), p%next(:, y), p%nx)
    end do
    call MPI_Allreduce(change, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, p%comm)
    change = sqrt(total)
  end function

  subroutine step(p, change)
    type(plate), intent(inout) :: p
    real(real8), intent(out) :: change
    real(real8), allocatable :: old(:, :)

    call exchange_halo(p)
    call update(p)
    change = residual(p)
    call move_alloc(p%now, old)
    call move_alloc(p%next, p%now)
    call move_alloc(old, p%next)
  end subroutine

  subroutine output(p, nx, ny, steps, change)
    type(plate), intent(in) :: p
    integer, intent(in) :: nx, ny, steps
    real(real8), intent(in) :: change
    real(real8) :: heat, total
    integer :: rank

    heat = sum(p%now(1:p%nx, 1:p%ny))
    total = 0
    call MPI_Reduce(heat, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, p%comm)
    call MPI_Comm_rank(p%comm, rank)
    if (rank == 0) print '(i0, a, i0, a, i0, a, f0.6, a, es12.6)', nx, ' x ', ny, ' points, ', &
      steps, ' steps: mean ', total / (real(nx, real8) * ny), ', residual ', change
  end subroutine
end module

program heat
  use mpi_f08
  use heat_plate
  implicit none
  type(plate) :: p
  double precision :: change
  integer :: nx, ny, steps, i

  call MPI_Init()
  nx = argument(1, 2000)
  ny = argument(2, 2000)
  steps = argument(3, 500)
  change = 0
  call cut(p, nx, ny)
  call warm(p, nx, ny)
  do i = 1, steps
    call step(p, change)
  end do
  call output(p, nx, ny, steps, change)
  call MPI_Type_free(p%row)
  call MPI_Comm_free(p%comm)
  call MPI_Finalize()

contains

  ! Argument i of the command line, or its default.
  integer function argument(i, default)
    integer, intent(in) :: i, default
    character(len=20) :: text
    integer :: status

    argument = default
    if (command_argument_count() < i) return
    call get_command_argument(i, text)
    read (text, *, iostat=status) argument
    if (status /= 0 .or. argument < 0) then
      print '(a)', 'usage: heat [NX NY STEPS]'
      call MPI_Abort(MPI_COMM_WORLD, 2)
    end if
  end function
end program
