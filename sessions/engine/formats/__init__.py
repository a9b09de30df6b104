"""Transcript formats, one module each.

A format module declares ``FORMAT`` with:

* ``name`` (the word on the command line), ``label`` (for people), ``source`` (where the rule comes from);
* ``sniff(head: Head) -> Sniff | None``: by content, never by file name; the reason is shown to the user;
* ``parse(source: Source, measure: Measure) -> Parsed``: streams the file, holds no text longer than one line;
* ``contents(value, message_id) -> tuple[Content, ...]``: the blocks of one stored origin, to show a message again.
"""
