//! A sequence-to-sequence network of random weights (`make.py`) must answer what PyTorch answers.

use serde::Deserialize;

use super::*;

const ENCODER: &[u8] = include_bytes!("encoder_model.onnx");
const DECODER: &[u8] = include_bytes!("decoder_model.onnx");
const TOKENIZER: &[u8] = include_bytes!("tokenizer.json");

#[derive(Deserialize)]
struct Expected {
    text: String,
    sites: Vec<ExpectedSite>,
}

#[derive(Deserialize)]
struct ExpectedSite {
    kind: SiteKind,
    identifier: String,
    start: u32,
    end: u32,
    probabilities: Distribution,
}

fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

fn whole() -> TempDir {
    folder(&[("encoder_model.onnx", ENCODER), ("decoder_model.onnx", DECODER), ("tokenizer.json", TOKENIZER)])
}

#[test]
fn a_sequence_to_sequence_network_answers_what_pytorch_answers() {
    let folder = whole();
    let expected: Expected = serde_json::from_slice(include_bytes!("expected.json")).unwrap();
    let sites: Vec<Site> = expected
        .sites
        .iter()
        .map(|site| Site {
            kind: site.kind,
            start: site.start,
            end: site.end,
            identifier: site.identifier.clone(),
            ..site_at(0, "")
        })
        .collect();
    let probabilities: Vec<Distribution> = expected.sites.iter().map(|site| site.probabilities).collect();
    let library = std::env::var_os("TWINCELL_ONNXRUNTIME").map(PathBuf::from);
    for onnxruntime_library in library.map(Some).into_iter().chain([None]) {
        let options = ModelOptions { onnxruntime_library, allow_gpu: false, ..from_folder(folder.path()) };
        let predictor = load(&options).unwrap();
        let backend = backend_report(&options).unwrap().in_use.unwrap();
        assert_eq!(predictor.describe(), format!("neural (one query a site, {backend})"));
        let predicted = predictor.predict(&[FunctionSites { text: &expected.text, sites: &sites }]).unwrap().remove(0);
        assert_distributions(&predicted);
        assert_close(&predicted, &probabilities, 1e-4);
    }
}

#[test]
fn what_is_wrong_with_a_sequence_to_sequence_folder_is_said() {
    let without = |token: &str| String::from_utf8(TOKENIZER.to_vec()).unwrap().replace(token, "<other>").into_bytes();
    let no_mask = without("<mask>");
    for (files, said) in [
        (vec![("encoder_model.onnx", ENCODER)], "decoder_model.onnx is missing"),
        (vec![("decoder_model.onnx", DECODER)], "encoder_model.onnx is missing"),
        (vec![("encoder_model.onnx", ENCODER), ("decoder_model.onnx", DECODER)], "tokenizer.json"),
        (
            vec![("encoder_model.onnx", DECODER), ("decoder_model.onnx", DECODER), ("tokenizer.json", TOKENIZER)],
            "it has no input `attention_mask`",
        ),
        (
            vec![("encoder_model.onnx", ENCODER), ("decoder_model.onnx", ENCODER), ("tokenizer.json", TOKENIZER)],
            "it has no input `encoder_attention_mask`",
        ),
        (
            vec![("encoder_model.onnx", ENCODER), ("decoder_model.onnx", DECODER), ("tokenizer.json", &no_mask)],
            "it has no token `<mask>`",
        ),
        (
            vec![
                ("encoder_model.onnx", ENCODER),
                ("decoder_model.onnx", DECODER),
                ("tokenizer.json", super::TOKENIZER),
            ],
            "it has no token `<",
        ),
    ] {
        let folder = folder(&files);
        let error = error_of(&from_folder(folder.path()));
        assert!(error.contains(said) && error.contains(&folder.path().display().to_string()), "{said}: {error}");
    }
}

#[test]
fn a_folder_with_both_forms_is_read_in_one_pass() {
    let folder = whole();
    std::fs::write(folder.path().join("model.onnx"), Table::good().onnx()).unwrap();
    std::fs::write(folder.path().join("tokenizer.json"), super::TOKENIZER).unwrap();
    assert_eq!(load(&from_folder(folder.path())).unwrap().describe(), "neural (rten, CPU)");
}
