//! The tensors of a file of cases: names and shapes in its metadata, values of one dtype in one tensor.
//! `compare/README.md` has the layout.

use std::collections::{BTreeMap, HashMap};

use foretell_checkpoint::{TensorData, TensorFile, TensorValues};
use serde::Deserialize;

/// Name, dtype and sizes.
#[derive(Deserialize)]
#[serde(untagged)]
enum Word {
    Size(usize),
    Name(String),
}

/// A tensor of a case: the number of its kind, and where its values start unless they follow those before.
#[derive(Deserialize)]
#[serde(untagged)]
enum Place {
    Next(usize),
    Again(usize, usize),
}

/// All tensors of a file by `<case>/<name>`.
pub(super) fn unpack(file: &TensorFile) -> BTreeMap<String, TensorData> {
    let kinds: Vec<Vec<Word>> = serde_json::from_str(&file.metadata["tensors"]).expect("kinds of tensors");
    let cases: serde_json::Map<_, _> = serde_json::from_str(&file.metadata["places"]).expect("cases");
    let mut ends: HashMap<&str, usize> = HashMap::new();
    let mut tensors = BTreeMap::new();
    for (case, places) in cases {
        let places: Vec<Place> = serde_json::from_value(places).expect("places of tensors");
        for place in places {
            let (Place::Next(kind) | Place::Again(kind, _)) = place;
            let [Word::Name(name), Word::Name(dtype), sizes @ ..] = &kinds[kind][..] else {
                panic!("a tensor without name and dtype")
            };
            let shape: Vec<usize> = (sizes.iter())
                .map(|size| match size {
                    Word::Size(size) => *size,
                    Word::Name(word) => panic!("the size {word} of {name}"),
                })
                .collect();
            let len = shape.iter().product::<usize>();
            let start = match place {
                Place::Next(_) => {
                    let end = ends.entry(dtype).or_default();
                    *end += len;
                    *end - len
                }
                Place::Again(_, start) => start,
            };
            let values = match file.tensors[dtype].values() {
                TensorValues::F32(all) => TensorValues::F32(all[start..start + len].to_vec()),
                // Weights that are the same in it.
                TensorValues::BF16(all) => TensorValues::F32(
                    all[start..start + len]
                        .iter()
                        .map(|&bits| f32::from_bits(u32::from(bits) << 16))
                        .collect(),
                ),
                TensorValues::I64(all) => TensorValues::I64(all[start..start + len].to_vec()),
                TensorValues::C64(all) => TensorValues::C64(all[start..start + len].to_vec()),
                other => panic!("values {other:?}"),
            };
            tensors.insert(format!("{case}/{name}"), TensorData::new(shape, values));
        }
    }
    for (dtype, end) in ends {
        assert_eq!(file.tensors[dtype].values().len(), end, "values of {dtype}");
    }
    tensors
}
