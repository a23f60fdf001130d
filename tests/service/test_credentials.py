# SPDX-License-Identifier: Apache-2.0
"""A secret that is missing or empty stops the start, and the log names it."""

import pytest

import container as booted

UNIT = "reconciled.service"


def started(world):
    """Messages of a start that must fail."""
    before = world.container.cursor()
    assert world.start().returncode != 0
    assert world.state() == "failed"
    assert world.restarts() == 0  # wrong configuration is not tried again
    return world.container.told(before, UNIT)


def test_not_loaded_by_the_unit(world, crm):
    world.policy()
    world.target(crm.url, more='auth: {bearer: "credential:crm_token"}')
    assert any("credential:crm_token" in message for message in started(world))


@pytest.mark.parametrize("content", ["", "\n"])
def test_empty(world, crm, content):
    world.policy()
    world.target(crm.url, more='auth: {bearer: "credential:crm_token"}')
    (world.directory / "crm.token").write_text(content)
    world.load_credentials(UNIT, "LoadCredential=crm_token:/etc/reconciled/crm.token")
    assert any("credential:crm_token" in message for message in started(world))


def test_loaded_from_a_file_that_is_not_there(world, crm):
    """The manager refuses before the program starts, and goes on trying: the file may yet come."""
    world.policy()
    world.load_credentials(path="/etc/reconciled/late")
    assert world.start().returncode != 0
    assert world.container.property(UNIT, "ExecMainStatus") == "243"  # CREDENTIALS
    (world.directory / "late").write_text("k" * 32)
    booted.until(lambda: world.state() == "active", "it starts")


def test_nobody_else_can_read_it(world, crm):
    world.policy()
    (world.directory / "hash.key").chmod(0o600)
    assert world.start().returncode == 0
    assert world.state() == "active"
    denied = world.container.run("setpriv", "--reuid=nobody", "--clear-groups", "cat",
                                 f"/run/credentials/{UNIT}/hash_key", check=False)
    assert denied.returncode != 0 and world.hash_key not in denied.stdout
