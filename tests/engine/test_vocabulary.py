from __future__ import annotations

import base64
import hashlib
import inspect

import pytest
import tiktoken
from tiktoken_ext import openai_public  # type: ignore[import-untyped]

from sessions.engine.tokens import vocabulary

SHA256 = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}


@pytest.mark.parametrize("name", vocabulary.RANKS)
def test_the_tokens_are_those_of_the_file_that_tiktoken_expects(name: str) -> None:
    lines = (b"%s %d\n" % (base64.b64encode(token), rank) for token, rank in vocabulary.ranks(name).items())
    assert hashlib.sha256(b"".join(lines)).hexdigest() == SHA256[name]
    assert SHA256[name] in inspect.getsource(openai_public)


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
