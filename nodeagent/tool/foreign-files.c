/* SPDX-License-Identifier: BSD-3-Clause */
/* What a command of `vftr` gives up that reads what others wrote. */
#include <stdio.h>
#include <unistd.h>

#include "nodeagent/base/table.h"
#include "nodeagent/sandbox/sandbox.h"
#include "nodeagent/tool/cmd.h"

void cmd_reads_foreign_files(bool sockets)
{
	FILE *plain = text_stream(STDOUT_FILENO);

	if (plain)
		stdout = plain;
	sandbox_enter(sockets ? SANDBOX_AGENT : SANDBOX_TOOL);
}
