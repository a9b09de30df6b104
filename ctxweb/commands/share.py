"""``ctxweb share``: a replay as one HTML file that opens anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ctxweb.commands._each import EachFile
from ctxweb.commands._engine import name_of
from ctxweb.commands._handout import TOLD, handed_out
from ctxweb.commands._options import takes
from ctxweb.commands._replaying import compaction_option, replay_options
from ctxweb.commands._writing import TARGET, force_option, leave_alone, write_text
from ctxweb.terminal import tell


@click.command("share", cls=EachFile)
@replay_options
@click.option("--out", type=TARGET, help="File to write. [default: FILE's name with .html, here]")
@force_option
@compaction_option("Whose lists it shows", default=0)
@takes(*TOLD)
def command(file: Path, out: Path | None, event: int, **options: Any) -> None:
    """FILE's replay as one HTML file: works offline, its slider moves, secrets are taken out."""
    from ctxweb.startup import load_django

    out = out or Path(Path(name_of(file)).name).with_suffix(".html")
    leave_alone(out, force=options["force"], source=file)
    load_django()
    from sessions.pages.links.file import handout_html

    made = handed_out(file, options, event, patient="Replaying at every position of the slider")
    page = handout_html(made.document, title=made.title, note=options["note"], choice=made.choice, label=made.label)
    write_text(out, page, force=options["force"], source=file)
    tell(f"{out} ({out.stat().st_size / 1e6:.1f} MB): open it in any browser.")
