"""Search over a workspace's code."""

import pytest

from misstep_harness.agent.code_index import CodeIndex

FILES = {
    "app/order.py": "class Order:\n    def total(self):\n        return sum(self.prices)\n",
    "app/cart.py": "class Cart(Order):\n    def total(self):\n        return 0\n\ndef total(): pass\n",
    "web/order.js": "class Order {\n  total() { return 1 }\n}\n",
    "notes.txt": 'say "Total" and class Order\n',
    "blob.bin": "a\0class Order",
}


@pytest.fixture
def files() -> dict[str, str]:
    return dict(FILES)


@pytest.fixture
def index(files: dict[str, str]) -> CodeIndex:
    def read(path: str) -> bytes:
        if path not in files:
            raise FileNotFoundError(path)
        return files[path].encode()

    return CodeIndex(list(files), read)


def test_a_string_is_found_with_its_lines_whatever_its_length_quotes_and_case(index: CodeIndex) -> None:
    assert [(hit.path, hit.line) for hit in index.search("sum(self")] == [("app/order.py", 3)]
    assert [hit.path for hit in index.search("class Order")] == ["app/order.py", "notes.txt", "web/order.js"]
    assert [hit.path for hit in index.search("0")] == ["app/cart.py"]
    assert [hit.path for hit in index.search('"Total"')] == ["notes.txt"]
    assert [hit.line for hit in index.search("def total(self):\n        return 0")] == [2]
    assert [hit.path for hit in index.search("CLASS CART")] == ["app/cart.py"]
    assert [hit.path for hit in index.search("total", "app/cart.py")] == ["app/cart.py", "app/cart.py"]


@pytest.mark.parametrize("text", ["*", "NEAR(", "a:b", '"', "path : x", "it's", "%", "\0", ""])
def test_whatever_is_searched_for_is_a_string_and_no_query(index: CodeIndex, text: str) -> None:
    for hit in index.search(text):
        assert text in hit.text


def test_methods_are_found_by_file_and_class(index: CodeIndex) -> None:
    assert {(path, s.parent) for path, s in index.find("method", "total")} == {
        ("app/order.py", "Order"),
        ("app/cart.py", "Cart"),
        ("app/cart.py", ""),
        ("web/order.js", "Order"),
    }
    assert [path for path, _ in index.find("method", "total", parent="Cart")] == ["app/cart.py"]
    assert [s.first for _, s in index.find("method", "total", within="app/order.py")] == [2]
    assert [path for path, _ in index.find("class", "Order")] == ["app/order.py", "web/order.js"]


def test_what_is_nearly_meant_is_offered(index: CodeIndex) -> None:
    assert index.near_paths("src/cart.py")[0] == "app/cart.py"
    assert index.near_symbols("class", "Orders") == ["Order"]


def test_an_edited_file_is_read_again_and_a_removed_one_leaves(index: CodeIndex, files: dict[str, str]) -> None:
    files["app/order.py"] = "class Invoice: pass\n"
    del files["app/cart.py"]
    index.update("app/order.py")
    index.update("app/cart.py")
    assert [path for path, _ in index.find("class", "Invoice")] == ["app/order.py"]
    assert index.find("class", "Cart") == []
    assert "app/cart.py" not in index.paths
