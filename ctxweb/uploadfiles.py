"""Uploaded files while a request holds them: on disk, and without a name, so that even a killed server leaves none."""

from __future__ import annotations

import tempfile
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler


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
