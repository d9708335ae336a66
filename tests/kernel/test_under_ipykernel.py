"""The magics as a guest in ipykernel: `%load_ext twincell`, and then everything as under twincell's own kernel."""

from .test_magics import LONG, OLD, OTHER, SAME, comparisons, interrupted


def test_a_cell_with_both_versions_is_compared(guest):
    outcome = guest.run(f"%%compare\n{OLD}# ---\n{OTHER}")
    assert [found["verdict"] for found in comparisons(outcome)] == ["changing"]
    assert guest.run("_.verdict").value == "'changing'"


def test_stored_versions_are_compared(guest):
    guest.run(f"%%version old\n{OLD}")
    guest.run(f"%%version new\n{SAME}")
    assert [found["verdict"] for found in comparisons(guest.run("%compare old new"))] == ["likely_preserving"]


def test_an_interrupt_shows_what_was_found(guest):
    assert len(comparisons(interrupted(guest, LONG))) == 1


def test_a_failure_of_what_was_run_afterwards_is_one_of_the_cell(guest):
    outcome = guest.run(f"%%compare --run\n{OLD}# ---\n{SAME}1 / 0\n")
    assert outcome.reply["ename"] == "ZeroDivisionError"
    assert len(outcome.of("error")) == 1
    assert guest.run("f(1, 2)").value == "2"


def test_cells_are_known_by_their_ids(guest):
    metadata = {"cellId": "one"}
    guest.run(OLD, metadata=metadata)
    outcome = guest.run(f"%%compare --with-last\n{OTHER}", metadata=metadata)
    assert [found["verdict"] for found in comparisons(outcome)] == ["changing"]
    guest.run("%autocompare on")
    guest.run(OLD, metadata={"cellId": "two"})
    assert "autocompare: " in guest.run(SAME, metadata={"cellId": "two"}).text()
    guest.run("%autocompare off")
