! SPDX-License-Identifier: BSD-3-Clause
! A short function of a module and one outside, called often.
module points
contains
	subroutine move(x)
		integer, intent(inout) :: x
		x = x + 1
	end subroutine
end module

subroutine outer(x)
	integer, intent(inout) :: x
	x = ieor(x, 5)
end subroutine

program short
	use points
	integer :: i, x
	x = 0
	do i = 1, 20000
		call move(x)
		call outer(x)
	end do
	print *, x
end program
