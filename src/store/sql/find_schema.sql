-- SPDX-License-Identifier: Apache-2.0
-- Whether the database was ever migrated.
-- Result: boolean.
SELECT to_regclass('reconcile.schema_migrations') IS NOT NULL
