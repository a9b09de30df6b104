"""What the tools answer, in lines for a model to read: figures with unit and how they are known, ids to dig deeper."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ctxweb.commands._engine import choose
from sessions.adapters.cache import Cache
from sessions.adapters.local import LocalFile, local_files
from sessions.engine.agents.agent import UNKNOWN, own_trigger
from sessions.engine.base import limits
from sessions.engine.base.errors import BadParameter, EngineError, UnknownName
from sessions.engine.base.words import counted
from sessions.engine.costs.cost_report import span
from sessions.engine.policies.policy import Item
from sessions.engine.quality.assess import Assessment, assess_recorded
from sessions.engine.quality.index import Index, build_index
from sessions.engine.quality.standing import GONE, OPEN
from sessions.engine.reading.jsonio import dumps
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.reading.texts import Texts, texts_in
from sessions.engine.redact import redact
from sessions.engine.replays.replay import replay
from sessions.engine.transcript.types import Content, Message
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.engine.why.headline import headline_of
from sessions.engine.why.shared import own_threshold
from sessions.engine.why.verdicts import verdicts_of

if TYPE_CHECKING:
    from sessions.engine.sweeps.advice import Pick


HEAVIEST = 10
PREVIEW = 70


def listed(files: Sequence[LocalFile], query: str, agent: str) -> list[str]:
    """The sessions whose path holds every word of ``query``, else those whose text does, the newest first."""
    words = query.lower().split()
    asked = [one for one in files if agent in ("", one.agent.name)]
    found = [one for one in asked if all(word in str(one.path).lower() for word in words)]
    where = ""
    if words and not found:
        found, n_read = said_in_files(asked, words)
        where = f" with the words in a message (of the newest {n_read:,} of {len(asked):,})"
    if not found:
        return [f"No session of {len(asked):,} matches{where and f', no path and no text{where}'}. Try fewer words."]
    return [
        f"{counted(len(found), 'session')}{where}, the newest first: id, agent, written, size, path.",
        *map(_file_line, found),
    ]


def said(opened: OpenSession, query: str) -> list[str]:
    """The messages of one session that say every word of ``query``."""
    words = query.lower().split()
    found = list(said_in_session(opened, words)) if words else []
    if not found:
        return [f"Session {opened.file.id}: no message says all of these words."]
    lines = (f"message {number}: {preview}" for number, preview in found)
    return [f"Session {opened.file.id}: {counted(len(found), 'message')} (restore gives the text).", *lines]


def _file_line(one: LocalFile) -> str:
    written = dt.datetime.fromtimestamp(one.modified, tz=dt.UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"{one.id}  {one.agent.label or 'unknown agent'}  {written}  {one.size / 1e6:.2f} MB  {one.path}"


def context(opened: OpenSession) -> list[str]:
    """What fills the context of the newest request, and how many tokens are left until the agent's own trigger."""
    weighed, items = opened.weighed, opened.now
    if not items:
        return [f"{opened.file.id}: no request was recorded, so nothing is in a context."]
    held, label, window = weighed.recorded.context[-1], weighed.recorded.labels[-1], weighed.own_window
    weights = Counter[str]()
    for item in items:
        weights[_kind(item)] += item.tokens
    lines = [
        f"Session {opened.file.id}: {limits.cut_clean(weighed.transcript.title) or 'untitled'}.",
        f"Model: {weighed.model.name or 'not recorded'}.",
        f"Context of the newest request: {held or 0:,} tokens ({label}), "
        f"{100 * (held or 0) / window:.0f}% of a window of {window:,} ({weighed.window_source}).",
        _room(opened, held or 0),
        f"Fixed overhead (system prompt, tools): {weighed.overhead:,} tokens.",
        *(f"{kind}: {tokens:,} tokens" for kind, tokens in weights.most_common() if tokens),
        f"Heaviest of {len(items):,} messages (restore gives their text):",
    ]
    return lines + [_item_line(item) for item in sorted(items, key=lambda item: -item.tokens)[:HEAVIEST]]


def _item_line(item: Item) -> str:
    preview = redact(limits.cut_clean(item.message.preview)).text[:PREVIEW]
    return f"message {item.message.index}: {_kind(item)}, {item.tokens:,} tokens. {preview}"


def _room(opened: OpenSession, held: int) -> str:
    weighed = opened.weighed
    trigger = own_trigger(weighed.transcript)
    threshold = own_threshold(weighed.transcript, weighed.window, weighed.model)
    if trigger is None or threshold is None:
        return "When this agent compacts is not known."
    left = threshold - held
    words = f"{left:,} tokens left" if left > 0 else f"passed by {-left:,} tokens"
    return f"{trigger.label} compacts at {threshold:,} tokens by default: {words}."


def _kind(item: Item) -> str:
    if item.message.summary:
        return "summary"
    kinds = Counter(str(leaf.kind) for leaf in item.message.leaves())
    return kinds.most_common(1)[0][0] if kinds else item.message.role


def why(opened: OpenSession) -> list[str]:
    """The cause of every compaction, refusal and missing compaction, the gravest first."""
    verdicts = verdicts_of(opened.weighed)
    lead = headline_of(opened.weighed, verdicts)
    return [
        f"Session {opened.file.id}: {lead.text}",
        *(f"{verdict.what} before request {verdict.request}: {verdict.sentence}" for verdict in verdicts),
    ]


def lost(opened: OpenSession, compaction: int | None) -> list[str]:
    """What recorded compactions lost: rules, and what the agent used afterwards and no longer had."""
    judged = tuple(assess_recorded(opened.weighed, opened.index))
    if not judged:
        return [f"Session {opened.file.id}: no compaction is recorded, so nothing was lost."]
    if compaction is not None and not 0 <= compaction < len(judged):
        raise NotHere(f"No compaction {compaction}; they are 0 to {len(judged) - 1}.")
    asked = judged if compaction is None else [judged[compaction]]
    return [line for one in asked for line in _lost_lines(one)]


def _lost_lines(one: Assessment) -> Iterator[str]:
    rules = [fate for fate in one.constraints if fate.is_lost]
    gone = [need for need in one.needs if need.state == GONE]
    n_open = sum(fate.state == OPEN for fate in one.constraints) + sum(need.state == OPEN for need in one.needs)
    sure = ""
    if n_open:
        sure = f" The summary's text is not known: {counted(n_open, 'thing')} depend on it."
    yield (
        f"Compaction {one.number}, before request {one.event.request}: {one.event.before_tokens:,} → "
        f"{one.event.after_tokens:,} tokens. {len(rules)} rules lost, {len(gone)} things used later and lost.{sure}"
    )
    for fate in rules:
        broken = "" if fate.broken_at is None else f", broken at message {fate.broken_at}"
        yield f"rule of message {fate.source_message}{broken}: {fate.text}"
    for need in gone:
        yield f"{need.reference.kind} of message {need.source_message}, used at {need.needed_at}: {need.reference.text}"


def text_of(opened: OpenSession, message: int) -> str:
    """The exact text of one message, its blocks one after another; raises NotHere."""
    messages = opened.weighed.transcript.messages
    if not 0 <= message < len(messages):
        raise NotHere(f"No message {message}; they are 0 to {len(messages) - 1}.")
    return "\n".join(texts_in(opened.contents(messages[message]))) or "This message holds no text."


def best(opened: OpenSession, policy: str) -> list[str]:
    """What is advised for the agent's policy on this session: the answer, then each setting and why."""
    from sessions.engine.agents.agent import writer_of
    from sessions.engine.quality.columns import loss_columns
    from sessions.engine.sweeps.advice import advise
    from sessions.engine.sweeps.sweep import grid, sweep
    from sessions.runs.ranges import usual_over
    from sessions.runs.replay_state import ReplayState

    weighed = opened.weighed
    name = policy or next(iter(writer_of(weighed.transcript).policies), "claude_code")
    try:
        axes, points = grid([name], [usual_over(ReplayState(policy=name), weighed)])
        done = sweep(weighed, points, axes, columns=loss_columns(weighed, opened.index))
    except (BadParameter, UnknownName) as error:
        raise NotHere(str(error)) from error
    found = advise(done)
    return [found.sentence, *map(_pick, found.picks), "Assumes the agent sends the same messages."]


def _pick(pick: Pick) -> str:
    row, sums = pick.row, pick.row.totals
    money = "cost unknown (no price)" if sums.cost is None else span(sums.cost.low, sums.cost.high)
    setting = ", ".join(f"{key}={value:g}" for key, value in row.values.items() if isinstance(value, int | float))
    lost = f"{row.more['rules_gone']:.0f} rules and {row.more['needs_gone']:.0f} things used later lost"
    return (
        f"{pick.name}: {'as recorded' if pick.as_recorded else setting}: {money}, {sums.compactions} compactions, "
        f"{lost}. {f'{pick.first}. ' if pick.first else ''}{pick.reason}"
    )


MOST_BYTES = 64_000_000
"""Looked through at one question: the newest files, as they stand on disk."""
MOST_LINES = 50
"""Lines of a file that are looked at for secrets: where each of those says the words only in one, it is left out."""
BEFORE, AROUND = 30, 140


def said_in_files(files: Sequence[LocalFile], words: Sequence[str]) -> tuple[list[LocalFile], int]:
    """Those of the newest files with a line that says all lower-case ``words``, in no secret; how many were read."""
    found, n_read, left = [], 0, MOST_BYTES
    for one in files:
        if one.size > left:
            break
        left, n_read = left - one.size, n_read + 1
        with suppress(OSError):
            if _says(one, words):
                found.append(one)
    return found, n_read


def _says(one: LocalFile, words: Sequence[str]) -> bool:
    forms = [{word, dumps(word)[1:-1], json.dumps(word)[1:-1]} for word in words]  # as JSON may write them
    n_looked = 0
    with one.path.open("rb") as lines:
        for line in lines:
            text = line.decode("utf-8", "replace")
            if not _has(text.lower(), forms):
                continue
            if _has(redact(text).text.lower(), forms):
                return True
            n_looked += 1
            if n_looked == MOST_LINES:
                break
    return False


def _has(text: str, forms: Sequence[set[str]]) -> bool:
    return all(any(form in text for form in some) for some in forms)


def said_in_session(opened: OpenSession, words: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The number of each message that says all ``words``, and what stands around the first; secrets are taken out."""
    with opened.texts() as texts:
        for message in opened.weighed.transcript.messages:
            text = "\n".join(texts_in(texts.of(message)))
            if all(word in text.lower() for word in words):
                shown = " ".join(redact(text).text.split())
                if all(word in shown.lower() for word in words):
                    start = max(0, shown.lower().index(words[0]) - BEFORE)
                    yield message.index, shown[start : start + AROUND]


KEPT = 4
SUFFIXES = frozenset({".jsonl", ".json"})


class NotHere(ValueError):
    """A session, message or compaction that does not exist, or that the user did not allow; says what to ask next."""


@dataclass(frozen=True)
class OpenSession:
    """One session of a file: the conversation with most requests, and a reader of its texts."""

    file: LocalFile
    weighed: Weighed

    def contents(self, message: Message) -> tuple[Content, ...]:
        with self.texts() as texts:
            return texts.of(message)

    def texts(self) -> Texts:
        """A reader of the texts, to be closed."""
        return Texts(lambda: self.file.path.open("rb"), self.weighed.transcript.format)

    @cached_property
    def index(self) -> Index:
        """What the messages refer to, for the question what a compaction lost."""
        with self.texts() as texts:
            return build_index(self.weighed.transcript, texts.of)

    @cached_property
    def now(self) -> tuple[Item, ...]:
        """The message list of the newest request, as recorded."""
        from sessions.engine.replays.lists import items_at

        steps = self.weighed.steps
        if not steps:
            return ()
        return items_at(replay(self.weighed, "none", base="recorded"), steps[-1].request)


class Shelf:
    """The sessions of this machine's agents, or those in the folders ``allowed``; the last four read are kept."""

    def __init__(self, allowed: Sequence[Path] = ()) -> None:
        """``allowed`` are folders; none: wherever agents keep their transcripts."""
        self._allowed = tuple(folder.expanduser().resolve() for folder in allowed)
        self._open: Cache[tuple[str, float, int], OpenSession] = Cache(lambda held: len(held) > KEPT)

    def files(self) -> list[LocalFile]:
        """Every transcript that may be asked about, the newest first."""
        if not self._allowed:
            return local_files()
        known = {one.path: one for one in local_files()}
        found = []
        for folder in self._allowed:
            for path in folder.rglob("*"):
                if path.suffix in SUFFIXES and path.is_file() and path.resolve().is_relative_to(folder):
                    with suppress(OSError):  # gone meanwhile
                        found.append(known.get(path) or LocalFile(UNKNOWN, path, path.stat(), path.parent))
        return sorted(found, key=lambda one: (-one.modified, str(one.path)))

    def session(self, name: str) -> OpenSession:
        """The session called ``name``: "latest", an id, or a path; raises NotHere."""
        file = self._file(name)
        return self._open.get_or_make((str(file.path), file.modified, file.size), lambda: _read(file))

    def _file(self, name: str) -> LocalFile:
        every = self.files()
        if name == "latest" and every:
            return every[0]
        found = next((one for one in every if name in (one.id, str(one.path))), None)
        if found is None:
            raise NotHere(f"No session {name!r} among the {len(every):,} that may be read. Call search_sessions.")
        return found


def _read(file: LocalFile) -> OpenSession:
    try:
        with file.path.open("rb") as stream:
            parsed = read_transcripts(stream, str(file.path))
    except (EngineError, OSError) as error:
        raise NotHere(f"{file.path.name} cannot be read: {error}") from error
    return OpenSession(file, weigh(choose(parsed, None)))
