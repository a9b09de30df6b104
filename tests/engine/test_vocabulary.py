from __future__ import annotations

import hashlib
import inspect

import pytest
import tiktoken
from tiktoken_ext import openai_public  # type: ignore[import-untyped]

from sessions.engine import vocabulary


@pytest.mark.parametrize("name", vocabulary.RANKS)
def test_rank_file_is_the_one_tiktoken_expects(name: str) -> None:
    assert hashlib.sha256(vocabulary.rank_file(name)).hexdigest() == vocabulary.SHA256[name]
    assert vocabulary.SHA256[name] in inspect.getsource(openai_public)


@pytest.mark.parametrize("name", vocabulary.RANKS)
def test_encoding_never_reads_files_or_the_network(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object) -> bytes:
        raise AssertionError("tiktoken tried to fetch a vocabulary")

    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    monkeypatch.setattr("tiktoken.load.read_file", refuse)
    monkeypatch.setattr("tiktoken.registry.ENCODINGS", {})
    vocabulary._build.cache_clear()
    loader = openai_public.load_tiktoken_bpe
    built = vocabulary.encoding(name)
    assert built.decode(built.encode_ordinary("Überlänge 中文 😀")) == "Überlänge 中文 😀"
    assert openai_public.load_tiktoken_bpe is loader
    assert tiktoken.get_encoding(name) is built
    vocabulary._build.cache_clear()


def test_unknown_vocabulary_names_those_that_exist() -> None:
    with pytest.raises(KeyError, match="o200k_base"):
        vocabulary.encoding("p50k_base")
