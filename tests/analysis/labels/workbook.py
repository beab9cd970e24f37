"""A workbook as Excel packs it, with only the parts that it must have."""

import io
import zipfile
from xml.sax.saxutils import escape

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"
_BOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"


def workbook(**sheets: list[list[object]]) -> bytes:
    """The bytes of a workbook: name of each sheet → its rows."""
    packed = io.BytesIO()
    numbered = list(enumerate(sheets, start=1))
    with zipfile.ZipFile(packed, "w") as book:
        parts = "".join(
            f'<Override PartName="/xl/worksheets/sheet{number}.xml" ContentType="{_SHEET}"/>' for number, _ in numbered
        )
        book.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{_BOOK}"/>{parts}</Types>',
        )
        book.writestr("_rels/.rels", _relations([("officeDocument", "xl/workbook.xml")]))
        named = "".join(f'<sheet name="{escape(name)}" sheetId="{at}" r:id="rId{at}"/>' for at, name in numbered)
        book.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELATIONS}"><sheets>{named}</sheets></workbook>',
        )
        targets = [("worksheet", f"worksheets/sheet{number}.xml") for number, _ in numbered]
        book.writestr("xl/_rels/workbook.xml.rels", _relations(targets))
        for number, name in numbered:
            book.writestr(f"xl/worksheets/sheet{number}.xml", _sheet(sheets[name]))
    return packed.getvalue()


def _relations(targets: list[tuple[str, str]]) -> str:
    result = "".join(
        f'<Relationship Id="rId{number}" Type="{_RELATIONS}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets, start=1)
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{result}</Relationships>'


def _sheet(rows: list[list[object]]) -> str:
    lines = "".join(
        f'<row r="{number}">' + "".join(_cell(cell, chr(65 + at), number) for at, cell in enumerate(row)) + "</row>"
        for number, row in enumerate(rows, start=1)
    )
    return f'<worksheet xmlns="{_MAIN}"><sheetData>{lines}</sheetData></worksheet>'


def _cell(cell: object, column: str, row: int) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        return f'<c r="{column}{row}" t="inlineStr"><is><t>{escape(cell)}</t></is></c>'
    return f'<c r="{column}{row}"><v>{cell}</v></c>'
