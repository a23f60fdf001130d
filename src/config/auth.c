/* SPDX-License-Identifier: Apache-2.0
 *
 * Secrets are references, never in the file. What a message repeats of a file is never the value of
 * a key that may hold one.
 */
#include "auth.h"

#include <string.h>

#include "address.h"
#include "header.h"
#include "loading.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/err.h"
#include "reconciled/base/secret.h"
#include "reconciled/core/signing.h"
#include "tree.h"

/* It becomes part of a header, where a line end would begin another one. */
static bool
secret_fits_header(const struct secret *secret)
{
	const char *bytes = secret_reveal(secret);

	for (size_t i = 0; i < secret_len(secret); i++)
		if ((unsigned char)bytes[i] < 0x20 || bytes[i] == 0x7F)
			return false;
	return true;
}

static void
take_secret(struct loading *loading, const struct node *node, const struct secret **ret_secret)
{
	const char *reference;

	if (!secret_decode(loading, node, &reference, ret_secret) || !*ret_secret)
		return;
	if (!secret_fits_header(*ret_secret))
		complain(loading, node,
			 "the secret %s holds a line end or another control character", reference);
}

static void
decode_secret(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	struct auth *auth = at;

	take_secret(loading, node, &auth->secret);
}

static void
decode_bearer(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	struct auth *auth = at;

	auth->kind = AUTH_BEARER;
	decode_secret(loading, node, auth, field);
}

/* A user name is no secret everywhere, so it may stand in the file. */
static void
decode_user(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	struct auth *auth = at;
	const char *text = text_decode(loading, node, "a user name, or a secret");

	if (text && secret_is_reference(text))
		take_secret(loading, node, &auth->user_secret);
	else if (text && strchr(text, ':'))
		complain(loading, node, "a user name with \":\" cannot be sent");
	else
		auth->user = text;
}

static void
decode_header_name(struct loading *loading, const struct node *node, void *at,
		   const struct field *field)
{
	const char *name = text_decode(loading, node, "a header name");

	if (name && !header_name_is_valid(name))
		complain(loading, node, "is no name of a header");
	else
		*(const char **)at = name;
}

/* Names of accounts may stand in the file; whatever else they are, they are one line of text. */
static void
decode_open_setting(struct loading *loading, const struct node *node, void *at,
		    const struct field *field)
{
	struct setting *setting = at;
	const char *text = text_decode(loading, node, "a text, or a secret");

	if (text && secret_is_reference(text))
		take_secret(loading, node, &setting->secret);
	else if (text && text[strcspn(text, "\r\n\t")] != '\0')
		complain(loading, node, "a line end or a tab in a name");
	else
		setting->text = text;
}

static void
decode_secret_setting(struct loading *loading, const struct node *node, void *at,
		      const struct field *field)
{
	struct setting *setting = at;

	take_secret(loading, node, &setting->secret);
}

/* A key that nothing is sent of: any bytes. */
static void
decode_key(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	struct setting *setting = at;
	const char *reference;

	(void)secret_decode(loading, node, &reference, &setting->secret);
}

/* A part of what is signed, where "/" separates. */
static void
decode_scope_word(struct loading *loading, const struct node *node, void *at,
		  const struct field *field)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
	const char *text = text_decode(loading, node, "lower-case letters, digits, \"-\"");

	if (text && strspn(text, allowed) != strlen(text))
		complain_found(loading, node, "lower-case letters, digits, \"-\"");
	else
		*(const char **)at = text;
}

static const struct shape user_shape = {
	.kind = SHAPE_SCALAR,
	.pattern = "^([^:]*$|(credential|file|env):.)",
	.help = "A name without \":\", or a secret.",
	.min = 1,
};
static const struct shape scope_shape = { .kind = SHAPE_SCALAR,
					  .pattern = "^[a-z0-9-]+$",
					  .help = "Lower-case letters, digits, \"-\"." };

static const struct field basic_fields[] = {
	{ "user", 0, OWN(decode_user), .shape = &user_shape, .required = true,
	  .help = "name or secret" },
	{ "password", 0, OWN(decode_secret), .shape = &shape_secret, .required = true,
	  .help = "a secret" },
};
TABLE(basic_table, basic_fields);

static const struct field header_fields[] = {
	{ "name", offsetof(struct auth, header), OWN(decode_header_name),
	  .shape = &shape_header_name, .required = true, .help = "name of the header" },
	{ "value", 0, OWN(decode_secret), .shape = &shape_secret, .required = true,
	  .help = "a secret" },
};
TABLE(header_table, header_fields);

static const struct word style_list[] = {
	{ "basic", .value = OAUTH2_BASIC },
	{ "body", .value = OAUTH2_BODY },
};
WORDS(style_words, style_list);

#define OAUTH2(member) offsetof(struct auth, oauth2.member)

static const struct field oauth2_fields[] = {
	{ "token_url", OAUTH2(token_url), TEXT(NULL), .required = true,
	  .help = "where tokens are given: a path below base, or a whole URL" },
	{ "client_id", OAUTH2(client_id), OWN(decode_open_setting), .shape = &shape_text,
	  .required = true, .help = "name or secret" },
	{ "client_secret", OAUTH2(client_secret), OWN(decode_secret_setting),
	  .shape = &shape_secret, .help = "A secret." },
	{ "scope", OAUTH2(scope), TEXT(NULL), .help = "What the token is asked for." },
	{ "style", OAUTH2(style), WORD(style_words, OAUTH2_BASIC),
	  .help = "Where id and secret stand in the question." },
	{ "refresh_token", OAUTH2(refresh_token), OWN(decode_secret_setting),
	  .shape = &shape_secret, .help = "A secret: asks for tokens by it." },
};
TABLE(oauth2_table, oauth2_fields);

#define SIGV4(member) offsetof(struct auth, sigv4.member)

static const struct field sigv4_fields[] = {
	{ "region", SIGV4(region), OWN(decode_scope_word), .shape = &scope_shape, .required = true,
	  .help = "region of the service" },
	{ "service", SIGV4(service), OWN(decode_scope_word), .shape = &scope_shape,
	  .required = true, .help = "name of the service, like s3" },
	{ "access_key", SIGV4(access_key), OWN(decode_open_setting), .shape = &shape_text,
	  .required = true, .help = "name or secret" },
	{ "secret_key", SIGV4(secret_key), OWN(decode_secret_setting), .shape = &shape_secret,
	  .required = true, .help = "a secret" },
	{ "session_token", SIGV4(session_token), OWN(decode_secret_setting), .shape = &shape_secret,
	  .help = "A secret." },
};
TABLE(sigv4_table, sigv4_fields);

static const struct word algorithm_list[] = {
	{ "sha256", .value = SIGNING_SHA256 },
	{ "sha512", .value = SIGNING_SHA512 },
	{ "sha1", .value = SIGNING_SHA1 },
};
WORDS(algorithm_words, algorithm_list);

static const struct word encoding_list[] = {
	{ "hex", .value = SIGNING_HEX },
	{ "base64", .value = SIGNING_BASE64 },
};
WORDS(encoding_words, encoding_list);

static void
decode_sign(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	const char *text = text_decode(loading, node, "a text, with parts like {path}");
	struct err err = { 0 };

	*(const char **)at = text;
	if (text && !signing_check(text, &err))
		complain(loading, node, "%s", err.text);
}

#define HMAC(member) offsetof(struct auth, hmac.member)

static const struct field hmac_fields[] = {
	{ "algorithm", HMAC(rule.algorithm), WORD(algorithm_words, SIGNING_SHA256),
	  .help = "Hash of the signature." },
	{ "key", HMAC(key), OWN(decode_key), .shape = &shape_secret, .required = true,
	  .help = "a secret" },
	{ "encoding", HMAC(rule.encoding), WORD(encoding_words, SIGNING_HEX),
	  .help = "How the signature is written." },
	{ "header", HMAC(header), OWN(decode_header_name), .shape = &shape_header_name,
	  .required = true, .help = "name of the header that carries it" },
	{ "sign", HMAC(rule.sign), OWN(decode_sign), .shape = &shape_text, .required = true,
	  .help = "what is signed" },
};
TABLE(hmac_table, hmac_fields);

static void
decode_nested(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	struct auth *auth = at;

	auth->kind = (enum auth_kind)field->min;
	fields_decode(loading, node, field->table, auth);
}

static const struct field auth_fields[] = {
	{ "bearer", 0, OWN(decode_bearer), .shape = &shape_secret,
	  .help = "A token, as a secret." },
	{ "basic", 0, OWN(decode_nested), .min = AUTH_BASIC, .table = &basic_table,
	  .help = "User and password." },
	{ "header", 0, OWN(decode_nested), .min = AUTH_HEADER, .table = &header_table,
	  .help = "A header of the target's own." },
	{ "oauth2", 0, OWN(decode_nested), .min = AUTH_OAUTH2, .table = &oauth2_table,
	  .help = "Tokens that are given for client credentials." },
	{ "sigv4", 0, OWN(decode_nested), .min = AUTH_SIGV4, .table = &sigv4_table,
	  .help = "Signatures of AWS." },
	{ "hmac", 0, OWN(decode_nested), .min = AUTH_HMAC, .table = &hmac_table,
	  .help = "Signatures of the target's own." },
};
const struct table auth_table = { auth_fields, ARRAY_LEN(auth_fields) };

static const struct word none_list[] = { { "none", .value = AUTH_NONE } };
WORDS(none_words, none_list);
static const struct shape auth_none = { .kind = SHAPE_WORDS, .words = &none_words };
static const struct shape auth_map = {
	.kind = SHAPE_TABLE,
	.table = &auth_table,
	.min = 1,
	.max = 1,
};
static const struct shape *const auth_either[] = { &auth_none, &auth_map, NULL };
const struct shape shape_auth = { .kind = SHAPE_EITHER, .either = auth_either };

void
auth_decode(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	if (node->kind == NODE_TEXT && strcmp(node->text, "none") == 0)
		return;
	if (node->kind != NODE_MAP || node->count != 1) {
		/* The value is not repeated: it may be a secret. */
		complain(loading, node,
			 "allowed: none, or one of bearer, basic, header, oauth2, sigv4, hmac");
		return;
	}
	fields_decode(loading, node, &auth_table, at);
}

/* A path stays below the base, where everything else is asked too; only there leads a socket. */
static void
settle_token_url(struct loading *loading, const struct node *node, struct target *target)
{
	struct oauth2 *oauth2 = &target->auth.oauth2;
	const char *text = oauth2->token_url, *whole;
	bool below = text[0] == '/';
	struct err err = { 0 };

	if (below && target->base)
		oauth2->token_url = arena_printf(loading->arena, "%s%s", target->base, text);
	else if (below)
		return; /* below what was said to be no base */
	if (!address_check(loading->arena, oauth2->token_url,
			   target->insecure || (below && target->socket), &whole, &err))
		complain(loading, node, "%s", err.text);
}

void
auth_check(struct loading *loading, const struct node *root, struct target *target)
{
	const struct node *oauth2 = node_member(node_member(root, "auth"), "oauth2");
	const struct node *token_url = node_member(oauth2, "token_url");

	if (!oauth2 || oauth2->kind != NODE_MAP)
		return;
	if (token_url && target->auth.oauth2.token_url)
		settle_token_url(loading, token_url, target);
	if (!node_member(oauth2, "client_secret") && !node_member(oauth2, "refresh_token"))
		complain(loading, oauth2, "client_secret is missing: a secret");
}
