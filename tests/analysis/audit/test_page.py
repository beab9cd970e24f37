"""The page of an audit opens with what is wrong; a long list of figures that are right is folded."""

import re

from misstep_analysis.audit.findings import paper_findings
from misstep_analysis.audit.overview import findings_page
from misstep_analysis.published import load_paper


def test_a_long_table_of_what_is_no_finding_is_folded_and_one_of_findings_never() -> None:
    page = findings_page(paper_findings(load_paper("engineering_agent"), "engineering_agent"), "misstep audit", [])
    folded = re.findall(r'<details class="section">\s*<summary><h2><bdi>(.*?)</bdi>', page)
    assert folded == ["What is reproduced"]
    shown = page[: page.index('<details class="section">')]
    assert "What is impossible" in shown
    assert "What differs" in shown
