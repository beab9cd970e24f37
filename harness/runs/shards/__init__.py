"""One run on several machines: a frozen plan, a folder a shard with its marker, and the merge of all."""
