"""A bot of one's own in a browser: from the library to a tuned replay, its diff and a snippet in five actions."""

from __future__ import annotations

import json
import re

import pytest

from tests.browser.test_whole_path import upload

pytestmark = pytest.mark.exhaustive
TURNS = [(f"Book table {n}. " + "please " * 1_500, f"Table {n} is booked.") for n in range(40)]
PAIRS = [(role, text) for asked, said in TURNS for role, text in (("user", asked), ("assistant", said))]
PLAIN = [{"role": role, "content": text} for role, text in PAIRS]
NAMES = {"user": "human", "assistant": "ai"}
MODEL = {"model": "claude-sonnet-4-5", "max_tokens": 1_000}
CALLS = [
    {
        "request": {**MODEL, "messages": PLAIN[: 2 * n + 1]},
        "response": {
            "type": "message", "role": "assistant", "id": f"msg_{n}", "model": MODEL["model"],
            "stop_reason": "end_turn", "content": [{"type": "text", "text": TURNS[n][1]}],
            "usage": {"input_tokens": 1_520 * (n + 1), "output_tokens": 8},
        },
    }
    for n in range(len(TURNS))
]  # fmt: skip
BOTS = {
    "openai chat": ([{"model": "gpt-4.1", "messages": PLAIN}], "My own agent"),
    "langchain": ([[{"type": NAMES[role], "data": {"content": text}} for role, text in PAIRS]], "LangChain"),
    "anthropic": (CALLS, "My own agent"),
}
"""Each as the lines of its file: one document, or the calls as they came."""


@pytest.mark.parametrize("name", BOTS)
def test_five_actions_to_a_diff_and_a_snippet(visit, tmp_path, name):
    lines, policy = BOTS[name]
    file = tmp_path / f"{name}.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    visitor = visit()
    page = visitor.page
    upload(page, file, "Book table 0")
    page.goto("/")
    page.get_by_role("link", name=re.compile("^Book table 0")).first.click()
    page.wait_for_selector("#pressure .main-svg")
    page.get_by_role("link", name="Replay").first.click()
    page.wait_for_selector("#saw .main-svg")
    assert policy in page.locator("#f-policy-picker").inner_text()
    slider = page.locator("#compact-slider")
    step = int(slider.get_attribute("step") or 1)
    slider.fill(str(int(slider.get_attribute("min") or 0) + -(-20_000 // step) * step))
    page.wait_for_selector(".events tbody tr")
    page.locator(".apply-open > summary").click()
    page.wait_for_selector("#snippet-text")
    assert page.locator("#snippet-text").inner_text().strip()
    page.get_by_role("link", name=re.compile("Full width")).first.click(timeout=10_000)
    page.wait_for_url(re.compile("/diff/"))
    visitor.is_clean()
