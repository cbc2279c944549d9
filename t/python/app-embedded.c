/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program with an interpreter inside of it, linked with libpython, without its headers: runs a
 * text, calls a function of a module, and ends the interpreter. Then all of that once more.
 */
#include <stdio.h>

void Py_Initialize(void);
int Py_FinalizeEx(void);
int PyRun_SimpleString(const char *text);
void *PyImport_ImportModule(const char *name);
void *PyObject_CallMethod(void *object, const char *name, const char *format, ...);

int main(void)
{
	for (int i = 0; i < 2; i++) {
		void *result;

		Py_Initialize();
		PyRun_SimpleString("def leaf(): pass\nfor i in range(5): leaf()\n");
		result = PyObject_CallMethod(PyImport_ImportModule("json"), "dumps", "i", 3);
		printf("%d %d\n", result != NULL, Py_FinalizeEx());
	}
	return 5;
}
