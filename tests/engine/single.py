"""Single executions of two versions, without a search: each seed draws its own values."""

from twincell._twincell import execute

SEEDS = range(16)


def executions(old, new, *decisions, **options):
    """One execution for each seed, and one for each further dictionary of decisions by access path."""
    inputs = [*((seed, {}) for seed in SEEDS), *((0, given) for given in decisions)]
    return execute(old, new, inputs, predictor="frequency", **options)["executions"]


def differing(executions):
    """The channels in which the versions differ, by the number of the execution."""
    return {number: found["differing"] for number, found in enumerate(executions) if found["differing"]}


def is_usable(execution):
    """Whether both versions ended by themselves or in an exception of their own."""
    record = execution["record"]
    return record is not None and all(ended(behavior["outcome"]) for behavior in record["behaviors"])


def ended(outcome):
    return "returned" in outcome or outcome.get("raised", {}).get("intended", False)
