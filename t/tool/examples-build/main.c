/* SPDX-License-Identifier: BSD-3-Clause */
/* A program in two languages, to be built by anything: 3 steps, a region in each. */
#include <stdio.h>
#include <vftrace.h>

void smooth(int *sum); /* smooth.f90 */

static void step(int *sum)
{
	vftrace_region_begin("assemble");
	*sum += 1;
	vftrace_region_end("assemble");
	smooth(sum);
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 3; i++)
		step(&sum);
	printf("%d\n", sum);
	return sum == 33 ? 0 : 1;
}
