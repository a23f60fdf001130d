# SPDX-License-Identifier: Apache-2.0
"""Several daemons on one database, each with a name and a state directory of its own."""

import json


class Fleet:
    """They share policies and targets of the world, unless they are given their own folders."""

    def __init__(self, world):
        self.world = world
        self.daemons = {}

    def __getitem__(self, name):
        return self.daemons[name]

    def directory(self, name):
        return self.world.directory / "instances" / name

    def configure(self, name, policies=None, targets=None, **settings):
        """Writes the settings of one instance; the path of the file."""
        directory = self.directory(name)
        (directory / "state").mkdir(parents=True, exist_ok=True)
        file = directory / "reconciled.yaml"
        self.world.settings(file, **{
            "instance_name": name,
            "policies": json.dumps(str(policies or self.world.directory / "policies.d")),
            "targets": json.dumps(str(targets or self.world.directory / "targets.d")),
            "state_directory": json.dumps(str(directory / "state")),
            **settings})
        return file

    def start(self, name, *arguments, policies=None, targets=None, serving=True, **settings):
        """A new instance, or one that was stopped or killed before."""
        file = self.configure(name, policies, targets, **settings)
        self.daemons[name] = self.world.start_daemon(*arguments, config=file, serving=serving)
        return self.daemons[name]

    def stop(self, name):
        assert self.daemons.pop(name).stop() == 0

    def kill(self, name):
        self.daemons.pop(name).kill()

    def rows(self):
        """What the database knows of them, by name."""
        return {row["name"]: row for row in self.world.db.execute(
            "SELECT *, clock_timestamp() - heartbeat_at AS silent FROM reconcile.instances"
        ).fetchall()}

    def wait_alive(self, count, timeout=40):
        """Until every running one counts so many, also those that do not take part yet."""
        for daemon in self.daemons.values():
            daemon.wait_for(
                lambda d=daemon: d.manager.status().endswith(f"instances alive: {count}"),
                timeout, f"{count} instances alive")

    def wait_members(self, timeout=60):
        """Until every running one takes part, and every other one knows it."""
        def rows():
            found = self.rows()
            return {name: found.get(name) for name in self.daemons}

        self.world.wait_for(lambda: all(row and row["types"] for row in rows().values()), timeout,
                            "all take part")
        before = rows()
        self.world.wait_for(lambda: all(row["beats"] >= before[name]["beats"] + 2
                                        for name, row in rows().items()), timeout, "all know it")
