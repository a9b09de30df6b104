"""Inspect AI evaluation logs: ``.eval`` (a zip archive) and ``.json``; every sample is a session (formats 14)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from sessions.engine.reading.formats import YES, Coverage, Head, Measured, Records, Sniff, Source
from sessions.engine.reading.formats._assembly import with_unique_ids
from sessions.engine.reading.formats._inspect_sample import Sample, contents_of_message, resolved, session_of
from sessions.engine.reading.formats._records import misread
from sessions.engine.reading.formats._values import Record, as_dict, as_list, text_of
from sessions.engine.reading.jsonio import JsonProblem
from sessions.engine.transcript.types import Content, Message, Origin, Parsed, Skipped, Transcript

HEADERS = ("header.json", "_journal/start.json")
SAMPLES = "samples/"


class _Inspect:
    name = "inspect"
    label = "Inspect"
    source = "inspect_ai logs of versions 2 and 3 (.eval or .json)"
    coverage = Coverage(
        "2 and 3", usage=YES, images=YES, compactions=YES,
        records=Records(
            error="model event's error", compaction="event compaction", who="always auto",
            end="sample's error and limit", model="model event's model",
        ),
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        if head.members:
            n_samples = sum(_is_sample(name) for name in head.members)
            header = next((name for name in HEADERS if name in head.members), "")
            if header and n_samples:
                return Sniff(95, f"a zip archive with {header} and {n_samples} samples")
            return Sniff(0, f"a zip archive, but without {'samples' if header else HEADERS[0]}")
        document = as_dict(head.document)
        if not isinstance(document.get("eval"), dict):
            return None
        samples = [sample for sample in as_list(document.get("samples")) if isinstance(sample, dict)]
        if any("messages" in sample or "events" in sample for sample in samples):
            return Sniff(95, f"an object with eval, and {len(samples)} samples with messages")
        return Sniff(0, "it has an eval, but no samples with messages (a log written without samples?)")

    def parse(self, source: Source, measure: Measured) -> Parsed:
        skipped: list[Skipped] = []
        transcripts: list[Transcript] = []
        header = _header(source)
        evaluation = as_dict(header.get("eval"))
        facts = {
            "model": text_of(evaluation.get("model")),
            "client": text_of(as_dict(evaluation.get("packages")).get("inspect_ai")),
        }
        for value, origin in _samples(source, skipped):
            sample = Sample(value, origin)
            skipped += sample.skipped
            transcript = session_of(sample, _id_of(value, origin), measure, facts)
            if transcript.messages:
                transcripts.append(transcript)
            else:
                skipped.append(Skipped(origin.line, origin.offset, f"sample {transcript.id} holds no messages"))
        return Parsed(self.name, with_unique_ids(transcripts), tuple(skipped))

    def contents(self, values: Sequence[Any], message: Message) -> tuple[Content, ...]:
        """The blocks of a message; the values after the first are its attachments."""
        pairs = zip(message.origins[1:], values[1:], strict=False)
        attachments = {str(origin.path[-1]): value for origin, value in pairs}
        return contents_of_message(resolved(values[0], attachments))


def _is_sample(name: str) -> bool:
    return name.startswith(SAMPLES) and name.endswith(".json")


def _header(source: Source) -> Record:
    if source.archive() is None:
        return as_dict(source.document())
    for name in HEADERS:
        with suppress(JsonProblem):
            return as_dict(source.member(name))
    return {}


def _samples(source: Source, skipped: list[Skipped]) -> Iterator[tuple[Record, Origin]]:
    archive = source.archive()
    if archive is None:
        document = source.document()
        if not isinstance(document, dict):
            raise misread("not an Inspect log: no object")
        for position, value in enumerate(as_list(document.get("samples"))):
            if isinstance(value, dict):
                yield value, Origin(1, 0, source.size, ("samples", position))
            else:
                skipped.append(Skipped(1, 0, f"sample {position} is not an object"))
        return
    names = [name for name in archive.names if _is_sample(name)]
    for position, name in enumerate(names, 1):
        if source.on_progress:
            source.on_progress(source.size * position // len(names))
        try:
            value = source.member(name)
        except JsonProblem as problem:
            skipped.append(Skipped(1, problem.position, f"{name}: {problem.reason}"))
            continue
        if isinstance(value, dict):
            yield value, Origin(1, 0, source.size, (name,))
        else:
            skipped.append(Skipped(1, 0, f"{name} is not an object"))


def _id_of(value: Record, origin: Origin) -> str:
    native, epoch = value.get("id"), value.get("epoch")
    if isinstance(native, (str, int)) and not isinstance(native, bool):
        return f"{native}_epoch_{epoch}" if isinstance(epoch, int) else str(native)
    return str(origin.path[-1])


FORMAT = _Inspect()
