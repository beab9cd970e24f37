#!/bin/sh
# Write three failed runs of an agent as triage cases: the agent's fault, the task's, and the infrastructure's.
set -eu
folder=${1:-failed-runs}

case_of() { # name, test command
    mkdir -p "$folder/$1/environment" "$folder/$1/tests" "$folder/$1/solution" "$folder/$1/workspace" "$folder/$1/logs"
    printf 'id = "%s"\ntest_command = "%s"\noutcome = "failed"\n' "$1" "$2" > "$folder/$1/case.toml"
}

run_of() { # name, task, command, output
    cat > "$folder/$1/trajectory.json" <<JSON
{"id": "$1", "source": {"format": "misstep"}, "task": "$2", "outcome": {"status": "failed"}, "steps": [
  {"role": "user", "text": "$2"},
  {"role": "agent", "text": "I look at what is there.", "calls": [{"name": "bash", "arguments": {"command": "ls"}}],
   "results": [{"text": "$4", "exit_code": 0}]},
  {"role": "agent", "text": "I write it.", "calls": [{"name": "bash", "arguments": {"command": "$3"}}],
   "results": [{"text": "", "exit_code": 0}]},
  {"role": "agent", "text": "It is done."}]}
JSON
}

# The agent's fault: the mean of nothing is asked for and missed.
case_of mean "python -m unittest discover -s tests"
echo 'Write mean(values) in stats.py. The mean of no values is 0.' > "$folder/mean/instruction.md"
run_of mean "Write mean(values) in stats.py. The mean of no values is 0." "cat > stats.py" ""
printf 'def mean(values):\n    return sum(values) / len(values)\n' > "$folder/mean/workspace/stats.py"
printf 'def mean(values):\n    return sum(values) / len(values) if values else 0\n' > "$folder/mean/solution/stats.py"
cat > "$folder/mean/tests/test_stats.py" <<'PY'
import unittest

from stats import mean


class Mean(unittest.TestCase):
    def test_values(self):
        self.assertEqual(mean([1, 3]), 2)

    def test_no_values(self):
        self.assertEqual(mean([]), 0)
PY
printf 'ERROR: test_no_values\nZeroDivisionError: division by zero\n\nRan 2 tests\nFAILED (errors=1)\n' > "$folder/mean/logs/tests.log"

# The task's fault: the test wants a file by a name that nobody told the agent.
case_of colours "python -m unittest discover -s tests"
echo 'Write the colours red, green and blue into a text file, a line each.' > "$folder/colours/instruction.md"
run_of colours "Write the colours red, green and blue into a text file, a line each." "cat > list.txt" ""
printf 'red\ngreen\nblue\n' > "$folder/colours/workspace/list.txt"
printf 'red\ngreen\nblue\n' > "$folder/colours/solution/palette.txt"
cat > "$folder/colours/tests/test_colours.py" <<'PY'
import unittest


class Colours(unittest.TestCase):
    def test_colours(self):
        with open("palette.txt") as file:
            self.assertEqual(file.read().split(), ["red", "green", "blue"])
PY
cat > "$folder/colours/logs/tests.log" <<'LOG'
ERROR: test_colours
FileNotFoundError: [Errno 2] No such file or directory: 'palette.txt'

Ran 1 test
FAILED (errors=1)
LOG

# The infrastructure's fault: the tests never began.
case_of words "python -m unittest discover -s tests"
echo 'Write words(text) in words.py. It gives the number of words.' > "$folder/words/instruction.md"
run_of words "Write words(text) in words.py. It gives the number of words." "cat > words.py" ""
printf 'def words(text):\n    return len(text.split())\n' > "$folder/words/workspace/words.py"
cp "$folder/words/workspace/words.py" "$folder/words/solution/words.py"
cat > "$folder/words/tests/test_words.py" <<'PY'
import unittest

from words import words


class Words(unittest.TestCase):
    def test_words(self):
        self.assertEqual(words("one two"), 2)
PY
printf 'OSError: [Errno 28] No space left on device\n' > "$folder/words/logs/tests.log"
printf 'copying tests into the container\nwrite /tests/test_words.py: no space left on device\n' > "$folder/words/logs/harness.log"
