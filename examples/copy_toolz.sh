#!/bin/sh
# Makes a git repository of the installed package toolz with its tests: `sh examples/copy_toolz.sh FOLDER`.
set -eu
mkdir -p "$1"
cp -r "$(python -c 'import os, toolz; print(os.path.dirname(toolz.__file__))')" "$1/toolz"
cd "$1"
find . -name __pycache__ -prune -exec rm -rf {} +
git init -q .
git add -A
git -c user.name=toolz -c user.email=toolz@example.org -c commit.gpgsign=false commit -q -m "toolz as it is installed"
