import pytest
import twincell


@pytest.fixture(scope="package", autouse=True)
def frequencies():
    """Unless a test names others, comparisons take the frequencies of classes, and one worker.

    So no test of semantics depends on the shipped weights. Tests of the network name it, in `test_network.py`. A second
    worker evaluates the modules again, and another test has the other core; `test_determinism.py` has several.
    """
    compare = twincell.compare

    def with_frequencies(old, new, **options):
        return compare(old, new, **{"predictor": "frequency", "jobs": 1} | options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(twincell, "compare", with_frequencies)
        yield
