"""What the sender decides about a link, and what a stranger types to open one."""

from __future__ import annotations

from collections.abc import Mapping

from django import forms
from django.http import QueryDict

from sessions.engine.redact import BY_KEY, EVERYTHING, Choice
from sessions.pages.ui.addresses import whole
from sessions.pages.ui.view import MOST_NOTE
from sessions.services.links import Terms

DAYS = {"1": "1 day", "7": "7 days", "30": "30 days", "": "until revoked"}
LEAST_PASSWORD = 8
ALLOWED = {"move": "Move where it compacts", "reply": "Reply with their setting"}
"""What recipients of a replay may do, in words; the dialog offers both."""
SENDS = ("link", "file", "report", "chart")
"""What the dialog's buttons make."""
MOST_REMARKS, MOST_REMARK, MOST_NAME, MOST_REPLY = 50, 300, 60, 500
"""Notes on messages of a link and characters of one; of a reply, characters of its name and of its note."""


class HideForm(forms.Form):
    """Which kinds of secrets to take out, and which words besides, one a line."""

    hide = forms.MultipleChoiceField(choices=[(key, kind.name) for key, kind in BY_KEY.items()], required=False)
    words = forms.CharField(max_length=5_000, required=False)

    def clean_words(self) -> tuple[str, ...]:
        """The lines that hold something; a regular expression that cannot be read is an error of the field."""
        words = tuple(line.strip() for line in self.cleaned_data["words"].splitlines() if line.strip())
        try:
            Choice(words=words)
        except ValueError as error:
            raise forms.ValidationError(str(error)) from None
        return words

    @property
    def choice(self) -> Choice:
        """What to take out: everything, unless the form was shown and filled in."""
        if "chosen" not in self.data:
            return EVERYTHING
        return Choice(frozenset(self.cleaned_data["hide"]), self.cleaned_data["words"])


class ShareForm(HideForm):
    """What the sender adds to a link: a claim, notes, how long it opens and for whom, and what recipients may do."""

    title = forms.CharField(max_length=255, required=False)
    note = forms.CharField(max_length=MOST_NOTE, required=False)
    lasts = forms.ChoiceField(choices=list(DAYS.items()), required=False)
    secret = forms.CharField(min_length=LEAST_PASSWORD, max_length=200, required=False)
    allow = forms.MultipleChoiceField(choices=list(ALLOWED.items()), required=False)
    remarks = forms.CharField(max_length=10_000, required=False)
    send = forms.ChoiceField(choices=[(name, name) for name in SENDS], required=False)

    def holds(self, wrong: Mapping[str, str], n_messages: int) -> bool:
        """Whether all can be shared: the fields, the address (``wrong`` by field), notes on messages that are there."""
        self.full_clean()
        for field, words in wrong.items():
            self.add_error(None, f"{field.removeprefix('p.')}: {words}")
        beyond = [number for number, _ in self.cleaned_data.get("remarks", ()) if number >= n_messages]
        if beyond:
            self.add_error("remarks", f"There is no message {beyond[0]:,}: the last is {n_messages - 1:,}.")
        return self.is_valid()

    def clean_remarks(self) -> list[tuple[int, str]]:
        """Notes on messages, one a line: "37: this screenshot"."""
        found = []
        for line in self.cleaned_data["remarks"].splitlines():
            number, mark, words = line.partition(":")
            index, words = whole(number.strip().removeprefix("#").replace(",", "")), words.strip()
            if not line.strip():
                continue
            if not (mark and words) or index is None:
                raise forms.ValidationError(f"Write 37: your note, one a line; not {line.strip()[:40]!r}.")
            found.append((index, words[:MOST_REMARK]))
        if len(found) > MOST_REMARKS:
            raise forms.ValidationError(f"A link has at most {MOST_REMARKS} notes on messages.")
        return found

    @property
    def terms(self) -> Terms:
        """What the link allows; without the form's own fields recipients move the slider and send no replies."""
        allowed = self.cleaned_data["allow"] if "chosen" in self.data else ["move"]
        moves, replies = "move" in allowed, "reply" in allowed
        return Terms(self.days, self.cleaned_data["secret"], self.choice, moves=moves, takes_replies=replies)

    @property
    def days(self) -> int | None:
        """How long the link opens; None: until it is revoked."""
        days = self.cleaned_data["lasts"]
        return int(days) if days else None


class ReplyForm(forms.Form):
    """A recipient's answer: their name and what they have to say about their setting."""

    author = forms.CharField(max_length=MOST_NAME, label="Your name")
    note = forms.CharField(max_length=MOST_REPLY, required=False)


def hidden(query: QueryDict) -> Choice:
    """What a preview takes out; everything where the choice cannot be read."""
    form = HideForm(query)
    return form.choice if form.is_valid() else EVERYTHING
