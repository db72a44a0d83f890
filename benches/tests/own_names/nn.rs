//! All that the public signatures use is named by this crate.

use foretell_nn::{
    Activation, Forward, Init, Key, Linear, Loss, Map, Padding, Table, Targets, Tensor, Value, Var,
};

#[test]
fn a_layer_is_trained_for_a_step() {
    let mut table = Table::default();
    let layer = Linear::with(&mut table.root(), [2, 1], Init::Constant(1.0), None);
    let mut params = table.initialise(0);
    let loss =
        Loss::new("HuberLoss", &Map::from_iter([("delta".to_owned(), Value::from(10.0))])).expect("a loss");

    let x = Var::constant(Tensor::from_slice(&[1.0, 2.0], [1, 1, 2]));
    let cx = Forward::training(&params, Key::new(0));
    let y = layer.forward(&cx, &x, Activation::Identity).pad(1, 0, 1, Padding::Zeros);
    let mut gradients = vec![0.0; params.table().arena_len()];
    loss.mean(&y, Targets::new(2, &[0.0, 0.0], &[1.0, 1.0]), 2.0).backward(&mut gradients);
    drop((y, cx));
    assert_eq!(gradients[..2], [1.5, 3.0]);

    let offset = params.offset(layer.weight()).expect("it is trained");
    params.arena_mut()[offset] -= gradients[offset];
    assert_eq!(params.get("weight"), Some(Tensor::from_slice(&[-0.5, 1.0], [1, 2])));
}
