//! The predictors as a caller sees them. What is in one module is tested there.
//!
//! Where the variable TWINCELL_ONNXRUNTIME names ONNX Runtime's shared library, both CPU back ends are compared, and
//! CUDA where that library has it and there is a GPU; without it only the way to the embedded one is tested.

mod seq2seq;
mod table;

use std::path::{Path, PathBuf};

use table::Table;
use tempfile::TempDir;

use twincell_models::{Backend, ModelOptions, Precision, PredictorKind, backend_report, load};
use twincell_syntax::site::{Site, SiteKind};
use twincell_values::predictor::{Distribution, FunctionSites, Predictor};
use twincell_values::value::AbstractValue;

const TOKENIZER: &[u8] = include_bytes!("../../weights/tokenizer.json");

const FUNCTION: &str = "def retry(self, request, *args):\n    times = request.meta.get('retry_times', 0) + 1\n    \
                        if isinstance(request, str) and len(args) > times:\n        self.stats.inc_value('retry')\n        \
                        return [name.lower() for name in args]\n    return None\n";

fn neural() -> ModelOptions {
    ModelOptions { threads: 1, ..ModelOptions::default() }
}

/// The site of each expression's first appearance.
fn sites(text: &str, expressions: &[&str]) -> Vec<Site> {
    expressions.iter().map(|expression| site_at(text.find(expression).unwrap(), expression)).collect()
}

fn site_at(start: usize, expression: &str) -> Site {
    Site {
        kind: if expression.ends_with(')') { SiteKind::Call } else { SiteKind::Name },
        start: start as u32,
        end: (start + expression.len()) as u32,
        line: 1,
        identifier: expression.split('(').next().unwrap_or_default().to_owned(),
        path: expression.to_owned(),
        catches: Vec::new(),
        discarded: false,
    }
}

fn predict(predictor: &dyn Predictor, text: &str, expressions: &[&str]) -> Vec<Distribution> {
    let sites = sites(text, expressions);
    predictor.predict(&[FunctionSites { text, sites: &sites }]).unwrap().remove(0)
}

fn likeliest(distribution: &Distribution) -> AbstractValue {
    let best = (0..12).max_by(|&a, &b| distribution[a].total_cmp(&distribution[b])).unwrap();
    AbstractValue::ALL[best]
}

fn assert_distributions(distributions: &[Distribution]) {
    for distribution in distributions {
        assert!((distribution.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{distribution:?}");
        assert!(distribution.iter().all(|&probability| (0.0..=1.0).contains(&probability)), "{distribution:?}");
    }
}

fn assert_close(left: &[Distribution], right: &[Distribution], tolerance: f32) {
    assert_eq!(left.len(), right.len());
    for (a, b) in left.iter().flatten().zip(right.iter().flatten()) {
        assert!((a - b).abs() <= tolerance, "{a} and {b}");
    }
}

/// A model folder of its own.
fn folder(model: &[u8], tokenizer: &[u8]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("model.onnx"), model).unwrap();
    std::fs::write(folder.path().join("tokenizer.json"), tokenizer).unwrap();
    folder
}

fn from_folder(folder: &Path) -> ModelOptions {
    ModelOptions { model_dir: Some(folder.to_owned()), ..neural() }
}

fn error_of(options: &ModelOptions) -> String {
    load(options).err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn the_network_knows_the_obvious() {
    let predictor = load(&neural()).unwrap();
    let expressions = ["isinstance(request, str)", "len(args)", "self.stats", "args):", "isinstance", "name.lower()"];
    let expressions = expressions.map(|expression| expression.trim_end_matches("):"));
    let predicted = predict(&*predictor, FUNCTION, &expressions);
    assert_distributions(&predicted);
    use AbstractValue::*;
    assert_eq!(predicted.iter().map(likeliest).collect::<Vec<_>>(), [Bool, Int, Object, Tuple, Callable, Str]);
}

#[test]
fn other_scripts_and_line_ends_do_not_move_what_is_read() {
    let predictor = load(&neural()).unwrap();
    let expressions = ["isinstance(request, str)", "len(args)", "isinstance", "name.lower()"];
    let plain = predict(&*predictor, FUNCTION, &expressions);
    let commented = FUNCTION.replace(":\n", ":  # größer als ☃ 🜚 всё\n");
    for text in [FUNCTION.replace('\n', "\r\n"), commented.replace('\n', "\r\n"), commented] {
        let predicted = predict(&*predictor, &text, &expressions);
        assert_distributions(&predicted);
        let classes = |of: &[Distribution]| of.iter().map(likeliest).collect::<Vec<_>>();
        assert_eq!(classes(&predicted), classes(&plain), "{text}");
    }
}

#[test]
fn a_batch_predicts_what_each_function_alone_does() {
    let predictor = load(&neural()).unwrap();
    let short = "def f(a):\n    return a.b\n";
    let (long_sites, short_sites) = (sites(FUNCTION, &["request.meta", "times"]), sites(short, &["a.b"]));
    let (long, short) =
        (FunctionSites { text: FUNCTION, sites: &long_sites }, FunctionSites { text: short, sites: &short_sites });
    let batch = predictor.predict(&[long, short]).unwrap();
    let fresh = load(&neural()).unwrap();
    assert_close(&batch[0], &fresh.predict(&[long]).unwrap()[0], 1e-4);
    assert_close(&batch[1], &fresh.predict(&[short]).unwrap()[0], 1e-4);
}

#[test]
fn the_same_function_gets_the_same_bits() {
    let expressions = ["request.meta", "self.stats.inc_value('retry')", "times", "args"];
    let once = predict(&*load(&neural()).unwrap(), FUNCTION, &expressions);
    for _ in 0..3 {
        assert_eq!(predict(&*load(&neural()).unwrap(), FUNCTION, &expressions), once);
    }
}

#[test]
fn int8_changes_little() {
    let expressions = ["request.meta", "self.stats.inc_value('retry')", "times", "args", "len(args)", "isinstance"];
    let int8 = predict(&*load(&neural()).unwrap(), FUNCTION, &expressions);
    let whole = ModelOptions { allow_int8: false, ..neural() };
    let float32 = predict(&*load(&whole).unwrap(), FUNCTION, &expressions);
    assert_ne!(int8, float32);
    let apart: Vec<f32> = int8.iter().flatten().zip(float32.iter().flatten()).map(|(a, b)| (a - b).abs()).collect();
    assert!(apart.iter().sum::<f32>() / (apart.len() as f32) < 0.02, "{apart:?}");
    assert_eq!(backend_report(&neural()).unwrap().precision, Some(Precision::Int8));
    assert_eq!(backend_report(&whole).unwrap().precision, Some(Precision::Float32));
}

#[test]
fn nothing_to_predict_is_no_error() {
    let predictor = load(&neural()).unwrap();
    let nothing = FunctionSites { text: "", sites: &[] };
    assert!(predictor.predict(&[]).unwrap().is_empty());
    assert_eq!(predictor.predict(&[nothing, nothing]).unwrap(), vec![Vec::<Distribution>::new(), Vec::new()]);
}

#[test]
fn a_site_outside_its_text_is_an_error() {
    let predictor = load(&neural()).unwrap();
    let error = predictor.predict(&[FunctionSites { text: "a", sites: &[site_at(0, "abc")] }]).unwrap_err();
    assert!(error.to_string().contains("the site 0..3 (`abc`) is not in the text"), "{error}");
}

#[test]
fn a_function_longer_than_the_window_is_read_right_everywhere() {
    // With the table a prediction depends on the site's own token alone, so every `alpha` must get the same.
    let folder = folder(&Table::good().onnx(), TOKENIZER);
    let predictor = load(&from_folder(folder.path())).unwrap();
    let text = format!("def f(alpha, beta):\n{}", "    alpha = beta + 1  # ☃ next\n".repeat(200));
    for name in ["alpha", "beta"] {
        let sites: Vec<Site> = text.match_indices(name).map(|(start, name)| site_at(start, name)).collect();
        let predicted = predictor.predict(&[FunctionSites { text: &text, sites: &sites }]).unwrap().remove(0);
        assert_eq!(predicted.len(), 201);
        // The parameter itself may differ: what stands before it is another token.
        assert!(predicted[1..].iter().all(|distribution| *distribution == predicted[1]), "{name}");
    }
}

#[test]
fn the_network_predicts_every_site_of_a_function_of_two_thousand_tokens() {
    let predictor = load(&neural()).unwrap();
    let text =
        format!("def f(items):\n{}", "    if isinstance(items, list):\n        count = len(items)\n".repeat(110));
    let sites: Vec<Site> = text.match_indices("len(items)").map(|(start, call)| site_at(start, call)).collect();
    let predicted = predictor.predict(&[FunctionSites { text: &text, sites: &sites }]).unwrap().remove(0);
    assert_eq!(predicted.len(), 110);
    assert_distributions(&predicted);
    assert!(predicted.iter().all(|distribution| likeliest(distribution) == AbstractValue::Int));
}

#[test]
fn uniform_gives_a_twelfth_to_each() {
    let predictor = load(&ModelOptions { kind: PredictorKind::Uniform, ..neural() }).unwrap();
    assert_eq!(predict(&*predictor, FUNCTION, &["times", "args"]), [[1.0 / 12.0; 12]; 2]);
}

#[test]
fn frequency_knows_identifiers_but_not_their_surroundings() {
    let predictor = load(&ModelOptions { kind: PredictorKind::Frequency, ..neural() }).unwrap();
    let predicted = predict(&*predictor, FUNCTION, &["len(args)", "isinstance", "args"]);
    assert_distributions(&predicted);
    use AbstractValue::*;
    assert_eq!(predicted.iter().map(likeliest).collect::<Vec<_>>(), [Int, Callable, Tuple]);
}

#[test]
fn predictors_are_chosen_by_name() {
    for kind in PredictorKind::ALL {
        assert_eq!(kind.to_string().parse(), Ok(kind));
    }
    let error = "oracle".parse::<PredictorKind>().unwrap_err();
    assert_eq!(error.to_string(), "there is no predictor `oracle`; choose neural, frequency or uniform");
}

#[test]
fn a_model_from_a_folder_replaces_the_embedded_one() {
    let folder = folder(&Table::good().onnx(), TOKENIZER);
    let options = from_folder(folder.path());
    let predicted = predict(&*load(&options).unwrap(), "x = y", &["x"]);
    let expected = 10f32.exp() / (10f32.exp() + 11.0);
    assert!((predicted[0].iter().copied().fold(0.0, f32::max) - expected).abs() < 1e-6, "{predicted:?}");
    assert_eq!(backend_report(&options).unwrap().model, folder.path().display().to_string());
}

#[test]
fn what_is_wrong_with_a_model_folder_is_said() {
    let table = |change: fn(&mut Table)| {
        let mut table = Table::good();
        change(&mut table);
        table.onnx()
    };
    // An operator that no back end has.
    let mut unknown = Table::good().onnx();
    let place = unknown.windows(6).position(|bytes| bytes == b"Gather").unwrap();
    unknown[place..place + 6].copy_from_slice(b"Getter");
    // A weight, whose data is at /etc/passwd.
    let elsewhere =
        b"\x3a\x24\x2a\x22\x08\x01\x10\x01\x42\x01w\x6a\x17\x0a\x08location\x12\x0b/etc/passwd\x70\x01".to_vec();
    for (model, tokenizer, said) in [
        (table(|table| table.classes = 9), TOKENIZER, "its output `logits` has 9 classes, not 12"),
        (
            table(|table| table.first_input = "tokens"),
            TOKENIZER,
            "it has no input `input_ids`, only: tokens, attention_mask",
        ),
        (table(|table| table.output = "y"), TOKENIZER, "it has no output `logits`, only: y"),
        (table(|table| table.mask_type = 1), TOKENIZER, "its input `attention_mask` is float32, not a tensor of int64"),
        (table(|table| table.tokens = 100), TOKENIZER, "a first try failed"),
        (b"not a model".to_vec(), TOKENIZER, "is not read: it is not an ONNX file"),
        (unknown, TOKENIZER, "runs on no back end"),
        (elsewhere, TOKENIZER, "is not read: the tensor `w` is in another file"),
        // Back ends would merge the two graphs, or take the second.
        (Table::good().onnx().repeat(2), TOKENIZER, "is not read: field 7 of a Model is there twice"),
        (Table::good().onnx(), b"{}".as_slice(), "is not a tokenizer that can be used"),
    ] {
        let folder = folder(&model, tokenizer);
        let error = error_of(&from_folder(folder.path()));
        assert!(error.contains(said) && error.contains(&folder.path().display().to_string()), "{said}: {error}");
    }
}

#[test]
fn a_file_missing_from_a_model_folder_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = error_of(&from_folder(folder.path()));
    assert!(error.contains("model.onnx") && error.contains("a model folder holds"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_pipe_in_a_model_folder_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    for (pipe, file) in [("tokenizer.json", "model.onnx"), ("model.onnx", "tokenizer.json")] {
        let (pipe, file) = (folder.path().join(pipe), folder.path().join(file));
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        std::fs::write(&file, "{}").unwrap();
        let error = error_of(&from_folder(folder.path()));
        assert!(error.contains("it is not a regular file"), "{error}");
        std::fs::remove_file(pipe).unwrap();
        std::fs::remove_file(file).unwrap();
    }
}

/// Tokenizers that the library which reads them takes, and panics at: in each, a part of length 0.
#[test]
fn a_tokenizer_that_makes_its_library_panic_is_an_error() {
    for (part, written) in [
        ("pre_tokenizer", serde_json::json!({"type": "FixedLength", "length": 0})),
        ("normalizer", serde_json::json!({"type": "Precompiled", "precompiled_charsmap": "/////w=="})),
    ] {
        let mut tokenizer: serde_json::Value = serde_json::from_slice(TOKENIZER).unwrap();
        tokenizer[part] = written;
        let folder = folder(&Table::good().onnx(), tokenizer.to_string().as_bytes());
        let error = error_of(&from_folder(folder.path()));
        let said = format!("reading {} ended in an error of a library", folder.path().display());
        assert!(error.contains(&said), "{error}");
    }
}

/// Any shared library that is not ONNX Runtime: the C library that this test runs on.
fn other_library() -> Option<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let path = maps.lines().filter_map(|line| line.split_whitespace().nth(5)).find(|path| path.contains("libc.so"))?;
    Some(PathBuf::from(path))
}

#[test]
fn without_a_usable_library_the_embedded_back_end_serves_and_the_reason_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("libonnxruntime.so.1");
    std::fs::write(&text, "not a library").unwrap();
    let other = other_library().map(|library| (Some(library), "is not ONNX Runtime"));
    let unusable = [
        (None, "pip install onnxruntime"),
        (Some(folder.path().join("libonnxruntime.so.9")), "libonnxruntime.so.9"),
        (Some(folder.path().to_owned()), "cannot be loaded as a library"),
        (Some(text), "cannot be loaded as a library"),
    ];
    for (library, said) in unusable.into_iter().chain(other) {
        let options = ModelOptions { onnxruntime_library: library, ..neural() };
        let report = backend_report(&options).unwrap();
        assert_eq!((report.in_use, report.predictor.as_str()), (Some(Backend::Rten), "neural (rten, CPU)"));
        assert_eq!(report.not_used.len(), 2);
        assert!(report.not_used[1].reason.contains(said), "{:?}", report.not_used);
        assert_distributions(&predict(&*load(&options).unwrap(), FUNCTION, &["times"]));
    }
}

#[test]
fn both_cpu_back_ends_predict_the_same() {
    let Some(library) = std::env::var_os("TWINCELL_ONNXRUNTIME").map(PathBuf::from) else {
        return;
    };
    let expressions = ["isinstance(request, str)", "len(args)", "self.stats", "request.meta", "times", "args"];
    // Where one number in ten thousand is rounded the other way, integers carry that on.
    for (allow_int8, tolerance) in [(false, 1e-4), (true, 0.05)] {
        let neural = ModelOptions { allow_int8, ..neural() };
        let embedded = predict(&*load(&neural).unwrap(), FUNCTION, &expressions);
        for threads in [1, 2] {
            let onnxruntime_library = Some(library.clone());
            let options = ModelOptions { onnxruntime_library, allow_gpu: false, threads, ..neural.clone() };
            let predictor = load(&options).unwrap();
            assert_eq!(predictor.describe(), "neural (ONNX Runtime, CPU)");
            let predicted = predict(&*predictor, FUNCTION, &expressions);
            assert_close(&predicted, &embedded, tolerance);
            assert_eq!(predict(&*load(&options).unwrap(), FUNCTION, &expressions), predicted, "the same bits");
        }
    }
}

#[test]
fn a_gpu_predicts_the_same_bits_for_a_function_alone_and_among_others() {
    let gpu = ModelOptions {
        onnxruntime_library: std::env::var_os("TWINCELL_ONNXRUNTIME").map(PathBuf::from),
        allow_gpu: true,
        ..neural()
    };
    if backend_report(&gpu).unwrap().in_use != Some(Backend::Cuda) {
        return;
    }
    // More functions than a pass has rows, of lengths from a few tokens to more than the window.
    let texts: Vec<String> = (0..70)
        .map(|lines| format!("def f{lines}(items, item):\n{}", "    total = items.count(item) + 1\n".repeat(1 + lines)))
        .collect();
    let sites: Vec<Vec<Site>> = texts.iter().map(|text| sites(text, &["items.count(item)", "total"])).collect();
    let functions: Vec<FunctionSites<'_>> =
        texts.iter().zip(&sites).map(|(text, sites)| FunctionSites { text, sites }).collect();
    let predictor = load(&gpu).unwrap();
    let together = predictor.predict(&functions).unwrap();
    // Another one, which remembers nothing.
    let other = load(&gpu).unwrap();
    let alone: Vec<_> = functions.iter().map(|&function| other.predict(&[function]).unwrap().remove(0)).collect();
    assert_eq!(together, alone, "the same bits");
    let on_cpu = load(&ModelOptions { allow_int8: false, ..neural() }).unwrap();
    for (on_gpu, function) in together.iter().zip(&functions) {
        assert_close(on_gpu, &on_cpu.predict(&[*function]).unwrap()[0], 0.02);
    }
}
