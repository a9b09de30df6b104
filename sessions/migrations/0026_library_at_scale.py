from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import migrations, models
from django.db.models import F, Value
from django.db.models.functions import MD5, Cast, Concat, Left, Replace

from sessions.models.listed import OrderIndex

SEEN = ["branch_of", "parent", "private", "upload"]
FILTERED = ["format", "model", "n_images", "n_compactions", "worst_overcount"]
SUMS = ["n_messages", "tokens", "wire_bytes"]
SHARED = ["shares_with", "n_shared_messages", "shared_tokens", "shared_wire_bytes", "n_shared_images"]


def name_files(apps: Any, _: Any) -> None:
    """As ``listed.key_of`` does, by the database itself."""
    upload = Replace(Cast("upload_id", models.CharField()), Value("-"), Value(""))
    said = Concat(upload, Value("/"), F("member"), output_field=models.TextField())
    apps.get_model("agent_sessions", "Session").objects.update(file_key=Left(MD5(said), 16))


class Migration(migrations.Migration):
    dependencies = [
        ("agent_sessions", "0025_messages_leave_the_database"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="session",
            name="file_key",
            field=models.CharField(blank=True, editable=False, max_length=16, default=""),
            preserve_default=False,
        ),
        *(
            migrations.AlterField(
                model_name="session",
                name=name,
                field=models.ForeignKey(
                    blank=True,
                    db_index=False,
                    null=True,
                    on_delete=on_delete,
                    related_name=related_name,
                    to="agent_sessions.session",
                ),
            )
            for name, on_delete, related_name in (
                ("parent", models.SET_NULL, "children"),
                ("branch_of", models.CASCADE, "branches"),
            )
        ),
        migrations.RunPython(name_files, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name="session",
            index=OrderIndex(
                F("ended_at").desc(nulls_last=True),
                F("created_at").desc(),
                *map(F, ["position", "id", "file_key", *SEEN, *FILTERED, "n_messages", "tokens", "wire_bytes"]),
                F("peak_context"),
                F("title"),
                name="session_listed",
            ),
        ),
        migrations.AddIndex(
            model_name="session",
            index=models.Index(
                fields=[
                    "tokens_label",
                    "format",
                    "model",
                    *SEEN,
                    "n_images",
                    "n_compactions",
                    "worst_overcount",
                    *SUMS,
                    *SHARED,
                ],
                name="session_summed",
            ),
        ),
        migrations.AddIndex(
            model_name="session",
            index=models.Index(
                fields=["file_key", "id", *SEEN, *FILTERED, "tokens_label", *SUMS, "wrong_cause"],
                name="session_of_file",
            ),
        ),
        *(
            migrations.AddIndex(
                model_name="session",
                index=models.Index(fields=[field], condition=models.Q((f"{field}__isnull", False)), name=name),
            )
            for field, name in (
                ("parent", "session_parent"),
                ("branch_of", "session_branch_of"),
                ("worst_overcount", "session_worst"),
            )
        ),
        migrations.AddIndex(
            model_name="upload",
            index=models.Index(fields=["status", "dismissed", "private", "owner"], name="upload_status"),
        ),
        migrations.AddIndex(
            model_name="media",
            index=models.Index(fields=["media_type"], name="media_type"),
        ),
    ]
