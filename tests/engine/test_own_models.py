"""The user's own model table: read, checked, written again, and standing above the built-in one."""

from __future__ import annotations

import re

import pytest

from sessions.engine.base.errors import BadParameter
from sessions.engine.costs.prices import prices_of
from sessions.engine.models.model_info import model_info, use_own_models
from sessions.engine.models.own_models import read_models, write_models

TABLE = """
[models."glm-5.2"]
window = 400_000
max_output = 16_384
like = "claude-opus-4-8"
input = 0.6
output = 2

[models."OpenRouter/z-ai/glm-5.2"]
window = 200_000

[models."gpt-4o"]
window = 64_000
"""


@pytest.fixture
def table():
    """The table in use, and none afterwards."""
    use_own_models(read_models(TABLE))
    yield
    use_own_models({})


@pytest.mark.usefixtures("table")
def test_it_stands_above_the_built_in_table():
    own = model_info("z-ai/glm-5.2-20260301")
    assert (own.window, own.max_output, own.image_tier, own.text_prior) == (400_000, 16_384, "high-res", 1.53)
    prices = prices_of(own)
    assert (prices.input, prices.output) == (0.6, 2)
    assert own.known
    assert not own.note


@pytest.mark.usefixtures("table")
def test_a_name_with_a_provider_is_that_sellers_alone():
    assert model_info("openrouter/z-ai/glm-5.2").window == 200_000
    assert model_info("glm-5.2").window == 400_000


@pytest.mark.usefixtures("table")
def test_what_it_does_not_say_is_the_listed_models():
    own, listed = model_info("gpt-4o"), (128_000, 16_384, 2.5)
    assert (own.window, own.max_output, own.input_price) == (64_000, *listed[1:])
    use_own_models({})
    assert (model_info("gpt-4o").window, model_info("glm-5.2").window) == (128_000, 1_000_000)


def test_written_and_read_again_it_is_the_same():
    models = read_models(TABLE)
    assert read_models(write_models(models)) == models
    assert read_models("") == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[models.x\n", "my.toml: "),
        ("models = 3", "models are tables"),
        ("window = 3", "nothing stands beside them"),
        ('[models."x"]\nmax_output = 5000', "my.toml, model 'x': window is missing"),
        (
            '[models."x"]\nwindow = "big"',
            "model 'x', window: a whole number of tokens from 1,000 to 100,000,000, not 'big'",
        ),
        ('[models."x"]\nwindow = 999', "from 1,000"),
        ('[models."x"]\nwindow = true', "not True"),
        ('[models."x"]\nwindow = 5000\nprice = 3', "no key 'price'; known: window, max_output, like, input"),
        ('[models."x"]\nwindow = 5000\ninput = -1\noutput = 1', "US dollars per million tokens from 0 on, not -1"),
        ('[models."x"]\nwindow = 5000\ninput = 1', "prices need input and output"),
        ('[models."x"]\nwindow = 5000\nlike = 3', "like: the name of a listed model"),
        ("models.x = 3", "a table of window"),
        ('[models."' + "x" * 101 + '"]\nwindow = 5000', "1 to 100 characters"),
    ],
)
def test_a_wrong_table_says_where_and_what(text, words):
    with pytest.raises(BadParameter, match=re.escape(words)):
        read_models(text, "my.toml")
