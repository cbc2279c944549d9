! SPDX-License-Identifier: BSD-3-Clause
! Arrays of 8 MB, of which one stays.
program main
	implicit none
	real(8), allocatable, save :: a(:)
	real(8), pointer :: p(:)
	integer :: i

	do i = 1, 3
		allocate (a(1000000))
		a = i
		deallocate (a)
	end do
	allocate (p(1000000))
	p = 1
	print '(f3.1)', p(1000000)
end program main
