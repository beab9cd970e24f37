"""Write the transcripts of a Parquet folder into a database of Inspect Scout, with its own library."""

import asyncio
import sys

import pyarrow.dataset as ds
from inspect_scout import transcripts_db

COLUMNS = ["transcript_id", "source_type", "agent", "model", "message_count", "messages"]


async def main(source: str, target: str) -> None:
    """Insert all of them."""
    async with transcripts_db(target) as database:
        await database.insert(ds.dataset(source, format="parquet").scanner(columns=COLUMNS).to_reader())


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
