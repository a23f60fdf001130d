#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// orders.mjs place TENANT KEY ARTICLE TOTAL: one order, however often it is called with this key.
// orders.mjs work: sends orders to the warehouse until SIGTERM.
//
// Environment: DATABASE (a URI), for work WAREHOUSE (http://HOST:PORT); TIMEOUT and LEASE in seconds.
// examples/php tells the same story in more words, and has table, policy and simulated warehouse.

import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';

const TIMEOUT = Number(process.env.TIMEOUT ?? 5);
const LEASE = Number(process.env.LEASE ?? 30);
const MARGIN = 1;
// With the warehouse's own error document these say that nothing was done and nothing will be.
const REFUSALS = ['bad_body', 'too_large', 'unknown_article'];
// Nothing of the request can have left.
const NOT_SENT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'];

const RESERVE = `SELECT * FROM reconcile.reserve(scope => $1, operation => 'place_order', key => $2,
	payload => $3, operation_id => $4, lease => '10 s', wait => '2 s')`;
const INSERT = `INSERT INTO orders (id, tenant, article, total) VALUES ($1, $2, $3, $4)
	ON CONFLICT (id) DO NOTHING`;
const REQUEST = `SELECT FROM reconcile.request(operation_type => 'place_order', operation_id => $1,
	scope => $2, entity_type => 'order', entity_id => $1, idempotency_key => $1,
	business_key => $1, expected => $3, payload => $4)`;
const COMPLETE = `SELECT FROM reconcile.complete(scope => $1, operation => 'place_order', key => $2,
	owner => $3, response_code => 202, response_body => $4, content_type => 'application/json',
	resource_id => $5)`;
const CLAIM = `SELECT * FROM reconcile.claim(operation_types => '{place_order}', worker => $1,
	lease => make_interval(secs => $2))`;
// Joined to the claim, it would not see what was committed after that statement began.
const PAYLOAD = 'SELECT payload::text FROM reconcile.content WHERE operation_id = $1';
const CONFIRM = 'SELECT FROM reconcile.confirm(operation_id => $1, attempt => $2, remote_id => $3)';
const REJECT = 'SELECT FROM reconcile.reject(operation_id => $1, attempt => $2, code => $3)';
const RETRY = 'SELECT FROM reconcile.retry(operation_id => $1, attempt => $2, cause => $3)';
const SENT = 'SELECT FROM reconcile.sent(operation_id => $1, attempt => $2, request_ref => $3)';

// Queries without a name are not prepared for the session, which PgBouncer would lose.
async function connect()
{
	const db = new pg.Client({ connectionString: process.env.DATABASE, application_name: 'orders.mjs' });
	await db.connect();
	return db;
}

// All of it, or nothing.
async function transaction(db, work)
{
	await db.query('BEGIN');
	try {
		await work();
		await db.query('COMMIT');
	} catch (failure) {
		await db.query('ROLLBACK');
		throw failure;
	}
}

// Status and bytes of the answer: the stored ones, when the key was used before.
async function place(db, scope, key, article, total)
{
	const id = 'ord-' + createHash('sha256').update(`${scope}\0${key}`).digest('hex').slice(0, 24);
	const payload = JSON.stringify({ article, total });
	const { rows: [held] } = await db.query(RESERVE, [scope, key, payload, id]);
	if (held.response_body !== null)
		return [held.response_code, held.response_body];
	if (held.outcome !== 'reserved')
		return [held.outcome === 'conflict' ? 422 : 409, Buffer.from(held.outcome)];
	const answer = Buffer.from(JSON.stringify({ order: id, accepted: Date.now() }));
	await transaction(db, async () => {
		await db.query(INSERT, [id, scope, article, total]);
		await db.query(REQUEST, [id, scope, JSON.stringify({ total }),
			JSON.stringify({ number: id, article, total })]);
		await db.query(COMPLETE, [scope, key, held.owner, answer, id]);
	});
	return [202, answer];
}

// How it ended: a statement to say it with, and its last value.
async function send(operation)
{
	let status, body;

	try {
		const answer = await fetch(`${process.env.WAREHOUSE}/orders`, {
			method: 'POST',
			body: operation.payload,
			redirect: 'manual',
			signal: AbortSignal.timeout(TIMEOUT * 1000),
			headers: {
				'Content-Type': 'application/json', 'Operation-Id': operation.operation_id,
				'Idempotency-Key': operation.idempotency_key,
			},
		});
		status = answer.status;
		body = Object(await answer.json());
	} catch (failure) {
		const why = failure.cause?.code ?? failure.name;
		return [NOT_SENT.includes(why) ? RETRY : SENT, why];
	}
	const same = Object.entries(JSON.parse(operation.payload)).every(([name, value]) => body[name] === value);
	if ([200, 201].includes(status) && body.id && same)
		return [CONFIRM, body.id];
	if (status < 500 && REFUSALS.includes(body.error))
		return [REJECT, body.error];
	return [SENT, `http_${status}`];
}

async function say(db, operation, statement, value)
{
	try {
		await db.query(statement, [operation.operation_id, operation.attempts, value]);
	} catch (refused) {
		if (!refused.code?.startsWith('RC'))
			throw refused;
		console.error(refused.message); // it moved on meanwhile, and its state knows more
	}
}

// A supervisor starts it again when the database goes away; what it held is found out.
async function work(db)
{
	let stopping = false;

	process.on('SIGTERM', () => { stopping = true; });
	while (!stopping) {
		const until = performance.now() + LEASE * 1000;
		const { rows: [operation] } = await db.query(CLAIM, [`${hostname()}-${process.pid}`, LEASE]);
		if (!operation) {
			await pause(250);
			continue;
		}
		const { rows: [content] } = await db.query(PAYLOAD, [operation.operation_id]);
		operation.payload = content.payload;
		if (until - performance.now() > (TIMEOUT + MARGIN) * 1000)
			await say(db, operation, ...await send(operation)); // no transaction is open meanwhile
	}
}

const db = await connect();
if (process.argv[2] === 'work') {
	await work(db);
} else {
	const [code, answer] = await place(db, ...process.argv.slice(3));
	console.log(code, answer.toString());
}
await db.end();
