/* SPDX-License-Identifier: Apache-2.0
 *
 * reconcile-sim: a target that misbehaves on purpose. Arguments, configuration file, loop.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "decode.h"
#include "reconciled/base/clock.h"
#include "reconciled/base/err.h"
#include "reconciled/base/log.h"
#include "reconciled/base/standard_files.h"
#include "reconciled/base/xalloc.h"
#include "sim.h"
#include "yaml_tree.h"

enum { EXIT_USAGE = 2 };

struct arguments {
	const char *config, *books, *listen, *address_file;
};

/* The top of the configuration file. */
struct settings {
	char *token;
	json_t *collections, *behaviours;
};

#define AT(member) .offset = offsetof(struct settings, member)

static const struct decode_field settings_fields[] = {
	{ "token", DECODE_TEXT, AT(token) },
	{ "collections", DECODE_OBJECT, AT(collections) },
	{ "behaviours", DECODE_LIST, AT(behaviours) },
	{ 0 },
};

static void
usage(FILE *out)
{
	fputs("usage: reconcile-sim [--listen HOST:PORT|unix:PATH] [--config FILE] [--books FILE]\n"
	      "                     [--address-file FILE] [--version] [--help]\n",
	      out);
}

static void
parse_arguments(int argc, char **argv, struct arguments *ret)
{
	static const struct option options[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "books", required_argument, NULL, 'b' },
		{ "listen", required_argument, NULL, 'l' },
		{ "address-file", required_argument, NULL, 'a' },
		{ "version", no_argument, NULL, 'V' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	*ret = (struct arguments){ .listen = "127.0.0.1:0" };
	for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
		switch (c) {
		case 'c':
			ret->config = optarg;
			break;
		case 'b':
			ret->books = optarg;
			break;
		case 'l':
			ret->listen = optarg;
			break;
		case 'a':
			ret->address_file = optarg;
			break;
		case 'V':
			puts("reconcile-sim " RECONCILED_VERSION);
			exit(EXIT_SUCCESS);
		case 'h':
			usage(stdout);
			exit(EXIT_SUCCESS);
		default:
			usage(stderr);
			exit(EXIT_USAGE);
		}
	}
	if (optind < argc) {
		usage(stderr);
		exit(EXIT_USAGE);
	}
}

static bool
apply(struct sim *sim, struct settings *settings, struct err *err)
{
	const char *name;
	json_t *collection;
	json_object_foreach(settings->collections, name, collection) {
		if (!world_add_collection(&sim->world, name, collection, err))
			return false;
	}
	sim->token = TAKE(settings->token);
	return !settings->behaviours ||
	       behaviours_add(&sim->behaviours, settings->behaviours, clock_monotonic_us(), err);
}

static bool
configure(struct sim *sim, const char *file, struct err *err)
{
	struct settings settings = { 0 };
	json_t *tree = NULL;
	if (!yaml_tree_load(file, &tree, err))
		return false;
	bool ok =
		decode_object(tree, settings_fields, &settings, err) && apply(sim, &settings, err);
	decode_release(settings_fields, &settings);
	json_decref(tree);
	return ok || err_wrap(err, "%s", file);
}

/* Written under another name first, so that whoever waits for the file never reads half of it. */
static bool
write_address(const char *file, const char *address, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf part = { 0 };
	strbuf_printf(&part, "%s.part", file);
	FILE *out = fopen(strbuf_text(&part), "we");
	if (!out || fprintf(out, "%s\n", address) < 0 || fclose(out) != 0 ||
	    rename(strbuf_text(&part), file) != 0)
		return err_set(err, ERR_FATAL, "could not write \"%s\": %s", file, strerror(errno));
	return true;
}

static bool
run(struct sim *sim, const struct arguments *arguments, struct err *err)
{
	if (arguments->config && !configure(sim, arguments->config, err))
		return false;
	if (!books_open(arguments->books, &sim->books, err) || !server_start(sim, err))
		return false;
	printf("listening on %s\n", sim->listen);
	fflush(stdout);
	if (arguments->address_file && !write_address(arguments->address_file, sim->listen, err))
		return false;
	event_base_dispatch(sim->base);
	return true;
}

/* Many clients may hang at once. */
static void
raise_descriptor_limit(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

int
main(int argc, char **argv)
{
	struct arguments arguments;
	struct err err = { 0 };
	struct sim sim = { 0 };
	standard_files_reserve();
	parse_arguments(argc, argv, &arguments);
	log_setup(LOG_LEVEL_INFO, LOG_FORMAT_AUTO);
	signal(SIGPIPE, SIG_IGN);
	raise_descriptor_limit();
	sim.base = event_base_new();
	sim.listen = xstrdup(arguments.listen);
	bool ok = run(&sim, &arguments, &err);
	if (!ok)
		fprintf(stderr, "reconcile-sim: %s\n", err.text);
	server_finish(&sim);
	behaviours_finish(&sim.behaviours);
	world_finish(&sim.world);
	books_close(sim.books);
	event_base_free(sim.base);
	free(sim.listen);
	free(sim.token);
	if (ok)
		return EXIT_SUCCESS;
	return err.code == ERR_INVALID ? EXIT_USAGE : EXIT_FAILURE;
}
