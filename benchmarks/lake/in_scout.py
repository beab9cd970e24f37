"""A program that Inspect Scout's own Python runs, by its path; nothing of Misstep is imported in it.

`insert SOURCE TARGET` writes the transcripts of a Parquet folder into a database of Inspect Scout. `scan DATABASE
SCANS` scans one for a call that fails three times in a row; its last line is a JSON list of the transcripts that show
it.
"""

import asyncio
import json
import sys

import pyarrow.dataset as ds
from inspect_scout import Result, Transcript, scan, scan_results_df, scanner, transcripts_db, transcripts_from

COLUMNS = ["transcript_id", "source_type", "agent", "model", "message_count", "messages"]


async def insert(source: str, target: str) -> None:
    """Insert all transcripts."""
    async with transcripts_db(target) as database:
        await database.insert(ds.dataset(source, format="parquet").scanner(columns=COLUMNS).to_reader())


@scanner(messages="all")
def repeated_failure():
    """Return whether the same call fails three times in a row."""

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
    action, source, target = sys.argv[1:]
    if action == "insert":
        asyncio.run(insert(source, target))
    else:
        transcripts = transcripts_from(source)
        done = scan([repeated_failure()], transcripts=transcripts, scans=target, max_processes=1, display="none")
        results = scan_results_df(done.location).scanners["repeated_failure"]
        print(json.dumps(sorted(results.loc[results["value"].astype(str) == "True", "transcript_id"])))
