//! Folders that are damaged, hostile, or of something else are errors that say what is wrong; nothing is executed.

use std::fs;
use std::path::{Path, PathBuf};

use foretell_estimator::Workers;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::packages::{panel, quantiles};
use crate::{PretrainedError, is_pretrained_folder, load_folder};

/// A copy of a sound folder.
fn copied(name: &str) -> TempDir {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    let to = tempfile::tempdir().expect("a folder");
    for file in fs::read_dir(from).expect("fixtures") {
        let file = file.expect("a file");
        fs::copy(file.path(), to.path().join(file.file_name())).expect("a copy");
    }
    to
}

/// The error of a folder whose `config.json` was changed so.
fn refused(name: &str, change: impl Fn(&mut Value)) -> String {
    let folder = copied(name);
    let path = folder.path().join("config.json");
    let mut config: Value = serde_json::from_slice(&fs::read(&path).expect("a file")).expect("JSON");
    change(&mut config);
    fs::write(&path, config.to_string()).expect("a file");
    error(folder.path()).to_string()
}

fn error(folder: &Path) -> PretrainedError {
    load_folder(folder).expect_err("the folder is not sound")
}

/// The safetensors file of a folder with another header.
fn with_header(path: &PathBuf, change: impl Fn(&mut Value)) {
    let bytes = fs::read(path).expect("a file");
    let length = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")) as usize;
    let mut header: Value = serde_json::from_slice(&bytes[8..8 + length]).expect("JSON");
    change(&mut header);
    let header = header.to_string().into_bytes();
    let all = [&(header.len() as u64).to_le_bytes()[..], &header, &bytes[8 + length..]].concat();
    fs::write(path, all).expect("a file");
}

#[test]
fn settings_that_are_not_supported_are_named() {
    for (name, value, expected) in [
        ("W", json!(1_000_000_000_u64), "W must be a whole number between 8 and 65536, found 1000000000"),
        ("d_model", json!(0), "d_model must be a whole number between 1 and 4096, found 0"),
        ("n_stages", json!(1000), "n_stages must be a whole number between 1 and 32, found 1000"),
        ("causal", json!(false), "causal must be true, found false"),
        ("head_kind", json!("other"), "head_kind must be gather, found other"),
        ("horizon", json!(13), "horizon must be future_queries times future_patch, found 13"),
        ("quantiles", json!([0.9, 0.5]), "quantiles must be 3 to 999 ascending probabilities"),
        ("quantiles", json!([0.5]), "some below it and some above"),
        ("ffn_mult", json!(1e300), "ffn_mult must be a factor up to 64"),
        ("W", json!(-3), "cannot be read as the sizes of a network: invalid value"),
        ("W", json!("64"), "cannot be read as the sizes of a network: invalid type"),
    ] {
        let told = refused("fracast", |config| config["model"][name] = value.clone());
        assert!(told.contains(expected), "{name}: {told}");
    }
    // Sizes that are within bounds, but not those of the tensors.
    for (name, value, tensor) in [
        ("d_model", json!(16), "core.in_proj.weight must be 32-bit or brain floats"),
        ("d_model", json!(4096), "core.in_proj.weight must be 32-bit or brain floats"),
        ("periodic_topk", json!(4), "core.periodic.proj.weight must be"),
        ("kernel_size", json!(5), "core.block.dw_weight must be"),
    ] {
        let told = refused("fracast", |config| config["model"][name] = value.clone());
        assert!(told.contains(tensor) && told.contains("found F32 of shape"), "{name}: {told}");
    }
}

#[test]
fn sizes_of_chronos_2_that_do_not_fit_are_named() {
    for (name, value, expected) in [
        ("d_kv", json!(5), "d_kv must be even, found 5"),
        ("num_layers", json!(1_u64 << 40), "num_layers must be a whole number between 1 and 256"),
        ("feed_forward_proj", json!("gated-gelu"), "feed_forward_proj must be relu, found gated-gelu"),
        ("rope_theta", json!(0.5), "rope_theta must be a number from 1 to 1e9, found 0.5"),
        ("layer_norm_epsilon", json!(-1), "layer_norm_epsilon must be a number from 0 to 1, found -1"),
        // Within bounds, but not those of the tensors.
        ("d_model", json!(32), "input_patch_embedding.output_layer.weight must be"),
        ("num_heads", json!(4), "encoder.block.0.layer.0.self_attention.q.weight must be"),
        ("num_layers", json!(3), "encoder.block.2.layer.0.self_attention.q.weight must be"),
    ] {
        let told = refused("chronos2", |config| config[name] = value.clone());
        assert!(told.contains(expected), "{name}: {told}");
    }
    for (name, value, expected) in [
        ("context_length", json!(1 << 20), "context_length must be at most 2048 patches, found 1048576"),
        ("context_length", json!(u64::MAX), "context_length must be a whole number between 1 and 1048576"),
        (
            "output_patch_size",
            json!(16),
            "output_patch_size must be chronos_config.input_patch_size, found 16",
        ),
        (
            "input_patch_stride",
            json!(4),
            "input_patch_stride must be chronos_config.input_patch_size, found 4",
        ),
        ("max_output_patches", json!(0), "max_output_patches must be a whole number between 1 and 1024"),
        ("time_encoding_scale", json!(0), "time_encoding_scale must be a whole number between 1 and"),
        ("use_reg_token", json!(false), "use_reg_token must be true, found false"),
        (
            "quantiles",
            json!([0.1, 0.5, 0.9]),
            "quantiles must be probabilities with 0.1, 0.2, ..., 0.9, found",
        ),
        ("quantiles", json!([0.5, 0.1]), "quantiles must be 3 to 999 ascending probabilities"),
        ("input_patch_size", json!("8"), "cannot be read as the sizes of a network: invalid type"),
    ] {
        let told = refused("chronos2", |config| config["chronos_config"][name] = value.clone());
        assert!(told.contains(expected), "{name}: {told}");
    }
    // A pass whose quantiles would fill memory, of sizes that are within bounds one by one.
    let told = refused("chronos2", |config| {
        let own = &mut config["chronos_config"];
        for name in ["input_patch_size", "input_patch_stride", "output_patch_size"] {
            own[name] = json!(4096);
        }
        own["max_output_patches"] = json!(1024);
    });
    assert!(told.contains("the steps of a pass is at most 16777216, found 1024"), "{told}");
    let folder = copied("chronos2");
    let path = folder.path().join("model.safetensors");
    with_header(&path, |header| header["shared.weight"]["shape"] = json!([16, 2]));
    let told = error(folder.path()).to_string();
    assert!(told.contains("shared.weight must be") && told.contains("found BF16 of shape [16, 2]"), "{told}");
}

#[test]
fn sizes_of_timesfm_that_do_not_fit_are_named() {
    for (name, value, expected) in [
        ("head_dim", json!(5), "head_dim must be even, found 5"),
        ("num_key_value_heads", json!(1), "num_key_value_heads must be num_attention_heads, found 1"),
        ("context_length", json!(1 << 20), "context_length must be at most 2048 patches, found 1048576"),
        ("horizon_length", json!(10), "horizon_length must be a multiple of patch_length, found 10"),
        ("decode_index", json!(0), "decode_index must be the place of 0.5 among the quantiles, found 0"),
        (
            "quantiles",
            json!([0.1, 0.5, 0.8]),
            "quantiles must be as far from 0 as from 1, found [0.1, 0.5, 0.8]",
        ),
        ("activation", json!("gelu"), "activation must be swish, found gelu"),
        ("use_bias", json!(true), "use_bias and attention_bias must be false, found true"),
        (
            "rope_parameters",
            json!({"rope_type": "yarn"}),
            "rope_parameters.rope_type must be default, found yarn",
        ),
        (
            "output_quantile_len",
            json!(1_u64 << 40),
            "output_quantile_len must be a whole number between 1 and 65536",
        ),
        // Within bounds, but not those of the tensors.
        ("output_quantile_len", json!(32), "output_projection_quantiles.output_layer.weight must be"),
        ("num_hidden_layers", json!(3), "model.layers.2.input_layernorm.weight must be"),
        ("intermediate_size", json!(21), "model.layers.0.mlp.fc1.weight must be"),
    ] {
        let told = refused("timesfm", |config| config[name] = value.clone());
        assert!(told.contains(expected), "{name}: {told}");
    }
}

#[test]
fn networks_that_are_not_read_are_named() {
    let told = refused("fracast", |config| *config = json!({"architectures": ["BertModel"]}));
    assert!(told.contains("but of BertModel; those read are"), "{told}");
    let told = refused("fracast", |config| *config = json!({}));
    assert!(told.contains("but of nothing that it names"), "{told}");
    assert!(told.contains("architectures Chronos2Model"), "{told}");
    let folder = copied("fracast");
    fs::write(folder.path().join("config.json"), "{\"model\": ").expect("a file");
    assert!(matches!(error(folder.path()), PretrainedError::Config { .. }));
    // A file that would fill memory is not read.
    let file = fs::File::create(folder.path().join("config.json")).expect("a file");
    file.set_len(1 << 40).expect("a sparse file");
    assert!(error(folder.path()).to_string().contains("it has more than 4194304 bytes"));
}

#[test]
fn folders_of_something_else_are_no_networks() {
    let empty = tempfile::tempdir().expect("a folder");
    assert!(!is_pretrained_folder(empty.path()) && load_folder(empty.path()).expect("no error").is_none());
    let folder = copied("fracast");
    assert!(is_pretrained_folder(folder.path()));
    fs::write(folder.path().join("configuration.json"), "{}").expect("a file");
    assert!(!is_pretrained_folder(folder.path()));
}

#[test]
fn damaged_weights_are_errors_and_pickles_are_not_opened() {
    let folder = copied("fracast");
    let path = folder.path().join("model.safetensors");
    let sound = fs::read(&path).expect("a file");
    // Torn anywhere, or with a header that is longer than the file, by 2^63 bytes too.
    for length in [0, 7, 8, 100, sound.len() / 2, sound.len() - 1] {
        fs::write(&path, &sound[..length]).expect("a file");
        assert!(matches!(error(folder.path()), PretrainedError::Checkpoint(_)), "{length} bytes");
    }
    for length in [sound.len() as u64, u64::MAX, 1 << 62] {
        fs::write(&path, [&length.to_le_bytes()[..], &sound[8..]].concat()).expect("a file");
        assert!(matches!(error(folder.path()), PretrainedError::Checkpoint(_)), "a header of {length}");
    }
    // Sizes that lie.
    fs::write(&path, &sound).expect("a file");
    with_header(&path, |header| {
        header["core.norm.weight"]["shape"] = json!([u64::MAX, u64::MAX]);
    });
    assert!(matches!(error(folder.path()), PretrainedError::Checkpoint(_)));
    fs::write(&path, &sound).expect("a file");
    with_header(&path, |header| header["core.norm.weight"]["data_offsets"] = json!([0, 1_u64 << 40]));
    assert!(matches!(error(folder.path()), PretrainedError::Checkpoint(_)));
    // A tensor under another name, and one of another kind.
    fs::write(&path, &sound).expect("a file");
    with_header(&path, |header| {
        let header = header.as_object_mut().expect("an object");
        let tensor = header.remove("head.queries").expect("a tensor");
        header.insert("head.querys".to_owned(), tensor);
    });
    let told = error(folder.path()).to_string();
    assert!(told.contains("head.queries must be") && told.contains("found none"), "{told}");
    fs::write(&path, &sound).expect("a file");
    with_header(&path, |header| header["core.norm.weight"]["dtype"] = json!("I32"));
    assert!(error(folder.path()).to_string().contains("found I32 of shape [8]"));
    // Weights that are no numbers.
    let mut bytes = sound.clone();
    let end = bytes.len();
    bytes[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    fs::write(&path, &bytes).expect("a file");
    assert!(error(folder.path()).to_string().contains("numbers that are not finite"));
    // Nothing but a pickle.
    fs::rename(&path, folder.path().join("pytorch_model.bin")).expect("another name");
    let told = error(folder.path()).to_string();
    assert!(told.contains("model.safetensors is missing") && told.contains("are not opened"), "{told}");
}

/// Folders of all kinds that are read.
const KINDS: [&str; 6] = ["bolt", "chronos2", "fracast", "fracast-int8", "timesfm", "tirex"];

/// The file of the weights in a folder.
fn weights_in(folder: &Path) -> PathBuf {
    let names = ["model.safetensors", "model.int8.safetensors"];
    names.map(|name| folder.join(name)).into_iter().find(|path| path.exists()).expect("weights")
}

/// The paths of all values in a document, by JSON pointer.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(all) => {
            all.iter().for_each(|(name, value)| places(value, &format!("{at}/{name}"), found))
        }
        Value::Array(all) => {
            all.iter().enumerate().for_each(|(i, value)| places(value, &format!("{at}/{i}"), found));
        }
        _ => found.push(at.to_owned()),
    }
}

/// Whatever stands in place of any value of any `config.json`: an error, or a network that forecasts.
#[test]
fn any_other_value_of_a_config_is_an_error_or_of_no_account() {
    let values = [
        json!(null),
        json!(-1),
        json!(0),
        json!(1),
        json!(1_u64 << 31),
        json!(1_u64 << 40),
        json!(u64::MAX),
        json!(1e300),
        json!("\u{0}../../x"),
        json!([]),
        json!({}),
    ];
    for kind in KINDS {
        let folder = copied(kind);
        let path = folder.path().join("config.json");
        let config: Value = serde_json::from_slice(&fs::read(&path).expect("a file")).expect("JSON");
        let mut all = Vec::new();
        places(&config, "", &mut all);
        assert!(all.len() > 8, "{kind}");
        let (mut refused, mut told) = (0, String::new());
        for place in all {
            for value in &values {
                let mut config = config.clone();
                *config.pointer_mut(&place).expect("a value") = value.clone();
                fs::write(&path, config.to_string()).expect("a file");
                match load_folder(folder.path()) {
                    Err(error) => (refused, told) = (refused + 1, error.to_string()),
                    Ok(None) => panic!("{kind}: no folder of a network"),
                    Ok(Some(network)) => {
                        let workers = Workers::new(1).expect("a thread");
                        let y: Vec<f32> = (0..20).map(|t| (t % 5) as f32).collect();
                        let found = quantiles(&*network, &panel(&y), 2, &workers);
                        assert!(found.iter().all(|y| y.is_finite()), "{kind}, {place} {value}: {found:?}");
                    }
                }
                assert!(told.len() < 1000, "{told}");
            }
        }
        assert!(refused > 40, "{kind}: {refused}");
    }
}

#[test]
fn any_tensor_that_lies_is_an_error() {
    for kind in KINDS {
        let folder = copied(kind);
        let path = weights_in(folder.path());
        let sound = fs::read(&path).expect("a file");
        let length = u64::from_le_bytes(sound[..8].try_into().expect("eight bytes")) as usize;
        let header: Value = serde_json::from_slice(&sound[8..8 + length]).expect("JSON");
        let names = header.as_object().expect("tensors").keys().filter(|name| *name != "__metadata__");
        let (mut read, mut unread) = (0, 0);
        for name in names {
            fs::write(&path, &sound).expect("a file");
            with_header(&path, |header| {
                let tensor = header.as_object_mut().expect("tensors").remove(name);
                header["another"] = tensor.expect("a tensor");
            });
            match load_folder(folder.path()) {
                // Queries and keys of a token that attends to itself alone.
                Ok(_) => {
                    unread += 1;
                    continue;
                }
                Err(error) => {
                    assert!(error.to_string().contains("must be"), "{error}");
                    read += 1;
                }
            }
            type Lie<'a> = (&'a str, &'a dyn Fn(&mut Value));
            let lies: [Lie<'_>; 7] = [
                ("has no numbers", &|header| header[name]["shape"] = json!([0])),
                ("has other sizes", &|header| header[name]["shape"] = json!([3, 5, 7, 11])),
                ("overflows", &|header| header[name]["shape"] = json!([1_u64 << 32, 1_u64 << 32])),
                ("is large", &|header| header[name]["shape"] = json!([u64::MAX])),
                ("is of 64 bits", &|header| header[name]["dtype"] = json!("I64")),
                ("is of no kind", &|header| header[name]["dtype"] = json!("F7")),
                ("is elsewhere", &|header| header[name]["data_offsets"] = json!([1_u64 << 40, 1_u64 << 41])),
            ];
            for (what, lie) in lies {
                fs::write(&path, &sound).expect("a file");
                with_header(&path, lie);
                let told = load_folder(folder.path()).map(drop).expect_err(&format!("{kind}: {name} {what}"));
                let told = told.to_string();
                assert!(told.contains("safetensors") && told.len() < 1000, "{kind}: {name} {what}: {told}");
            }
            // A number that is none; of 8 bits any is one, and their scales are floats.
            if header[name]["dtype"] != json!("I8") {
                let mut bytes = sound.clone();
                let first = header[name]["data_offsets"][0].as_u64().expect("a place") as usize + 8 + length;
                let size = if header[name]["dtype"] == json!("BF16") { 2 } else { 4 };
                bytes[first..first + size].fill(0xff);
                fs::write(&path, bytes).expect("a file");
                let told = load_folder(folder.path()).map(drop).expect_err(name).to_string();
                assert!(told.contains("numbers that are not finite"), "{kind}: {name}: {told}");
            }
        }
        assert!(read > 20 && unread * 8 < read, "{kind}: {read} are read, {unread} are not");
    }
}

#[test]
fn links_are_followed_to_files_and_nothing_else_is_opened() {
    for kind in KINDS {
        let folder = copied(kind);
        let path = weights_in(folder.path());
        // As caches of hubs have it: files elsewhere, by links.
        let elsewhere = tempfile::tempdir().expect("a folder");
        let blob = elsewhere.path().join("blob");
        fs::rename(&path, &blob).expect("another place");
        // What would be unpickled, or named by an index, is not looked at: a folder cannot even be opened as a file.
        for other in ["pytorch_model.bin", "model.ckpt", "adapter_model.safetensors", "tokenizer.json"] {
            fs::create_dir(folder.path().join(other)).expect("a folder");
        }
        let told = error(folder.path()).to_string();
        assert!(told.contains("model.safetensors is missing") && told.contains("are not opened"), "{told}");
        let index = json!({"weight_map": {"a": "../../../etc/passwd", "b": "/etc/passwd"}});
        fs::write(folder.path().join("model.safetensors.index.json"), index.to_string()).expect("a file");
        let told = error(folder.path()).to_string();
        assert!(told.contains("in several parts are not read") && !told.contains("passwd"), "{told}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::symlink;

            symlink(&blob, &path).expect("a link");
            load_folder(folder.path()).expect("a sound folder").expect("a folder of a network");
            for to in [Path::new("/dev/zero"), elsewhere.path(), &path, Path::new("/nowhere")] {
                fs::remove_file(&path).expect("a link");
                symlink(to, &path).expect("a link");
                error(folder.path());
            }
            let config = folder.path().join("config.json");
            fs::remove_file(&config).expect("a file");
            symlink("/dev/zero", &config).expect("a link");
            assert!(!is_pretrained_folder(folder.path()));
        }
    }
}
