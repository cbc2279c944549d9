/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of a program that are instrumented. */
#ifndef VFTR_NODEAGENT_DOCTOR_HOOKED_H
#define VFTR_NODEAGENT_DOCTOR_HOOKED_H

struct patient;

/*
 * Calls tell() with the linker's name of each function in this file that calls the hooks, in the
 * order of addresses. Tells none if they cannot be found: the file is stripped, or not of x86-64.
 */
void hooked_functions(const char *path, void (*tell)(void *ctx, const char *name), void *ctx);

/*
 * namespaces.c: adds a finding on how many of these functions are in which namespace, and what to
 * do if most are of the C++ standard library. Adds nothing for a program without C++.
 */
void diagnose_namespaces(struct patient *p);

#endif
