/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses in dynamic sections: absolute already or not, and modules that were moved down. */
#include <check.h>
#include "shm/dynamic.h"
#include "t/lib/suite.h"

#define LINKED 0x10000000u /* the address to which the module was linked */
#define BYTES  0x2000u

static const ElfW(Phdr) segments[] = {
	{.p_type = PT_LOAD, .p_vaddr = LINKED, .p_memsz = BYTES},
	{.p_type = PT_DYNAMIC, .p_vaddr = LINKED + 0x1000, .p_memsz = 0x100},
};

/* The module, loaded so that what was linked to LINKED is at `at'. */
static struct dl_phdr_info loaded_at(uintptr_t at)
{
	return (struct dl_phdr_info){
		.dlpi_addr = at - LINKED, .dlpi_phdr = segments, .dlpi_phnum = 2};
}

static uintptr_t address_of(uintptr_t at, uintptr_t value)
{
	const struct dl_phdr_info module = loaded_at(at);
	const ElfW(Dyn) entry = {.d_tag = DT_STRTAB, .d_un.d_ptr = value};

	return (uintptr_t)dynamic_address(&module, &entry);
}

START_TEST(an_address_is_absolute_or_gets_the_load_address)
{
	ck_assert_uint_eq(address_of(0x7f0000000000, LINKED + 0x10), 0x7f0000000010);
	ck_assert_uint_eq(address_of(0x7f0000000000, 0x7f0000000010), 0x7f0000000010);
	ck_assert_uint_eq(address_of(LINKED, LINKED + 0x10), LINKED + 0x10);
}
END_TEST

START_TEST(a_module_may_lie_below_the_address_to_which_it_was_linked)
{
	ck_assert_uint_eq(address_of(0x400000, LINKED + 0x10), 0x400010);
	ck_assert_uint_eq(address_of(0x400000, 0x400010), 0x400010);
}
END_TEST

START_TEST(an_address_outside_of_the_module_is_none)
{
	ck_assert_uint_eq(address_of(0x7f0000000000, 0x7f0000000000 + BYTES), 0);
	ck_assert_uint_eq(address_of(0x7f0000000000, LINKED + BYTES), 0);
	ck_assert_uint_eq(address_of(0x7f0000000000, LINKED - 1), 0);
}
END_TEST

START_TEST(the_section_is_found_where_the_module_is)
{
	const struct dl_phdr_info module = loaded_at(0x400000);
	const struct dl_phdr_info without = {.dlpi_phdr = segments, .dlpi_phnum = 1};

	ck_assert_uint_eq((uintptr_t)dynamic_first(&module), 0x401000);
	ck_assert_ptr_null(dynamic_first(&without));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("dynamic");
	TCase *c = tcase_create("dynamic");

	tcase_add_test(c, an_address_is_absolute_or_gets_the_load_address);
	tcase_add_test(c, a_module_may_lie_below_the_address_to_which_it_was_linked);
	tcase_add_test(c, an_address_outside_of_the_module_is_none);
	tcase_add_test(c, the_section_is_found_where_the_module_is);
	suite_add_tcase(s, c);
	return run_suite(s);
}
