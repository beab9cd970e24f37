"""Classes and methods are found in each language, with the class that a method belongs to."""

import pytest

from misstep_harness.agent.code_index import GRAMMARS, LANGUAGES, symbols_in

SOURCES = {
    "a.py": "class Order:\n    def total(self):\n        def inner(): pass\n\nasync def load(): pass\n",
    "a.js": "class Order {\n  total() { return 1 }\n}\nfunction load() {}\n",
    "a.ts": "export class Order {\n  total(): number { return 1 }\n}\nfunction load() {}\n",
    "a.tsx": "class Order {\n  total() { return <b/> }\n}\nfunction load() {}\n",
    "A.java": "class Order {\n  int total() { return 1; }\n  static void load() {}\n}\n",
    "a.go": "package a\ntype Order struct{}\nfunc (o *Order) total() int { return 1 }\nfunc load() {}\n",
    "a.rs": "struct Order;\nimpl Order { fn total(&self) -> i32 { 1 } }\nfn load() {}\n",
    "a.c": "struct Order { int a; };\nint *total(struct Order *o) { return 0; }\nvoid load(void) {}\n",
    "a.cpp": "class Order { int total() { return 1; } };\nint Order::more() { return 2; }\nvoid load() {}\n",
    "a.rb": "class Order\n  def total\n  end\nend\ndef load\nend\n",
}


@pytest.mark.parametrize("path", SOURCES)
def test_a_class_a_method_and_a_function_are_found(path: str) -> None:
    results = {(symbol.kind, symbol.name): symbol for symbol in symbols_in(path, SOURCES[path].encode())}
    assert ("class", "Order") in results
    assert ("method", "load") in results
    assert results["method", "total"].parent == ("" if path == "a.c" else "Order")


def test_every_language_with_a_grammar_has_an_example_here() -> None:
    assert {LANGUAGES[path[path.index(".") :].lower()] for path in SOURCES} == set(GRAMMARS)


def test_lines_count_from_one_and_span_the_body() -> None:
    order, total, *_ = symbols_in("a.py", SOURCES["a.py"].encode())
    assert (order.first, order.last, total.first, total.last) == (1, 3, 2, 3)


def test_a_method_of_another_file_than_its_class_belongs_to_it_in_cpp() -> None:
    assert {s.name: s.parent for s in symbols_in("a.cpp", b"int Order::more() { return 2; }")} == {"more": "Order"}


def test_a_broken_file_gives_what_can_be_told_and_an_unknown_language_nothing() -> None:
    assert next(s.name for s in symbols_in("a.py", b"def whole(): pass\n\nclass Half(:\n")) == "whole"
    assert symbols_in("a.txt", b"class A: pass") == ()
    assert symbols_in("a.py", b"\xff\x00((((") == ()


def test_code_nested_without_end_is_walked() -> None:
    source = "".join(f"{' ' * depth}def f{depth}():\n" for depth in range(90)) + " " * 90 + "pass\n"
    assert len(symbols_in("a.py", source.encode())) == 90
    assert symbols_in("a.js", b"(" * 50_000) == ()
