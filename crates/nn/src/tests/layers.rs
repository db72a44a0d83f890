//! Every layer with state or parameters that no operation has, against PyTorch: outputs, gradients and state of
//! `fixtures/layers/`, which `compare/layers.py` writes.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    Activation, AttentionSizes, AutoCorrelation, AutoCorrelationSizes, BatchNorm, BatchNormConfig, Cell,
    DataEmbedding, DataEmbeddingSizes, Distilling, EmbeddedNumbers, Forward, GatedLinear, GatedResidual,
    GatedResidualSizes, ImplicitQuantiles, InterpretableAttention, InvertedEmbedding, Key, LayerNorm,
    Nonlinearity, NumberEmbedding, Params, QuantileLayer, ResidualContext, RevIn, RevInConfig, StaticEncoder,
    StaticEncoderSizes, Table, Tensor, TransformerDecoder, TransformerEncoder, TransformerSizes, Var,
    VariableSelection, VariableSelectionSizes,
};

#[derive(Deserialize)]
struct Case {
    args: Map<String, Value>,
    weights: BTreeMap<String, Entry>,
    batches: Vec<Batch>,
    /// After all batches.
    state: BTreeMap<String, Entry>,
}

#[derive(Deserialize)]
struct Batch {
    input: Numbers,
    output: Numbers,
    grad_output: Numbers,
    /// Nothing where no gradient flows to it.
    grad_input: Option<Numbers>,
    grads: BTreeMap<String, Entry>,
    /// The output of the layer in inference, after this batch; `None` where it is that of training.
    forecast: Option<Numbers>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    Counter(i64),
    Values(Numbers),
}

#[derive(Deserialize)]
struct Numbers {
    shape: Vec<usize>,
    data: Vec<f32>,
}

impl Numbers {
    fn tensor(&self) -> Tensor {
        Tensor::from_slice(&self.data, &self.shape[..])
    }

    #[track_caller]
    fn assert_close(&self, actual: &Tensor, what: &str) {
        assert_eq!(&*actual.shape(), &self.shape[..], "shape of {what}");
        let scale = self.data.iter().fold(1.0_f32, |scale, x| scale.max(x.abs()));
        for (i, (actual, expected)) in actual.to_vec().into_iter().zip(&self.data).enumerate() {
            assert!(
                (actual - expected).abs() <= 3e-6 * scale,
                "{what}[{i}]: {actual}, PyTorch has {expected}"
            );
        }
    }
}

impl Entry {
    fn values(&self) -> &Numbers {
        match self {
            Self::Values(numbers) => numbers,
            Self::Counter(count) => panic!("{count} is a counter"),
        }
    }
}

/// A layer's forward pass.
type Apply = Box<dyn Fn(&Forward<'_>, &Var) -> Var>;

fn layer(name: &str, args: &Map<String, Value>, shape: &[usize], table: &mut Table) -> Apply {
    let real = |key: &str| args.get(key).map(|value| value.as_f64().expect("a number") as f32);
    let count = |key: &str| args[key].as_u64().expect("a number") as usize;
    let flag = |key: &str| args.get(key).map(|value| value.as_bool().expect("true or false"));
    match name {
        "AutoCorrelationLayer" => {
            let (hidden, heads, steps) = (count("hidden"), count("heads"), count("steps"));
            let sizes = AutoCorrelationSizes {
                hidden,
                width: hidden / heads * heads,
                factor: count("factor"),
                padded: 2 * steps > shape[1],
                constants: true,
            };
            let layer = AutoCorrelation::new(&mut table.root(), sizes);
            Box::new(move |cx, x| {
                let source = x.narrow(1, steps, x.shape()[1] - steps);
                layer.forward(cx, &x.narrow(1, 0, steps), &source)
            })
        }
        "BatchNorm1d" | "BatchNorm2d" => {
            let default = BatchNormConfig::default();
            let config = BatchNormConfig {
                eps: real("eps").unwrap_or(default.eps),
                momentum: real("momentum").unwrap_or(default.momentum),
                affine: flag("affine").unwrap_or(default.affine),
            };
            let channels = shape[shape.len() - 1];
            let layer = BatchNorm::new(&mut table.root(), channels, config);
            Box::new(move |cx, x| layer.forward(cx, x))
        }
        "ConvLayer" => {
            let layer = Distilling::new(&mut table.root(), shape[2]);
            Box::new(move |cx, x| {
                let y = layer.forward(cx, x);
                assert_eq!(y.shape()[1], Distilling::output(x.shape()[1]));
                y
            })
        }
        "LayerNorm" => {
            let sizes = args["shape"].as_array().expect("a shape").iter();
            let shape: Vec<usize> = sizes.map(|size| size.as_u64().expect("a size") as usize).collect();
            let (mut root, shape) = (table.root(), &shape[..]);
            let layer = match (flag("elementwise_affine"), flag("bias")) {
                (Some(false), _) => LayerNorm::without_affine(shape),
                (_, Some(false)) => LayerNorm::without_bias(&mut root, shape),
                _ => LayerNorm::new(&mut root, shape),
            };
            let layer = real("eps").map_or(layer.clone(), |eps| layer.with_eps(eps));
            Box::new(move |cx, x| layer.forward(cx, x))
        }
        "DataEmbedding" => {
            let sizes = DataEmbeddingSizes {
                inputs: count("inputs"),
                columns: count("columns"),
                hidden: count("hidden"),
            };
            let layer = match flag("positions") {
                Some(false) => DataEmbedding::without_positions(&mut table.root(), sizes, 0.0),
                _ => DataEmbedding::new(&mut table.root(), sizes, 0.0),
            };
            Box::new(move |cx, x| {
                let columns = (sizes.columns > 0).then(|| x.narrow(2, sizes.inputs, sizes.columns));
                layer.forward(cx, &x.narrow(2, 0, sizes.inputs), columns.as_ref())
            })
        }
        "DataEmbedding_inverted" => {
            let columns = count("columns");
            let layer = InvertedEmbedding::new(&mut table.root(), count("steps"), count("hidden"), 0.0);
            Box::new(move |cx, x| {
                let x = x.permute(&[0, 2, 1]);
                let series = x.shape()[1] - columns;
                let further = (columns > 0).then(|| x.narrow(1, series, columns));
                layer.forward(cx, &x.narrow(1, 0, series), further.as_ref())
            })
        }
        "TransEncoder" | "TransDecoder" => {
            let sizes = TransformerSizes {
                hidden: shape[2],
                heads: count("heads"),
                units: count("units"),
                activation: if args["activation"] == "relu" { Activation::Relu } else { Activation::Gelu },
                dropout: 0.0,
            };
            let (layers, outputs) = (count("layers"), args.get("outputs").map(|_| count("outputs")));
            let Some(outputs) = outputs else {
                let layer = TransformerEncoder::new(&mut table.root(), layers, sizes);
                return Box::new(move |cx, x| layer.forward(cx, x));
            };
            let layer = TransformerDecoder::new(&mut table.root(), layers, outputs, sizes);
            let (encoded, last) = (count("encoded"), count("last"));
            Box::new(move |cx, x| {
                let steps = x.shape()[1] - encoded;
                layer.forward(cx, &x.narrow(1, 0, steps), &x.narrow(1, steps, encoded), last)
            })
        }
        "RevIN" | "RevINMultivariate" => {
            let default = RevInConfig::default();
            let config = RevInConfig {
                eps: real("eps").unwrap_or(default.eps),
                affine: flag("affine").unwrap_or(default.affine),
                subtract_last: flag("subtract_last").unwrap_or(default.subtract_last),
            };
            let make = if name == "RevIN" { RevIn::new } else { RevIn::multivariate };
            let layer = make(&mut table.root(), count("series"), config);
            // Normalised, bent and brought back, as in compare/layers.py.
            Box::new(move |cx, x| {
                let windows = Var::constant(x.value().scale(5.0).add(&Tensor::scalar(3.0)));
                let (normalised, scales) = layer.normalise(cx, &windows);
                layer.denormalise(cx, &normalised.activation(Activation::Tanh), &scales)
            })
        }
        "GLU" => {
            let layer = GatedLinear::new(&mut table.root(), shape[shape.len() - 1], count("outputs"));
            Box::new(move |cx, x| layer.forward(cx, x, None))
        }
        "GRN" => {
            let inputs = count("inputs");
            let sizes = GatedResidualSizes {
                inputs,
                hidden: count("hidden"),
                outputs: args.get("outputs").map(|_| count("outputs")),
                context: if flag("context") == Some(true) {
                    ResidualContext::Read
                } else {
                    ResidualContext::None
                },
                dropout: 0.0,
                activation: activation(args),
            };
            let layer = GatedResidual::new(&mut table.root(), &sizes);
            Box::new(move |cx, x| {
                let (x, context) = behind_columns(&x.permute(&[1, 0, 2]), inputs);
                layer.forward(cx, &x, context.as_ref()).permute(&[1, 0, 2])
            })
        }
        "VariableSelectionNetwork" => {
            let (columns, hidden) = (count("columns"), count("hidden"));
            let sizes = VariableSelectionSizes {
                variables: columns,
                hidden,
                reads_context: shape[shape.len() - 1] > columns,
                dropout: 0.0,
                activation: activation(args),
            };
            let layer = VariableSelection::new(&mut table.root(), &sizes);
            let embedding = NumberEmbedding::new(&mut table.root(), "column", columns, hidden);
            let select = move |cx: &Forward<'_>, x: &Var| {
                let (x, context) = behind_columns(x, columns);
                let selected = layer.forward(cx, &embedding.embed(cx, x), context.as_ref());
                let axis = selected.sum.shape().len() - 1;
                Var::concat(&[selected.sum, selected.weights], axis)
            };
            Box::new(move |cx, x| match x.shape().len() {
                2 => select(cx, x),
                _ => select(cx, &x.permute(&[1, 0, 2])).permute(&[1, 0, 2]),
            })
        }
        "StaticCovariateEncoder" => {
            let (columns, hidden) = (shape[1], count("hidden"));
            let sizes = StaticEncoderSizes {
                columns,
                hidden,
                cell: if args["cell"] == "lstm" { Cell::Lstm } else { Cell::Gru },
                layers: count("layers"),
                one_state: flag("one_state") == Some(true),
                dropout: 0.0,
                activation: Activation::Tanh,
            };
            let layer = StaticEncoder::new(&mut table.root(), &sizes);
            let embedding = NumberEmbedding::new(&mut table.root(), "column", columns, hidden);
            Box::new(move |cx, x| {
                let contexts = layer.forward(cx, &embedding.embed(cx, x.clone()));
                let (h, c): (Vec<Var>, Vec<Option<Var>>) =
                    contexts.start.into_iter().map(|start| (start.h, start.c)).unzip();
                let all = [contexts.selection, contexts.enrichment].into_iter().chain(h);
                let all: Vec<Var> = all.chain(c.into_iter().flatten()).chain([contexts.weights]).collect();
                Var::concat(&all, 1)
            })
        }
        "TFTEmbedding" => {
            let [hidden, hist, futr, target] = ["hidden", "hist", "futr", "target"].map(count);
            let mut root = table.root();
            let mut embedding = |name: &str, columns| {
                NumberEmbedding::new(&mut root, &format!("{name}_embedding"), columns, hidden)
            };
            let [of_hist, of_futr, of_stat] = [("hist_exog", hist), ("futr_exog", futr), ("stat_exog", hist)]
                .map(|(name, n)| embedding(name, n));
            let of_target = embedding("tgt", target);
            Box::new(move |cx, x| {
                let steps = x.shape()[1];
                let columns = x.narrow(2, 0, hist);
                let first = columns.narrow(1, 0, 1).reshape([x.shape()[0], hist]).repeat(1, steps);
                let y = Var::concat(&vec![x.narrow(2, hist + futr, 1); target], 2);
                let embedded = EmbeddedNumbers::concat(&[
                    of_hist.embed(cx, columns),
                    of_futr.embed(cx, x.narrow(2, hist, futr)),
                    of_target.embed(cx, y),
                    of_stat.embed(cx, first),
                ]);
                let vectors: Vec<Var> =
                    (0..embedded.variables()).map(|i| embedded.variable(i).vector()).collect();
                Var::concat(&vectors, 2)
            })
        }
        "IQLoss" => {
            let sizes = ImplicitQuantiles { cos_embedding_dim: count("cosines"), concentration: [1.0, 1.0] };
            let layer = QuantileLayer::new(&mut table.root(), &sizes);
            let numbers = args["quantiles"].as_array().expect("a list").iter();
            let quantiles: Vec<f32> =
                numbers.map(|quantile| quantile.as_f64().expect("a number") as f32).collect();
            Box::new(move |cx, y| layer.at(cx, y, &quantiles))
        }
        "InterpretableMultiHeadAttention" => {
            let (heads, earlier) = (count("heads"), count("earlier"));
            let sizes = AttentionSizes { hidden: shape[2], heads, dropout: 0.0 };
            let layer = InterpretableAttention::new(&mut table.root(), sizes, 0.0);
            Box::new(move |cx, x| {
                let x = x.permute(&[1, 0, 2]);
                let later = x.narrow(0, earlier, x.shape()[0] - earlier);
                let flat = |y: Var| {
                    let shape = y.shape();
                    y.reshape([shape[0], shape[1..].iter().product()])
                };
                let read = flat(layer.forward(cx, &x.narrow(0, 0, earlier), &later).permute(&[1, 0, 2]));
                Var::concat(&[read, flat(layer.weights(cx, &x))], 1)
            })
        }
        _ => panic!("no test computes the cases of {name}"),
    }
}

fn activation(args: &Map<String, Value>) -> Activation {
    let name = args.get("activation").map_or("ELU", |name| name.as_str().expect("a name"));
    Nonlinearity::fixed(name).expect("an activation")
}

/// The first columns of `x [..., batch, columns + context]`, and the context of the first step.
fn behind_columns(x: &Var, columns: usize) -> (Var, Option<Var>) {
    let shape = x.shape();
    let (axis, further) = (shape.len() - 1, shape[shape.len() - 1] - columns);
    let context = || x.narrow(axis, columns, further).narrow(0, 0, 1).reshape([shape[axis - 1], further]);
    (x.narrow(axis, 0, columns), (further > 0).then(context))
}

fn check(what: &str, name: &str, case: &Case) {
    let mut table = Table::default();
    let apply = layer(name, &case.args, &case.batches[0].input.shape, &mut table);
    let mut params = table.initialise(1);
    let entries = params.table().entries().to_vec();
    let names: Vec<&String> = case.weights.keys().collect();
    let mut names_of_entries: Vec<&String> = entries.iter().map(|entry| &entry.name).collect();
    names_of_entries.sort_unstable();
    assert_eq!(names_of_entries, names, "{what}: names");
    for (i, entry) in entries.iter().enumerate() {
        match &case.weights[&entry.name] {
            Entry::Counter(count) => params.set_counter(i, *count),
            // The fixtures have the first rows of a constant.
            Entry::Values(values) if entry.is_constant() => {
                let rows = params.values(entry)[..values.data.len()].to_vec();
                values.assert_close(&Tensor::from_slice(&rows, &values.shape[..]), &entry.name);
            }
            Entry::Values(values) => params.assign(&entry.name, &values.tensor()).expect("its shape"),
        }
    }
    for (step, batch) in case.batches.iter().enumerate() {
        let what = format!("{what}, batch {step}");
        train(&what, &apply, &mut params, batch);
        let x = Var::constant(batch.input.tensor());
        let forecast = apply(&Forward::inference(&params), &x);
        let expected = batch.forecast.as_ref().unwrap_or(&batch.output);
        expected.assert_close(forecast.value(), &format!("{what}: forecast"));
    }
    for entry in &entries {
        match (case.state.get(&entry.name), params.counter(entry)) {
            (Some(Entry::Counter(expected)), Some(counter)) => assert_eq!(counter, *expected, "{what}"),
            (Some(Entry::Values(expected)), None) => {
                let state = params.get(&entry.name).expect("an entry of the table");
                expected.assert_close(&state, &format!("{what}: {}", entry.name));
            }
            (None, None) if entry.is_trained() || entry.is_constant() || entry.is_frozen() => {}
            _ => panic!("{what}: {} is state in one of the two", entry.name),
        }
    }
}

/// A run of the layer on a batch: its output, its gradients, and what it does to the state.
fn train(what: &str, apply: &Apply, params: &mut Params, batch: &Batch) {
    let mut gradients = vec![0.0; params.table().arena_len()];
    let cx = Forward::training(params, Key::new(1));
    let x = Var::input(batch.input.tensor());
    let y = apply(&cx, &x);
    batch.output.assert_close(y.value(), &format!("{what}: output"));
    y.backward_from(batch.grad_output.tensor(), &mut gradients);
    match (&batch.grad_input, x.grad()) {
        (Some(expected), Some(gradient)) => {
            expected.assert_close(&gradient, &format!("{what}: gradient of the input"))
        }
        (expected, gradient) => {
            assert!(expected.is_none() && gradient.is_none(), "{what}: gradient of the input")
        }
    }
    for (name, expected) in &batch.grads {
        let entry = params.table().entry(params.table().find(name).expect("a parameter"));
        if entry.is_frozen() {
            // PyTorch's gradient is what rounding leaves.
            let zero = expected.values().data.iter().all(|gradient| gradient.abs() < 1e-4);
            assert!(zero, "{what}: {name} has a gradient");
            continue;
        }
        let gradient = &gradients[entry.offset..entry.offset + entry.shape.numel()];
        expected
            .values()
            .assert_close(&Tensor::from_slice(gradient, entry.shape), &format!("{what}: {name}"));
    }
    let updates = cx.into_updates();
    drop(y);
    params.apply(updates);
}

#[test]
fn layers_agree_with_pytorch() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/layers");
    let files = std::fs::read_dir(folder).expect("the folder of layers");
    let mut paths: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    paths.sort();
    assert_eq!(paths.len(), 18, "layers that `compare/layers.py` has cases of");
    for path in paths {
        let name = path.file_stem().and_then(|name| name.to_str()).expect("the name of a layer");
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let cases: Vec<Case> = serde_json::from_str(&text).expect("the fixtures are valid");
        for (i, case) in cases.iter().enumerate() {
            check(&format!("{name} case {i}"), name, case);
        }
    }
}
