//! All that the public signatures use is named by this crate.

use foretell_checkpoint::{Map, ModelFile, Value};

#[test]
fn hyper_parameters_are_written_in_json() {
    let mut file = ModelFile::new("NLinear", "NLinear");
    file.hyper_parameters = Map::from_iter([("h".to_owned(), Value::from(7))]);
    assert_eq!(file.arguments().expect("arguments")["h"], 7);
}
