"""Wire bytes with a flat charge per image (seeds 2.2; buzz-agent's ``context_pressure_bytes``).

The charge is 16,384 bytes; ``pressure_bytes:8192`` charges another.
"""

from __future__ import annotations

from sessions.engine.base.errors import BadParameter
from sessions.engine.models.model_info import ModelInfo
from sessions.engine.tokens.estimators import Estimator
from sessions.engine.tokens.estimators.wire_bytes import IMAGE_BYTES, block_bytes
from sessions.engine.transcript.types import Block, Media

NAME = "pressure_bytes"
MAX_CHARGE = 1 << 30


def charging(argument: str) -> Estimator:
    """The estimator with a charge of ``argument`` bytes per image; raises BadParameter unless 0 to 1,073,741,824."""
    if not (argument.isascii() and argument.isdigit() and int(argument) <= MAX_CHARGE):
        raise BadParameter(f"{NAME}:N charges N bytes per image, a whole number from 0 to {MAX_CHARGE:,}: {argument!r}")
    charge = int(argument)

    def media_bytes(media: Media) -> int:
        return charge + len(media.media_type.encode("utf-8", "surrogatepass"))

    def size(block: Block, _model: ModelInfo) -> int:
        """UTF-8 bytes of the block; an image counts the charge and its media type, a document as on the wire."""
        return block_bytes(block, media_bytes)

    plain = charge == IMAGE_BYTES
    return Estimator(
        NAME if plain else f"{NAME}:{charge}",
        "Adjusted bytes" if plain else f"Adjusted bytes, {charge:,} per image",
        "buzz-agent context_pressure_bytes (pull request 1332)",
        "bytes",
        size,
        variant=charging,
    )


ESTIMATOR = charging(str(IMAGE_BYTES))
