"""Small archives made in memory."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip archive; names are written as they are."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as target:
        for name, data in members.items():
            target.writestr(zipfile.ZipInfo(name), data, compress_type=method)
    return file.getvalue()


def tarred(members: dict[str, bytes], links: dict[str, str] | None = None) -> bytes:
    """A tar archive with regular files, then symbolic links (name to target)."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as target:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            target.addfile(info, io.BytesIO(data))
        for name, to in (links or {}).items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, to
            target.addfile(info)
    return file.getvalue()


def tar_gz(members: dict[str, bytes], links: dict[str, str] | None = None) -> bytes:
    """A gzipped tar archive."""
    return gzip.compress(tarred(members, links), mtime=0)
