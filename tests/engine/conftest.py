import pytest
import twincell


@pytest.fixture(scope="package", autouse=True)
def frequencies():
    """Unless a test names a predictor, comparisons take the frequencies of classes.

    So no test of semantics depends on the shipped weights. Tests of the network name it, in `test_network.py`.
    """
    compare = twincell.compare

    def with_frequencies(old, new, **options):
        return compare(old, new, **{"predictor": "frequency"} | options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(twincell, "compare", with_frequencies)
        yield
