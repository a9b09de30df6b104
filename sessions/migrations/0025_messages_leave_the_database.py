from __future__ import annotations

from typing import Any

from django.db import migrations, models
from django.db.models import OuterRef, Subquery, Value
from django.db.models.functions import Coalesce, Concat


def keep_openings(apps: Any, schema_editor: Any) -> None:
    """Role, kinds and preview of each session's first message, before the table of messages goes."""
    session, row = (apps.get_model("agent_sessions", name) for name in ("Session", "MessageRow"))
    words = Concat("role", Value(" "), "kinds", Value(" "), "preview", output_field=models.CharField())
    first = row.objects.filter(session=OuterRef("pk"), index=0).order_by().annotate(words=words).values("words")[:1]
    everything = session.objects.using(schema_editor.connection.alias)
    everything.update(opening=Coalesce(Subquery(first), Value(""), output_field=models.CharField()))


class Migration(migrations.Migration):
    dependencies = [
        ("agent_sessions", "0024_continuations"),
    ]

    operations = [
        migrations.AddField(
            model_name="session",
            name="opening",
            field=models.CharField(blank=True, max_length=350, default=""),
            preserve_default=False,
        ),
        migrations.RunPython(keep_openings, migrations.RunPython.noop),
        migrations.DeleteModel(name="MessageRow"),
    ]
