/* SPDX-License-Identifier: Apache-2.0
 *
 * Transfers against a server that misbehaves: what each fault is called, what is never sent, and
 * that events end with their descriptors. Values are from the contract and RFC 9110.
 */
#include <dirent.h>
#include <signal.h>
#include <sys/socket.h>

#include <event2/event.h>

#include "fault_server.h"
#include "turn.h"
#include "reconciled/base/clock.h"
#include "reconciled/net/curl_loop.h"
#include "tap.h"

enum { MIB = 1024 * 1024 };

static struct fault_server server;
static struct event_base *base;
static struct curl_loop *loop;

/* What a callback saw, copied. */
struct seen {
	int calls;
	enum transfer_fault fault;
	int status;
	size_t body_len, headers_count;
	char body[4096];
	char headers[4096]; /* "name=value\n" */
};

static void
on_done(void *owner, const struct transfer_result *result)
{
	struct seen *seen = owner;
	size_t used = 0;

	seen->calls++;
	seen->fault = result->fault;
	seen->status = result->status;
	seen->body_len = result->body_len;
	seen->headers_count = result->headers_count;
	snprintf(seen->body, sizeof(seen->body), "%s", result->body);
	seen->headers[0] = '\0';
	for (size_t i = 0; i < result->headers_count && used < sizeof(seen->headers); i++)
		used += (size_t)snprintf(seen->headers + used, sizeof(seen->headers) - used,
					 "%s=%s\n", result->headers[i].name,
					 result->headers[i].value);
}

static struct curl_peer_options
options(void)
{
	return (struct curl_peer_options){ .connections = 8,
					   .connect_timeout_us = 20 * SECOND,
					   .total_timeout_us = 30 * SECOND,
					   .max_body_bytes = MIB };
}

static const char *
url(const char *scheme, int port, const char *path)
{
	static char text[512];

	snprintf(text, sizeof(text), "%s://127.0.0.1:%d%s", scheme, port, path);
	return text;
}

static struct seen
send_request(const struct curl_peer_options *with, const struct transfer_request *request)
{
	struct curl_peer *peer = curl_peer_create(loop, with);
	struct seen seen = { 0 };

	transfer_start(peer, request, on_done, &seen);
	tap_ok(seen.calls == 0, "nothing is reported from inside transfer_start");
	turn(base, &seen.calls, 1);
	tap_ok(seen.calls == 1, "reported once");
	curl_peer_destroy(peer);
	return seen;
}

static struct seen
get_with(struct curl_peer_options with, const char *address)
{
	struct transfer_request request = { .url = address };

	return send_request(&with, &request);
}

static struct seen
get(const char *path)
{
	return get_with(options(), url("http", server.plain, path));
}

static const struct {
	const char *path;
	enum transfer_fault fault;
	int status;
	size_t body_len;
} answers[] = {
	{ "/found", TRANSFER_OK, 200, 25 },
	{ "/absent", TRANSFER_OK, 404, 21 },
	{ "/html502", TRANSFER_OK, 502, 33 },
	{ "/empty", TRANSFER_OK, 200, 0 },
	{ "/nocontent", TRANSFER_OK, 204, 0 },
	{ "/unmodified", TRANSFER_OK, 304, 0 },
	{ "/throttled", TRANSFER_OK, 429, 2 },
	{ "/close", TRANSFER_OK, 200, 25 },
	{ "/nolength", TRANSFER_OK, 200, 25 },
	{ "/gzip", TRANSFER_OK, 200, 25 },
	{ "/interim", TRANSFER_OK, 200, 25 },
	{ "/redirect", TRANSFER_OK, 302, 2 },
	/* H01: (a) and (b) are no answers although their text is whole; (c) is for the reader */
	{ "/toolong", TRANSFER_TRUNCATED, 200, 11 },
	{ "/openchunk", TRANSFER_TRUNCATED, 200, 11 },
	{ "/cut", TRANSFER_OK, 200, 9 },
	{ "/headonly", TRANSFER_TRUNCATED, 200, 0 },
	/* H02: the limit is on what was unpacked */
	{ "/flood", TRANSFER_TOO_LARGE, 200, 0 },
	{ "/longheader", TRANSFER_TOO_LARGE, 200, 0 },
	{ "/deep", TRANSFER_OK, 200, 100000 },
	/* broken otherwise */
	{ "/badchunk", TRANSFER_FAILED, 200, 0 },
	{ "/notgzip", TRANSFER_FAILED, 200, 0 },
	{ "/nulheader", TRANSFER_FAILED, 200, 0 },
	{ "/nothing", TRANSFER_FAILED, 0, 0 },
	{ "/garbage", TRANSFER_FAILED, 0, 0 },
	{ "/reset", TRANSFER_FAILED, 200, 1 },
};

static void
test_answers(void)
{
	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		struct seen seen = get(answers[i].path);

		tap_int(seen.fault, answers[i].fault, answers[i].path);
		tap_int(seen.status, answers[i].status, answers[i].path);
		tap_int((long long)seen.body_len, (long long)answers[i].body_len, answers[i].path);
	}
}

/* Answers that end before they are whole, without body too. */
static void
test_cut(void)
{
	struct curl_peer_options with = options();
	struct transfer_request head = { .method = TRANSFER_HEAD };

	tap_int(get("/cutgzip").fault, TRANSFER_TRUNCATED, "packed and cut");
	head.url = url("http", server.plain, "/headonly");
	tap_int(send_request(&with, &head).fault, TRANSFER_TRUNCATED, "HEAD, headers cut");
	head.url = url("http", server.plain, "/toolong");
	tap_int(send_request(&with, &head).fault, TRANSFER_OK, "HEAD announces and sends no body");
}

static void
test_too_large(void)
{
	struct curl_peer_options with = options();

	with.max_body_bytes = 25;
	tap_int(get_with(with, url("http", server.plain, "/found")).fault, TRANSFER_OK,
		"a body as long as the limit");
	with.max_body_bytes = 24;
	tap_int(get_with(with, url("http", server.plain, "/found")).fault, TRANSFER_TOO_LARGE,
		"a body one byte longer than the limit");
	tap_int(get("/huge").fault, TRANSFER_TOO_LARGE, "H02: one text of 10 MB");

	struct seen bomb = get("/bomb");

	tap_int(bomb.fault, TRANSFER_TOO_LARGE, "H02: 50 MB in 48 KB");
	tap_ok(bomb.body_len <= MIB, "H02: no more than the limit was kept");
}

static void
test_timeouts(void)
{
	struct curl_peer_options with = options();
	struct seen never;

	with.connect_timeout_us = with.total_timeout_us = 400 * MILLISECOND;
	never = get_with(with, url("http", server.plain, "/never"));
	tap_int(never.fault, TRANSFER_TIMEOUT, "P03: accepts and never answers");
	tap_int(never.status, 0, "P03: no status then");
	tap_int(get_with(with, url("http", server.plain, "/drip")).fault, TRANSFER_TIMEOUT,
		"one byte a second");
	tap_int(get_with(with, url("http", server.plain, "/slow_headers")).fault, TRANSFER_TIMEOUT,
		"headers without end");
	with.total_timeout_us = 10 * SECOND;
	tap_int(get_with(with, url("http", server.full, "/found")).fault, TRANSFER_TIMEOUT,
		"a connection that does not come about");
	tap_int(get_with(with, url("https", server.plain, "/found")).fault, TRANSFER_TIMEOUT,
		"a handshake that nobody answers");
}

static void
test_no_connection(void)
{
	struct curl_peer_options with = options();

	tap_int(get_with(with, url("http", server.refused, "/")).fault, TRANSFER_REFUSED,
		"P03: refused");
	tap_int(get_with(with, "http://nowhere.invalid/").fault, TRANSFER_DNS, "no such name");
	tap_int(get_with(with, "http://169.254.169.254/").fault, TRANSFER_REFUSED,
		"metadata of a cloud is not asked");
	tap_int(get_with(with, "http://[::ffff:169.254.169.254]/").fault, TRANSFER_REFUSED,
		"metadata of a cloud is not asked by a mapped address");
	tap_int(get_with(with, "http://[2002:a9fe:a9fe::]/").fault, TRANSFER_REFUSED,
		"metadata of a cloud is not asked by 6to4");
	tap_int(get_with(with, "http://[64:ff9b::a9fe:a9fe]/").fault, TRANSFER_REFUSED,
		"metadata of a cloud is not asked by NAT64");
	tap_int(get_with(with, "http://168.63.129.16/").fault, TRANSFER_REFUSED,
		"metadata of a cloud is not asked at Azure's address");
	tap_int(get_with(with, "http://[fe80::1]/").fault, TRANSFER_REFUSED,
		"nothing link-local is asked");
	tap_int(get_with(with, "file:///etc/passwd").fault, TRANSFER_FAILED, "http and https only");
	tap_int(get_with(with, "").fault, TRANSFER_FAILED, "no address");
	setenv("http_proxy", url("http", server.refused, ""), 1);
	tap_int(get("/found").fault, TRANSFER_OK, "no proxy from the environment");
	unsetenv("http_proxy");
}

static void
test_tls(void)
{
	struct curl_peer_options with = options();

	tap_int(get_with(with, url("https", server.tls, "/found")).fault, TRANSFER_TLS,
		"a certificate that nobody vouches for");
	with.ca_file = server.cert;
	tap_int(get_with(with, url("https", server.tls, "/found")).status, 200,
		"its own authority given");
	with.ca_file = "/nonexistent/ca.pem";
	tap_int(get_with(with, url("https", server.tls, "/found")).fault, TRANSFER_TLS,
		"an authority that cannot be read");
}

static void
test_headers_received(void)
{
	tap_ok(strstr(get("/mixed").headers, "x-mixed-case=Some Value\netag=\"Ab\"\n") != NULL,
	       "names in lower case, values without surrounding blanks");
	tap_ok(strstr(get("/twice").headers, "x-id=1\nx-id=2\n") != NULL, "both of two headers");
	tap_ok(strstr(get("/folded").headers, "x-long=one two\n") != NULL, "a folded value");

	struct seen interim = get("/interim");

	tap_ok(strstr(interim.headers, "x-late=2") && !strstr(interim.headers, "x-early"),
	       "headers of the last answer, not of an interim one");

	struct seen trailer = get("/trailer");

	tap_ok(strstr(trailer.headers, "x-real=r\n") && !strstr(trailer.headers, "changed") &&
		       !strstr(trailer.headers, "x-trailer"),
	       "a trailer is no header");
}

static void
test_requests_sent(void)
{
	static const char *const of_peer[] = { "Authorization: Bearer k0", "X-Fixed: peer" };
	static const char *const of_request[] = { "x-fixed: request", "x-more: m" };
	struct curl_peer_options with = options();
	struct transfer_request request = { .method = TRANSFER_POST,
					    .body = "{\"a\":1}",
					    .body_len = 7,
					    .headers = of_request,
					    .headers_count = 2 };
	struct seen seen;

	with.headers = of_peer;
	with.headers_count = 2;
	request.url = url("http", server.plain, "/echo/%2e%2e/a%20b?q=1");
	seen = send_request(&with, &request);
	tap_ok(strstr(seen.body, "\"method\": \"POST\"") != NULL, "a POST");
	tap_ok(strstr(seen.body, "\"body\": \"{\\\"a\\\":1}\"") != NULL, "with its body");
	tap_ok(strstr(seen.body, "\"target\": \"/echo/%2e%2e/a%20b?q=1\"") != NULL,
	       "the address as given");
	tap_ok(strstr(seen.body, "[\"Authorization\", \"Bearer k0\"]") != NULL,
	       "the peer's header");
	tap_ok(strstr(seen.body, "[\"x-more\", \"m\"]") != NULL, "the request's header");
	tap_ok(strstr(seen.body, "[\"x-fixed\", \"request\"]") && !strstr(seen.body, "X-Fixed"),
	       "the request's header instead of the peer's");
	tap_ok(strstr(seen.body, "[\"User-Agent\", \"reconciled/" RECONCILED_VERSION "\"]") != NULL,
	       "who asks");
}

static void
test_methods_on_one_handle(void)
{
	static const struct {
		enum transfer_method method;
		const char *path, *seen;
		int status;
	} steps[] = {
		{ TRANSFER_GET, "/echo", "\"method\": \"GET\"", 200 },
		{ TRANSFER_POST, "/echo", "\"method\": \"POST\"", 200 },
		{ TRANSFER_GET, "/echo", "\"method\": \"GET\"", 200 },
		{ TRANSFER_HEAD, "/found", "", 200 },
		{ TRANSFER_HEAD, "/absent", "", 404 },
		{ TRANSFER_POST, "/echo", "\"method\": \"POST\"", 200 },
		{ TRANSFER_HEAD, "/found", "", 200 },
		{ TRANSFER_GET, "/echo", "\"method\": \"GET\"", 200 },
	};
	struct curl_peer_options with = options();
	struct curl_peer *peer = curl_peer_create(loop, &with);
	struct seen seen = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		struct transfer_request request = {
			.method = steps[i].method,
			.url = url("http", server.plain, steps[i].path),
			.body = "b",
			.body_len = 1,
		};

		transfer_start(peer, &request, on_done, &seen);
		turn(base, &seen.calls, (int)i + 1);
		tap_int(seen.status, steps[i].status, "status after a change of method");
		tap_ok(strstr(seen.body, steps[i].seen) != NULL, "step %zu: the method", i);
		tap_ok(strstr(seen.body, "\"body\": \"b\"") == NULL ||
			       steps[i].method == TRANSFER_POST,
		       "step %zu: a body with POST only", i);
	}
	curl_peer_destroy(peer);
}

static void
test_header_injection(void)
{
	static const char *const bad[] = { "x-a: 1\r\nx-b: 2" };
	static const char *const control[] = { "x-a: 1\x01" };
	struct curl_peer_options with = options();
	struct transfer_request request = { .headers = bad, .headers_count = 1 };

	get("/forget");
	request.url = url("http", server.plain, "/echo");
	tap_int(send_request(&with, &request).fault, TRANSFER_FAILED, "a line end in a header");
	request.headers = control;
	tap_int(send_request(&with, &request).fault, TRANSFER_FAILED, "a control character");
	with.headers = bad;
	with.headers_count = 1;
	request.headers_count = 0;
	tap_int(send_request(&with, &request).fault, TRANSFER_FAILED, "in a header of the peer");
	tap_ok(strstr(get("/stats").body, "\"requests\": 1,") != NULL, "none of them was sent");
}

/* H03 */
static void
test_redirect(void)
{
	static const char *const key[] = { "X-Api-Key: k0", "Authorization: Bearer k0" };
	struct curl_peer_options with = options();
	struct transfer_request request = { 0 };

	with.headers = key;
	with.headers_count = 2;
	get("/forget");
	request.url = url("http", server.plain, "/redirect");
	tap_int(send_request(&with, &request).status, 302, "H03: the redirect is the answer");
	tap_ok(strstr(get("/stats").body, "\"recorded\": []") != NULL,
	       "H03: the other server was not asked");
}

static void
test_cancel(void)
{
	struct curl_peer_options with = options();
	struct curl_peer *peer = curl_peer_create(loop, &with);
	struct transfer_request request = { .url = url("http", server.plain, "/never") };
	struct seen late = { 0 }, other = { 0 };
	struct transfer *transfer = transfer_start(peer, &request, on_done, &late);

	transfer_cancel(transfer);
	transfer = transfer_start(peer, &request, on_done, &late);
	turn_for(base, 100 * MILLISECOND);
	transfer_cancel(transfer);
	request.url = "http://nowhere.invalid/";
	transfer = transfer_start(peer, &request, on_done, &late);
	transfer_cancel(transfer);
	request.url = url("http", server.plain, "/found");
	transfer_start(peer, &request, on_done, &other);
	turn(base, &other.calls, 1);
	tap_int(other.status, 200, "the handle works after a cancellation");
	transfer_start(peer, &request, on_done, &late);
	turn_for(base, 20 * MILLISECOND);
	late.calls = 0;
	request.url = url("http", server.plain, "/never");
	for (int i = 0; i < 3; i++)
		transfer_start(peer, &request, on_done, &late);
	turn_for(base, 50 * MILLISECOND);
	curl_peer_destroy(peer);
	turn_for(base, 300 * MILLISECOND);
	tap_int(late.calls, 0, "what was cancelled never calls");
}

struct closing {
	struct curl_peer *peer;
	int calls;
};

static void
on_done_destroy(void *owner, const struct transfer_result *result)
{
	struct closing *closing = owner;

	closing->calls++;
	curl_peer_destroy(closing->peer);
	tap_str(result->body, "{\"id\":\"a1\",\"version\":\"7\"}",
		"the answer outlives its peer until the callback returns");
}

static void
test_destroy_inside_callback(void)
{
	struct curl_peer_options with = options();
	struct closing closing = { .peer = curl_peer_create(loop, &with) };
	struct transfer_request request = { .url = url("http", server.plain, "/found") };

	transfer_start(closing.peer, &request, on_done_destroy, &closing);
	transfer_start(closing.peer, &request, on_done_destroy, &closing);
	turn(base, &closing.calls, 1);
	turn_for(base, 100 * MILLISECOND);
	tap_int(closing.calls, 1, "a peer destroyed from a callback reports nothing more");
}

struct crowd {
	struct curl_peer *peer;
	int started, wanted, calls, good, inside;
};

static void start_one(struct crowd *crowd);

static void
on_one(void *owner, const struct transfer_result *result)
{
	struct crowd *crowd = owner;

	crowd->calls++;
	crowd->good += result->status == 200 && result->body_len == 25;
	if (crowd->started < crowd->wanted)
		start_one(crowd);
}

static void
start_one(struct crowd *crowd)
{
	struct transfer_request request = { .url = url("http", server.plain, "/slow") };
	int before = crowd->calls;

	crowd->started++;
	transfer_start(crowd->peer, &request, on_one, crowd);
	crowd->inside += crowd->calls - before;
}

static void
test_crowd(void)
{
	struct curl_peer_options with = options();
	struct crowd crowd = { .peer = curl_peer_create(loop, &with), .wanted = 1000 };

	get("/forget");
	for (int i = 0; i < with.connections; i++)
		start_one(&crowd);
	turn(base, &crowd.calls, 1000);
	tap_int(crowd.good, 1000, "a thousand answers");
	tap_int(crowd.inside, 0, "none from inside transfer_start");
	tap_ok(strstr(get("/stats").body, "\"most\": 8,") != NULL, "eight at once, never more");
	curl_peer_destroy(crowd.peer);
}

static int
open_sockets(void)
{
	DIR *dir = opendir("/proc/self/fd");
	char target[64];
	int count = 0;

	for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
		ssize_t len = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target));

		count += len > 7 && memcmp(target, "socket:", 7) == 0;
	}
	closedir(dir);
	return count;
}

/* Registered events that belong to descriptors; the timer of libcurl may be pending beside them. */
static int
count_event(const struct event_base *unused, const struct event *event, void *count)
{
	int fd = event_get_fd(event);

	if (fd >= 0 && (event_get_events(event) & (EV_READ | EV_WRITE)))
		(*(int *)count)++;
	return 0;
}

static int
socket_events(void)
{
	int count = 0;

	event_base_foreach_event(base, count_event, &count);
	return count;
}

static int
turns_in(int64_t us)
{
	int64_t deadline = clock_monotonic_us() + us;
	struct timeval tick = { .tv_usec = 200000 };
	int turns = 0;

	while (clock_monotonic_us() < deadline) {
		event_base_loopexit(base, &tick);
		event_base_loop(base, EVLOOP_ONCE);
		turns++;
	}
	return turns;
}

/* L02 */
static void
test_idle(void)
{
	struct curl_peer_options with = options();
	struct transfer_request request = { .url = url("http", server.plain, "/retire") };
	struct curl_peer *peer;
	struct seen seen = { 0 };
	int own, fd;

	curl_loop_destroy(loop);
	tap_int(open_sockets(), 0, "idle connections end with their loop");
	tap_int(socket_events(), 0, "and their events");
	loop = curl_loop_create(base);
	own = open_sockets(); /* libcurl has some of its own that are no connections */
	peer = curl_peer_create(loop, &with);
	for (int i = 0; i < 3; i++)
		transfer_start(peer, &request, on_done, &seen);
	turn(base, &seen.calls, 3);
	tap_int(open_sockets() - own, 3, "L02: three connections");
	tap_int(socket_events(), 3, "L02: with one event each");
	turn_for(base, 500 * MILLISECOND);
	tap_ok(socket_events() <= open_sockets() - own, "L02: no event without a descriptor");
	/* At most each tick of the clock and a few expiries of libcurl; a spin makes thousands. */
	tap_ok(turns_in(2 * SECOND) <= 40, "L02: connections closed by the server wake nobody");

	request.url = url("http", server.plain, "/found");
	transfer_start(peer, &request, on_done, &seen);
	turn(base, &seen.calls, 4);
	tap_int(seen.status, 200, "L02: a closed connection is not used again");

	/* A descriptor that was libcurl's now is somebody else's. */
	curl_peer_destroy(peer);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	tap_ok(socket_events() <= open_sockets() - own - 1,
	       "L02: no event on a foreign descriptor");
	close(fd);
}

static void
test_kept_connection(void)
{
	struct curl_peer_options with = options();
	struct curl_peer *peer = curl_peer_create(loop, &with);
	struct transfer_request request = { .url = url("http", server.plain, "/found") };
	struct seen seen = { 0 };
	int before = open_sockets();

	for (int i = 0; i < 20; i++) {
		transfer_start(peer, &request, on_done, &seen);
		turn(base, &seen.calls, i + 1);
	}
	tap_int(seen.calls, 20, "twenty requests, one after the other");
	tap_ok(open_sockets() <= before + 1, "on one connection");
	curl_peer_destroy(peer);
}

int
main(void)
{
	signal(SIGPIPE, SIG_IGN);
	fault_server_start(&server);
	base = event_base_new();
	loop = curl_loop_create(base);
	test_answers();
	test_cut();
	test_too_large();
	test_timeouts();
	test_no_connection();
	test_tls();
	test_headers_received();
	test_requests_sent();
	test_methods_on_one_handle();
	test_header_injection();
	test_redirect();
	test_cancel();
	test_destroy_inside_callback();
	test_crowd();
	test_kept_connection();
	test_idle();
	curl_loop_destroy(loop);
	tap_int(socket_events(), 0, "nothing is left registered");
	tap_int(open_sockets(), 0, "nothing is left open");
	event_base_free(base);
	fault_server_stop(&server);
	return tap_done();
}
