"""Static files under names made of their content, also where one JavaScript module imports another; posted files."""

from __future__ import annotations

import tempfile
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.storage import ManifestFilesMixin
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler
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


class NamelessFileHandler(FileUploadHandler):
    """Writes each posted file to a temporary file that is gone with its last open handle."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """Open the file for the part that begins."""
        super().new_file(*args, **kwargs)
        self.file: UploadedFile[Any] = UploadedFile(
            tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR),  # noqa: SIM115 - the request closes it
            self.file_name,
            self.content_type,
            0,
            self.charset,
            self.content_type_extra,
        )

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        """Append a chunk; no further handler sees it."""
        self.file.write(raw_data)

    def file_complete(self, file_size: int) -> UploadedFile[Any]:
        """The whole file, at its beginning."""
        self.file.seek(0)
        self.file.size = file_size
        return self.file

    def upload_interrupted(self) -> None:
        """Let go of what had arrived."""
        if hasattr(self, "file"):
            self.file.close()
