"""Where the places of Wink open, and which of its numbers are not results."""

from tests.analysis.paper_texts import PaperText, places

TEXT = PaperText(
    file="000",
    places=places("""
        - = # Wink | Abstract = ## Abstract | Section 1 = ## 1 Introduction | Section 2 = ## 2 Misbehaviors |
        Section 2.1 = ### 2.1 | Section 2.1.1 = **2.1.1 | Section 2.1.2 = **2.1.2 | Section 2.1.3 = **2.1.3 |
        Section 2.2 = ## 2.2 | Section 2.2.1 = **2.2.1 | Section 2.2.2 = **2.2.2 | Section 2.2.3 = **2.2.3 |
        Section 3 = ## 3 Self | - = text{Trajectory}_t = | Section 3 = Here, | - = The next assistant message |
        Section 3.1 = ### 3.1 | Table 1 = Misbehavior Category Trajectories | Table 1, caption = Table 1: |
        Table 2 = Misbehavior Category Prevalence | Figure 3 = Figure 3: | Section 3.1 = At any given step k |
        - = Feedback_k = | Section 3.1 = The contents | Section 3.2 = ### 3.2 | - = AgentInput_{k+1} = |
        Section 3.3 = ### 3.3 | Section 4 = ## 4 Experiment | Section 4.1 = ### 4.1 |
        Table 3 = Misbehavior Category Sample | Table 4 = Misbehavior Category Sample | - = text{Recovery Rate} |
        Section 4.1 = Tables 3 and 4 | Section 4.2 = ## 4.2 | Section 4.3 = ## 4.3 | Table 5 = Metric Delta% |
        Section 4.3 = With this result | Section 4.4 = #### 4.4 | Table 6 = Outcome Reason |
        Section 4.4 = The distribution of | Section 5 = ## 5 Threats | Section 5.1 = ### 5.1 | Section 5.2 = ### 5.2 |
        Section 6 = ## 6 Related | Section 6.1 = ### 6.1 | Section 6.2 = ### 6.2 | Section 6.3 = ### 6.3 |
        Section 6.4 = ### 6.4 | Section 7 = ## 7 Conclusion | - = ## 8 Acknowledgments
    """),
    no_results={
        "words that count what the sentence lists": "two primary subcategories|two items|two groups",
        "numbers of a list": "(1)|(2)|(3)|(4)|RQ 1|RQ 2|RQ 3|RQ 4| 1. The| 2. Four| 3. The",
        "indices of a formula": "k+1|t+1",
        "names of models": "Sonnet 4.5|Opus 4.5|Haiku 4.5|(4, 4.5)|Sonnet 4 |GPT-4o|GPT 5.1|Gemini 2.5",
    },
)
