! SPDX-License-Identifier: BSD-3-Clause
! The interface of the module of Vftrace 2.0, where regions are procedures of the module: what is
! compiled with its module file needs their names. Nothing is linked with this file's object.
module vftrace
  implicit none

  interface
    subroutine vftrace_pause() bind(c, name="vftrace_pause")
    end subroutine vftrace_pause

    subroutine vftrace_resume() bind(c, name="vftrace_resume")
    end subroutine vftrace_resume
  end interface

contains

  subroutine vftrace_region_begin(name)
    character(*), intent(in) :: name

    error stop name
  end subroutine vftrace_region_begin

  subroutine vftrace_region_end(name)
    character(*), intent(in) :: name

    error stop name
  end subroutine vftrace_region_end

  function vftrace_get_stack() result(stack)
    character(:), pointer :: stack

    nullify(stack)
  end function vftrace_get_stack
end module vftrace
