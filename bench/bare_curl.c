/* SPDX-License-Identifier: Apache-2.0
 *
 * The floor to measure against: fetches BASE/customers/op-N for N below COUNT with nothing but
 * libcurl, CONNECTIONS at a time, reused handles, bodies thrown away. The requests are those of the
 * daemon, header by header.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <curl/curl.h>

enum { CONNECTIONS_MAX = 64 };

struct work {
	const char *base;
	long next, count, done;
};

static size_t
discard(char *data, size_t size, size_t count, void *owner)
{
	return size * count;
}

/* Points the handle at the next object; false when all were taken. */
static bool
take_next(struct work *work, CURL *easy)
{
	char url[256];

	if (work->next == work->count)
		return false;
	snprintf(url, sizeof(url), "%s/customers/op-%07ld", work->base, work->next++);
	curl_easy_setopt(easy, CURLOPT_URL, url);
	return true;
}

static CURL *
handle_create(struct curl_slist *headers)
{
	CURL *easy = curl_easy_init();

	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "reconciled/" RECONCILED_VERSION);
	curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip, deflate");
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, discard);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	return easy;
}

static void
on_message(CURLM *multi, struct work *work, const CURLMsg *message)
{
	CURL *easy = message->easy_handle;
	bool failed = message->data.result != CURLE_OK;

	curl_multi_remove_handle(multi, easy);
	work->done++;
	if (failed)
		exit(1);
	if (take_next(work, easy))
		curl_multi_add_handle(multi, easy);
	else
		curl_easy_cleanup(easy);
}

static void
run(CURLM *multi, struct work *work)
{
	int running, left;
	CURLMsg *message;

	while (work->done < work->count) {
		curl_multi_perform(multi, &running);
		while ((message = curl_multi_info_read(multi, &left)))
			on_message(multi, work, message);
		curl_multi_poll(multi, NULL, 0, running > 0 ? 1000 : 0, NULL);
	}
}

int
main(int argc, char **argv)
{
	struct work work = { 0 };
	struct curl_slist *headers = NULL;
	int connections;
	CURLM *multi;

	if (argc != 4) {
		fputs("usage: bare_curl BASE COUNT CONNECTIONS\n", stderr);
		return 2;
	}
	work.base = argv[1];
	work.count = atol(argv[2]);
	connections = atoi(argv[3]);
	curl_global_init(CURL_GLOBAL_DEFAULT);
	multi = curl_multi_init();
	headers = curl_slist_append(headers, "cache-control: no-cache");
	headers = curl_slist_append(headers, "accept: application/json");
	for (int i = 0; i < connections && i < CONNECTIONS_MAX; i++) {
		CURL *easy = handle_create(headers);

		if (take_next(&work, easy))
			curl_multi_add_handle(multi, easy);
		else
			curl_easy_cleanup(easy);
	}
	run(multi, &work);
	curl_multi_cleanup(multi);
	curl_slist_free_all(headers);
	curl_global_cleanup();
	return 0;
}
