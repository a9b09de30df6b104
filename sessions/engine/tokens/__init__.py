"""What a text counts: vocabularies, the tokenizer, estimators."""
