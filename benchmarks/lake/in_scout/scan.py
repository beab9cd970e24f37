"""Scan a transcript database with Inspect Scout for a call that fails three times in a row; no model is asked.

Its last line is a JSON list of the transcripts that show it.
"""

import json
import sys

from inspect_scout import Result, Transcript, scan, scan_results_df, scanner, transcripts_from


@scanner(messages="all")
def repeated_failure():
    """Whether the same call fails three times in a row."""

    async def scan_one(transcript: Transcript) -> Result:
        calls = {}
        row, before = 0, None
        for message in transcript.messages:
            if message.role == "assistant":
                calls.update({call.id: (call.function, call.arguments) for call in message.tool_calls or ()})
            elif message.role == "tool":
                this = calls.get(message.tool_call_id)
                row = (row + 1 if this == before else 1) if message.error is not None else 0
                before = this
                if row == 3:
                    return Result(value=True)
        return Result(value=False)

    return scan_one


if __name__ == "__main__":
    done = scan(
        [repeated_failure()],
        transcripts=transcripts_from(sys.argv[1]),
        scans=sys.argv[2],
        max_processes=1,
        display="none",
    )
    found = scan_results_df(done.location).scanners["repeated_failure"]
    print(json.dumps(sorted(found.loc[found["value"].astype(str) == "True", "transcript_id"])))
