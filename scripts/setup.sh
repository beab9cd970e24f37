#!/bin/sh
# Makes .venv and installs Misstep into it, pinned by constraints.txt: without root, and without anything but a
# Python 3.11 or newer. Debian and Ubuntu ship Python without `venv` and pip; the ways round that are tried in turn.
set -eu
cd "$(dirname "$0")/.."
venv=.venv

suits() { "$1" -c 'import sys; sys.exit(not sys.version_info >= (3, 11))' >/dev/null 2>&1; }

find_python() {
    for candidate in ${PYTHON:-} python3 python3.13 python3.12 python3.11; do
        if suits "$candidate"; then
            command -v "$candidate"
            return
        fi
    done
    echo "setup: no Python 3.11 or newer found; install one, or name it: make setup PYTHON=/path/to/python3" >&2
    exit 3
}

# Debian's own pip, unpacked without being installed: needs no root.
pip_from_debian() {
    folder=$(mktemp -d)
    (cd "$folder" && apt-get download python3-pip-whl >/dev/null 2>&1 && dpkg -x python3-pip-whl_*.deb .) || return 1
    wheel=$(find "$folder" -name 'pip-*.whl' | head -n 1)
    [ -n "$wheel" ] && "$venv/bin/python" "$wheel/pip" install -q --disable-pip-version-check --no-index "$wheel"
    made=$?
    rm -rf "$folder"
    return $made
}

make_venv() {
    python=$(find_python)
    rm -rf "$venv"
    "$python" -m venv "$venv" >/dev/null 2>&1 && return
    rm -rf "$venv"
    "$python" -m venv --without-pip "$venv" || { echo "setup: $python cannot make a virtual environment" >&2; exit 3; }
    "$python" -m pip --python "$venv/bin/python" install -q pip >/dev/null 2>&1 && return
    pip_from_debian && return
    echo "setup: $python has neither ensurepip nor pip; install python3-venv (Debian, Ubuntu) and run make again" >&2
    exit 3
}

if ! { [ -x "$venv/bin/python" ] && suits "$venv/bin/python" && "$venv/bin/python" -m pip --version >/dev/null 2>&1; }; then
    make_venv
fi
echo "setup: installing into $venv (once; one to two minutes)" >&2
install() { "$venv/bin/python" -m pip install -q --disable-pip-version-check -c constraints.txt "$@"; }
install hatchling editables
install --no-build-isolation -e '.[notebooks,repair,dev]'
echo "setup: done" >&2
