"""Forms whose fields are not generated from a policy."""

from __future__ import annotations

from django import forms

MOST_NOTE = 2_000


class ShareForm(forms.Form):
    """What the sender adds to a link: a claim in one line and a note, both optional."""

    title = forms.CharField(max_length=255, required=False)
    note = forms.CharField(max_length=MOST_NOTE, required=False)


class SaveForm(forms.Form):
    """What a saved view is called, and why it was kept."""

    name = forms.CharField(max_length=120)
    note = forms.CharField(max_length=MOST_NOTE, required=False)


class KeyForm(forms.Form):
    """A key for a model's API; never shown again."""

    key = forms.CharField(max_length=600)
