! SPDX-License-Identifier: BSD-3-Clause
! Uses every procedure of the module vftrace: app-api-f regions|pause|stack|memory.
! The calls it makes are counted in t5101-fortran-module.sh.
module steps
  use vftrace
  implicit none
  integer :: done = 0
contains
  subroutine leaf()
    done = done + 1
  end subroutine leaf

  subroutine print_stack()
    character(len=:), pointer :: stack

    stack => vftrace_get_stack()
    print '(a,1x,i0)', stack, len(stack)
    deallocate(stack)
  end subroutine print_stack

  subroutine missing_end()
    call vftrace_region_begin("left open")
    call leaf()
  end subroutine missing_end

  subroutine regions()
    character(len=30) :: padded
    integer :: i

    do i = 1, 10
      write (padded, '(a,i0)') "part ", 1 + mod(i, 2)
      call vftrace_region_begin(padded)
      call leaf()
      call vftrace_region_begin("two words")
      call leaf()
      call vftrace_region_end("two words   ")
      call vftrace_region_end(trim(padded))
    end do
    call vftrace_region_begin("")
    call vftrace_region_end("   ")
    call vftrace_region_end("never begun")
    call missing_end()
  end subroutine regions

  subroutine pauses()
    call leaf()
    call vftrace_pause()
    call leaf()
    call vftrace_pause()
    call vftrace_resume()
    call leaf()
    call vftrace_resume()
    call leaf()
  end subroutine pauses

  ! Calls whose strings are given back: resident memory must not grow.
  subroutine memory()
    character(len=:), pointer :: stack
    integer :: i

    do i = 1, 3000
      stack => vftrace_get_stack()
      deallocate(stack)
    end do
  end subroutine memory
end module steps

program app_api
  use steps
  implicit none
  character(len=20) :: use_of

  call get_command_argument(1, use_of)
  select case (use_of)
  case ("regions")
    call regions()
  case ("pause")
    call pauses()
  case ("stack")
    call print_stack()
    call vftrace_region_begin("a region")
    call print_stack()
    call vftrace_region_end("a region")
  case ("memory")
    call memory()
  case default
    error stop 2
  end select
end program app_api
