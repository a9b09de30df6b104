#!/bin/sh
# Make the virtual environment $1 with the first Python of at least 3.11 that is found ($PYTHON before all others).
set -eu
venv=$1

recent='import sys; sys.exit(sys.version_info < (3, 11))'

if [ -x "$venv/bin/python" ] && "$venv/bin/python" -c "$recent" 2>/dev/null && "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    exit 0
fi

for python in ${PYTHON:-} python3 python3.11 python3.12 python3.13 python3.14 python; do
    if command -v "$python" >/dev/null 2>&1 && "$python" -c "$recent" 2>/dev/null; then
        found=$python
        break
    fi
done
if [ -z "${found:-}" ]; then
    echo "ctxweb needs Python 3.11 or newer. Name it with: make PYTHON=/path/to/python3" >&2
    exit 1
fi

rm -rf "$venv"
if "$found" -m venv "$venv" >/dev/null 2>&1; then
    exit 0
fi
# Some distributions keep the module that puts pip into new environments in a package of its own.
rm -rf "$venv"
if "$found" -m pip --version >/dev/null 2>&1 && "$found" -m venv --without-pip "$venv"; then
    if "$found" -m pip --quiet --python "$venv/bin/python" install pip; then
        exit 0
    fi
    rm -rf "$venv"
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    apt-get update -qq && apt-get install -y -qq --no-install-recommends python3-venv >/dev/null
    "$found" -m venv "$venv"
    exit 0
fi
echo "$found cannot make virtual environments. Install its venv package (Debian: python3-venv) and try again." >&2
exit 1
