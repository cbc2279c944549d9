! SPDX-License-Identifier: BSD-3-Clause
! 1000 lines by Fortran, and 100 records of 80 bytes at once.
program main
	implicit none
	integer :: i
	character(len=15) :: text
	character(len=80) :: record = 'x'

	open (10, file='formatted', status='replace')
	do i = 1, 1000
		write (10, '(a)') 'line of sixteen'
	end do
	rewind (10)
	do i = 1, 1000
		read (10, '(a)') text
	end do
	close (10)
	open (11, file='direct', access='direct', recl=80, status='replace')
	do i = 1, 100
		write (11, rec=i) record
	end do
	close (11)
	print '(a)', text
end program main
