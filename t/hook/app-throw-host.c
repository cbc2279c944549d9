/* SPDX-License-Identifier: BSD-3-Clause */
/* A C program whose plug-in, loaded with RTLD_LOCAL, throws: app-throw-host PLUGIN */
#include <dlfcn.h>
#include <stdio.h>

static void after(void)
{
}

int main(int argc, char **argv)
{
	void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*caught)(int);
	int sum = 0;

	if (!plugin || !(*(void **)&caught = dlsym(plugin, "caught"))) {
		fprintf(stderr, "%s\n", argc > 1 ? dlerror() : "usage: app-throw-host PLUGIN");
		return 2;
	}
	for (int i = 0; i < 10; i++) {
		sum += caught(i);
		after();
	}
	printf("%d\n", sum);
	return dlclose(plugin);
}
