"""The forms of the JSON documents that commands print, as JSON Schemas for `make docs` and for the tests."""
