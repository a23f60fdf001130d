-- SPDX-License-Identifier: Apache-2.0
-- Begins a migration: what another one committed while this one waited for the lock must be seen.
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE
