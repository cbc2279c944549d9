/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short names of C++ functions, read from what the Itanium C++ ABI makes of them: without
 * return type, template arguments and parameters.
 */
#ifndef VFTR_NODEAGENT_SYMBOLS_ITANIUM_H
#define VFTR_NODEAGENT_SYMBOLS_ITANIUM_H

/*
 * "heat::grid::step" of "_ZN4heat4gridIdLi3EE4stepEv". NULL: this is no such name, or one of
 * which it is not known how to read it. The time is linear in the length of the name, and no
 * name is too long. The caller frees.
 */
char *itanium_short(const char *mangled);

#endif
