"""Who owns an upload, what is private, invitations and tokens; the oldest account becomes an admin."""

from __future__ import annotations

from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def first_admin(apps: Any, schema_editor: Any) -> None:
    """Somebody has to invite the others; until now every account could do everything.  What is stored is the team's."""
    user = apps.get_model("auth", "User")
    if not user.objects.filter(is_superuser=True).exists():
        first = user.objects.filter(is_active=True).order_by("pk").values_list("pk", flat=True).first()
        user.objects.filter(pk=first).update(is_superuser=True)


class Migration(migrations.Migration):
    dependencies = [
        ("agent_sessions", "0015_session_figures"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("token_hash", models.CharField(max_length=64, unique=True)),
                ("ending", models.CharField(max_length=4)),
                ("name", models.CharField(max_length=80)),
                ("scopes", models.JSONField(default=list)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("used_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ("-created_at", "-id"),
            },
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("token_hash", models.CharField(max_length=64, unique=True)),
                ("hint", models.CharField(blank=True, max_length=150)),
                ("is_admin", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField()),
                ("used_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ("-created_at", "-id"),
            },
        ),
        migrations.RemoveConstraint(
            model_name="upload",
            name="upload_bytes_once",
        ),
        migrations.AddField(
            model_name="replaylink",
            name="maker",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="links",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="session",
            name="private",
            field=models.BooleanField(
                default=False,
            ),
        ),
        migrations.AddField(
            model_name="upload",
            name="owner",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="uploads",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="upload",
            name="private",
            field=models.BooleanField(
                default=False,
            ),
        ),
        migrations.AddConstraint(
            model_name="upload",
            constraint=models.UniqueConstraint(
                condition=models.Q(("followed", False), ("owner__isnull", True)),
                fields=("sha256",),
                name="upload_bytes_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="upload",
            constraint=models.UniqueConstraint(
                condition=models.Q(("followed", False)), fields=("sha256", "owner"), name="upload_bytes_once_each"
            ),
        ),
        migrations.AddField(
            model_name="apitoken",
            name="owner",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="api_tokens",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="invitation",
            name="maker",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="invitations",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.RunPython(first_admin, migrations.RunPython.noop),
    ]
