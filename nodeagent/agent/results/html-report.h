/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of a job as one HTML file, at its end: vftr-report(1). */
#ifndef VFTR_NODEAGENT_AGENT_HTML_REPORT_H
#define VFTR_NODEAGENT_AGENT_HTML_REPORT_H

struct host;
struct profile;

/*
 * Writes the report of p beside the host's other results if the configuration asks for it; base:
 * result_base(). Returns 0 (written, or not asked for), or -errno after a message.
 */
int html_report_write(const struct host *host, const struct profile *p, const char *base);

#endif
