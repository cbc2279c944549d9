/* SPDX-License-Identifier: BSD-3-Clause */
/* The interpreter's functions, looked up in the program and the libraries that it starts with. */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libhook/process.h"
#include "libhook/python/interpreter.h"

struct python vftr_python;

static const struct function {
	size_t at;
	const char *name, *other;
	unsigned versions;
} functions[] = {
#define PY_ROW(result, member, arguments, name, other, versions)                                   \
	{offsetof(struct python, member), name, other, versions},
	PY_FUNCTIONS(PY_ROW)
#undef PY_ROW
};

static void *find(const struct function *f)
{
	void *found = dlsym(RTLD_DEFAULT, f->name);

	return found || !f->other ? found : dlsym(RTLD_DEFAULT, f->other);
}

/* "3.12.1 (main, ...". It may be asked before the interpreter has begun. */
static bool is_from(const char *version, int wanted)
{
	char *minor;
	long major = strtol(version, &minor, 10);

	return major > 3 || (major == 3 && *minor == '.' && atoi(minor + 1) >= wanted);
}

bool vftr_python_find(void)
{
	struct python *p = &vftr_python;
	unsigned needed;

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *found = find(&functions[i]);

		memcpy((char *)p + functions[i].at, &found, sizeof(found));
	}
	dlerror(); /* no error of the program's */
	if (!p->add_audit_hook || !p->is_initialized || !p->version || !p->get_allocator ||
		!p->set_allocator)
		return false;
	p->none = dlsym(RTLD_DEFAULT, "_Py_NoneStruct");
	p->monitors = is_from(p->version(), 12);
	p->qualifies = is_from(p->version(), 11);
	needed = p->monitors ? PY_MONITORING : PY_PROFILE;
	p->lacks = p->none ? NULL : "_Py_NoneStruct";
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *found;

		memcpy(&found, (char *)p + functions[i].at, sizeof(found));
		if (!found && (functions[i].versions & needed))
			p->lacks = functions[i].name;
	}
	if (strstr(p->version(), "free-threading")) /* what hangs on code has no lock there */
		p->lacks = "global lock";
	return true;
}

void vftr_python_note(const char *text)
{
	struct wire_head m = {.kind = WIRE_NOTE};
	struct wire_text line = {{text}};
	int saved_errno = errno;

	busy_begin(&vftr_thread);
	vftr_process_lock();
	if (process_is_on())
		vftr_message_send(&m, sizeof(m), &line);
	vftr_process_unlock();
	busy_end(&vftr_thread);
	errno = saved_errno;
}
