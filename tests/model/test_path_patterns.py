from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.model.path_patterns import is_excluded, patterns_of
from tests.tables import check_each


@check_each(
    ("pattern", "path", "expected"),
    [
        ("legacy_*", "/p/q/tools/legacy_a", True),
        ("legacy_*", "/p/q/tools/legacy_a/data/x.yaml", True),
        ("legacy_*", "/p/legacy_a/x", False),  # not below the folder
        ("tools/legacy_*", "/p/q/tools/legacy_a/legacy_a.py", True),
        ("tools/legacy_*", "/p/q/more/tools/legacy_a", False),
        ("**/vendored", "/p/q/a/b/vendored/x", True),
        ("vendored/**", "/p/q/vendored/x", True),
        ("../tools/x", "/p/tools/x", True),
        ("x?", "/p/q/xy", True),
        ("x[!a-c]", "/p/q/xa", False),
        ("x[^a-c]", "/p/q/xb", False),
        ("x[!a]y", "/p/q/x/y", False),  # a slash is in no class
        ("x[]a]", "/p/q/x]", True),
        ("dir/", "/p/q/dir/x", True),
        ("dir/", "/p/q/dir", False),  # it is no folder here
        ("# a comment", "/p/q/# a comment", False),
        ("", "/p/q/x", False),
        ("[z-a]", "/p/q/z", False),
    ],
)
def test_patterns_match_as_in_a_gitignore(pattern: str, path: str, expected: object) -> None:
    assert is_excluded(path, patterns_of([pattern], "/p/q")) is expected


def test_the_last_pattern_that_fits_decides() -> None:
    patterns = patterns_of(["tools/*", "!tools/kept"], "/p")
    assert is_excluded("/p/tools/other", patterns)
    assert not is_excluded("/p/tools/kept", patterns)


@given(st.text(st.sampled_from("ab*?[]!/\\.-^{}()|+#$ "), max_size=9), st.text("ab/.*", max_size=9))
def test_no_pattern_raises(text: str, path: str) -> None:
    patterns = patterns_of([text, f"../{text}"], "/p")
    is_excluded(f"/p/{path}", patterns)
    literal = re.sub(r"[^ab]", "", text)
    if literal:
        assert is_excluded(f"/p/deep/{literal}/below", patterns_of([literal], "/p"))
