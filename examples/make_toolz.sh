#!/bin/sh
# Makes a git repository of the installed package toolz, with a fault in its history: `sh examples/make_toolz.sh FOLDER`.
set -eu
installed=$(python -c 'import toolz; print(toolz.__path__[0])')
mkdir -p "$1/toolz/tests"
cp "$installed"/*.py "$1/toolz"
cp -r "$installed/sandbox" "$installed/curried" "$1/toolz"
rm -r "$1/toolz/sandbox/tests"
cp "$installed/tests/__init__.py" "$installed/tests/test_dicttoolz.py" "$1/toolz/tests"
cd "$1"

commit() {
    git add -A
    git -c user.name="$1" -c user.email="$1@example.org" -c commit.gpgsign=false commit -q -m "$2"
}

git init -q .
echo "__pycache__/" > .gitignore
commit ann "Functions for dictionaries"

echo "Functions for iterables, functions and dictionaries." > README.md
commit ann "A README"

sed '/k = key/,/func(default)/s/if k in d/if k not in d/' toolz/dicttoolz.py > changed
mv changed toolz/dicttoolz.py
commit ben "Update in the order of the others"

echo "They know no state." >> README.md
commit ann "What they have in common"
