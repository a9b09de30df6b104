"""Resumed and forked files: what another stored session already has is named, and counted once in the library."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from sessions import selectors
from sessions.engine.reading.jsonio import dumps, loads
from sessions.models import Session, SessionFacts, SessionKey, State
from sessions.services.ingest import ingest
from sessions.services.sharing import keys_of
from tests.engine.claude_lines import Lines
from tests.services.conftest import Ingest

pytestmark = pytest.mark.django_db
N_OLD = 12


def unique(lines: Lines, seed: str) -> list[dict[str, Any]]:
    """The lines with ids as real files have them: unique beyond the file."""
    renamed: dict[str, str] = {}

    def rename(ident: str | None) -> str | None:
        if ident is None:
            return None
        return renamed.setdefault(ident, str(uuid.uuid5(uuid.NAMESPACE_URL, f"{seed}/{ident}")))

    values = [loads(line.encode()) for line in lines.lines]
    for value in values:
        value["uuid"], value["parentUuid"] = rename(value["uuid"]), rename(value["parentUuid"])
        if "id" in value["message"]:
            value["message"]["id"] = f"msg_{rename(value['message']['id'])}"
    return values


def talk(n_turns: int, seed: str, start: int = 0) -> list[dict[str, Any]]:
    lines = Lines()
    for turn in range(start, start + n_turns):
        lines.prompt(f"Question {turn} of {seed}")
        lines.reply(turn, {"type": "text", "text": f"Answer {turn} of {seed}"})
    return unique(lines, seed)


def resumed(old: list[dict[str, Any]], seed: str, n_turns: int = 3) -> list[dict[str, Any]]:
    """A file that begins with copies of ``old``, as Claude Code writes them, and goes on."""
    fresh = talk(n_turns, seed, start=100)
    fresh[0]["parentUuid"] = old[-1]["uuid"]
    return [*({**line, "sessionId": seed} for line in old), *({**line, "sessionId": seed} for line in fresh)]


def data(lines: list[dict[str, Any]]) -> bytes:
    return "\n".join(dumps(line) for line in lines).encode()


def the(upload: Any) -> Session:
    return Session.objects.get(upload=upload)


def test_a_resumed_session_says_what_it_shares_and_is_counted_once(ingested: Ingest) -> None:
    old = talk(N_OLD, "old")
    first = the(ingested(data(old)))
    second = the(ingested(data(resumed(old, "new"))))
    assert (first.shares_with_id, second.shares_with_id) == (None, first.pk)
    assert (second.n_shared_messages, second.n_shared_requests) == (2 * N_OLD, N_OLD)
    assert (second.n_messages, second.n_requests) == (2 * N_OLD + 6, N_OLD + 3)
    assert second.shared_usage == {
        "input": first.usage_input, "cache_read": first.usage_cache_read, "cache_write": first.usage_cache_write,
        "output": first.usage_output,
    }  # fmt: skip
    assert 0 < second.shared_tokens < second.tokens


def test_a_fork_of_a_resumed_session_shares_with_both_and_no_message_twice(ingested: Ingest) -> None:
    old = talk(N_OLD, "old")
    middle = resumed(old, "new")
    ingested(data(old))
    second = the(ingested(data(middle)))
    third = the(ingested(data(resumed(middle, "newest"))))
    assert third.shares_with_id == second.pk, "the one with most in common"
    assert third.n_shared_messages == second.n_messages


def test_a_copy_of_the_middle_is_recognised(ingested: Ingest) -> None:
    old = talk(120, "long")
    first = the(ingested(data(old)))
    second = the(ingested(data(resumed(old[80:], "tail"))))
    assert second.shares_with_id == first.pk
    assert second.n_shared_messages == len(old[80:])


def test_reading_the_first_again_does_not_turn_it_round(ingested: Ingest) -> None:
    old = talk(N_OLD, "old")
    first, second = ingested(data(old)), ingested(data(resumed(old, "new")))
    n_keys = SessionKey.objects.filter(session__upload=first).count()
    assert n_keys
    for upload in (first, second, first):
        upload.job.state = upload.status = State.QUEUED
        upload.job.save()
        upload.save()
        ingest(upload_id=upload.pk)
        assert (the(first).shares_with_id, the(second).shares_with_id) == (None, the(first).pk)
    assert SessionKey.objects.filter(session__upload=first).count() == n_keys


def test_sessions_of_short_ids_or_other_texts_share_nothing(ingested: Ingest) -> None:
    lines = Lines()
    lines.prompt("Hello")
    lines.reply(0, {"type": "text", "text": "Hi"})
    short = [loads(line.encode()) for line in lines.lines]
    for number, line in enumerate(short):
        line["uuid"], line["parentUuid"] = f"u{number}", f"u{number - 1}" if number else None
    ingested(data(short))
    other = the(ingested(data([{**line, "sessionId": "x"} for line in short])))
    assert (other.shares_with_id, other.n_shared_messages) == (None, 0)
    old = talk(3, "old")
    ingested(data(old))
    for line in old:
        line["message"]["content"] = "something else entirely, of another length"
    changed = the(ingested(data(old)))
    assert changed.shares_with_id is None


def test_when_the_earlier_session_is_deleted_the_later_one_counts_in_full(ingested: Ingest) -> None:
    old = talk(N_OLD, "old")
    first = the(ingested(data(old)))
    second = the(ingested(data(resumed(old, "new"))))
    first.delete()
    second.refresh_from_db()
    assert second.shares_with is None


def test_a_pack_of_another_version_is_passed_over(ingested: Ingest) -> None:
    old = talk(N_OLD, "old")
    first = the(ingested(data(old)))
    SessionFacts.objects.filter(session=first).update(packed=b"old")
    assert the(ingested(data(resumed(old, "new")))).shares_with_id is None


def test_the_sample_of_ids_is_small_and_the_same_wherever_they_stand(ingested: Ingest) -> None:
    old = talk(200, "long")
    first = selectors.load_weighed(the(ingested(data(old))).pk).transcript
    later = selectors.load_weighed(the(ingested(data(old[100:]))).pk).transcript
    assert len(keys_of(first)) < len(first.messages) / 4
    assert len(set(keys_of(first)) & set(keys_of(later))) > 10
