-- SPDX-License-Identifier: Apache-2.0
-- What was applied to the database.
-- Result: int version, text sha256.
SELECT version, sha256 FROM reconcile.schema_migrations ORDER BY version
