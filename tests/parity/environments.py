"""Installs originals into throw-away environments of their own, never into ctxweb's."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.parity.cases import Environment

HERE = Path(__file__).parent


def root() -> Path:
    """Where the environments are; kept between runs, safe to delete."""
    return Path(os.environ.get("CTXWEB_PARITY", Path(tempfile.gettempdir()) / "ctxweb-parity"))


def installed(environment: Environment) -> Path | None:
    """The folder of an environment, installed when first asked; None where its tool is missing or refuses."""
    home = root() / environment.name
    if (home / "installed").exists():
        return home
    home.mkdir(parents=True, exist_ok=True)
    made = _npm(environment, home) if environment.tool == "npm" else _pip(environment, home)
    if made:
        (home / "installed").touch()
    return home if made else None


def _pip(environment: Environment, home: Path) -> bool:
    python = shutil.which(environment.python) if environment.python else sys.executable
    if python is None:
        return False
    subprocess.run([python, "-m", "venv", home], check=True)
    pip = [home / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    return subprocess.run([*pip, *environment.packages], check=False).returncode == 0


def _npm(environment: Environment, home: Path) -> bool:
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        return False
    (home / "package.json").write_text('{"private": true, "type": "module"}\n')
    command = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", *environment.packages]
    return subprocess.run(command, cwd=home, check=False, stdout=subprocess.DEVNULL).returncode == 0


def version(environment: Environment, home: Path) -> str:
    """The version of the original that is installed."""
    if environment.tool == "npm":
        package = home / "node_modules" / environment.version_of / "package.json"
        return str(json.loads(package.read_text())["version"])
    code = f"import importlib.metadata as m; print(m.version({environment.version_of!r}))"
    done = subprocess.run([home / "bin" / "python", "-c", code], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def start(environment: Environment, home: Path, script: str) -> subprocess.Popen[str]:
    """The original's process: cases in on stdin, answers out on stdout, a line each."""
    path = HERE / "originals" / script
    if environment.tool == "npm":
        node = shutil.which("node") or "node"
        command, env = [node, path], {**os.environ, "PARITY_HOME": str(home)}
    else:
        command, env = [home / "bin" / "python", "-W", "ignore", path], dict(os.environ)
    env.pop("PYTHONPATH", None)
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
