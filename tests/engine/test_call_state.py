"""What other code can see when it is called: the state of the receiver, of the arguments and of what they reach."""

import twincell

from .layers import expect_in, over, sample
from .snippets import CHANGING, PRESERVING, channels, code, expect

CONTEXTS = ["function", "module"]


def two(head, *lines, swapped=None):
    """Two versions of a function: with these lines, and with the last two of them swapped, or with others."""
    *before, one, other = lines
    text = "\n".join(f"    {line}" for line in (*before, one, other))
    new = "\n".join(f"    {line}" for line in swapped or (*before, other, one))
    return f"def f({head}):\n{text}\n", f"def f({head}):\n{new}\n"


SEEN = {
    "an_attribute_set_before_or_after_its_object_is_saved": two(
        "store, message", "message.archived = True", "store.save(message)"
    ),
    "an_object_cleared_before_or_after_it_is_handed_over": two("gateway, cart", "gateway.charge(cart)", "cart.clear()"),
    "an_item_set_before_or_after_a_call": two("store, message", "message['archived'] = True", "store.save(message)"),
    "an_attribute_deleted_before_or_after_a_call": two("store, message", "del message.draft", "store.save(message)"),
    "an_attribute_of_the_receiver": two("store, name", "store.name = name", "store.save()"),
    "an_attribute_beneath_an_argument": two("store, message", "message.owner.seen = True", "store.save(message)"),
    "an_object_in_a_list": two("store, message", "message.archived = True", "store.save([1, message])"),
    "an_object_by_keyword": two("store, message", "message.archived = True", "store.save(item=message)"),
    "an_object_that_was_assigned_to_the_argument": two(
        "store, message, user", "message.owner = user", "user.seen = True", "store.save(message)"
    ),
    "a_list_beneath_an_argument": two("store, message: object", "message.tags.append('x')", "store.save(message)"),
    "an_action_beneath_the_receiver": two("session, user", "session.query(user).delete()", "session.commit()"),
    "a_global": (
        "BUSY = False\ndef f(store):\n    global BUSY\n    BUSY = True\n    store.save()\n",
        "BUSY = False\ndef f(store):\n    global BUSY\n    store.save()\n    BUSY = True\n",
    ),
    "a_callback_that_is_called": two("order, done", "order.state = 'done'", "done(order)"),
    "the_own_object_handed_over": two("self, bus", "self.ready = True", "bus.send(self)"),
    "closed_before_or_after_it_is_handed_over": two("queue, channel", "queue.put(channel)", "channel.close()"),
}

SAME = {
    "an_attribute_of_an_unrelated_object": two("store, message, other", "other.archived = True", "store.save(message)"),
    "an_attribute_of_the_object_that_has_the_receiver": two("self, x", "self.count = 1", "self.transport.send(x)"),
    "actions_on_unrelated_objects": two("a, b", "a.save()", "b.send()"),
    "two_attributes_swapped": two("store, m", "m.a = 1", "m.b = 2", swapped=None),
    "a_getter_in_between": two(
        "store, message",
        "message.archived = True",
        "store.save(message)",
        swapped=("message.archived = True", "store.get(message)", "store.save(message)"),
    ),
    "a_local_moved": (
        "def f(store, message):\n    n = 1\n    message.n = n\n    store.save(message)\n",
        "def f(store, message):\n    message.n = 1\n    n = 2\n    store.save(message)\n",
    ),
    "an_extracted_helper": (
        "def f(store, message):\n    message.archived = True\n    store.save(message)\n",
        "def _mark(m):\n    m.archived = True\n\ndef f(store, message):\n    _mark(message)\n    store.save(message)\n",
    ),
    "two_loops_as_one": (
        "def f(store, a, b):\n    for m in (a, b):\n        m.seen = 1\n    for m in (a, b):\n        store.save(m)\n",
        "def f(store, a, b):\n    for m in (a, b):\n        m.seen = 1\n        store.save(m)\n",
    ),
    "a_context_manager_written_out": (
        "def f(p, store, x):\n    with open(p, 'w') as out:\n        out.write(x)\n        store.add(out)\n",
        "def f(p, store, x):\n    out = open(p, 'w')\n    try:\n        out.write(x)\n        store.add(out)\n"
        "    finally:\n        out.close()\n",
    ),
    "the_same_value_by_another_expression": (
        "def f(store, m):\n    m.n = 1 + 1\n    store.save(m)\n",
        "def f(store, m):\n    m.n = 2\n    store.save(m)\n",
    ),
    "an_own_list_built_in_another_way": (
        "def f(store, xs: list):\n    out = []\n    for x in xs:\n        out.append(x)\n    store.save(out)\n",
        "def f(store, xs: list):\n    out = [x for x in xs]\n    store.save(out)\n",
    ),
    "logging_moved": two(
        "store, m, log",
        "m.a = 1",
        "log.debug('saving')",
        "store.save(m)",
        swapped=("log.debug('saving')", "m.a = 1", "store.save(m)"),
    ),
}


def in_both_directions(pair, runs):
    old, new = pair
    return [
        comparison for one, other in ((old, new), (new, old)) for comparison in expect_in(runs, CHANGING, one, other)
    ]


@over(SEEN, context=CONTEXTS)
def test_a_call_that_finds_another_state_is_a_change(name, runs):
    for comparison in in_both_directions(SEEN[name], runs):
        assert "calls" in channels(comparison), comparison.sentence
        seen = [evidence for evidence in comparison.evidence if evidence["channel"] == "calls"]
        assert seen[0]["strength"] == "observable", seen


# Calls whose value is used: whether they act is not known, only that they look.
LOOKS = {
    "an_argument_changed_before_or_after_a_call_whose_value_is_returned": (
        "def f(gateway, cart):\n    cart.total = 1\n    return gateway.charge(cart)\n",
        "def f(gateway, cart):\n    receipt = gateway.charge(cart)\n    cart.total = 1\n    return receipt\n",
    ),
    "an_object_of_a_missing_class_sees_what_it_was_made_of": (
        "from gone import Sender\ndef f(m):\n    s = Sender(m)\n    m.x = 1\n    s.flush()\n",
        "from gone import Sender\ndef f(m):\n    s = Sender(m)\n    s.flush()\n    m.x = 1\n",
    ),
    "an_attribute_of_a_missing_module": (
        "from gone import store\ndef f(m):\n    store.flag = 1\n    store.save(m)\n",
        "from gone import store\ndef f(m):\n    store.save(m)\n    store.flag = 1\n",
    ),
    "a_method_of_unknown_effect_under_another_condition": (
        "def f(s, t, full):\n    if full:\n        n = s.prune(t)\n        print('pruned')\n    return s\n",
        "def f(s, t, full):\n    n = s.prune(t)\n    if full:\n        print('pruned')\n    return s\n",
    ),
}

# Questions that are asked at another time, or not at all.
UNSEEN = {
    "a_getter_moved_past_an_attribute": (
        "def f(m):\n    m.x = 1\n    n = m.get_name()\n    return n\n",
        "def f(m):\n    n = m.get_name()\n    m.x = 1\n    return n\n",
    ),
    "a_question_about_something_else_moved": (
        "def f(a, b):\n    b.x = 1\n    n = a.process(1)\n    return n\n",
        "def f(a, b):\n    n = a.process(1)\n    b.x = 1\n    return n\n",
    ),
    "a_getter_under_another_condition": (
        "def f(s, t, full):\n    n = s.find(t)\n    return n if full else None\n",
        "def f(s, t, full):\n    if not full:\n        return None\n    return s.find(t)\n",
    ),
    "a_property_read_between": (
        "def f(store, m):\n    m.x = 1\n    store.save(m)\n    return m.name\n",
        "def f(store, m):\n    m.x = 1\n    name = m.name\n    store.save(m)\n    return name\n",
    ),
}

# In module context, files that the code makes are real.
FILES = {
    "flushed_before_or_after_its_name_is_handed_over": (
        "import tempfile\ndef f(up):\n    with tempfile.NamedTemporaryFile('w') as t:\n        t.write('abc')\n"
        "        t.flush()\n        up.send(t.name)\n",
        "import tempfile\ndef f(up):\n    with tempfile.NamedTemporaryFile('w') as t:\n        t.write('abc')\n"
        "        up.send(t.name)\n        t.flush()\n",
    ),
    "other_bytes_in_a_file": (
        "import os, tempfile\ndef f(up):\n    fd, name = tempfile.mkstemp()\n    os.write(fd, b'x')\n"
        "    os.close(fd)\n    up.send(name)\n",
        "import os, tempfile\ndef f(up):\n    fd, name = tempfile.mkstemp()\n    os.write(fd, b'y')\n"
        "    os.close(fd)\n    up.send(name)\n",
    ),
    "a_folder_that_is_gone_when_it_is_handed_over": (
        "import tempfile\ndef f(up):\n    with tempfile.TemporaryDirectory() as d:\n        up.send(d)\n",
        "import tempfile\ndef f(up):\n    with tempfile.TemporaryDirectory() as d:\n        pass\n    up.send(d)\n",
    ),
}

YIELDS = {
    "an_attribute_set_before_or_after_a_yield": two("m", "m.seen = True", "yield 1"),
    "an_action_before_or_after_a_yield": two("self", "self.stats.inc('x')", "yield 1"),
    "a_list_beneath_the_own_object": two("self", "self.waiting.append(1)", "yield 1"),
    "the_items_of_an_asynchronous_generator": (
        "async def f(m):\n    m.seen = True\n    yield 1\n",
        "async def f(m):\n    yield 1\n    m.seen = True\n",
    ),
    "the_body_of_a_context_manager": (
        "import contextlib\n@contextlib.contextmanager\ndef f(conn):\n    conn.busy = True\n    yield conn\n"
        "    conn.count = 1\n",
        "import contextlib\n@contextlib.contextmanager\ndef f(conn):\n    yield conn\n    conn.busy = True\n"
        "    conn.count = 1\n",
    ),
}


@over(YIELDS, context=CONTEXTS)
def test_what_a_consumer_finds_at_a_yield_counts(name, runs):
    old, _ = YIELDS[name]
    for comparison in in_both_directions(YIELDS[name], runs):
        reproducer = comparison.to_dict()["pairs"][0]["reproducer"]
        # No test asks an asynchronous generator for one item after the other.
        assert reproducer["holds"] or "async" in old, (reproducer["why_not"], reproducer["source"])


@over(LOOKS, context=CONTEXTS)
def test_a_question_that_looks_at_another_state_is_a_change(name, runs):
    for comparison in in_both_directions(LOOKS[name], runs):
        assert "calls" in channels(comparison), comparison.sentence


@over(UNSEEN, context=CONTEXTS)
def test_a_question_may_be_moved_past_what_it_does_not_see(name, runs):
    expect_in(runs, PRESERVING, *UNSEEN[name])


@sample(FILES, ["other_bytes_in_a_file"])
def test_a_call_sees_the_file_that_it_is_given(name):
    old, new = FILES[name]
    for one, other in ((old, new), (new, old)):
        expect(CHANGING, one, other, context="module")


@over(SAME, context=CONTEXTS)
def test_what_a_call_cannot_see_is_no_change(name, runs):
    expect_in(runs, PRESERVING, *SAME[name])


# One of each kind of state: of an argument, of the receiver, a list, a global, and what was closed.
ASSERTED = [
    "an_attribute_set_before_or_after_its_object_is_saved",
    "an_attribute_of_the_receiver",
    "a_list_beneath_an_argument",
    "closed_before_or_after_it_is_handed_over",
]


@sample(SEEN, ASSERTED)
def test_a_reproducer_asserts_what_the_call_finds(name):
    old, new = SEEN[name]
    reproducer = twincell.compare(code(old), code(new)).to_dict()["pairs"][0]["reproducer"]
    assert reproducer["holds"], (reproducer["why_not"], reproducer["source"])
