"""Static files under names made of their content, also where one JavaScript module imports another."""

from __future__ import annotations

from typing import Any

from django.contrib.staticfiles.storage import ManifestFilesMixin
from whitenoise.compress import Compressor
from whitenoise.storage import CompressedManifestStaticFilesStorage

MODULE_IMPORTS = (
    (
        r"""(?m)^(?P<matched>(?P<statement>(?:import|export)\s[^;'"]*)["'](?P<url>\.{1,2}/[^'"]+)["'];)""",
        '%(statement)s"%(url)s";',
    ),
    (r"""(?P<matched>import\(["'](?P<url>\.{1,2}/[^'"]+)["']\))""", 'import("%(url)s")'),
)
"""A static import or re-export on a line of its own, and a dynamic import with a literal path."""


class StaticStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc] # whitenoise has no types
    """Compressed, hashed, and with the hashed name written into the imports of our own modules (``js/``).

    Else a module would be loaded twice, by its hashed and its plain name, and a page could mix two versions.  Django's
    switch for this reads vendored files too, and stumbles over the examples in their comments.
    """

    patterns = (*ManifestFilesMixin.patterns, ("js/*.js", MODULE_IMPORTS))

    def create_compressor(self, **kwargs: Any) -> Compressor:
        """Gzip only: where Brotli happens to be installed it takes 4 s at the first start to save a tenth."""
        return Compressor(**kwargs, use_brotli=False)
