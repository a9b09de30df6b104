"""No template prints a bare figure: tokens, bytes, money, shares and factors go through one component.

Its tags are ``figure``, ``fact`` for facts strips, and ``worded`` for what is more than one number.

What may be printed as it is: counts of things and places in a list, which have no label, and the exceptions below.
"""

from __future__ import annotations

import re

from tests.arch.repository import nobody, relative, templates, text

FILTERS = {"size", "short", "factor", "signed", "percent", "intcomma", "filesizeformat", "floatformat"}
COUNTED = re.compile(
    r"n_(?!bytes|tokens|base64|wire|payload)\w+|index|number|request|fired_at|message|worst_message|total|line|offset|count|"
    r"first|last|due|without|stopped|length|shown|n|read|used|not_context|opaque|skipped|kept|edited|dropped|inserted|"
    r"(source|parent)_message|(said|needed|broken|restated)_at|compaction|entered|last_use|idle_requests|summary_calls|"
    r"kept_by_\w+|verbatim|mentioned|gone|open|critical_failed|covered|wanted|summary_covered|actions|tries"
)
FIGURE = re.compile(r"(\w*_)?(tokens|bytes|cost|factor|overcount|overhead|size|ratio|share|percent|context|usage)")
ALLOWED = {
    "at.threshold": "a setting; its unit stands beside it", "at.share": "a share, named beside it",
    "at.low": "the slider's end", "at.high": "the slider's end", "at.mark": "the slider's mark",
    "at.value_step": "a step of a form field", "recommended.threshold": "the slider's mark",
    "steering.threshold": "a setting; its unit stands beside it", "steering.share": "a share, named beside it",
    "steering.at.threshold": "the sender's setting, named beside it",
    "body.left": "characters, counted",
    "controls.window": "a form field; its label names the unit",
    "controls.window_own": "the form field's default",
    "event.gate.measure": "the gate's own measure in its own unit, which stands beside it",
    "inspector.raw_left": "characters, counted",
    "row.threshold": "a setting, named beside it", "lead.meters.share": "the width of a bar beside its labelled figure",
    "row.percent": "progress of reading a file, or the bar beside a labelled figure",
    "row.share": "a share of the cost, whose head names it",
    "percent": "the bar beside a labelled figure",
    "share": "a share of the file's lines and bytes, whose head names them",
    "cell.value": "a sum of the sessions, whose head names it",
    "unsent_share": "a share of the file's bytes, named by its fact",
    "picture.file_size": "the decoded file, in binary units as file managers write it",
    "row.size": "the file as it arrived",
    "control.low": "a form field", "control.high": "a form field", "control.step": "a form field",
    "control.slider": "a form field",
}  # fmt: skip
"""Expressions that are printed without a label, each with its reason."""


def bare_figures(template: str) -> list[str]:
    """The variable tags of a template that print a figure without its label."""
    bare = re.sub(r"{% comment.*?endcomment %}", "", template, flags=re.DOTALL)
    found = []
    for expression in re.findall(r"{{\s*(.+?)\s*}}", bare):
        name, *applied = expression.split("|")
        last = name.rpartition(".")[2]
        filters = {part.partition(":")[0] for part in applied}
        if name in ALLOWED:
            continue
        counted = bool(COUNTED.fullmatch("length" if "length" in filters else last))
        is_figure = bool(filters & FILTERS) or (bool(FIGURE.fullmatch(last)) and not counted)
        if is_figure or ("count" in filters and not counted):
            found.append(expression)
    return found


def test_every_figure_says_how_it_is_known() -> None:
    found = [f"{relative(path)}: {figure}" for path in templates() for figure in bare_figures(text(path))]
    nobody(found, "Print it with the figure, fact or worded tag.")


def test_a_bare_figure_is_found() -> None:
    bare = ["row.tokens|count", "row.tokens", "a.n_bytes|count", "worst|factor", "x.cost|floatformat:2",
            "verdict.before|count"]  # fmt: skip
    plain = ["facts.n_messages|count", "rows|length|count", "event.request|count"]
    assert bare_figures(" ".join(f"{{{{ {expression} }}}}" for expression in bare + plain)) == bare
    assert bare_figures('{% figure row.tokens "tokens" row.label %}') == []


def test_every_exception_is_still_needed() -> None:
    printed = "\n".join(text(path) for path in templates())
    unused = [name for name in ALLOWED if not re.search(r"{{\s*" + re.escape(name) + r"[\s|}]", printed)]
    nobody(unused, "Take it out of ALLOWED.")
