/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/launch/program-name.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "nodeagent/agent/launch/launcher.h"
#include "nodeagent/base/util.h"

#define NAME_MAX_BYTES 100 /* dates and numbers follow */

static const char *const shells[] = {
	"sh", "bash", "dash", "ksh", "zsh", "csh", "tcsh", "fish", NULL};
static const char *const languages[] = {"python", "pypy", "perl", "R", "Rscript", "ruby", "julia",
	"lua", "node", "octave", "tclsh", NULL};
static const char *const endings[] = {".py", ".pyc", ".pl", ".R", ".r", ".rb", ".jl", ".lua", ".js",
	".m", ".tcl", ".sh", ".bash", ".csh"};

/* One of these, or it and a version: python3.11. */
static bool is_one_of(const char *const *names, const char *program)
{
	const char *name = basename(program);

	for (; *names; names++) {
		size_t n = strlen(*names);

		if (!strncmp(name, *names, n) && !name[n + strspn(name + n, "0123456789.")])
			return true;
	}
	return false;
}

bool is_shell(const char *program)
{
	return is_one_of(shells, program);
}

bool is_interpreter(const char *program)
{
	return is_shell(program) || is_one_of(languages, program);
}

bool is_script(const char *path)
{
	char begin[2] = "";
	FILE *f = fopen(path, "re");
	bool is = f && fread(begin, 1, 2, f) == 2 && !memcmp(begin, "#!", 2);

	if (f)
		fclose(f);
	return is;
}

char *const *program_words(char *const *command)
{
	const char *started = launcher_program(command);
	char *const *words = command, *const * word;
	char path[PATH_MAX];

	if (!started)
		return command;
	while (*words && *words != started)
		words++;
	for (word = words; *word; word++)
		if (!launcher_starts_another(*word) && launcher_resolve(*word, path))
			return word;
	return *words ? words : command;
}

static bool is_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode);
}

/* What the interpreter runs: a file, or else a module; NULL: neither is seen. */
static const char *script_of(char *const *words)
{
	const char *code = is_shell(*words) ? "-c" : "-e", *module = NULL;

	for (words++; *words; words++) {
		if (!strcmp(*words, "-m") && words[1])
			module = *++words;
		else if (!strcmp(*words, "-c") || !strcmp(*words, code))
			return NULL;
		else if (**words != '-' && is_file(*words))
			return *words;
	}
	return module;
}

static char *without_ending(char *name)
{
	char *dot = strrchr(name, '.');

	for (size_t i = 0; dot && dot != name && i < ARRAY_SIZE(endings); i++)
		if (!strcmp(dot, endings[i])) {
			*dot = '\0';
			break;
		}
	return name;
}

char *name_of_command(char *const *command)
{
	char *const *words = program_words(command);
	const char *script = is_interpreter(words[0]) ? script_of(words) : NULL;
	char *name = file_base(basename(script ? script : words[0]));

	without_ending(name);
	if (strlen(name) > NAME_MAX_BYTES) {
		size_t n = NAME_MAX_BYTES;

		while (n > 1 && (name[n] & 0xc0) == 0x80) /* UTF-8 */
			n--;
		name[n] = '\0';
	}
	return name;
}
