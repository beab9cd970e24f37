"""Where the places of AutoTriage open, and which of its numbers are not results."""

from tests.analysis.paper_texts import PaperText, places

TEXT = PaperText(
    file="003",
    line_numbers=True,
    places=places("""
        Abstract = ABSTRACT | Section 1 = 1 INTRODUCTION | Section 2 = 2 RELATED | Section 3 = 3 FAILURE |
        Table 1, caption = Table 1: Taxonomy | Table 1 = Observed Failure | Section 3 = AutoTriage focuses |
        Section 4 = 4 HUMAN | Section 4.1 = 4.1 SETUP | Section 4.2 = 4.2 INTER | Table 2, caption = Table 2: Inter |
        Table 2 = Metric κ | Section 4.2 = Fleiss’ kappa = | Section 4.3 = 4.3 DISAGREEMENT | Section 5 = 5 AUTO |
        Section 5.1 = 5.1 METHOD | Section 5.2 = 5.2 EVALUATION | Section 5.3 = 5.3 RESULTS |
        Table 3, caption = Table 3: AutoTriage | Table 3 = Mode Model | Section 5.3 = Key findings |
        Section 5.4 = 5.4 ERROR | Table 4, caption = Table 4: AutoTriage | Table 4 = Model Human |
        Section 5.4 = The dominant error pattern | Section 6 = 6 DISCUSSION | Section 7 = 7 CONCLUSION |
        - = LLM USAGE
    """),
    no_results={
        "names of models and programs": "GPT-5.2|Sonnet 4.5|Haiku 4.5|POV-Ray 2.2",
        "names of methods": "zero-shot|(3-way)",
        "rewards by convention": "(r = +1|(r = -1|r = +1 for|r = -1 for|r = -1 signal|r = -1)|r = +1)",
        "numbers of a list": ": 1. A|) 2. A|) 3. **|) 4. An|(1) What|(2) How|(3) Can|(4) Does|(5) How",
        "words that count what the sentence lists": (
            "two critical|two increasingly|four contributions|two broader|two axes|two failure modes"
        ),
    },
)
