"""The compose file, the container file and the units: what they name is there, as far as can be said without docker."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import click
import pytest
import yaml

from ctxweb.cli import cli
from tests.arch.repository import ROOT, text

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = set(re.findall(r"^\| `([A-Z_]+)` \|", text(ROOT / "docs/settings.md"), re.MULTILINE))
KEYS = {
    "build",
    "command",
    "depends_on",
    "deploy",
    "environment",
    "healthcheck",
    "image",
    "ports",
    "restart",
    "volumes",
}
"""Keys of a service in the Compose specification that this file uses."""
UNITS = ("deploy/ctxweb.service", "deploy/ctxweb-worker@.service")


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(text(ROOT / "compose.yaml"))
    return found


def is_command(words: list[str]) -> None:
    """A command line of ctxweb whose options exist."""
    command = cli.get_command(click.Context(cli), words[0])
    assert command, words
    known = {name for option in command.params for name in option.opts}
    assert {word for word in words[1:] if word.startswith("--")} <= known, words


def test_services_are_what_a_team_needs(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert set(services) == {"database", "broker", "web", "worker"}
    assert services["worker"]["deploy"]["replicas"] == 2
    for name, service in services.items():
        assert set(service) <= KEYS, name
        assert set(service.get("depends_on", {})) <= set(services), name
        for needed, how in service.get("depends_on", {}).items():
            assert how == {"condition": "service_healthy"}
            assert services[needed]["healthcheck"]["test"][0] in {"CMD", "CMD-SHELL"}
        for volume in service.get("volumes", ()):
            assert volume.partition(":")[0] in compose["volumes"], name


def test_what_they_run_and_set_exists(compose: dict[str, Any]) -> None:
    for name in ("web", "worker"):
        service = compose["services"][name]
        is_command(service["command"])
        assert set(service["environment"]) <= SETTINGS
        assert (ROOT / service["build"]["dockerfile"]).is_file()
    assert compose["services"]["web"]["ports"] == ["127.0.0.1:8400:8400"]


def test_it_is_safe_behind_a_proxy_with_tls_as_shipped(compose: dict[str, Any]) -> None:
    for name in ("web", "worker"):
        given = compose["services"][name]["environment"]
        assert {given[f"CTXWEB_{one}"] for one in ("REQUIRE_LOGIN", "HTTPS", "PROXIES")} == {"1"}
    published = [port for one in compose["services"].values() for port in one.get("ports", ())]
    assert published == ["127.0.0.1:8400:8400"], "the proxy is the one way in"


def test_what_it_sets_starts_with_secure_cookies_and_is_refused_without(
    compose: dict[str, Any], tmp_path: Path
) -> None:
    given = compose["services"]["web"]["environment"]
    own = {name: given[name] for name in ("CTXWEB_REQUIRE_LOGIN", "CTXWEB_HTTPS", "CTXWEB_PROXIES")}
    public = {"CTXWEB_PUBLIC_URL": "https://ctxweb.example.org/", "CTXWEB_SECRET_KEY": "x" * 50}
    shows = "from ctxweb.startup import load_django; load_django(); from django.core.checks import run_checks; "
    shows += "from django.conf import settings as s; print([one.id for one in run_checks()], s.SESSION_COOKIE_SECURE, "
    shows += "s.CSRF_COOKIE_SECURE, s.SECURE_HSTS_SECONDS > 0, s.PROXIES)"
    for settings, said in (
        (own, "[] True True True 1"),
        (own | {"CTXWEB_HTTPS": "0"}, "['ctxweb.E004'] False False False 1"),
    ):
        env = {name: value for name, value in os.environ.items() if not name.startswith(("CTXWEB_", "DJANGO_"))}
        env |= {"CTXWEB_DATA": str(tmp_path), **public, **settings}
        made = subprocess.run(
            [sys.executable, "-c", shows], env=env, cwd=ROOT, capture_output=True, text=True, check=True
        )
        assert made.stdout.strip() == said
    refused = subprocess.run(
        [sys.executable, "-m", "ctxweb", "serve"], env=env, cwd=ROOT, capture_output=True, text=True,
        check=False, timeout=120,
    )  # fmt: skip
    assert refused.returncode == 1
    assert "CTXWEB_PUBLIC_URL begins with https://, but CTXWEB_HTTPS is off" in refused.stderr
    assert "Set CTXWEB_HTTPS=1" in refused.stderr


def test_nothing_secret_has_a_default(compose: dict[str, Any]) -> None:
    written = text(ROOT / "compose.yaml")
    given = re.findall(r"\$\{(\w+)([^}]*)\}", written)
    assert {name for name, _ in given} == {"POSTGRES_PASSWORD", "CTXWEB_SECRET_KEY", "CTXWEB_PUBLIC_URL"}
    assert all(rest.startswith(":?") for _, rest in given)


PIN = re.compile(r"^([a-z0-9._-]+)(?:\[[^\]]*\])?==(.*?)(?=^[a-z]|\Z)", re.MULTILINE | re.DOTALL)
"""A requirement: its name, its version with hashes and where it comes from."""


def pins(name: str) -> dict[str, tuple[str, ...]]:
    """What a requirement file pins: version, marker and hashes by name."""
    found = PIN.findall(text(ROOT / f"requirements/{name}.txt"))
    return {one: tuple(line.strip() for line in rest.splitlines() if "#" not in line) for one, rest in found}


@pytest.mark.parametrize("name", ["server", "mcp", "dev"])
def test_what_ctxweb_needs_is_pinned_everywhere(name: str) -> None:
    base, also = pins("base"), pins(name)
    assert len(base) > 60
    assert {one: also.get(one) for one in base} == base


def test_the_container_file_copies_what_is_there() -> None:
    lines = text(ROOT / "Containerfile").splitlines()
    assert (ROOT / "requirements/server.txt").is_file()
    assert any("--require-hashes -r requirements/server.txt" in line for line in lines)
    assert "USER ctxweb" in lines
    (command,) = (line for line in lines if line.startswith("CMD "))
    is_command(yaml.safe_load(command.removeprefix("CMD ")))


@pytest.mark.parametrize("name", UNITS)
def test_units_start_a_command_that_exists(name: str) -> None:
    unit = text(ROOT / name)
    (start,) = re.findall(r"^ExecStart=(.*)$", unit, re.MULTILINE)
    program, *words = shlex.split(start)
    assert program.endswith("/bin/ctxweb")
    is_command(words)
    assert set(re.findall(r"^Environment=(\w+)=", unit, re.MULTILINE)) <= SETTINGS
