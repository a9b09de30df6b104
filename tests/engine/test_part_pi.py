"""The text that names pi's files is counted by its lines."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from sessions.engine.edits import marker
from sessions.engine.sweeps.fast.part_pi import files_of
from sessions.engine.types import Block, Kind, Message, Role
from tests.every import examples

NAMES = st.one_of(
    st.sampled_from(
        ["/src/a.py", "b", "/tests/test_x.py", "docs/naïve.md", "/x(1)", "-rf", " pad ", "two\nlines", "7"]
    ),
    st.text(st.sampled_from("abZ09/._- ()\né"), min_size=1, max_size=12),
)


def plain_text(calls):
    """``policies.pi``: what stands after the summary, in plain words."""
    read = {target for name, target in calls if name == "read"}
    written = {target for name, target in calls if name in {"write", "edit"}}
    return "\n\n".join(
        f"<{tag}>\n" + "\n".join(sorted(names)) + f"\n</{tag}>"
        for tag, names in (("read-files", read - written), ("modified-files", written))
        if names
    )


@examples(400)
@given(calls=st.lists(st.tuples(st.sampled_from(["read", "write", "edit", "Bash"]), NAMES), max_size=12))
@example(calls=[("read", "/b"), ("edit", "/b"), ("read", "/b"), ("read", "/a/1"), ("write", "/c)")])
def test_every_text_is_counted_as_the_whole_is(calls):
    """After each call, for tokens and characters."""
    blocks = [Block(Kind.TOOL_USE, name=name, target=target, call_id=str(n)) for n, (name, target) in enumerate(calls)]
    messages = [Message(n, f"m{n}", Role.ASSISTANT, (block,)) for n, block in enumerate(blocks)]
    files = files_of(messages)
    for n in range(len(calls) + 1):
        at = sum(place < n for place in files.places)
        text = plain_text(calls[:n])
        assert files.chars[at] == len(text)
        assert not text or files.tokens[at] == marker(text).n_tokens
