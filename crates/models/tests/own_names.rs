//! All that the public signatures use is named by this crate.

use foretell_models::{Categories, Dims, Map, Model, Table, Value, find};

#[test]
fn a_model_is_built_from_its_hyper_parameters() {
    let entry = find("MLP").expect("a model");
    let dims = Dims { input_size: 4, horizon: 2, hist_exog: 0, futr_exog: 0, stat_exog: 0, outputs: 1 };
    let own = Map::from_iter([("hidden_size".to_owned(), Value::from(8))]);
    let mut table = Table::default();
    let model: Box<dyn Model> =
        entry.build(&own, &dims, &Categories::default(), &mut table).expect("it fits");
    assert!(model.stepwise().is_none());
    assert!(table.find("out.weight").is_some());
}
