# SPDX-License-Identifier: Apache-2.0
"""Backups of the database of a World, and what an administrator does with them."""

import subprocess

from psycopg.rows import dict_row


def _run(cluster, program, *arguments):
    done = subprocess.run([str(cluster.bin / program), "-h", str(cluster.directory), "-U", "postgres",
                           *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def dump(world, name="backup"):
    """The file, made while everybody works."""
    file = world.directory / f"{name}.dump"
    _run(world.cluster, "pg_dump", "-Fc", "-f", file, world.database)
    return file


def connect_again(world):
    """The sessions of the test itself, after the database went away under them."""
    for session in (world.app, world.db):
        session.close()
    world.app = world.cluster.connect(world.database, "app_login", row_factory=dict_row)
    world.db = world.cluster.connect(world.database, "postgres", row_factory=dict_row)


def restore(world, file):
    """Drops the database, whoever uses it, and makes it anew from the dump."""
    world.app.close()
    with world.cluster.connect() as admin:
        admin.execute(f"DROP DATABASE {world.database} WITH (FORCE)")
        admin.execute(f"CREATE DATABASE {world.database} TEMPLATE template0")
    _run(world.cluster, "pg_restore", "-d", world.database, file)
    connect_again(world)


def restore_and_rename(world, file):
    """Makes a second database from the dump, then lets it take the name of the first."""
    with world.cluster.connect() as admin:
        admin.execute(f"CREATE DATABASE {world.database}_old TEMPLATE template0")
        _run(world.cluster, "pg_restore", "-d", f"{world.database}_old", file)
        admin.execute(f"ALTER DATABASE {world.database} ALLOW_CONNECTIONS false")
        admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s",
                      [world.database])
        admin.execute(f"ALTER DATABASE {world.database} RENAME TO {world.database}_lost")
        admin.execute(f"ALTER DATABASE {world.database}_old RENAME TO {world.database}")
        admin.execute(f"DROP DATABASE {world.database}_lost WITH (FORCE)")
    connect_again(world)


def restore_in_place(world, file):
    """Replaces what is in the database while sessions stay connected."""
    world.app.close()
    world.db.close()
    _run(world.cluster, "pg_restore", "--clean", "--if-exists", "--single-transaction", "-d",
         world.database, file)
    connect_again(world)
