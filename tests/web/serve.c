/* SPDX-License-Identifier: Apache-2.0
 *
 * The HTTP server alone: serve HOST:PORT | unix:PATH | fd:N. Says where it listens, then does what
 * the lines of its standard input ask for; "quit" or their end ends it.
 */
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reconciled/base/err.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/store/measure.h"
#include "reconciled/web/metrics.h"
#include "reconciled/web/server.h"

enum { HELD_MAX = 256 };

struct program {
	struct event_base *base;
	struct web_server *server;
	struct metrics *metrics;
	bool hold;
	struct web_request *held[HELD_MAX];
	int held_count;
	char not_ready[256]; /* "": ready */
	bool padded;	     /* an answer of a megabyte */
};

static void
answer(struct program *program, struct web_request *request)
{
	struct strbuf text = { 0 };

	metrics_print(program->metrics, &text);
	for (int i = 0; program->padded && i < 20000; i++)
		strbuf_printf(&text, "# a line that makes the answer long: %15d\n", i);
	web_answer_metrics(request, &text);
	strbuf_finish(&text);
}

static void
on_metrics(void *owner, struct web_request *request)
{
	struct program *program = owner;

	if (program->hold && program->held_count < HELD_MAX)
		program->held[program->held_count++] = request;
	else
		answer(program, request);
}

static const char *
not_ready(void *owner)
{
	struct program *program = owner;

	return program->not_ready[0] != '\0' ? program->not_ready : NULL;
}

static void
release(struct program *program)
{
	for (int i = 0; i < program->held_count; i++)
		answer(program, program->held[i]);
	program->held_count = 0;
	program->hold = false;
}

static void
quit(struct program *program)
{
	web_server_destroy(program->server);
	program->server = NULL;
	for (int i = 0; i < program->held_count; i++)
		web_answer_metrics(program->held[i], NULL);
	event_base_loopbreak(program->base);
}

static void
obey(struct program *program, const char *line)
{
	if (strcmp(line, "hold") == 0)
		program->hold = true;
	else if (strcmp(line, "release") == 0)
		release(program);
	else if (strcmp(line, "pad") == 0)
		program->padded = true;
	else if (strncmp(line, "not-ready ", 10) == 0)
		snprintf(program->not_ready, sizeof(program->not_ready), "%s", line + 10);
	else
		quit(program);
	puts("done");
	fflush(stdout);
}

static void
on_line(evutil_socket_t fd, short what, void *arg)
{
	char line[256] = "";
	ssize_t len = read(fd, line, sizeof(line) - 1);

	line[len > 0 ? strcspn(line, "\n") : 0] = '\0';
	obey(arg, len > 0 ? line : "quit");
}

static struct web_address
address_of(char *text)
{
	struct web_address address = { .fd = -1 };
	char *colon = strrchr(text, ':');

	if (strncmp(text, "unix:", 5) == 0) {
		address.socket = text + 5;
	} else if (strncmp(text, "fd:", 3) == 0) {
		address.fd = atoi(text + 3);
	} else if (colon != NULL) {
		*colon = '\0';
		address.host = text;
		address.port = atoi(colon + 1);
	}
	return address;
}

static void
fill(struct metrics *metrics)
{
	static const char *const types[] = { "sync_customer", "charge_card" }, *const targets[] = {
		"crm"
	};
	static const struct measured measured[] = {
		{ "reconciled_operations", "sync_customer", "pending", 3 },
		{ "reconciled_worker_retries", "sync_customer", "a \"quoted\\ \n cause", 2 },
		{ "reconciled_idempotency_conflicts_total", NULL, NULL, 1 },
		{ "reconciled_oldest_due_age_seconds", "charge_card", NULL, 0.25 },
	};

	metrics_set_labels(metrics, &(struct metrics_labels){ .types = types,
							      .types_count = 2,
							      .targets = targets,
							      .targets_count = 1 });
	metrics_set_measured(metrics, measured, 4);
	metrics_count_verdict(metrics, "charge_card", CLASS_CORRECT);
	metrics_count_probe(metrics, "crm", REASON_TIMEOUT, 30000001);
	metrics_count_probe(metrics, "crm", REASON_COUNT, 7000);
}

int
main(int argc, char **argv)
{
	struct program program = { .base = event_base_new(), .metrics = metrics_create() };
	struct web_handlers handlers = { on_metrics, not_ready, &program };
	struct web_address address = address_of(argv[1]);
	struct err err = { 0 };
	struct event *lines = event_new(program.base, STDIN_FILENO, EV_READ | EV_PERSIST, on_line,
					&program);

	signal(SIGPIPE, SIG_IGN);
	fill(program.metrics);
	program.server = web_server_create(program.base, &address, &handlers, &err);
	if (program.server == NULL) {
		fprintf(stderr, "%s\n", err.text);
	} else {
		printf("%d\n", web_server_port(program.server));
		fflush(stdout);
		event_add(lines, NULL);
		event_base_dispatch(program.base);
	}
	event_free(lines);
	metrics_destroy(program.metrics);
	event_base_free(program.base);
	libevent_global_shutdown();
	return err.code == ERR_NONE ? 0 : 1;
}
