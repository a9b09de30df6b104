"""Recall and precision over planted secrets and look-alikes, and each kind by itself."""

from __future__ import annotations

import pytest

from sessions.engine.redact import redact
from tests.redaction.corpus import NAMED, SECRETS
from tests.redaction.measure import measured, of_strangers


@pytest.mark.parametrize("seed", [1, 11, 23])
def test_recall_and_precision(seed: int) -> None:
    found = measured(seed)
    assert found.n_planted >= 400
    assert found.n_look_alikes >= 400
    assert len(SECRETS) + len(NAMED) >= 30
    assert found.recall >= 0.98, [(item.kind, item.text) for item in found.missed]
    assert found.precision >= 0.95, found.wrong


@pytest.mark.parametrize("seed", [0, 1])
def test_recall_and_precision_on_a_list_by_strangers(seed: int) -> None:
    found = of_strangers(seed)
    assert found.claimed.n >= 1_000
    assert found.recall >= 0.98, [(case.kind, case.text) for case in found.missed]
    assert found.precision >= 0.95, found.wrong


@pytest.mark.parametrize(
    "code",
    [
        "\\n@st.cache_data(",
        '"\\n@app.route(\\"/x\\")"',
        "+@pytest.fixture",
        "git@github.com:acme/shop.git",
        "npm i @scope/pkg@1.2.3",
        "C = A@B.T",
        "password: required",
        "v10.4.2.1",
    ],
)
def test_code_is_not_damaged(code: str) -> None:
    assert redact(code).text == code
