! SPDX-License-Identifier: BSD-3-Clause
! Ends inside nested subroutines: app-stop stop|code|error. Every frame is still
! open then.

module nested
  implicit none
contains
  subroutine innermost(how)
    character(len=*), intent(in) :: how
    select case (how)
    case ('stop')
       stop
    case ('code')
       stop 3
    case ('error')
       error stop 4
    end select
  end subroutine innermost

  subroutine middle(how)
    character(len=*), intent(in) :: how
    call innermost('none')
    call innermost(how)
  end subroutine middle
end module nested

program app_stop
  use nested
  implicit none
  character(len=16) :: how

  call get_command_argument(1, how)
  call middle(trim(how))
end program app_stop
