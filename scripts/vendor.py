"""Fetch the third-party files of static/ and tests/ through npm, and record what they are.

Run by ``make vendor``, never at run time; npm's own configuration says where packages come from.  Beside each set of
files a VENDOR.toml names package, version, licence and sha256; tests/arch checks all of it.  Fonts are cut down to
the characters and weights that the pages use, which needs fontTools (dependency group ``vendor``); Plotly to the parts
that the charts use (``scripts/charts``, decision 17).
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

from plotly.offline import get_plotlyjs_version

ROOT = Path(__file__).resolve().parent.parent
WEIGHTS = (400, 600)
CHARACTERS = [*range(0x20, 0x7F), *range(0xA0, 0x100), *map(ord, "–—‘’“”…•·×÷−±≈≠≤≥→←↑↓↵⌘✓ΔσΣµ\u2009\u202f")]
ESBUILD, BUILT_BEFORE = "0.28.2", "2026-11-23"
"""What makes the bundle, and the day whose versions of Plotly's own dependencies are taken."""
FEATURES = ["kern", "mark", "mkmk", "ccmp", "locl", "tnum", "zero", "case"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file of an npm package: where it is in the package, and where it goes here."""

    package: str
    version: str
    member: str
    target: str
    licence_target: str


FILES = [
    Wanted(
        "axe-core",
        "4.14.1",
        "axe.min.js",
        "tests/browser/vendor/axe.min.js",
        "tests/browser/vendor/axe-LICENSE.txt",
    ),
    Wanted(
        "@fontsource-variable/inter",
        "5.3.0",
        "files/inter-latin-wght-normal.woff2",
        "static/fonts/inter.woff2",
        "static/fonts/inter-LICENSE.txt",
    ),
    Wanted(
        "@fontsource-variable/jetbrains-mono",
        "5.3.0",
        "files/jetbrains-mono-latin-wght-normal.woff2",
        "static/fonts/jetbrains-mono.woff2",
        "static/fonts/jetbrains-mono-LICENSE.txt",
    ),
]


def main() -> None:
    """Fetch every file, write it with its licence, and write one VENDOR.toml per folder."""
    entries: dict[Path, list[str]] = {ROOT / "static/vendor": [charts()]}
    for wanted in FILES:
        members = fetch(wanted.package, wanted.version)
        data, remark = members[wanted.member], ""
        if wanted.member.endswith(".woff2"):
            data, remark = subset(data), f"subset, weights {WEIGHTS[0]} to {WEIGHTS[1]}"
        target = ROOT / wanted.target
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        (ROOT / wanted.licence_target).write_bytes(members["LICENSE"])
        licence = json.loads(members["package.json"])["license"]
        entries.setdefault(target.parent, []).append(entry(wanted, data, licence, remark))
        print(f"{wanted.target}  {len(data):,} bytes")
    for folder, texts in entries.items():
        (folder / "VENDOR.toml").write_text("# Written by scripts/vendor.py.\n\n" + "\n".join(texts), encoding="utf-8")


def fetch(package: str, version: str) -> dict[str, bytes]:
    """All files of one npm package by their path in it."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["npm", "pack", "--silent", f"{package}@{version}"], cwd=folder, check=True, capture_output=True)
        (archive,) = Path(folder).glob("*.tgz")
        with tarfile.open(archive) as tar:
            return {
                member.name.removeprefix("package/"): file.read()
                for member in tar.getmembers()
                if (file := tar.extractfile(member)) is not None
            }


def charts() -> str:
    """Build Plotly with the parts that the charts use, write it with all licences, and return its ``[[file]]``."""
    with tempfile.TemporaryDirectory() as name:
        folder, version = Path(name), get_plotlyjs_version()
        shutil.copytree(ROOT / "scripts/charts", folder, dirs_exist_ok=True)
        install = ["npm", "install", "--silent", "--no-audit", "--ignore-scripts", f"--before={BUILT_BEFORE}"]
        subprocess.run([*install, f"plotly.js@{version}", f"esbuild@{ESBUILD}"], cwd=folder, check=True)
        subprocess.run(["node", "build.mjs", version], cwd=folder, check=True)
        data, parts = (folder / "bundle.js").read_bytes(), json.loads((folder / "parts.json").read_text())
        infos = {part: json.loads((folder / part / "package.json").read_text()) for part in parts}
        texts = [
            f"{info['name']} {info['version']} ({info['license']})\n\n{_licence(folder / part)}"
            for part, info in infos.items()
        ]
    wanted = Wanted("plotly.js", version, "", "static/vendor/plotly.min.js", "static/vendor/plotly-LICENSE.txt")
    (ROOT / wanted.target).write_bytes(data)
    (ROOT / wanted.licence_target).write_text(f"\n\n{'-' * 80}\n\n".join(texts), encoding="utf-8")
    print(f"{wanted.target}  {len(data):,} bytes, of {len(parts)} packages")
    return entry(
        wanted, data, "MIT", "the parts that scripts/charts/entry.js names; licences of all packages in one file"
    )


def _licence(package: Path) -> str:
    """The text of a package's licence."""
    found = [path for path in sorted(package.iterdir()) if path.name.lower().startswith(("license", "licence"))]
    return found[0].read_text(encoding="utf-8").strip() if found else "(The package has no file with its licence.)"


def subset(data: bytes) -> bytes:
    """The variable font with our characters and weights only, as WOFF2."""
    from fontTools.subset import Options, Subsetter
    from fontTools.ttLib import TTFont
    from fontTools.varLib.instancer import instantiateVariableFont

    font = TTFont(io.BytesIO(data))
    # Modification times would make every run differ.
    font.recalcTimestamp = False
    subsetter = Subsetter(Options(layout_features=FEATURES, flavor="woff2", hinting=False))
    subsetter.populate(unicodes=CHARACTERS)
    subsetter.subset(font)
    font = instantiateVariableFont(font, {"wght": WEIGHTS})
    font.flavor = "woff2"
    out = io.BytesIO()
    font.save(out)
    return out.getvalue()


def entry(wanted: Wanted, data: bytes, licence: str, remark: str) -> str:
    """One ``[[file]]`` of VENDOR.toml."""
    lines = [
        "[[file]]",
        f'path = "{Path(wanted.target).name}"',
        f'package = "{wanted.package}"',
        f'version = "{wanted.version}"',
        f'licence = "{licence}"',
        f'licence_file = "{Path(wanted.licence_target).name}"',
        f'sha256 = "{hashlib.sha256(data).hexdigest()}"',
    ]
    if remark:
        lines.append(f'changes = "{remark}"')
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
