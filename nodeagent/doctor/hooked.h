/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of a program that are instrumented. */
#ifndef VFTR_NODEAGENT_DOCTOR_HOOKED_H
#define VFTR_NODEAGENT_DOCTOR_HOOKED_H

struct patient;

/*
 * Tells the linker's name of each function of this file that calls the hooks, by address. None if
 * that cannot be known: a file that is stripped, or not of x86-64.
 */
void hooked_functions(const char *path, void (*tell)(void *ctx, const char *name), void *ctx);

/*
 * namespaces.c: how many of them are of which namespace, and what to do if most are of
 * the C++ standard library; nothing of a program without C++.
 */
void diagnose_namespaces(struct patient *p);

#endif
