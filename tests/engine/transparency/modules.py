"""Which modules of the standard library are instrumented, which of CPython's tests they have, and which of these may
differ."""

import sys

NEW = sys.version_info


def since(minor, new, old):
    return new if NEW >= (3, minor) else old


# Row: modules that are instrumented, and the tests that are run.
MODULES = {
    "argparse": (["argparse"], ["test.test_argparse"]),
    "ast": (["ast"], ["test.test_ast"]),
    "collections": (
        ["collections"],
        ["test.test_collections", "test.test_ordered_dict", "test.test_userdict", "test.test_userlist"],
    ),
    "configparser": (["configparser"], ["test.test_configparser"]),
    "contextlib": (["contextlib"], ["test.test_contextlib", "test.test_contextlib_async"]),
    "copy": (["copy"], ["test.test_copy"]),
    "dataclasses": (["dataclasses"], ["test.test_dataclasses"]),
    "datetime, pure": ([since(12, "_pydatetime", "datetime")], ["test.test_datetime"]),
    "decimal, pure": (["_pydecimal"], ["test.test_decimal"]),
    "difflib": (["difflib"], ["test.test_difflib"]),
    "enum": (["enum"], ["test.test_enum"]),
    "fractions": (["fractions"], ["test.test_fractions"]),
    "functools": (["functools"], ["test.test_functools"]),
    "heapq": (["heapq"], ["test.test_heapq"]),
    "inspect": (["inspect"], ["test.test_inspect"]),
    "ipaddress": (["ipaddress"], ["test.test_ipaddress"]),
    "json": (["json", "json.decoder", "json.encoder", "json.scanner"], ["test.test_json"]),
    "optparse": (["optparse"], ["test.test_optparse"]),
    "pprint": (["pprint"], ["test.test_pprint"]),
    "random": (["random"], ["test.test_random"]),
    "re": (since(11, ["re", "re._parser", "re._compiler"], ["re", "sre_parse", "sre_compile"]), ["test.test_re"]),
    "shlex": (["shlex"], ["test.test_shlex"]),
    "statistics": (["statistics"], ["test.test_statistics"]),
    "string": (["string"], ["test.test_string"]),
    "textwrap": (["textwrap"], ["test.test_textwrap"]),
    "tokenize": (["tokenize"], ["test.test_tokenize"]),
    "traceback": (["traceback"], ["test.test_traceback"]),
    "typing": (["typing"], ["test.test_typing"]),
    "urllib.parse": (["urllib.parse"], ["test.test_urlparse"]),
}

# These run in `make test`, the others in `make test-long`.
SHORT = ["dataclasses", "json"]

# End of a test's name, and why it tells instrumented code from plain code by more than what the code does.
DIFFER = {
    "datetimetester.TestModule_Fast.test_name_cleanup": "lists the module's global names, and finds the hooks there",
    "ReTests.test_search_anchor_at_beginning": "must take less than a tenth of a second, also on a busy machine",
}
