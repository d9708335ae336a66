"""One execution as a text to read, from its typed fields. No time, address or version of Python is in it."""

import re

SHOWN = 12
#: Of a longer text, its beginning and its end are shown.
LONG = 1000


def rendered(found, is_single):
    """What `execute` gave for one input. `is_single`: both versions are one text, which is shown once."""
    tainted, (found,) = found["tainted"], found["executions"]
    if found["record"] is None:
        return f"lost: {found['lost']}\n"
    record = found["record"]
    lines = [f"{choice['path']} {decision(choice['decision'])}" for choice in record["choices"]]
    # Each version names its own.
    for kind in ("synthesized", "failed"):
        lines += [f"{kind}: {path}" for path in dict.fromkeys(record[kind])]
    old, new = (behavior(one) for one in record["behaviors"])
    lines += [""] if lines else []
    if is_single and old == new:
        lines += old
    else:
        lines += ["old", *indented(old), *(["new: the same"] if old == new else ["new", *indented(new)])]
    if found["differing"]:
        lines += ["", "differs: " + ", ".join(found["differing"])]
    if tainted:
        lines += ["", "leaves something behind that is not restored"]
    # The folder in which code may write has another number in each process.
    text = re.sub(r"/proc/self/fd/\d+", "<own folder>", "\n".join(lines)) + "\n"
    # Each system has its own numbers for how a file is opened.
    return re.sub(r"(open\('[^']*', '?\w+'?), \d{5,}\)", r"\1, <flags>)", text)


def indented(lines):
    return [f"  {line}" for line in lines]


def tagged(data):
    """The variant of an enumeration of Rust, and what it holds."""
    return (data, None) if isinstance(data, str) else next(iter(data.items()))


def decision(data):
    match tagged(data):
        case "value", recipe:
            return f"= {value(recipe)}"
        case "raise", name:
            return f"raises {name}"
        case "same", path:
            return f"is {path}"
        case "fail", _:
            return "is missing"
        case "default", _:
            return "has its default"
    raise ValueError(data)


def behavior(data):
    """The lines for one version. What is empty is left out."""
    lines = [outcome(data["outcome"])]
    lines += [f"{slot(where)}: {value(what)}" for where, what in data["arguments"]]
    lines += [f"{stream}: {data[stream]!r}" for stream in ("stdout", "stderr") if data[stream]]
    lines += [f"log, line {entry['line']}: {entry['level']} {entry['message']!r}" for entry in data["log"]]
    for made in data["calls"]:
        lines += [call(made), *indented(state(made["state"]))]
    for place, at in enumerate(data["yields"], start=1):
        lines += [f"by yield {place}", *indented(state(at))] if at else []
    return lines


def outcome(data):
    match tagged(data):
        case "returned", result:
            return f"returned {value(result)}"
        case "raised", {"intended": True, "exception": exception, "line": line}:
            return f"raised {value(exception)}, line {line}"
        case "raised", {"exception": {"exception": exception}, "line": line}:
            # Python words its own exceptions as it likes.
            return f"failed with {exception['class']}, line {line}"
        case "stopped", {"reason": reason}:
            return f"stopped: {tagged(reason)[0]}"
    raise ValueError(data)


def call(data):
    passed = [value(argument) for argument in data["arguments"]]
    passed += [f"{name}={value(argument)}" for name, argument in data["keywords"]]
    notes = ["result unused"] * data["discarded"] + ["not written in each version"] * (not data["by_all"])
    return ", ".join([f"call, line {data['line']}: {data['callee']}({', '.join(passed)})", *notes])


def state(data):
    return [f"{reached(where)}: {value(what)}" for where, what in data]


def reached(data):
    match tagged(data):
        case "assigned", {"object": holder, "place": place}:
            return f"{holder}{place}"
        case (("container" | "global" | "actions" | "file" as kind), name):
            return f"{kind} {name}"
        case "rest", _:
            return "rest"
    raise ValueError(data)


def slot(data):
    match tagged(data):
        case "use", {"step": step, "member": member}:
            return f"use {step}, {member}"
        case "same", {"place": place, "other": other}:
            return f"same: {place} and {other}"
        case name, None:
            return name.replace("_", " ")
        case name, detail:
            return f"{name.replace('_', ' ')} {detail}"
    raise ValueError(data)


def several(items, one=None):
    """Items without their brackets, the first of many."""
    one = one or value
    if len(items) <= SHOWN:
        return ", ".join(map(one, items))
    # The last one says whether the worker left something out.
    return ", ".join([*map(one, items[:SHOWN]), f"... {len(items) - SHOWN - 1} more", one(items[-1])])


def named(attributes):
    return ", ".join(f"{name}={value(what)}" for name, what in attributes)


def value(data):
    """An observed or an injected value."""
    match tagged(data):
        case "none", _:
            return "None"
        case "str", text if len(text) > LONG:
            return f"{text[:20]!r} ... {text[-60:]!r}"
        case (("bool" | "float" | "str"), plain):
            return plain if isinstance(data.get("float"), str) else repr(plain)
        case "int", number:
            return str(number)
        case "bytes", octets:
            return repr(bytes(octets))
        case "list", items:
            return f"[{several(items)}]"
        case "tuple", items:
            return f"({several(items)}{',' if len(items) == 1 else ''})"
        case "dict", entries:
            return "{" + several(entries, lambda entry: ": ".join(map(value, entry))) + "}"
        case "set", items:
            return "{" + several(items) + "}" if items else "set()"
        case "versatile", kind:
            return f"<{kind}>"
        case "injected", {"path": path, "assigned": assigned}:
            changes = ", ".join(f"{place} = {value(what)}" for place, what in assigned)
            return f"<{path}{' with ' + changes if changes else ''}>"
        case "object", {"class": kind, "attributes": [["[repr]", {"str": text}]]}:
            return f"{kind}({text})"
        case "object", {"class": kind, "attributes": attributes}:
            return f"{kind}({named(attributes)})"
        case "made", {"class": kind, "arguments": arguments, "keywords": keywords}:
            return f"{kind}({', '.join(filter(None, [several(arguments), named(keywords)]))})"
        case "called", {"gave": result}:
            return f"<called: {value(result)}>"
        case (("function" | "class" | "module" as kind), {"name": name}):
            return f"<{kind} {name}>"
        case "exception", {"class": kind, "arguments": arguments}:
            return f"{kind}({several(arguments)})"
        case "iterator", {"kind": kind, "items": items, "finished": finished}:
            return f"<{kind}: {several(items)}{'' if finished else ', ...'}>"
        case "cycle", {"up": up}:
            return f"<cycle, {up} up>"
        case "elided", {"reason": reason}:
            return f"<elided: {reason}>"
        case "named", name:
            return name
    raise ValueError(data)
