"""What every page says of one message of a session."""

from __future__ import annotations

from sessions.runs.overview import KINDS, Overview, kinds_of


class MessageFigures:
    """A message with its kinds, what it weighs and by how much it is over-counted."""

    def __init__(self, view: Overview, index: int) -> None:
        self.view, self.index, self.message = view, index, view.messages[index]
        self.kinds = kinds_of(self.message)
        self.tokens, self.label = view.weighed.tokens[index], str(view.weighed.labels[index])
        self.n_bytes, self.factor = view.n_bytes[index], view.factors[index]

    def parts(self) -> list[tuple[str, int]]:
        """Its tokens by kind, as charts stack them."""
        tokens = self.view.kinds[self.index]
        return [(kind, tokens[kind]) for kind in KINDS if tokens.get(kind)]
