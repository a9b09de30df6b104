"""Logs of servers and agents, on small files of our own."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading.formats._log_lines import words_of
from sessions.engine.reading.reading import NotATranscript, read_transcripts
from sessions.engine.transcript.types import Transcript
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.headline import headline
from sessions.engine.why.verdicts import verdicts_of
from tests.engine.test_formats_contract import FIXTURES, read

LOGS = FIXTURES / "server_log"


def log(*lines: str) -> tuple[Transcript, ...]:
    return read_transcripts(io.BytesIO("\n".join(lines).encode()), "some.log").transcripts


def said_of(session: Transcript) -> str:
    weighed = weigh(session)
    return headline(weighed, verdicts_of(weighed))


def usages(session: Transcript) -> list[tuple[int, int, int]]:
    return [(r.usage.input, r.usage.cache_read, r.usage.output) for r in session.requests if r.usage]


def test_bodies_that_lm_studio_prints_are_the_sessions_messages() -> None:
    (session,) = read(LOGS / "lm_studio.log").transcripts
    assert [(str(m.role), m.preview[:12]) for m in session.messages] == [
        ("system", "You keep bee"), ("user", "How many hiv"), ("assistant", "There are se"), ("user", "Read the who"),
    ]  # fmt: skip
    assert usages(session) == [(31, 0, 6)]
    assert (session.model, session.window) == ("lab/small-4b", 8_192)
    assert 'Refused at request 1: "Trying to keep the first 20417 tokens' in said_of(session)


def test_a_body_that_does_not_end_is_skipped() -> None:
    text = (LOGS / "lm_studio.log").read_text(encoding="utf-8").split("\n")
    broken = [*text[:8], *text[14:]]
    parsed = read_transcripts(io.BytesIO("\n".join(broken).encode()), "lm.log")
    assert [(one.line, one.reason) for one in parsed.skipped] == [(2, "a body that does not end")]
    assert [len(session.messages) for session in parsed.transcripts] == [1, 4]


def test_slots_divide_the_context_of_llama_cpp_and_a_longer_prompt_is_cut() -> None:
    (session,) = read(LOGS / "llama_cpp.log").transcripts
    assert usages(session) == [(5_210, 0, 96), (14_933, 0, 0)]
    assert session.requests[1].usage
    assert session.requests[1].usage.placeholder
    assert session.window == 8_192
    words = "the context of 32,768 is divided among 4 slots, 8,192 each; it cut a prompt of 14,933 to 6,741"
    assert [(event.code, event.words) for event in session.events] == [("cuts", words)]
    assert "9,120 of 8,192 tokens" in said_of(session)
    assert "The context of 32,768 is divided among 4 slots" in said_of(session)


def test_slots_that_share_one_context_do_not_divide_it() -> None:
    (session,) = log(
        "srv    load_model: initializing, n_slots = 4, n_ctx_slot = 8192, kv_unified = 'true'",
        "slot   load_model: id  0 | task -1 | new slot, n_ctx = 8192",
        "0.08.778.406 I slot   operator(): id  0 | task 0 | new prompt, n_ctx_slot = 8192, n_keep = 0, "
        "task.n_tokens = 2042",
    )
    assert (session.window, session.events, usages(session)) == (8_192, (), [(2_042, 0, 0)])


def test_what_ollama_cut_is_told_against_its_room() -> None:
    (session,) = read(LOGS / "ollama.log").transcripts
    assert usages(session) == [(8_942, 0, 0), (9_021, 0, 0)]
    assert said_of(session).startswith("Peak 9,021 tokens, 2.2 times its room: the server's context is 4,096 tokens")


def test_a_prompt_that_ollama_cut_before_llama_cpp_began_it_is_one() -> None:
    (session,) = log(
        'time=2026-03-02T09:13:00.786+02:00 level=WARN source=llama_server.go:317 msg="truncating input prompt" '
        "limit=2050 prompt=8707 keep=4 new=2050",
        "slot update_slots: id  0 | task 7 | new prompt, n_ctx_slot = 4096, n_keep = 4, task.n_tokens = 2050",
        "slot print_timing: id  0 | task 7 |        eval time =     282.42 ms /     5 tokens",
    )
    assert (usages(session), session.window) == ([(8_707, 0, 5)], 4_096)
    assert session.events[0].words == "the server's context is 4,096 tokens; it cut a prompt of 8,707 to 2,050"


def test_an_agents_calls_end_at_the_servers_window() -> None:
    (session,) = read(LOGS / "hermes.log").transcripts
    assert (session.id, session.model, session.window) == ("20260302_100000_aa11bb", "lab-30b", 131_072)
    assert usages(session) == [(3_104, 0, 388), (541, 3_104, 451)]
    assert "4,096 in all, which is then the server's window, where the agent counts on 131,072" in said_of(session)


def test_a_reply_that_was_cut_off_and_went_on_is_an_event_of_its_own() -> None:
    call = "2026-03-02 10:00:0{} INFO run_agent: API call #{}: model=m provider=p in=3600 out=496 total=4096"
    cut = "2026-03-02 10:00:02 WARNING run_agent: Response truncated (finish_reason='length')"
    (session,) = log(call.format(1, 1), cut, call.format(3, 2))
    assert [(event.kind, event.code, event.request) for event in session.events] == [("reply cut off", "length", 1)]


def test_sessions_of_an_agents_log_are_told_apart_by_their_mark() -> None:
    both = "\n".join((LOGS / name).read_text(encoding="utf-8") for name in ("hermes.log", "compacted.log"))
    sessions = log(both)
    assert [(s.id, len(s.requests), len(s.compactions)) for s in sessions] == [
        ("20260302_100000_aa11bb", 2, 0), ("20260302_113000_cc22dd", 2, 1),
    ]  # fmt: skip


def test_a_compression_that_has_no_end_is_told() -> None:
    lines = (LOGS / "compacted.log").read_text(encoding="utf-8").split("\n")[:2]
    (session,) = log(*lines)
    assert [(event.kind, event.words) for event in session.events] == [
        ("compaction started", "compression of about 103,968 tokens")
    ]


def test_a_refusal_is_read_once_out_of_its_trace() -> None:
    (session,) = read(LOGS / "vllm.log").transcripts
    assert [(e.tokens, e.limit, e.count) for e in session.errors] == [(12_946, 16_384, 1)]
    assert [event.words for event in session.events] == ["Error in preprocessing prompt inputs"]
    assert said_of(session).startswith("Refused at the first request: 22,946 of 16,384 tokens")


def test_counts_as_others_write_them() -> None:
    (session,) = log(
        "2026-03-02 10:00:00 INFO app: context window resolved to 65,536 tokens for model=lab-8b",
        "2026-03-02 10:00:01 INFO app: model=lab-8b prompt_tokens: 46, completion_tokens: 71",
        "2026-03-02 10:00:01 INFO app: model=lab-8b prompt_tokens: 46, completion_tokens: 71",
        "2026-03-02 10:00:02 INFO app: input_tokens=9 cache_read_input_tokens=300 output_tokens=7",
        "2026-03-02 10:00:03 INFO app: session total: input_tokens=355 output_tokens=149",
        "2026-03-02 10:00:04 INFO app: compacted history from 61,000 to 9,200 tokens",
    )
    assert usages(session) == [(46, 0, 71), (9, 300, 7)]
    assert session.window == 65_536
    assert [(c.tokens_before, c.tokens_after) for c in session.compactions] == [(61_000, 9_200)]


def test_an_error_that_is_none_of_size_stands_where_it_came() -> None:
    (session,) = log(
        "2026-03-02 10:00:01 INFO run_agent: API call #1: model=m provider=p in=10 out=2 total=12",
        "2026-03-02 10:00:09 ERROR run_agent: API call failed after 3 retries. 503 upstream closed",
    )
    assert [(e.kind, e.request, e.words) for e in session.events] == [
        ("error", 1, "API call failed after 3 retries. 503 upstream closed")
    ]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("[2026-03-02 09:15:01][INFO][lab/m] Running it", "Running it"),
        ("Dec 04 03:12:55 kamala llama-server[52276]: slot x: id 0", "slot x: id 0"),
        ("ERROR 07-03 03:19:15 [serving_chat.py:200] ValueError: no", "ValueError: no"),
        ('time=2026-03-02T09:13:00.786Z level=WARN source=runner.go:131 msg="cut it"', "cut it"),
        ("2026-03-02 10:00:00,110 INFO [20260302_100000_aa11bb] run_agent: API call", "API call"),
    ],
)
def test_the_words_of_a_line(line: str, words: str) -> None:
    assert words_of(line) == words


REFUSED = "2026-03-02 10:00:00 ERROR api: prompt is too long: 205148 tokens > 200000 maximum"


@pytest.mark.parametrize(
    "text",
    [
        f"# Why it broke\n\nThe log says:\n\n{REFUSED}\n",
        f"```\n{REFUSED}\n```\n",
        f"diff --git a/x.log b/x.log\n@@ -1 +1 @@\n{REFUSED}\n",
        "import logging\n\nlogging.error('prompt is too long: 205148 tokens > 200000 maximum')\n",
        "time,model,input_tokens,output_tokens\n2026-03-02 10:00:00,m,10,2\n",
        "2026-03-02 10:00:00 INFO web: GET / 200\n2026-03-02 10:00:01 ERROR web: GET /x 500\n",
        "user: why?\nassistant: the prompt is too long: 205148 tokens > 200000 maximum\n",
    ],
)
def test_what_is_no_log_of_a_model_is_refused(text: str) -> None:
    with pytest.raises(NotATranscript):
        read_transcripts(io.BytesIO(text.encode()), "x.txt")


def test_a_log_that_is_read_by_name_and_tells_nothing_says_so() -> None:
    with pytest.raises(UnreadableInput, match="no line of the log tells of a call"):
        read_transcripts(io.BytesIO(b"2026-03-02 10:00:00 INFO web: GET / 200\n"), "x.log", format="server_log")


def test_a_log_with_one_refusal_is_read_for_it(tmp_path: Path) -> None:
    path = tmp_path / "app.log"
    path.write_text(f"2026-03-02 09:59:00 INFO api: started\n{REFUSED}\n", encoding="utf-8")
    (session,) = read(path).transcripts
    assert [(e.tokens, e.limit) for e in session.errors] == [(205_148, 200_000)]
    assert "205,148 of 200,000 tokens" in said_of(session)
