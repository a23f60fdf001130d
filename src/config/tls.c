/* SPDX-License-Identifier: Apache-2.0
 *
 * Files are looked at where secrets are, so that the start fails and not the first question.
 */
#include "tls.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "loading.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/secret.h"
#include "tree.h"

static void
take_file(struct loading *loading, const struct node *node, const char *text, const char **ret_path)
{
	const char *path = path_beside(loading, text);

	*ret_path = path;
	if (loading->secrets && access(path, R_OK) != 0)
		complain(loading, node, "could not read \"%s\": %s", path, strerror(errno));
}

static void
decode_file(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	const char *text = text_decode(loading, node, "a file of certificates");

	if (text)
		take_file(loading, node, text, at);
}

/* The key itself as a secret, or the file where it is. */
static void
decode_tls_key(struct loading *loading, const struct node *node, void *at,
	       const struct field *field)
{
	struct target *target = at;
	const char *text = node->kind == NODE_TEXT ? node->text : "", *reference;

	if (secret_is_reference(text))
		(void)secret_decode(loading, node, &reference, &target->tls_key_secret);
	else if (text[0] == '\0' || text[strcspn(text, "\r\n")] != '\0')
		complain(loading, node,
			 "allowed: a file with the key, or a secret"); /* not shown */
	else
		take_file(loading, node, text, &target->tls_key);
}

static const struct word version_list[] = {
	{ "1.2", .value = TLS_1_2 },
	{ "1.3", .value = TLS_1_3 },
};
WORDS(version_words, version_list);

static const struct field tls_fields[] = {
	{ "ca", offsetof(struct target, tls_ca), OWN(decode_file), .shape = &shape_text,
	  .help = "Certificates to trust." },
	{ "cert", offsetof(struct target, tls_cert), OWN(decode_file), .shape = &shape_text,
	  .help = "Our certificate." },
	{ "key", 0, OWN(decode_tls_key), .shape = &shape_text,
	  .help = "Its key: a file or a secret." },
	{ "min", offsetof(struct target, tls_min), WORD(version_words, TLS_DEFAULT),
	  .help = "Oldest version of TLS that is spoken." },
};
const struct table tls_table = { tls_fields, ARRAY_LEN(tls_fields) };

void
tls_check(struct loading *loading, const struct node *root)
{
	const struct node *tls = node_member(root, "tls");
	const struct node *cert = node_member(tls, "cert"), *key = node_member(tls, "key");

	if (cert && !key)
		complain_at_key(loading, cert, "needs key beside it");
	if (key && !cert)
		complain_at_key(loading, key, "needs cert beside it");
}
