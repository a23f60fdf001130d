/* SPDX-License-Identifier: Apache-2.0
 *
 * One transfer on a pooled easy handle. What holds for every request is set once, when the handle
 * is made; a request sets its URL, and method, headers and body where they change.
 */
#include "transfer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "reconciled/base/clock.h"
#include "reconciled/base/xalloc.h"

/* Idle seconds and age after which a connection is not used again (addresses of targets change). */
enum { IDLE_MAX_S = 60, AGE_MAX_S = 300 };

static size_t
on_header(char *line, size_t size, size_t count, void *arg)
{
	struct transfer *transfer = arg;

	return answer_take_line(&transfer->answer, line, size * count) ? size * count : 0;
}

static size_t
on_body(char *bytes, size_t size, size_t count, void *arg)
{
	struct transfer *transfer = arg;
	size_t len = size * count;

	/* For no bytes, none taken is the right answer. */
	return answer_take_body(&transfer->answer, bytes, len) ? len : 0;
}

/* Rounded up: a limit is never taken for "none". */
static long
milliseconds(int64_t us)
{
	return us <= 0 ? 1 : (long)((us + MILLISECOND - 1) / MILLISECOND);
}

static void
set_limits(CURL *easy, const struct curl_peer *peer)
{
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
			 milliseconds(peer->options.connect_timeout_us));
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, milliseconds(peer->options.total_timeout_us));
	curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, (long)IDLE_MAX_S);
	curl_easy_setopt(easy, CURLOPT_MAXLIFETIME_CONN, (long)AGE_MAX_S);
}

static void
set_protocol(CURL *easy, const struct curl_peer *peer)
{
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
	curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "reconciled/" RECONCILED_VERSION);
	curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip, deflate");
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, peer->headers);
}

/* "" keeps libcurl from looking into the environment. */
static void
set_route(CURL *easy, const struct curl_peer_options *options)
{
	curl_easy_setopt(easy, CURLOPT_PROXY, options->proxy != NULL ? options->proxy : "");
	curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
	curl_easy_setopt(easy, CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE);
	curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	if (options->unix_socket != NULL)
		curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, options->unix_socket);
}

static void
set_key(CURL *easy, const struct curl_peer_options *options)
{
	/* Borrowed: it lives as long as the peer. */
	struct curl_blob blob = { .flags = CURL_BLOB_NOCOPY };

	if (options->key_text != NULL) {
		memcpy(&blob.data, &options->key_text, sizeof(blob.data));
		blob.len = strlen(options->key_text);
		curl_easy_setopt(easy, CURLOPT_SSLKEY_BLOB, &blob);
	} else if (options->key_file != NULL) {
		curl_easy_setopt(easy, CURLOPT_SSLKEY, options->key_file);
	}
}

static void
set_tls(CURL *easy, const struct curl_peer_options *options)
{
	static const long floors[] = {
		[TLS_FLOOR_DEFAULT] = CURL_SSLVERSION_TLSv1_2,
		[TLS_FLOOR_1_2] = CURL_SSLVERSION_TLSv1_2,
		[TLS_FLOOR_1_3] = CURL_SSLVERSION_TLSv1_3,
	};

	curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
	curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
	curl_easy_setopt(easy, CURLOPT_SSLVERSION, floors[options->tls_min]);
	if (options->ca_file != NULL)
		curl_easy_setopt(easy, CURLOPT_CAINFO, options->ca_file);
	if (options->cert_file != NULL)
		curl_easy_setopt(easy, CURLOPT_SSLCERT, options->cert_file);
	set_key(easy, options);
}

static void
set_callbacks(CURL *easy, struct transfer *transfer)
{
	struct sockets *sockets = &transfer->peer->loop->sockets;

	curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, sockets_on_open);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, sockets);
	curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, sockets_on_close);
	curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, sockets);
}

struct transfer *
transfer_create(struct curl_peer *peer)
{
	struct transfer *transfer = xcalloc(1, sizeof(*transfer));

	transfer->peer = peer;
	transfer->method = TRANSFER_GET;
	transfer->easy = curl_easy_init();
	if (transfer->easy == NULL)
		abort(); /* out of memory */
	set_callbacks(transfer->easy, transfer);
	set_protocol(transfer->easy, peer);
	set_route(transfer->easy, &peer->options);
	set_tls(transfer->easy, &peer->options);
	set_limits(transfer->easy, peer);
	return transfer;
}

/* Those of the request before; they may hold credentials. */
static void
wipe_lines(struct transfer *transfer)
{
	if (transfer->lines.len > 0)
		explicit_bzero(transfer->lines.data, transfer->lines.len);
	strbuf_reset(&transfer->lines);
}

void
transfer_destroy(struct transfer *transfer)
{
	curl_easy_cleanup(transfer->easy);
	answer_finish(&transfer->answer);
	wipe_lines(transfer);
	strbuf_finish(&transfer->lines);
	free(transfer->nodes);
	free(transfer);
}

bool
transfer_header_is_safe(const char *line)
{
	const char *colon = strchr(line, ':');

	for (const char *c = line; *c != '\0'; c++)
		if ((unsigned char)*c < ' ' ? *c != '\t' : *c == 0x7f)
			return false;
	return colon != NULL && colon > line;
}

static void
set_method(struct transfer *transfer, const struct transfer_request *request)
{
	CURL *easy = transfer->easy;

	if (transfer->method != request->method) {
		curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
		if (request->method == TRANSFER_HEAD)
			curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
	}
	if (request->method == TRANSFER_POST) {
		curl_easy_setopt(easy, CURLOPT_POST, 1L);
		curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_len);
		curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request->body ? request->body : "");
	}
	transfer->method = request->method;
}

static bool
same_name(const char *a, const char *b)
{
	size_t len = strcspn(a, ":");

	return strcspn(b, ":") == len && strncasecmp(a, b, len) == 0;
}

static bool
is_replaced(const struct transfer_request *request, const char *peer_line)
{
	for (size_t i = 0; i < request->headers_count; i++)
		if (same_name(request->headers[i], peer_line))
			return true;
	return false;
}

static size_t
count(const struct curl_slist *list)
{
	size_t n = 0;

	for (; list != NULL; list = list->next)
		n++;
	return n;
}

/* The request's own lines, then what the peer sends with every request and this one does not
 * replace. */
static struct curl_slist *
merge_headers(struct transfer *transfer, const struct transfer_request *request)
{
	size_t most = request->headers_count + count(transfer->peer->headers), used = 0;
	char *line;

	if (most > transfer->nodes_size) {
		transfer->nodes = xrealloc(transfer->nodes, most, sizeof(*transfer->nodes));
		transfer->nodes_size = most;
	}
	wipe_lines(transfer);
	for (size_t i = 0; i < request->headers_count; i++)
		strbuf_add(&transfer->lines, request->headers[i], strlen(request->headers[i]) + 1);
	line = transfer->lines.data;
	for (size_t i = 0; i < request->headers_count; i++, line += strlen(line) + 1)
		transfer->nodes[used++].data = line;
	for (struct curl_slist *own = transfer->peer->headers; own != NULL; own = own->next)
		if (!is_replaced(request, own->data))
			transfer->nodes[used++].data = own->data;
	for (size_t i = 0; i < used; i++)
		transfer->nodes[i].next = i + 1 < used ? &transfer->nodes[i + 1] : NULL;
	return transfer->nodes;
}

static bool
is_safe(const struct transfer *transfer, const struct transfer_request *request)
{
	for (size_t i = 0; i < request->headers_count; i++)
		if (!transfer_header_is_safe(request->headers[i]))
			return false;
	return !transfer->peer->unusable;
}

void
transfer_prepare(struct transfer *transfer, const struct transfer_request *request)
{
	struct curl_slist *headers = transfer->peer->headers;
	bool safe = is_safe(transfer, request);

	answer_reset(&transfer->answer, transfer->peer->options.max_body_bytes);
	if (safe && request->headers_count > 0)
		headers = merge_headers(transfer, request);
	curl_easy_setopt(transfer->easy, CURLOPT_HTTPHEADER, headers);
	/* An empty URL fails in the loop like any other request that cannot be sent. */
	curl_easy_setopt(transfer->easy, CURLOPT_URL, safe ? request->url : "");
	set_method(transfer, request);
}

static const struct {
	CURLcode code;
	enum transfer_fault fault;
} faults[] = {
	{ CURLE_OK, TRANSFER_OK },
	{ CURLE_OPERATION_TIMEDOUT, TRANSFER_TIMEOUT },
	{ CURLE_COULDNT_CONNECT, TRANSFER_REFUSED },
	{ CURLE_COULDNT_RESOLVE_HOST, TRANSFER_DNS },
	{ CURLE_PARTIAL_FILE, TRANSFER_TRUNCATED },
	{ CURLE_SSL_CONNECT_ERROR, TRANSFER_TLS },
	{ CURLE_SSL_ENGINE_NOTFOUND, TRANSFER_TLS },
	{ CURLE_SSL_ENGINE_SETFAILED, TRANSFER_TLS },
	{ CURLE_SSL_CERTPROBLEM, TRANSFER_TLS },
	{ CURLE_SSL_CIPHER, TRANSFER_TLS },
	{ CURLE_PEER_FAILED_VERIFICATION, TRANSFER_TLS },
	{ CURLE_USE_SSL_FAILED, TRANSFER_TLS },
	{ CURLE_SSL_ENGINE_INITFAILED, TRANSFER_TLS },
	{ CURLE_SSL_CACERT_BADFILE, TRANSFER_TLS },
	{ CURLE_SSL_SHUTDOWN_FAILED, TRANSFER_TLS },
	{ CURLE_SSL_CRL_BADFILE, TRANSFER_TLS },
	{ CURLE_SSL_ISSUER_ERROR, TRANSFER_TLS },
	{ CURLE_SSL_PINNEDPUBKEYNOTMATCH, TRANSFER_TLS },
	{ CURLE_SSL_INVALIDCERTSTATUS, TRANSFER_TLS },
	{ CURLE_SSL_CLIENTCERT, TRANSFER_TLS },
};

static enum transfer_fault
fault_of(struct transfer *transfer, CURLcode code)
{
	long os_error = 0;

	if (transfer->answer.too_large)
		return TRANSFER_TOO_LARGE;
	if (transfer->answer.malformed)
		return TRANSFER_FAILED;
	/* libcurl takes an end of the connection for an end of the headers. */
	if (code == CURLE_OK && !transfer->answer.head_over)
		return TRANSFER_TRUNCATED;
	curl_easy_getinfo(transfer->easy, CURLINFO_OS_ERRNO, &os_error);
	if (code == CURLE_COULDNT_CONNECT && os_error == ETIMEDOUT)
		return TRANSFER_TIMEOUT;
	for (size_t i = 0; i < ARRAY_LEN(faults); i++)
		if (faults[i].code == code)
			return faults[i].fault;
	return TRANSFER_FAILED;
}

struct transfer_result
transfer_outcome(struct transfer *transfer, CURLcode code)
{
	struct answer *answer = &transfer->answer;
	curl_off_t elapsed = 0;
	long status = 0;

	curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(transfer->easy, CURLINFO_TOTAL_TIME_T, &elapsed);
	return (struct transfer_result){
		.fault = fault_of(transfer, code),
		.status = (int)status,
		.headers = answer_headers(answer),
		.headers_count = answer->lines,
		.body = strbuf_text(&answer->body),
		.body_len = answer->body.len,
		.elapsed_us = (int64_t)elapsed,
	};
}
