"""From a file to transcripts: finds the format, parses, settles token counts; and reads a message's text again."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, cast

from sessions.engine.base import limits, registry
from sessions.engine.base.errors import TEXT_AGAIN, BadParameter, EngineError, TextGone, UnreadableInput
from sessions.engine.reading import byte_breakdown, unpacking
from sessions.engine.reading.formats import PARTLY, UNKNOWN, Format, Sniff
from sessions.engine.reading.formats._marks import LAST, PLAIN, can_mean, names_in, shapes_of
from sessions.engine.reading.formats._records import objects
from sessions.engine.reading.jsonio import INSIDE, Head, JsonProblem, Source, dumps
from sessions.engine.reading.measure import Measure, OnMedia, settle
from sessions.engine.reading.noted_events import noted_events
from sessions.engine.reading.understood import noted, plausible, unknown_share
from sessions.engine.tokens.tokenizer import TokenCounter
from sessions.engine.transcript.types import Content, Fate, Message, Origin, Parsed, Skipped, Transcript

OTHER_KINDS = (
    (b"\x89PNG", "a PNG picture"), (b"\xff\xd8\xff", "a JPEG picture"), (b"GIF8", "a GIF picture"), (b"%PDF", "a PDF"),
    (b"\x7fELF", "a program"), (b"MZ", "a Windows program"), (b"<!DOCTYPE", "a web page"), (b"<html", "a web page"),
)  # fmt: skip
"""What people upload by mistake, by its first bytes."""
EXAMPLE = """{"role": "user", "content": "Why is the build slow?"}
{"role": "assistant", "content": "Every module is compiled twice."}
"""
"""The smallest transcript that is read: what whoever has another shape may write."""
Advice = tuple[str, str]
"""What a file is that is no transcript, and what to do instead."""
SURE, MAX_KEYS, MAX_ENTRIES = 80, 50, 200
"""The score from which what stands inside a file is another agent's transcript; how much of it is looked at."""


class NotATranscript(UnreadableInput):
    """A file that no format recognises: among others in an archive it is listed, not a failure."""


def read_transcripts(
    file: BinaryIO,
    name: str = "",
    *,
    format: str | None = None,  # noqa: A002  the word the command line uses
    branch: str | None = None,
    counter: TokenCounter | None = None,
    on_media: OnMedia | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Parsed:
    """The sessions in ``file``, token counts settled.

    ``format`` names the format, else the one that the start of the file looks most like is taken.  ``on_media``
    receives every base64 image and document, ``on_progress`` the bytes read so far.  Raises UnreadableInput with line,
    byte and next step when nothing can be read, UnknownName for a format that does not exist.  ``branch`` is the leaf
    of the branch to select in place of the latest one; raises BadParameter where no rewind left it.
    """
    source = Source(file, name, on_progress)
    chosen, reason, inner = _by_name(source, _named(format)) if format else _sniffed(source)
    own = TokenCounter() if counter is None else counter
    try:
        measure = Measure(own, on_media)
        parsed = inner.parse(source, measure) if inner else chosen.read(source, measure)
        parsed = plausible(settle(_of_format(parsed, chosen.name), own))
    finally:
        if counter is None:
            own.close()
    if not any(t.messages or t.requests or t.errors or t.compactions for t in parsed.transcripts):
        raise _nothing(parsed, chosen)

    def contents(message: Message) -> tuple[Content, ...]:
        return read_contents(source, chosen.name, message)

    parsed = noted_events(parsed, source, contents)
    told = replace(parsed, reason=parsed.reason or reason, fates=parsed.fates or _fates(source, parsed))
    asks_usage = getattr(chosen, "coverage", UNKNOWN).usage != PARTLY
    return on_branch(noted(told, source, asks_usage=asks_usage), branch)


def _of_format(parsed: Parsed, name: str) -> Parsed:
    """The same, each session with the name of the format that it was read by."""
    several = (parsed.transcripts, parsed.alternatives)
    transcripts, others = (tuple(replace(t, format=name) for t in some) for some in several)
    return replace(parsed, format=name, transcripts=transcripts, alternatives=others)


def _fates(source: Source, parsed: Parsed) -> tuple[Fate, ...]:
    """Where the bytes of a file went whose format does not say: a zip archive is weighed unpacked."""
    archive = source.archive()
    if archive is not None:
        return byte_breakdown.fallback(parsed, archive.n_unpacked, 1)
    if source.database() is not None:
        return byte_breakdown.fallback(parsed, source.size, 1)
    source.file.seek(0)
    n_lines = sum(chunk.count(b"\n") for chunk in iter(lambda: source.file.read(unpacking.CHUNK_BYTES), b""))
    return byte_breakdown.fallback(parsed, source.size, n_lines)


def on_branch(parsed: Parsed, leaf: str | None) -> Parsed:
    """The same with the branch that ends at ``leaf`` selected; raises BadParameter where there is none."""
    if leaf is None or any(leaf == transcript.branch for transcript in parsed.transcripts):
        return parsed
    chosen = next((transcript for transcript in parsed.alternatives if transcript.branch == leaf), None)
    if chosen is None:
        known = ", ".join(branch.leaf for transcript in parsed.transcripts for branch in transcript.branches)
        raise BadParameter(f"no branch {leaf!r}; {f'the file has {known}' if known else 'nothing was rewound'}")
    selected = tuple(
        replace(chosen, parent_id=t.parent_id, parent_call_id=t.parent_call_id) if t.id == chosen.id else t
        for t in parsed.transcripts
    )
    return replace(parsed, transcripts=selected)


def read_contents(file: BinaryIO | Source, format_name: str, message: Message) -> tuple[Content, ...]:
    """The blocks of ``message`` with their text, read again from the upload.

    Pass a ``Source`` to read many messages: a document is then parsed once.  Raises UnreadableInput where the file is
    not the one the message came from, or cannot be read.
    """
    try:
        values = read_values(file if isinstance(file, Source) else Source(file), message)
        return _named(format_name).contents(values, _of_inner(message))
    except OSError as error:
        raise TextGone(error) from error
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        reason = f"message {message.index:,} cannot be read: it came from other bytes"
        raise UnreadableInput(reason, next_step=TEXT_AGAIN) from error


def read_values(source: Source, message: Message) -> list[Any]:
    """The JSON values that ``message`` was read from, in the order of the file; raises UnreadableInput."""
    values: list[Any] = []
    for origin in message.origins:
        try:
            values.append(source.read(origin))
        except JsonProblem as problem:
            offset = origin.offset + problem.position
            reason = f"message {message.index:,} cannot be read: {problem.reason}"
            raise UnreadableInput(reason, line=origin.line, offset=offset, next_step=TEXT_AGAIN) from problem
        except OSError as error:
            raise TextGone(error) from error
    return values


def claims(file: BinaryIO) -> bool:
    """Whether it is a zip archive that a format reads (an Inspect log), not to be unpacked; raises UnreadableInput."""
    if unpacking.packing(file) != unpacking.ZIP:
        return False
    head = Head(b"", (), (), members=unpacking.zip_names(file))
    return any(guess.score > 0 for guess, _ in _guesses(head, meant(head)))


def recognise(file: BinaryIO, name: str = "") -> str:
    """By what the start of the file is recognised as a transcript; raises NotATranscript, and UnreadableInput."""
    return _sniffed(Source(file, name))[1]


@dataclass(frozen=True, slots=True)
class Inner:
    """A transcript inside another file (formats 2.5): where, its path, and its document or what its lines hold.

    In a file of lines the path is the key under which each of them holds one of its own.
    """

    where: str
    format: Format
    path: tuple[str | int, ...]
    document: Any
    values: Sequence[Any]

    def parse(self, outer: Source, measure: Measure) -> Parsed:
        """What stands there, read as a file of its own, with every origin in the outer file."""
        outer.skipped = []
        found = list(self._entries(outer))
        file = io.BytesIO(b"".join(dumps(value).encode() + b"\n" for value, _ in found))

        def place(origin: Origin) -> Origin:
            at = found[origin.line - 1 if self.document is None else 0][1]
            return replace(at, path=(INSIDE, len(at.path), *at.path, *origin.path))

        def of(some: Iterable[Transcript]) -> tuple[Transcript, ...]:
            return tuple(
                replace(t, messages=tuple(replace(m, origins=tuple(map(place, m.origins))) for m in t.messages))
                for t in some
            )

        parsed = self.format.read(Source(file, outer.name), measure)
        skipped = (*outer.skipped, *(Skipped(1, 0, one.reason) for one in parsed.skipped))
        several = of(parsed.transcripts), of(parsed.alternatives)
        return replace(parsed, transcripts=several[0], alternatives=several[1], skipped=skipped, fates=())

    def _entries(self, outer: Source) -> Iterator[tuple[Any, Origin]]:
        whole = Origin(1, 0, outer.size, self.path)
        if self.document is not None:
            yield self.document, whole
        elif outer.head().document is not None:
            yield from ((value, replace(whole, path=(*self.path, n))) for n, value in enumerate(self.values))
        else:
            for line, record in objects(outer):
                if isinstance(held := record.get(str(self.path[0])), dict):
                    yield held, line.at(*self.path)


def _of_inner(message: Message) -> Message:
    """A message of a file inside another with its origins as in a file of its own."""
    if not any(origin.path[:1] == (INSIDE,) for origin in message.origins):
        return message
    return replace(message, origins=tuple(replace(o, path=o.path[2 + int(o.path[1]) :]) for o in message.origins))


def _by_name(source: Source, chosen: Format) -> tuple[Format, str, Inner | None]:
    """A format that was named, for the file or for what stands inside it."""
    head = source.head()
    guess = chosen.sniff(head)
    inner = None if guess and guess.score > 0 else _inside(head, chosen)
    return chosen, "chosen by name", inner if isinstance(inner, Inner) and inner.format is chosen else None


def _named(name: str) -> Format:
    return cast("Format", registry.get("formats", name))


def _sniffed(source: Source) -> tuple[Format, str, Inner | None]:
    if source.size == 0:
        raise NotATranscript("the file is empty", next_step="Upload a transcript")
    head = source.head()
    claims = [pair for pair in _guesses(head, meant(head)) if pair[0].score > 0]
    if not claims:
        inner, last = _inside(head), _named(LAST)
        if isinstance(inner, Inner):
            return inner.format, f"a {inner.format.label} transcript {inner.where}", inner
        if (guess := last.sniff(head)) and not inner:
            return last, guess.reason, None
        raise _unknown(source, head, _guesses(head, registry.plugins("formats").values()), inner)
    guess, chosen = claims[0] if len(claims) == 1 else max(claims, key=lambda pair: _understood(source, *pair))
    return chosen, guess.reason, None


def meant(head: Head) -> list[Format]:
    """The formats that a file can be meant for by the shape and the names at its start; no other is loaded."""
    shapes, names = shapes_of(head), names_in(head)
    return registry.some("formats", lambda name: can_mean(name, shapes, names))


def _guesses(head: Head, plugins: Iterable[Format]) -> list[tuple[Sniff, Format]]:
    """What the formats make of a file's start, the surest first."""
    found = [(guess, plugin) for plugin in plugins if (guess := plugin.sniff(head))]
    return sorted(found, key=lambda pair: -pair[0].score)


def _understood(source: Source, guess: Sniff, plugin: Format) -> float:
    """The score of a claim by what the format makes of the first records, where several formats claim a file."""
    source.file.seek(0)
    sample = source.file.read(limits.HEAD_BYTES)
    if source.size > len(sample) and b"\n" in sample:
        sample = sample[: sample.rindex(b"\n") + 1]
    try:
        parsed = plugin.read(Source(io.BytesIO(sample), source.name), Measure(TokenCounter()))
    except EngineError:
        return guess.score / 2
    if not parsed.transcripts and len(sample) < source.size:
        # Of a long document the first bytes are no document.
        return guess.score / 2
    return guess.score * (1 - unknown_share(parsed))


def _inside(head: Head, only: Format | None = None) -> Inner | Advice | None:
    """Another agent's transcript in a file that is none itself; what to do where there are several, or None.

    ``only``: of that format.
    """
    found: dict[tuple[str | int, ...], Inner] = {}
    for where, path, document, values in _places(head):
        start = replace(head, document=document, values=tuple(values[:MAX_ENTRIES]))
        guesses = _guesses(start, [only] if only else meant(start))
        sure = [pair for pair in guesses if pair[0].score >= SURE and pair[1].name not in PLAIN]
        if sure:
            found.setdefault(path, Inner(where, sure[0][1], path, document, values))
    if not found:
        return None
    first, *others = found.values()
    document = head.document
    is_whole = isinstance(document, dict) or (isinstance(document, list) and (not first.path or len(document) == 1))
    if document is None and first.document is None and not others and len(first.path) == 2:
        return replace(first, path=first.path[1:])
    if is_whole and (not others or not first.path):
        return first
    label = first.format.label
    return f"a {label} transcript inside another file", f"Save what stands {first.where} as a file of its own"


def _places(head: Head) -> Iterator[tuple[str, tuple[str | int, ...], Any, Sequence[Any]]]:
    """What could be a file of its own: where it stands, in words and as a path, and its document or else its lines."""
    document = head.document
    if isinstance(document, dict):
        for key, value in [*document.items()][:MAX_KEYS]:
            yield from _both(f"under {key!r}", (key,), value)
        return
    values: Sequence[Any] = head.values
    if isinstance(document, list):
        values = document
        yield "in its list, a line each,", (), None, values
    records = [value for value in values[:MAX_ENTRIES] if isinstance(value, dict)]
    if records:
        yield "in its first entry", (0,), records[0], ()
    for key in [*records[0]][:MAX_KEYS] if records else ():
        inner = [value for record in records if isinstance(value := record.get(key), (dict, list))]
        if len(inner) > 1 and 2 * len(inner) > len(records):
            yield f"under {key!r} of each, a line each,", (0, key), None, inner
        if inner:
            yield from _both(f"under {key!r} of the first", (0, key), inner[0])


def _both(
    where: str, path: tuple[str | int, ...], value: Any
) -> Iterator[tuple[str, tuple[str | int, ...], Any, Sequence[Any]]]:
    if isinstance(value, (dict, list)) and value:
        yield where, path, value, ()
    if isinstance(value, list) and len(value) > 1:
        yield f"{where}, a line each,", path, None, value


def _unknown(source: Source, head: Head, guesses: list[tuple[Sniff, Format]], inner: Advice | None) -> NotATranscript:
    """Why no format fits: no JSON at all, another file's ``inner`` one, or what the nearest formats missed."""
    line, offset = head.at
    if not head.data.strip(b" \t\r\n\0\xef\xbb\xbf"):
        return NotATranscript("the file holds nothing but blanks", next_step="Upload a transcript")
    packed = unpacking.packing(source.file)
    if packed and not head.members:
        step = "`ctxweb ingest` and the upload page read its members; unpack it to name one here"
        return NotATranscript(f"{unpacking.NAMES[packed]}, not a transcript", next_step=step)
    if head.tables:
        known = f"its tables: {', '.join(list(head.tables)[:8])}"
        return NotATranscript(f"{head.problem}; {known}", next_step="Export the session from its agent")
    kind = next((name for magic, name in OTHER_KINDS if head.data.startswith(magic)), "")
    other = (f"{kind}, not a transcript", "Upload the .jsonl or .json that the agent wrote") if kind else inner
    if advice := _beside(head.document) or other:
        reason, step = advice
        return NotATranscript(reason, next_step=step)
    near = "; ".join(f"{plugin.name}: {guess.reason}" for guess, plugin in guesses[:3])
    nearest = f"Nearest: {near}. " if near else ""
    if not head.values and head.document is None:
        step = f"{nearest}Transcripts are JSON or JSON lines"
        # Words: no byte of UTF-8 is wrong but at the end, where it may be cut.
        is_text = b"\0" not in head.data and "\ufffd" not in head.data.decode("utf-8", "replace")[:-1]
        is_plain = (line, offset) == (1, 0) and head.problem == "not JSON: Expecting value" and is_text
        return NotATranscript("text, not JSON" if is_plain else head.problem, line=line, offset=offset, next_step=step)
    return NotATranscript(
        "JSON, but no known transcript format",
        line=head.lines[0].number if head.lines else 1,
        offset=head.lines[0].offset if head.lines else 0,
        next_step=f"{nearest}This shape is read, a message a line: {EXAMPLE.splitlines()[0]}",
    )


def _beside(document: Any) -> Advice | None:
    """Files that agents write beside a transcript and that hold no messages: what one is, and what to read instead."""
    if isinstance(document, list) and document and all(_is_cline_edit(entry) for entry in document):
        reason = "what Cline replaced in messages before it sent them, without the messages"
        step = "Read the task's ui_messages.json; what was replaced stands there as it was before"
        return f"Cline's context_history.json: {reason}", step
    files = document.get("files") if isinstance(document, dict) else None
    is_trace = isinstance(files, list) and all(isinstance(f, dict) and {"path", "conversations"} <= {*f} for f in files)
    if files and is_trace:
        reason = "an Agent Trace: which lines of files an agent wrote, without any message"
        return reason, "Read the agent's own transcript"
    return None


def _is_cline_edit(entry: Any) -> bool:
    """``[message, [type of edit, [[block, [[time, how, what, facts] …]] …]]]`` with numbers for the first two."""
    match entry:
        case [int(), [int(), [*blocks]]]:
            return all(isinstance(block, list) and len(block) == 2 and isinstance(block[1], list) for block in blocks)
    return False


def _nothing(parsed: Parsed, chosen: Format) -> UnreadableInput:
    if parsed.skipped:
        first = parsed.skipped[0]
        reason = f"no messages; {len(parsed.skipped):,} lines were skipped, the first because: {first.reason}"
        return UnreadableInput(reason, line=first.line, offset=first.offset, next_step="Check the file's format")
    return UnreadableInput(f"{chosen.label}, but it holds no messages", next_step="Upload a session that has some")
