-- SPDX-License-Identifier: Apache-2.0
-- Notes a migration as applied.
-- $1 int version, $2 text name, $3 text sha256.
INSERT INTO reconcile.schema_migrations (version, name, sha256)
VALUES ($1::int, $2::text, $3::text)
