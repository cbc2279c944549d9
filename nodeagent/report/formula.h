/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Formulas of observables, as vftr-counters(7) describes them: numbers, symbols,
 * + - * / ^ %, parentheses and functions. A formula is checked and translated
 * once, and then evaluated for each call path.
 */
#ifndef VFTR_NODEAGENT_REPORT_FORMULA_H
#define VFTR_NODEAGENT_REPORT_FORMULA_H

#include <stddef.h>

struct formula;

/*
 * Translates text. names[0..n): the symbols, case-sensitive, which need not stay. Returns the
 * formula, which formula_free() frees, and *error = NULL; or NULL and *error (one sentence without
 * a full stop, the caller frees), if text is no formula.
 */
struct formula *formula_new(const char *text, const char *const *names, size_t n, char **error);
void formula_free(struct formula *f);

/* The value of f if the symbols have values[0..n); may be infinite, or NAN. Any thread. */
double formula_value(const struct formula *f, const double *values);

#endif
