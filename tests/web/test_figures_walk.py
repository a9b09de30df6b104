"""A walk over all surfaces of twelve sessions: figures that bear the same name are the same figure."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from sessions.engine.costs.cost_report import span
from sessions.engine.quality.baseline import own_policy
from sessions.runs.overview import overview
from tests.cli.test_engine_commands import document, run
from tests.engine.claude_lines import claude_session
from tests.samples import find_samples
from tests.web.stored import demo_file, store
from tests.web.test_links import opened, share
from tests.web.test_one_figure import told

pytestmark = pytest.mark.django_db
SAMPLES = (
    "*/claude-code/*.jsonl", "*/codex/*.jsonl", "*/pi/*.jsonl", "*/openai-chat/*.json", "*/anthropic-api/*.json",
    "*/gemini-cli/*.json*", "*/cline/*.json", "*/openhands/*.json*", "*/openai-responses/*.json*",
)  # fmt: skip


def files() -> list[Any]:
    """The demo and two made sessions always; of nine formats one sample each, of a size that a page may read."""
    found: list[Any] = [pytest.param(None, n, id=f"made-{n}") for n in (0, 30, 60)]
    folder = find_samples()
    for pattern in SAMPLES if folder else ():
        kind = pattern.split("/")[1]
        small = (
            at for at in sorted((folder / kind).rglob(pattern.split("/")[2])) if 8_000 < at.stat().st_size < 250_000
        )
        found += [pytest.param(at, 0, id=kind, marks=pytest.mark.exhaustive) for at in list(small)[:2]]
    return found


Figures = dict[str, dict[str, str]]


def dollars(cost: dict[str, float] | None) -> str:
    return "no price" if cost is None else span(cost["low"], cost["high"])


def of_document(found: Figures, where: str, held: dict[str, Any]) -> None:
    """What a document says of the session as recorded."""
    found["cost"][where] = dollars(held["cost_usd"])
    found["compactions"][where] = f"{held['compactions']:,}"
    found["peak"][where] = f"{held['peak_context_tokens']:,}"
    if "rules_gone" in held and not held["losses_open"]:
        found["rules lost"][where], found["uses lost"][where] = f"{held['rules_gone']:,}", f"{held['needs_gone']:,}"


def of_pages(found: Figures, client: Client, pk: str, query: str) -> None:
    """What Replay's totals and Compare's row say of it."""
    amount, count = r"(no price|\$[\d.,–]+)", r"([\d,]+)"
    replay = told(client, f"/s/{pk}/replay/?{query}")
    row = re.search(
        rf"as recorded (?:\w+ )?{amount} (?:estimated )?{count} {count} tokens?.*? (\S+) (\S+) {count} tokens", replay
    )
    assert row is not None, replay[:3000]
    for name, value in zip(("cost", "compactions", "peak"), row.groups(), strict=False):
        found[name]["replay page"] = value
    compare = told(client, f"/s/{pk}/compare/?{query}")
    row = re.search(rf"as recorded {amount} (?:estimated )?{count} {count} tokens", compare)
    if row is not None:
        for name, value in zip(("cost", "compactions", "peak"), row.groups(), strict=False):
            found[name]["compare page"] = value


def of_terminal(found: Figures, file: Path, policy: str) -> None:
    """What the terminal and its documents say of it, and of the replay."""
    words = " ".join(run("replay", file, "--policy", policy)[0].split())
    row = re.search(r"As recorded: (.+?), ([\d,]+) compactions?, peak ([\d,]+) tokens", words)
    assert row is not None, words
    for name, value in zip(("cost", "compactions", "peak"), row.groups(), strict=True):
        found[name]["terminal"] = value.replace("no price known", "no price")
    made = document("replay", file, "--policy", policy)
    of_document(found, "terminal JSON", made["baseline"])
    found["replayed cost"]["terminal JSON"] = dollars(made["totals"]["cost_usd"])
    said = re.search(r"Cost: (\$[\d.,–]+|no price known)", words)
    assert said is not None
    found["replayed cost"]["terminal"] = said[1].rstrip(".").replace("no price known", "no price")


@pytest.mark.parametrize(("sample", "n"), files())
def test_figures_of_one_name_are_one_figure(client: Client, tmp_path: Path, sample: Path | None, n: int) -> None:
    data = sample.read_bytes() if sample else claude_session(n).encode() if n else demo_file()
    file = tmp_path / (sample.name if sample else "made.jsonl")
    file.write_bytes(data)
    session = store(data, file.name)
    policy = own_policy(overview(session.pk).weighed) or "claude_code"
    query = f"policy={policy}"
    found: Figures = defaultdict(dict)
    made = client.get(f"/s/{session.pk}/replay.json?{query}").json()
    of_document(found, "replay.json", made["baseline"])
    found["replayed cost"]["replay.json"] = dollars(made["totals"]["cost_usd"])
    answer = client.get(f"/s/{session.pk}/sweep.json?{query}&losses=on")
    if answer.status_code == 200:
        of_document(found, "sweep.json", answer.json()["recorded"])
    of_pages(found, client, session.pk, query)
    of_terminal(found, file, policy)
    link = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", opened(share(session, "replay", query))))
    assert found["cost"]["replay.json"] == "no price" or found["cost"]["replay.json"] in link
    assert found["replayed cost"]["replay.json"] in link
    differing = {name: told_ for name, told_ in found.items() if len(set(told_.values())) > 1}
    assert not differing, json.dumps(differing, indent=1)
    assert len(found["cost"]) >= 5


def test_a_page_names_what_the_terminal_names(client: Client, tmp_path: Path) -> None:
    """The advice in JSON is one, with what each setting loses."""
    file = tmp_path / "demo.jsonl"
    file.write_bytes(demo_file())
    session = store(demo_file(), file.name)
    over = "pct_override=40:100:13"
    mine = client.get(f"/s/{session.pk}/sweep.json?policy=claude_code&over={over}").json()
    theirs = document("sweep", file, "--policy", "claude_code", "--over", over)
    assert mine["advice"]["settings"]
    assert mine["advice"] == theirs["advice"]
    assert mine["recommended"] == theirs["recommended"]
    assert mine["recorded"] == theirs["recorded"]
