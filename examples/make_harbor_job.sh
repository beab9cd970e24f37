#!/bin/sh
# Write a job of Harbor with its task, whose image was exported: a root file system of this machine's own shell.
set -eu
folder=${1:-harbor}
task=$folder/tasks/sort
root=$task/environment/rootfs
mkdir -p "$root/bin" "$root/app" "$root/tmp" "$root/proc" "$root/dev" "$task/tests" "$task/solution"

for name in sh cat grep sort mkdir rm; do
    program=$(command -v "$name")
    cp -L "$program" "$root/bin/"
    for library in $(ldd "$program" | grep -o '/[^ )]*'); do
        mkdir -p "$root$(dirname "$library")"
        cp -L "$library" "$root$library"
    done
done
printf 'pear\napple\n' > "$root/app/words.txt"

printf 'version = "1.0"\n' > "$task/task.toml"
echo 'Sort the lines of /app/words.txt into /app/sorted.txt.' > "$task/instruction.md"
echo 'sort /app/words.txt > /app/sorted.txt' > "$task/solution/solve.sh"
cat > "$task/tests/test.sh" <<'SH'
echo 1..1
if [ "$(cat /app/sorted.txt)" = "$(sort /app/words.txt)" ]; then
    echo 'ok 1 - sorted'
    echo 1 > /logs/verifier/reward.txt
else
    echo 'not ok 1 - sorted'
    echo 0 > /logs/verifier/reward.txt
fi
SH

trial() { # name, command, reward, what the tests printed, what the harness wrote
    place=$folder/jobs/first/$1
    mkdir -p "$place/agent" "$place/verifier"
    printf '{"task_name": "sort", "trial_name": "%s", "verifier_result": {"rewards": {"reward": %s}}}\n' "$1" "$3" > "$place/result.json"
    printf '{"task": {"path": "tasks/sort"}}\n' > "$place/config.json"
    printf '%s\n' "$4" > "$place/verifier/test-stdout.txt"
    printf '%s\n' "$5" > "$place/trial.log"
    cat > "$place/agent/trajectory.json" <<JSON
{"schema_version": "ATIF-v1.5", "session_id": "$1", "agent": {"name": "made-up", "version": "1"}, "steps": [
  {"step_id": 1, "source": "user", "message": "Sort the lines of /app/words.txt into /app/sorted.txt."},
  {"step_id": 2, "source": "agent", "message": "I write it.",
   "tool_calls": [{"tool_call_id": "1", "function_name": "bash", "arguments": {"command": "$2"}}],
   "observation": {"results": [{"source_call_id": "1", "content": ""}]}},
  {"step_id": 3, "source": "agent", "message": "It is done."}]}
JSON
}
trial sort__copied 'cat words.txt > sorted.txt' 0.0 'not ok 1 - sorted' 'the tests ran'
trial sort__lost 'sort words.txt > sorted.txt' 0.0 'not ok 1 - sorted' 'the tests ran'
trial sort__late 'sort words.txt > sorted.txt' 1.0 'ok 1 - sorted' 'AgentTimeoutError: agent timed out after 900 seconds'
