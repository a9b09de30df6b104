"""A backup made while everything goes on is whole; a restore is whole or not at all."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from ctxweb.cli import cli
from sessions.services.backups.reading import BadBackup
from tests.cli import processes
from tests.cli.processes import ROOT, environment, kill, rows, run, wait_for

pytestmark = pytest.mark.exhaustive

DOCUMENTS = """
import django, hashlib, json
django.setup()
from django.test import Client
from sessions.models import Session, Media
client = Client(SERVER_NAME="localhost")
pages = [f"/s/{key}.json" for key in Session.objects.values_list("pk", flat=True)]
pages += [f"/s/{key}/m/1/raw.json" for key in Session.objects.values_list("pk", flat=True)]
pages += [f"/media/{key}/" for key in Media.objects.values_list("pk", flat=True)]
found = {}
for page in pages:
    response = client.get(page)
    assert response.status_code == 200, (page, response.status_code)
    body = b"".join(response.streaming_content) if response.streaming else response.content
    found[page] = hashlib.sha256(body).hexdigest()
print(json.dumps(found))
"""


def documents(data: Path) -> dict[str, str]:
    """The hash of every session's document, of a message's own bytes, and of every image."""
    env = environment(data) | {"DJANGO_SETTINGS_MODULE": "ctxweb.settings"}
    command = [sys.executable, "-c", DOCUMENTS]
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def restored(data: Path, archive: Path, target: Path) -> None:
    """Restore, and have everything looked at."""
    done = run(data, "restore", str(archive), "--into", str(target))
    assert done.returncode == 0, done.stderr
    looked = run(target, "doctor", "--deep")
    assert (looked.returncode, looked.stderr) == (0, "Nothing is wrong.\n")


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A data folder with one session and its picture."""
    return processes.library(tmp_path / "data")


def test_a_backup_made_while_everything_goes_on_is_whole(tmp_path: Path, library: Path) -> None:
    data, stop = library, tmp_path / "stop"
    env = environment(data) | {"DJANGO_SETTINGS_MODULE": "ctxweb.settings"}
    said = tmp_path / "said"
    with said.open("wb") as out:
        busy = subprocess.Popen(
            [sys.executable, "-m", "tests.cli.busy", str(stop)], env=env, cwd=ROOT, stdout=out, start_new_session=True
        )
    try:
        for n in range(2):
            before = said.stat().st_size
            wait_for(lambda before=before: said.stat().st_size > before or busy.poll() is not None, "somebody is busy")
            done = run(data, "backup", str(tmp_path / f"{n}.tar"), "--json")
            assert done.returncode == 0, done.stderr
            assert json.loads(done.stdout)["missing"] == []
            assert busy.poll() is None, "it went on meanwhile"
        stop.touch()
        assert busy.wait(60) == 0
    finally:
        kill(busy)
    now = documents(data)
    for n in range(2):
        target = tmp_path / f"restored-{n}"
        restored(data, tmp_path / f"{n}.tar", target)
        then = documents(target)
        common = now.keys() & then.keys()
        assert len(common) >= 2, "the first session at the least"
        assert {page: now[page] for page in common} == {page: then[page] for page in common}


def test_the_archive_holds_secrets_and_only_its_owner_reads_it(tmp_path: Path, library: Path) -> None:
    (library / "secret_key").write_text("the key", encoding="utf-8")
    archive = tmp_path / "b.tar"
    done = run(library, "backup", str(archive))
    assert "the key that signs cookies" in done.stderr
    assert archive.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir() if "b.tar" in path.name] == ["b.tar"]
    assert run(library, "backup", str(archive)).returncode == 1
    restored(library, archive, tmp_path / "new")
    key = tmp_path / "new" / "secret_key"
    assert (key.read_text(encoding="utf-8"), key.stat().st_mode & 0o777) == ("the key", 0o600)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700


def test_a_full_folder_is_refused_and_by_force_put_aside(tmp_path: Path, library: Path) -> None:
    archive, before = tmp_path / "b.tar", documents(library)
    run(library, "backup", str(archive))
    refused = run(library, "restore", str(archive))
    assert refused.returncode == 1
    assert "is not empty" in refused.stderr
    assert run(library, "delete", "--older-than", "0d", "--yes").returncode == 0
    done = run(library, "restore", str(archive), "--force", "--json")
    assert done.returncode == 0, done.stderr
    aside = json.loads(done.stdout)["aside"]
    assert os.path.exists(os.path.join(aside, "ctxweb.sqlite3"))
    assert documents(library) == before
    (tmp_path / "empty").mkdir()
    restored(library, archive, tmp_path / "empty")


def test_lost_bytes_are_told_and_do_not_stop_it(tmp_path: Path, library: Path) -> None:
    ((sha256,),) = rows(library, "select sha256 from agent_sessions_upload")
    (library / "blobs" / sha256[:2] / sha256[2:4] / sha256).unlink()
    archive = tmp_path / "b.tar"
    done = run(library, "backup", str(archive), "--json")
    assert json.loads(done.stdout)["missing"] == [sha256]
    done = run(library, "restore", str(archive), "--into", str(tmp_path / "new"), "--json")
    assert json.loads(done.stdout)["lost"] == 1
    assert run(tmp_path / "new", "doctor").returncode == 1


def rewritten(archive: Path, change: Callable[[dict[str, bytes]], None]) -> None:
    """The archive with other members."""
    with tarfile.open(archive) as old:
        members = {info.name: old.extractfile(info).read() for info in old}  # type: ignore[union-attr]
    change(members)
    with tarfile.open(archive, "w") as new:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            new.addfile(info, io.BytesIO(data))


def spoiled_blob(members: dict[str, bytes]) -> None:
    name = max((name for name in members if name.startswith("blobs/")), key=lambda name: len(members[name]))
    members[name] = bytes(len(members[name]))


def spoiled_database(members: dict[str, bytes]) -> None:
    members["database.sqlite3"] += b"more"


FAULTS: dict[str, tuple[Callable[[dict[str, bytes]], object], str]] = {
    "a path that leads out": (lambda m: m.update({"../evil": b"x"}), "which no backup has"),
    "an absolute path": (lambda m: m.update({"/tmp/evil": b"x"}), "which no backup has"),
    "a blob with a false name": (spoiled_blob, "its hash differs"),
    "a changed database": (spoiled_database, "its hash differs"),
    "no manifest": (lambda m: m.pop("manifest.json"), "no manifest"),
    "a blob too few": (lambda m: m.pop(next(n for n in m if n.startswith("blobs/"))), "not all the files"),
    "another schema": (lambda m: m.update({"manifest.json": b'{"schema": "x"}'}), "not one that this ctxweb knows"),
    "no JSON": (lambda m: m.update({"manifest.json": b"{"}), "cannot be read"),
}


@pytest.fixture(scope="module")
def archived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sound backup."""
    folder = tmp_path_factory.mktemp("archived")
    run(processes.library(folder / "data"), "backup", str(folder / "b.tar"))
    return folder / "b.tar"


FOUND_LATE = ["a blob with a false name", "a changed database"]
"""What is seen only when the archive is unpacked, which a process of its own does."""


@pytest.mark.parametrize("name", [name for name in FAULTS if name not in FOUND_LATE])
def test_what_is_not_as_it_was_written_is_refused(tmp_path: Path, archived: Path, name: str) -> None:
    change, said = FAULTS[name]
    archive = tmp_path / "b.tar"
    shutil.copy(archived, archive)
    rewritten(archive, change)
    assert said in refused(archive, tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["b.tar"]


@pytest.mark.parametrize("name", FOUND_LATE)
def test_what_is_found_late_is_refused_in_words(tmp_path: Path, archived: Path, name: str) -> None:
    change, said = FAULTS[name]
    archive = tmp_path / "b.tar"
    shutil.copy(archived, archive)
    rewritten(archive, change)
    done = run(tmp_path / "data", "restore", str(archive), "--into", str(tmp_path / "new"))
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) in (["b.tar"], ["b.tar", "data"])


def refused(archive: Path, target: Path) -> str:
    """What is said to an archive that is refused before anything of it is restored: without a process of its own."""
    result = CliRunner().invoke(cli, ["restore", str(archive), "--into", str(target)])
    assert isinstance(result.exception, BadBackup), result.exception
    return str(result.exception)


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE])
def test_links_and_pipes_are_refused(tmp_path: Path, archived: Path, kind: bytes) -> None:
    archive = tmp_path / "b.tar"
    shutil.copy(archived, archive)
    with tarfile.open(archive, "a") as more:
        info = tarfile.TarInfo(f"blobs/{hashlib.sha256(b'').hexdigest()}")
        info.type, info.linkname = kind, "/etc/passwd"
        more.addfile(info)
    done = refused(archive, tmp_path / "new")
    assert "not a plain file" in done
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("n_bytes", [0, 100, 5_000, -1_000])
def test_a_cut_archive_is_refused(tmp_path: Path, archived: Path, n_bytes: int) -> None:
    archive = tmp_path / "b.tar"
    archive.write_bytes(archived.read_bytes()[:n_bytes] if n_bytes >= 0 else archived.read_bytes()[: -20_000 + n_bytes])
    done = refused(archive, tmp_path / "new")
    assert "another backup" in done
    assert not (tmp_path / "new").exists()
