"""Values from the text alone reach changed lines that the rest of a search, left out here, does not reach."""

from .layers import over
from .snippets import CHANGING, INCONCLUSIVE, expect
from .test_determinism import timeless

REST = "learning,observation,directed,mutation,hints"

# name: f with 1 and 2 where it says HERE.
GUARDED = {
    "items of items": """
        def f(order):
            if order['state'] != 'held by customs':
                return 0
            if order['owner']['name'] == 'Ann Lee' and order['lines'][0]['weight'] > 4000:
                if order['port'].startswith('NL-') and order['duty'] == 118:
                    return HERE
            return 2
    """,
}


def versions(name):
    return (GUARDED[name].replace("HERE", number) for number in "13")


@over(GUARDED, seed=range(3))
def test_a_changed_line_behind_several_values_is_reached(name, runs):
    for run in runs:
        options = {"predictor": "frequency", "disable": REST} | run
        found = expect(CHANGING, *versions(name), **options)
        assert timeless(found.to_dict()) == timeless(expect(CHANGING, *versions(name), **options).to_dict())


def test_they_can_be_left_out():
    expect(INCONCLUSIVE, *versions("items of items"), predictor="frequency", disable=f"{REST},environments")
