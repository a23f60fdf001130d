-- SPDX-License-Identifier: Apache-2.0
-- The one table of the order service, for whoever calls the functions of reconcile.
CREATE TABLE orders (
	id text PRIMARY KEY,
	tenant text NOT NULL,
	article text NOT NULL,
	total numeric(10, 2) NOT NULL,
	street text,
	city text,
	version int NOT NULL DEFAULT 0, -- of the address
	created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
GRANT SELECT, INSERT, UPDATE ON orders TO reconcile_app;
