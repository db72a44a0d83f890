//! All that the public signatures use is named by this crate.

use foretell_models::{CategoricalColumns, Dims, Map, Model, Network, Table, Value, find};

#[test]
fn a_model_is_built_from_its_hyper_parameters() {
    let entry = find("MLP").expect("a model");
    let dims = Dims::new(4, 2);
    let own = Map::from_iter([("hidden_size".to_owned(), Value::from(8))]);
    let mut table = Table::default();
    let network: Network =
        entry.build(&own, &dims, &CategoricalColumns::default(), &mut table).expect("it fits");
    let _: &dyn Model = &*network.model;
    assert_eq!(entry.needs(&own, &dims).expect("it fits"), network.needs);
    assert!(table.find("out.weight").is_some());
}
