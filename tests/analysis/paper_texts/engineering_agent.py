"""Where the places of the Engineering Agent's paper open, and which of its numbers are not results."""

from tests.analysis.paper_texts import PaperText, places

TEXT = PaperText(
    file="001",
    places=places("""
        Abstract = Aim. | - = Agentic Program Repair from | Section 1 = 1 Introduction |
        Figure 1 = Figure 1: Engineering | Section 1 = This paper is organized |
        Section 2 = 2 Engineering Agent Overview | Section 3 = 3 Test Failure Manager Bot |
        Table I = 4 Orchestration and Agent Harness | Table I, caption = TABLE I: |
        Section 4 = The first part of the agentic harness | Section 4.1 = 4.1 Agent Benchmark |
        Section 5 = 5 Patch Generation Patch | Section 5.1 = 5.1 Patch Generation Benchmark |
        Section 6 = 6 Validation One | Section 6.1 = 6.1 Test Execution Tools | Section 6.2 = 6.2 LLM-as-a-Judge |
        Section 7.1 = 7 Evaluation Methodologies and Context 7.1 | Section 7.2 = 7.2 Offline |
        Section 7.3 = 7.3 Evaluation | Section 8 = 8 Offline Results | Section 8.1 = 8.1 PatchGen |
        Table II, caption = TABLE II: | Table II = Model SR for | Section 8.1 = We compared the patcher |
        Table III, caption = TABLE III: | Table III = Setup SR | Section 8.2 = 8.2 Agent |
        Section 8.3 = 8.3 LLM-as-a-Judge | Table IV, caption = TABLE IV: | Table IV = Class Precision |
        Section 9 = 9 The Engineering Agent in Production The | Section 9.1 = 9.1 Production |
        Table V, caption = TABLE V: | Table V = Item | Section 9.1 = We deployed | Section 9.2 = 9.2 Developer |
        Section 10.1 = 10 Threats to Validity 10.1 | Section 10.2 = 10.2 Construct | Section 10.3 = 10.3 Internal |
        Section 11 = 11 Literature | Section 12 = 12 Concluding | - = 13 Acknowledgements
    """),
    no_results={
        "names of models": "70B|405B|Llama-3.1",
        "names of settings and classes": "@ 1|SR@1|Class 0|Class 1|class 0|Class-0|Class-1",
        "indices of a formula": "+1",
        "numbers of a list or of an example": "‘1.|‘2.|‘3.|: 1. inside| 2. at the|(1) on|(2) in|from 9,",
        "a made-up prompt": "trace 1|was 1 failure|: 1)",
        "words that count what the sentence lists": (
            "two classes of deterministic|two places|three sub-research|three formats|two models|other two formats"
        ),
        "names of methods": "zero-shot|zero or more|three-phase|two step process|two tests",
    },
    artefacts={
        "0.2860.2860.2860.286": "0.286",
        "0.8070.8070.8070.807": "0.807",
        "0.8670.8670.8670.867": "0.867",
        "0.3850.3850.3850.385": "0.385",
        "12121212": "12",
        "2,29422942,2942 , 294": "2,294",
        "300300300300": "300",
        "1,40014001,4001 , 400": "1,400",
    },
)
