"""What lists of sessions rest on besides plain columns: the key of a session's file, an order for both databases."""

from __future__ import annotations

import hashlib
import uuid
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models.expressions import OrderBy

KEY_CHARS = 16
if TYPE_CHECKING:
    _Text = models.CharField[str, str]
else:
    _Text = models.CharField


def key_of(upload_id: uuid.UUID, member: str) -> str:
    """How a session's file is told from others: 16 hex digits, as paths in archives are too long for an index."""
    said = f"{upload_id.hex}/{member}".encode("utf-8", "surrogatepass")
    return hashlib.md5(said, usedforsecurity=False).hexdigest()[:KEY_CHARS]


class FileKey(_Text):
    """``key_of`` the row's upload and member, whenever it is written."""

    def pre_save(self, model_instance: models.Model, add: bool) -> str:
        made = key_of(model_instance.upload_id, model_instance.member)  # type: ignore[attr-defined]
        setattr(model_instance, self.attname, made)
        return made

    def deconstruct(self) -> tuple[str, str, Any, Any]:
        """As a plain column: migrations need no more."""
        name, _, args, kwargs = super().deconstruct()
        return name or "", "django.db.models.CharField", args, kwargs


class OrderIndex(models.Index):
    """An index of orders with NULLS LAST: where they descend SQLite does so by itself, and takes no words for it."""

    def create_sql(self, model: Any, schema_editor: Any, using: str = "", **kwargs: Any) -> Any:
        """As its base does; in SQLite without those words."""
        if schema_editor.connection.vendor != "sqlite":
            return super().create_sql(model, schema_editor, using, **kwargs)
        plain = models.Index(*map(_plain, self.expressions), name=self.name)
        return plain.create_sql(model, schema_editor, using, **kwargs)


def _plain(column: Any) -> Any:
    if isinstance(column, OrderBy):
        return OrderBy(column.expression, descending=column.descending)
    return column


class NotIndexed(models.Func):
    """A column without its index: passing rows by is faster where most match; SQLite would look each up by its id."""

    template = "%(expressions)s"
    arity = 1

    def as_sqlite(self, compiler: Any, connection: Any, **more: Any) -> Any:
        """A sign that changes nothing keeps SQLite from using an index."""
        return self.as_sql(compiler, connection, template="+%(expressions)s", **more)
