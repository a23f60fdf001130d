/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts fault_server.py for a test program and knows its ports. It ends with us.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct fault_server {
	pid_t pid;
	int input;
	int plain, tls, full, refused;
	int asleep; /* refused until it is awakened */
	int mtls;   /* asks for a certificate of ours, speaks TLS 1.2 at most */
	int proxy;  /* CONNECT and absolute addresses */
	char cert[256];
	char folder[256]; /* client.pem, client.key, and the unix socket "socket" */
};

/* $PYTHON and $FAULT_SERVER come from meson. */
static inline void
fault_server_start(struct fault_server *server)
{
	int in[2], out[2];
	FILE *line;

	if (pipe(in) != 0 || pipe(out) != 0)
		abort();
	server->pid = fork();
	if (server->pid == 0) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		close(in[1]);
		close(out[0]);
		execl(getenv("PYTHON"), getenv("PYTHON"), getenv("FAULT_SERVER"), (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	server->input = in[1];
	line = fdopen(out[0], "r");
	if (fscanf(line,
		   "plain=%d tls=%d full=%d refused=%d asleep=%d cert=%255s mtls=%d proxy=%d "
		   "folder=%255s",
		   &server->plain, &server->tls, &server->full, &server->refused, &server->asleep,
		   server->cert, &server->mtls, &server->proxy, server->folder) != 9) {
		printf("Bail out! the fault server did not start\n");
		exit(1);
	}
	fclose(line);
}

static inline void
fault_server_stop(struct fault_server *server)
{
	close(server->input);
	waitpid(server->pid, NULL, 0);
}
