/* SPDX-License-Identifier: Apache-2.0
 *
 * Heads of HTTP requests: whatever the bytes are, reading them ends, and stays within them. What is
 * complete was incomplete before its last byte, and does not depend on what follows.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "request_head.h"

static void
check_complete(const struct request_head *head, const char *bytes, size_t len)
{
	struct request_head again;

	assert(head->head_bytes <= len && head->head_bytes <= REQUEST_HEAD_MAX);
	assert(head->body_bytes <= REQUEST_BODY_MAX);
	assert(memcmp(bytes + head->head_bytes - 4, "\r\n\r\n", 4) == 0);
	assert(head->method >= bytes && head->method_len > 0);
	assert(head->path + head->path_len <= bytes + head->head_bytes && head->path[0] == '/');
	assert(memchr(bytes, '\0', head->head_bytes) == NULL);
	assert(request_head_parse(&again, bytes, head->head_bytes) == HEAD_COMPLETE);
	assert(again.body_bytes == head->body_bytes && again.keep_alive == head->keep_alive);
	assert(request_head_parse(&again, bytes, head->head_bytes - 1) == HEAD_INCOMPLETE);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Of exactly that size, so that a byte too far is seen. */
	char *bytes = calloc(size > 0 ? size : 1, 1);
	struct request_head head;

	if (size > 0)
		memcpy(bytes, data, size);
	switch (request_head_parse(&head, bytes, size)) {
	case HEAD_INCOMPLETE:
		assert(size < REQUEST_HEAD_MAX);
		break;
	case HEAD_REFUSED:
		assert(head.status >= 400 && head.status <= 505 && head.why != NULL);
		break;
	case HEAD_COMPLETE:
		check_complete(&head, bytes, size);
		break;
	}
	free(bytes);
	return 0;
}
