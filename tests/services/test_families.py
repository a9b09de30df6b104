from __future__ import annotations

from itertools import permutations

import pytest

from sessions.models import Session
from tests.samples import samples_dir
from tests.services.conftest import Ingest
from tests.services.families import HOME, agent, parent, project, rollout
from tests.services.packs import tar_gz, zipped

pytestmark = pytest.mark.django_db


def links() -> dict[str, tuple[str | None, str]]:
    """Native id of each sub-agent: native id of its parent, and the call that started it."""
    children = Session.objects.filter(parent__isnull=False).select_related("parent")
    return {s.native_id: (s.parent.native_id if s.parent else None, s.parent_call_id) for s in children}


LINKED = {"agent-a111": (HOME, "toolu_one"), "agent-a222": (HOME, "toolu_two")}


@pytest.mark.parametrize("make", [zipped, tar_gz])
def test_a_projects_tree_in_an_archive_is_linked(ingested: Ingest, make: object) -> None:
    upload = ingested(make(project()), "projects.zip")  # type: ignore[operator]
    assert links() == LINKED
    assert Session.objects.roots().get().native_id == HOME
    assert [m.status for m in upload.members.order_by("position")] == ["read", "read", "read", "other", "other"]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_files_are_linked_in_whatever_order_they_arrive(ingested: Ingest, order: tuple[int, ...]) -> None:
    files = list(project().values())[:3]
    for n in order:
        ingested(files[n], f"{n}.jsonl")
    assert links() == LINKED


def test_two_agents_with_one_prompt_take_two_calls(ingested: Ingest) -> None:
    twin = parent().replace(b"Read the docs", b"Read the code").replace(b'"agentId":"a111"', b'"other":1')
    ingested(
        zipped({"p.jsonl": twin, "a.jsonl": agent("a1", "Read the code"), "b.jsonl": agent("a2", "Read the code")})
    )
    assert links() == {"agent-a1": (HOME, "toolu_one"), "agent-a2": (HOME, "toolu_two")}


def test_an_agent_without_a_known_call_still_has_its_parent(ingested: Ingest) -> None:
    ingested(parent(), "p.jsonl")
    ingested(agent("a999", "Something else"), "a.jsonl")
    ingested(agent("b1", "Read the docs", "bbbbbbbb-0000-0000-0000-000000000002"), "b.jsonl")
    assert links() == {"agent-a999": (HOME, "")}


def test_a_parent_of_the_same_upload_is_preferred(ingested: Ingest) -> None:
    old = ingested(parent(), "old.jsonl")
    new = ingested(zipped(project()), "new.zip")
    assert {s.parent.upload_id for s in Session.objects.filter(parent__isnull=False)} == {new.pk}  # type: ignore[union-attr]
    assert old.sessions.get().children.count() == 0


def test_a_removed_parent_leaves_its_agents(ingested: Ingest) -> None:
    first = ingested(parent(), "p.jsonl")
    ingested(agent("a111", "Read the docs"), "a.jsonl")
    first.delete()
    child = Session.objects.get()
    assert child.parent is None
    ingested(parent(), "p.jsonl")
    assert links() == {"agent-a111": LINKED["agent-a111"]}


@pytest.mark.parametrize("backwards", [False, True])
def test_codex_rollouts_are_linked(ingested: Ingest, backwards: bool) -> None:
    files = {
        "sessions/2026/09/01/rollout-1.jsonl": rollout("thread-1", spawned="thread-2"),
        "sessions/2026/09/01/rollout-2.jsonl": rollout("thread-2", parent_id="thread-1"),
        "sessions/2026/09/01/rollout-3.jsonl": rollout("thread-3", parent_id="thread-1"),
    }
    ingested(zipped(dict(reversed(files.items())) if backwards else files))
    assert links() == {"thread-2": ("thread-1", "call_s"), "thread-3": ("thread-1", "")}


def test_rollouts_that_name_each_other_make_no_circle(ingested: Ingest) -> None:
    ingested(rollout("t1", parent_id="t2", spawned="t2"), "1.jsonl")
    ingested(rollout("t2", parent_id="t1", spawned="t1"), "2.jsonl")
    for stored in Session.objects.select_related("parent"):
        assert stored.parent is None or stored.parent.parent_id != stored.pk


@pytest.mark.samples
def test_shared_samples_of_sub_agents_are_linked_to_their_calls(ingested: Ingest) -> None:
    root = samples_dir() / "claude-code" / "vscode-b3a7bd3c"
    ingested(tar_gz({str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*.jsonl"))}))
    found = links()
    assert len(found) == 4
    assert {home for home, _ in found.values()} == {"b3a7bd3c-5a10-4e7b-8ff0-7fc0cd6d1093"}
    assert len({call for _, call in found.values()}) == 4
    assert all(call for _, call in found.values())
