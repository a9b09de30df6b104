#!/bin/sh
# Build the wheel with the Python $1, install it into a fresh environment, and use it from an empty folder.
set -eu
python=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$python" -m build --wheel --no-isolation --outdir "$work/dist" "$root" >"$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }
"$python" - "$work"/dist/*.whl <<'PYTHON'
import sys
import zipfile

names = set(zipfile.ZipFile(sys.argv[1]).namelist())
wanted = {
    "ctxweb/_bundled/templates/base.html",
    "ctxweb/_bundled/static/css/tokens.css",
    "ctxweb/_bundled/static/vendor/plotly.min.js",
    "ctxweb/_bundled/static/vendor/VENDOR.toml",
    "sessions/engine/transcript/types.py",
    "ctxweb/_bundled/docs/index.html",
    "ctxweb/_bundled/docs/guides/find-why/index.html",
    "ctxweb/_bundled/docs/search/search_index.json",
}
if wanted - names:
    sys.exit(f"missing from the wheel: {sorted(wanted - names)}")
if any(name.startswith("tests/") for name in names):
    sys.exit("the wheel contains tests")
print(f"wheel: {len(names)} files")
PYTHON

"$python" -m venv "$work/venv"
pip="$work/venv/bin/python -m pip --disable-pip-version-check --quiet"
$pip install --require-hashes -r "$root/requirements/base.txt"
$pip install --no-deps "$work"/dist/*.whl
cd "$work"
env -u PYTHONPATH CTXWEB_DATA="$work/data" "$work/venv/bin/ctxweb" --help >/dev/null
env -u PYTHONPATH "$work/venv/bin/ctxweb" --version
$pip install --require-hashes -r "$root/requirements/mcp.txt"
"$python" "$root/scripts/first_minute.py" "$work/venv/bin/ctxweb"
env -u PYTHONPATH CTXWEB_DATA="$work/data" "$work/venv/bin/python" - <<'PYTHON'
from pathlib import Path

from ctxweb.startup import collect_static, load_django, migrate

load_django()
from django.conf import settings
from django.template.loader import get_template
from django.test import Client

assert "_bundled" in str(settings.ROOT), settings.ROOT
migrate()
collect_static()
assert list(Path(settings.STATIC_ROOT, "vendor").glob("plotly.min.*.js.gz"))
get_template("base.html")
page = Client(headers={"host": "localhost"}).get("/login/")
assert page.status_code == 200, page.status_code
docs = Client(headers={"host": "localhost"}).get("/docs/guides/find-why/")
assert docs.status_code == 200, docs.status_code
assert b"Find out why" in b"".join(docs), "the page on why is not in the wheel"
print("wheel: installed, migrated, a page renders, the documentation is there")
PYTHON
