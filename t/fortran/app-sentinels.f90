! SPDX-License-Identifier: BSD-3-Clause
! Are the sentinels of this language known for what they are, before MPI_Init and
! after it, and is nothing else? Prints one digit for each question. With -DF08,
! -DUSE_MPI or -DMPIFH.
program sentinels
#ifdef F08
  use mpi_f08
#elif defined(USE_MPI)
  use mpi
#endif
  implicit none
#ifdef MPIFH
  include 'mpif.h'
#endif
  integer, external :: in_place, ignored
  integer :: ierror, other(3)
#ifdef F08
  integer, parameter :: language = 2
  type(MPI_Status) :: status
  interface
    integer function in_place_ts(buffer) bind(c, name='in_place_ts')
      type(*), dimension(..) :: buffer
    end function
  end interface
#else
  integer, parameter :: language = 1
  integer :: status(MPI_STATUS_SIZE)
#endif

  call ask
  call MPI_Init(ierror)
  call ask
  call MPI_Finalize(ierror)
contains
  subroutine ask
    integer :: ts(2)
    ts = [1, 0]
#ifdef F08
    ts = [in_place_ts(MPI_IN_PLACE), in_place_ts(other)]
#endif
    print '(8i1)', in_place(MPI_IN_PLACE, language), ignored(MPI_STATUS_IGNORE, language), &
      ignored(MPI_STATUSES_IGNORE, language), ts, in_place(other, language), &
      in_place(MPI_BOTTOM, language), ignored(status, language)
  end subroutine
end program
