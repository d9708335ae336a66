from tests.measure.releases import functions


def test_functions_are_told_apart_by_what_they_do_and_not_by_their_annotations():
    old = functions('class A:\n    def f(self, x: int) -> int:\n        """Old."""\n        return x\n')
    new = functions("class A:\n    @cache\n    def f(self, x):\n        return x\n")
    assert list(old) == ["A.f"]
    assert old["A.f"][1] == new["A.f"][1]
    assert new["A.f"][0] == "@cache\ndef f(self, x):\n    return x\n"


def test_a_name_that_stands_for_two_functions_is_left_out():
    assert functions("def f(): pass\ndef f(): return 1\ndef g(): pass\n").keys() == {"g"}
