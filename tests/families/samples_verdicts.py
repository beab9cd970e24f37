"""One made-up file of each form in which tools write verdicts: small, with all that a reader must tell apart."""

import json
from typing import Any


def table() -> bytes:
    """Two judges of two items; the second says nothing of the last."""
    return b"item,label,judge,score\na1,yes,one,0.9\na2,no,one,0.8\na1,no,two,\na2,,two,\n"


def inspect_ai() -> bytes:
    """Two epochs of a graded sample, one without a grade, one unscored, one that ended with an error."""
    graded = {"value": "C", "answer": "a.py", "explanation": "It names the file. GRADE: C"}
    ungraded = {"value": "I", "explanation": "Grade not found in model output: It is fine."}
    unscored = '{"value": NaN, "explanation": "the grader is not reachable"}'
    rubric = {"value": {"clear": 1, "short": 0.5}, "explanation": "clear"}
    document: dict[str, Any] = {
        "version": 2,
        "status": "success",
        "eval": {"task": "triage", "model": "openai/gpt-x", "scorers": [{"name": "model_graded_qa"}]},
        "samples": [
            {
                "id": "a1",
                "epoch": 1,
                "metadata": {"case": "k1"},
                "scores": {"model_graded_qa": graded, "rubric": rubric},
            },
            {
                "id": "a1",
                "epoch": 2,
                "metadata": {"case": "k1"},
                "scores": {"model_graded_qa": graded | {"value": "I"}},
            },
            {"id": 2, "epoch": 1, "metadata": {"case": "k2"}, "scores": {"model_graded_qa": ungraded}},
            {"id": "a3", "epoch": 1, "scores": {"model_graded_qa": "UNSCORED"}},
            {"id": "a4", "epoch": 1, "error": {"message": "the container died", "traceback": "…"}},
        ],
    }
    return json.dumps(document).replace('"UNSCORED"', unscored).encode()


def lm_evaluation_harness() -> bytes:
    """Two documents under two filters; one filter finds no answer in the second reply."""
    lines = []
    for number, (said, replies) in enumerate((("yes", ("yes", "yes")), ("I would say no", ("[invalid]", "no")))):
        for name, reply in zip(("strict-match", "flexible-extract"), replies, strict=True):
            lines.append(
                {
                    "doc_id": number,
                    "doc": {"case": f"k{number + 1}", "question": "Is it done?"},
                    "target": "yes",
                    "arguments": {"gen_args_0": {"arg_0": "Is it done?", "arg_1": {}}},
                    "resps": [[said]],
                    "filtered_resps": [reply],
                    "filter": name,
                    "metrics": ["exact_match"],
                    "doc_hash": "5d",
                    "prompt_hash": "6e",
                    "target_hash": "7f",
                    "exact_match": float(reply == "yes"),
                }
            )
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def promptfoo() -> bytes:
    """A pass, a fail, a grader whose reply cannot be parsed, an older one that is not marked, and an error."""
    assertions = [{"type": "contains", "value": "done"}, {"type": "llm-rubric", "metric": "done"}]

    def result(number: int, *graded: dict[str, Any], **fields: Any) -> dict[str, Any]:
        components = [
            {"pass": True, "score": 1, "reason": "Assertion passed", "assertion": assertions[0]},
            *({"score": 0, "assertion": assertions[1]} | one for one in graded),
        ]
        passed = all(one["pass"] for one in components)
        return {
            "testIdx": number,
            "promptIdx": 0,
            "vars": {"case": f"k{number + 1}", "output": "It is done."},
            "testCase": {"description": f"a{number + 1}", "vars": {}, "assert": assertions},
            "provider": {"id": "echo", "label": ""},
            "success": passed,
            "failureReason": 0 if passed else 1,
            "score": 1 if passed else 0.5,
            "gradingResult": {"pass": passed, "score": 1, "reason": "", "componentResults": components},
        } | fields

    unparsed = "Could not extract JSON from llm-rubric response"
    results = [
        result(0, {"pass": True, "score": 1, "reason": "it says so"}),
        result(1, {"pass": False, "reason": "it does not say so"}),
        result(2, {"pass": False, "reason": "No output", "metadata": {"graderError": True}}),
        result(3, {"pass": False, "reason": unparsed}),
        result(4, failureReason=2, error="API call error: 429", gradingResult=None),
    ]
    stats = {"successes": 1, "failures": 3, "errors": 1}
    summary = {"version": 3, "timestamp": "2026-01-31T10:00:00Z", "prompts": [], "results": results, "stats": stats}
    return json.dumps({"evalId": "eval-1", "results": summary, "config": {}, "shareableUrl": None}).encode()


def phoenix() -> bytes:
    """Records of `llm_classify`: a label, a reply that could not be parsed, and an evaluation that failed."""
    rows = [
        {"context.span_id": "a1", "label": "correct", "score": 1, "explanation": "it names the file"},
        {"context.span_id": "a2", "label": "NOT_PARSABLE", "score": 0.0, "explanation": "I would say so"},
        {"context.span_id": "a3", "label": None, "score": None, "exceptions": ["TimeoutError()"]},
    ]
    statuses = ("COMPLETED", "COMPLETED", "FAILED")
    lines = [row | {"execution_status": status} for row, status in zip(rows, statuses, strict=True)]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def harbor() -> bytes:
    """Trials as lines: rewards, a reward file that cannot be parsed, and an agent that ran out of time."""
    unparsed = {"exception_type": "VerifierOutputParseError", "exception_message": "reward.txt is empty"}
    late = {"exception_type": "AgentTimeoutError", "exception_message": "over 900 s"}
    trials = [
        {"trial_name": "gate__1", "verifier_result": {"rewards": {"reward": 1.0, "style": 0.5}}},
        {"trial_name": "gate__2", "verifier_result": {"rewards": {"reward": 0}}, "exception_info": late},
        {"trial_name": "gate__3", "verifier_result": None, "exception_info": unparsed},
        {"trial_name": "gate__4", "verifier_result": None, "exception_info": late},
        {"trial_name": "gate__5", "verifier_result": {"rewards": {"reward": None}}},
    ]
    return "".join(json.dumps({"task_name": "gate"} | trial) + "\n" for trial in trials).encode()


def nemo_evaluator() -> bytes:
    """Rows with a score, a reply without one, and a metric that raised an error."""
    rows: list[dict[str, Any]] = [
        {"metrics": {"done": [{"name": "done", "value": 1.0}], "tone": [{"name": "tone", "value": "calm"}]}},
        {"metrics": {"done": [{"name": "done", "value": "NaN"}], "tone": [{"name": "tone", "value": "curt"}]}},
        {"metrics": {"done": []}, "metric_errors": {"done": "429 Too Many Requests"}},
    ]
    of_all = {"sample": {"output_text": "yes"}, "requests": [], "metric_errors": None}
    lines = [{"row_index": n, "item": {"case": f"k{n}"}} | of_all | row for n, row in enumerate(rows)]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def inspect_scout() -> bytes:
    """Results of a scanner: yes and no, nothing to say, a value that is no label, and a scan that failed."""
    rows = [
        {"transcript_id": "a1", "value": True, "value_type": "boolean", "explanation": "It hides the test."},
        {"transcript_id": "a2", "value": False, "value_type": "boolean", "explanation": ""},
        {"transcript_id": "a3", "value": None, "value_type": "null"},
        {"transcript_id": "a4", "value": '{"lines": [3]}', "value_type": "object"},
        {"transcript_id": "a5", "value": None, "value_type": "null", "scan_error": "the model is not reachable"},
    ]
    of_all = {"transcript_source_id": "e1", "scan_id": "3ib", "scanner_key": "deception", "scanner_name": "deception"}
    return "".join(json.dumps(of_all | row) + "\n" for row in rows).encode()
