"""What a drawing tells: its description, and the texts in it."""

import re


def description(svg: str) -> str:
    return re.search(r"<desc[^>]*>(.*?)</desc>", svg)[1]


def shown(svg: str) -> list[str]:
    return re.findall(r"<text[^>]*>(.*?)</text>", svg)
