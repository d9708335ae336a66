"""Rust cells with the real program and the user's cargo. `make rust-cells` builds the program."""

import shutil
import sysconfig

import pytest

from ..processes import wait_for_work, worked
from . import client

pytestmark = pytest.mark.long


@pytest.fixture(autouse=True)
def needs_the_program(monkeypatch):
    # The first cell with tables compiles the crates for them.
    monkeypatch.setattr(client, "TIMEOUT", 1200)
    if shutil.which("twincell-rust", path=sysconfig.get_path("scripts")) is None or shutil.which("cargo") is None:
        pytest.skip("twincell-rust or cargo is not installed: make rust-cells")


def rust(kernel, code, line=""):
    return kernel.run(f"%%rust {line}\n{code}")


def shown(outcome):
    return [content["data"] for content in outcome.of("display_data")]


def test_variables_and_functions_stay(kernel):
    assert shown(rust(kernel, "fn double(n: i32) -> i32 { 2 * n }\nlet x = double(20);\nx + 1")) == [
        {"text/plain": "41"}
    ]
    assert shown(rust(kernel, "double(x)")) == [{"text/plain": "80"}]


def test_what_cells_print_is_shown_in_its_stream(kernel):
    outcome = rust(kernel, 'println!("out"); eprintln!("err");')
    assert (outcome.text("stdout"), outcome.text("stderr")) == ("out\n", "err\n")


def test_errors_and_panics_are_shown_with_their_place(kernel):
    error = rust(kernel, 'let n: i32 = "a";').of("error")[0]
    assert error["ename"] == "RustError" and error["evalue"] == "error[E0308]: mismatched types"
    assert any("^^^ expected `i32`" in line for line in error["traceback"])
    error = rust(kernel, 'let a = 1;\nif a == 1 { panic!("no {a}") }').of("error")[0]
    assert error["evalue"] == "the cell panicked: no 1"
    assert " --> line 3, column 13" in error["traceback"]


def test_a_running_cell_is_stopped(kernel):
    msg_id = kernel.send('%%rust\nprintln!("on");\nloop { std::thread::sleep(std::time::Duration::from_millis(20)) }')
    kernel.wait_for_text("on")
    kernel.manager.interrupt_kernel()
    error = kernel.wait(msg_id).of("error")[0]
    assert error["ename"] == "KeyboardInterrupt" and "Stopped." in error["traceback"][-1]
    assert shown(rust(kernel, "1 + 1")) == [{"text/plain": "2"}]


def test_a_figure_of_plotters_is_shown(kernel):
    features = 'features = ["evcxr", "line_series", "svg_backend"]'
    code = (
        f':dep plotters = {{ version = "0.3", default-features = false, {features} }}\n'
        "plotters::prelude::evcxr_figure((30, 20), |root| { root.fill(&plotters::prelude::WHITE)?; Ok(()) })"
    )
    assert shown(rust(kernel, code))[0]["text/html"].startswith("<div")


def test_the_panic_of_another_thread_ends_no_cell(kernel):
    outcome = rust(kernel, 'std::thread::spawn(|| panic!("t")).join().is_err()')
    assert shown(outcome) == [{"text/plain": "true"}] and "panicked: t" in outcome.text("stderr")


def test_after_clear_panics_and_tables_work(kernel):
    kernel.run("import polars as pl\nframe = pl.DataFrame({'n': [1, 2, 3]})")
    assert shown(rust(kernel, "frame.num_rows()", "-i frame")) == [{"text/plain": "3"}]
    rust(kernel, ":clear")
    assert rust(kernel, 'panic!("again")').of("error")[0]["evalue"] == "the cell panicked: again"
    assert shown(rust(kernel, "frame.num_rows()", "-i frame")) == [{"text/plain": "3"}]


def test_a_panic_gives_no_second_error_for_a_table(kernel):
    errors = rust(kernel, 'panic!("no")', "-o counts").of("error")
    assert [error["traceback"][0] for error in errors] == ["the cell panicked: no"]


def test_the_compiler_is_stopped(kernel):
    kernel.run("%rust --restart")
    rust(kernel, "let kept = 1;")
    # Some hundred functions compile for seconds.
    code = "\n".join(f"fn f{n}(x: u64) -> u64 {{ [x; 64].iter().map(|y| y * {n}).sum() }}" for n in range(3000))
    before = worked(kernel.pid)
    msg_id = kernel.send(f"%%rust\n{code}")
    wait_for_work(kernel.pid, before)
    kernel.manager.interrupt_kernel()
    outcome = kernel.wait(msg_id)
    if not outcome.of("error"):
        pytest.skip("it was compiled before the interrupt")
    assert outcome.of("error")[0]["ename"] == "KeyboardInterrupt"


def test_a_cell_that_ends_its_process_is_told(kernel):
    error = rust(kernel, "std::process::exit(3)").of("error")[0]
    assert "exit status: 3" in error["evalue"] and "its variables are lost" in error["evalue"]


def test_tables_are_taken_and_given(kernel):
    kernel.run("import polars as pl\nframe = pl.DataFrame({'n': [1, 2, 3]})")
    code = (
        "use std::sync::Arc;\nuse arrow_array::{Array, ArrayRef, Int64Array, RecordBatch};\n"
        "let rows = frame.num_rows() as i64;\n"
        "let column = Arc::new(Int64Array::from(vec![rows])) as ArrayRef;\n"
        'let counts = RecordBatch::try_from_iter([("rows", column)]).unwrap();'
    )
    outcome = rust(kernel, code, "-i frame -o counts")
    assert not outcome.of("error"), outcome.of("error")
    assert kernel.run("counts['rows'].to_list()").value == "[3]"


def test_the_executions_of_a_comparison_are_a_table(kernel):
    kernel.run("import twincell\nf = 'def f(x):\\n    return x'\ncomparison = twincell.compare(f, f + ' + 1')")
    outcome = rust(kernel, "comparison.num_rows() > 0", "-i comparison")
    assert shown(outcome) == [{"text/plain": "true"}]


def test_names_are_completed(kernel):
    rust(kernel, "let numbers = vec![1, 2];")
    code = "%%rust\nnumbers.le"
    reply = kernel.ask("complete_request", code=code, cursor_pos=len(code))
    assert "len" in reply["matches"] and reply["cursor_start"] == len(code) - 2
