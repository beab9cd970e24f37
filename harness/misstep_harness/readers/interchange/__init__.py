"""Formats that many tools share: ATIF, OpenAI chats, OpenTelemetry, any chat."""
