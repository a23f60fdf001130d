# SPDX-License-Identifier: Apache-2.0
"""A name in the connection string is looked up by us and checked against the server's certificate
by libpq."""

import json
import os
import shutil
import subprocess

import pytest

import cluster as private_cluster
from ports import free_port


def make_certificate(directory, name):
    """Signed by itself; (certificate, key)."""
    certificate, key = directory / f"{name}.crt", directory / f"{name}.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                    "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}",
                    "-out", certificate, "-keyout", key], check=True, capture_output=True)
    return certificate, key


class TlsCluster(private_cluster.Cluster):
    """Listens on 127.0.0.1 too, with a certificate that can be changed."""

    def __init__(self):
        super().__init__({"port": free_port(), "listen_addresses": "127.0.0.1"})

    def present(self, certificate, key):
        for source, name in ((certificate, "server.crt"), (key, "server.key")):
            shutil.copy(source, self.data / name)
            (self.data / name).chmod(0o600)
            if self.user is not None:
                os.chown(self.data / name, self.user.pw_uid, self.user.pw_gid)
        with self.connect() as admin:
            admin.execute("ALTER SYSTEM SET ssl = on")
            admin.execute("SELECT pg_reload_conf()")
        self._settle("SHOW ssl", "on")


@pytest.fixture(scope="module")
def server():
    with TlsCluster() as running:
        yield running


@pytest.fixture
def run(server, world, crm):
    """Runs a pass against an empty database there and gives back what it says."""
    world.policy()

    def run_pass(certificate, host="localhost"):
        world.settings(database=json.dumps(
            f"host={host} port={server.settings['port']} dbname=postgres user=postgres"
            f" sslmode=verify-full sslrootcert={certificate}"))
        return world.once(expect=1).err
    return run_pass


def test_the_right_name(server, run, tmp_path):
    certificate, key = make_certificate(tmp_path, "localhost")
    server.present(certificate, key)
    assert "has no schema" in run(certificate)  # it is connected, and the database is empty
    assert "does not match host name" in run(certificate, "127.0.0.1")


def test_another_name(server, run, tmp_path):
    certificate, key = make_certificate(tmp_path, "db.example")
    server.present(certificate, key)
    assert 'certificate for "db.example" does not match host name "localhost"' in run(certificate)
