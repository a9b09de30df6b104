"""Estimators, a module each or one for a family: the size of a block under one definition.

An estimator module declares ``ESTIMATOR`` (a family: ``ESTIMATORS``) with ``name``, ``label``, ``source``, ``unit``
("bytes", "tokens", "chars") and ``size(block: Block, model: ModelInfo) -> int``, a pure function of what is known
about the block.
"""
