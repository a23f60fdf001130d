# SPDX-License-Identifier: Apache-2.0
"""A way between a program and servers on this machine that can be cut while both live on.

As root it is a network of its own: the program runs in a namespace, and packets to the database
are dropped there, in both directions. Without root the same is done by a proxy that swallows what
passes; only the kernel's view of the connection differs.
"""

import os
import subprocess

from fault_proxy import FaultProxy


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr}")


class ProxyNetwork:
    """A context manager. database: the server's socket, target: HOST:PORT."""

    program_prefix = ()

    def __init__(self, database, target, listen="127.0.0.1"):
        self.database = FaultProxy(f"unix:{database}", f"{listen}:0", postgres=True)
        self.target = FaultProxy(target, f"{listen}:0")

    def __enter__(self):
        self.database.start()
        self.target.start()
        return self

    def __exit__(self, *_):
        self.target.stop()
        self.database.stop()

    def cut(self):
        """From now on nothing reaches the database and nothing comes from it, nor is it refused."""
        self.database.both(blackhole_after=0)

    def heal(self):
        self.database.both()


class NamespaceNetwork(ProxyNetwork):
    """The proxies only carry what arrives through the namespace."""

    def __init__(self, database, target):
        number = os.getpid() % 16384
        self.name = f"reconciled-{number}"
        self.outer = f"rc{number}"
        net = f"10.{192 + number // 4096}.{number // 16 % 256}.{number % 16 * 16}"
        base = net.rpartition(".")
        self.host = f"{base[0]}.{int(base[2]) + 1}"
        self.inside = f"{base[0]}.{int(base[2]) + 2}"
        self.program_prefix = ("ip", "netns", "exec", self.name)
        super().__init__(database, target, self.host)

    def __enter__(self):
        self._build()
        try:
            return super().__enter__()
        except BaseException:
            self._remove()
            raise

    def __exit__(self, *reason):
        super().__exit__(*reason)
        self._remove()

    def _build(self):
        run("ip", "netns", "add", self.name)
        try:
            run("ip", "link", "add", self.outer, "type", "veth", "peer", "name", "inner",
                "netns", self.name)
            run("ip", "addr", "add", f"{self.host}/28", "dev", self.outer)
            run("ip", "link", "set", self.outer, "up")
            run("ip", "-n", self.name, "addr", "add", f"{self.inside}/28", "dev", "inner")
            run("ip", "-n", self.name, "link", "set", "inner", "up")
            run("ip", "-n", self.name, "link", "set", "lo", "up")
        except BaseException:
            self._remove()
            raise

    def _remove(self):
        """A namespace ends later than it is deleted, and its interfaces with it: the next network
        of this name must not meet them."""
        subprocess.run(["ip", "link", "del", self.outer], capture_output=True, check=False)
        run("ip", "netns", "del", self.name)

    def _nft(self, *command):
        run(*self.program_prefix, "nft", *command)

    def cut(self):
        self._nft("add", "table", "ip", "cut")
        for hook, port in (("output", "dport"), ("input", "sport")):
            self._nft("add", "chain", "ip", "cut", hook,
                      f"{{ type filter hook {hook} priority 0; }}")
            self._nft("add", "rule", "ip", "cut", hook, "tcp", port, str(self.database.port),
                      "drop")

    def heal(self):
        self._nft("delete", "table", "ip", "cut")


def network(database, target):
    kind = NamespaceNetwork if os.geteuid() == 0 else ProxyNetwork
    return kind(database, target)
