//! Graphs of the zoo, read back: what a runtime asks of a file before it runs it. `compare/onnx_check.py` runs them.

use std::collections::BTreeSet;

use crate::{OnnxError, OnnxExport, ScaledColumns};
use foretell_data::WindowScaler;
use foretell_models::{MODELS, ModelEntry, find};
use foretell_nn::{Dims, Loss, Map, Params, Table, Value};

/// A field of a message: a number, or bytes.
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let (&first, rest) = bytes.split_first().expect("a whole number");
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        shift += 7;
        if first < 0x80 {
            return value;
        }
    }
}

/// The fields of a message in their order.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Field<'_>)> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let value = match tag & 7 {
            0 => Field::Number(varint(&mut bytes)),
            kind => {
                let len = if kind == 5 { 4 } else { varint(&mut bytes) as usize };
                let (value, rest) = bytes.split_at(len);
                bytes = rest;
                Field::Bytes(value)
            }
        };
        all.push((tag >> 3, value));
    }
    all
}

fn bytes(message: &[u8], field: u64) -> impl Iterator<Item = &[u8]> {
    fields(message).into_iter().filter_map(move |(of, value)| match value {
        Field::Bytes(bytes) if of == field => Some(bytes),
        _ => None,
    })
}

fn numbers(message: &[u8], field: u64) -> Vec<u64> {
    let numbers = fields(message).into_iter().filter_map(|(of, value)| match value {
        Field::Number(number) if of == field => Some(number),
        _ => None,
    });
    numbers.collect()
}

fn texts(message: &[u8], field: u64) -> Vec<String> {
    bytes(message, field).map(|text| String::from_utf8(text.to_vec()).expect("text")).collect()
}

/// What a file says of itself.
struct File {
    nodes: Vec<String>,
    /// Names and sizes, -1 for one that the batch has.
    inputs: Vec<(String, Vec<i64>)>,
    outputs: Vec<(String, Vec<i64>)>,
    columns: String,
}

/// Reads a file and checks that each node reads what is there before it, that constants are as long as their sizes say, and that no
/// name is given twice.
fn read(file: &[u8]) -> File {
    assert_eq!(numbers(file, 1), [8], "the version of the file");
    let opset = bytes(file, 8).next().expect("operations");
    assert_eq!(numbers(opset, 2), [17], "the version of the operations");
    let graph = bytes(file, 7).next().expect("a graph");
    let mut known = BTreeSet::new();
    let mut add = |name: String| assert!(known.insert(name.clone()), "{name} comes twice");
    for tensor in bytes(graph, 5) {
        let count: u64 = numbers(tensor, 1).iter().product();
        let size = match numbers(tensor, 2)[..] {
            [1] => 4,
            [7] => 8,
            ref other => panic!("elements of type {other:?}"),
        };
        let data = bytes(tensor, 9).next().map_or(0, <[u8]>::len);
        assert_eq!(data as u64, count * size, "bytes of {:?}", texts(tensor, 8));
        add(texts(tensor, 8).remove(0));
    }
    let values = |field: u64| -> Vec<(String, Vec<i64>)> {
        let value = |message: &[u8]| {
            let kind = bytes(message, 2).next().expect("a type");
            let kind = bytes(kind, 1).next().expect("a tensor");
            let shape = bytes(kind, 2).next().expect("a shape");
            let dims = bytes(shape, 1).map(|dim| numbers(dim, 1).first().map_or(-1, |&size| size as i64));
            (texts(message, 1).remove(0), dims.collect())
        };
        bytes(graph, field).map(value).collect()
    };
    let (inputs, outputs) = (values(11), values(12));
    inputs.iter().for_each(|(name, _)| add(name.clone()));
    let mut nodes = Vec::new();
    for node in bytes(graph, 1) {
        let kind = texts(node, 4).remove(0);
        for input in texts(node, 1) {
            assert!(input.is_empty() || known.contains(&input), "{kind} reads {input} before it is there");
        }
        texts(node, 2)
            .into_iter()
            .for_each(|output| assert!(known.insert(output.clone()), "{output} comes twice"));
        nodes.push(kind);
    }
    assert!(outputs.iter().all(|(name, _)| known.contains(name)), "outputs that nothing makes");
    let columns = bytes(file, 14).find(|text| texts(text, 1) == ["columns"]).expect("names of columns");
    File { nodes, inputs, outputs, columns: texts(columns, 2).remove(0) }
}

/// A network of this model, its parameters drawn at random.
fn file(
    entry: &ModelEntry,
    own: &Map<String, Value>,
    loss: &Loss,
    scaler: WindowScaler,
) -> Result<Vec<u8>, OnnxError> {
    let multivariate = entry.kind.starts_with("multivariate");
    let count = |reads: bool| usize::from(reads);
    let dims = Dims {
        n_series: if multivariate { 2 } else { 1 },
        hist_exog: count(entry.exogenous.hist),
        futr_exog: count(entry.exogenous.futr),
        stat_exog: count(entry.exogenous.stat),
        outputs: loss.outputs(),
        distribution: loss.is_distribution(),
        ..Dims::new(24, 6)
    };
    let mut table = Table::default();
    let network = entry.build(own, &dims, &Default::default(), &mut table).expect("a network");
    let params: Params = table.initialise(3);
    let columns = [("past", dims.hist_exog), ("ahead", dims.futr_exog), ("size", dims.stat_exog)];
    let columns = columns.map(|(name, count)| ScaledColumns {
        names: vec![name.to_owned(); count],
        holds_numbers: vec![true; count],
    });
    let name = entry.name;
    let export = OnnxExport {
        name,
        network: &network,
        params: &params,
        dims,
        multivariate,
        loss,
        scaler,
        exclude_insample_y: false,
        random_seed: 1,
        columns,
    };
    export.graph()
}

fn small(name: &str, loss: &Loss, scaler: WindowScaler) -> Result<File, OnnxError> {
    let entry = find(name).expect("a model of the zoo");
    file(entry, &entry.small().remove(0), loss, scaler).map(|file| read(&file))
}

/// The models that cannot leave.
const STAY: [&str; 2] = ["TimeLLM", "TimesNet"];

/// It takes a second: every model is run three times, in each of its ways.
#[test]
fn every_model_but_two_leaves_in_each_of_its_ways() {
    for entry in MODELS.iter().filter(|entry| !STAY.contains(&entry.name)) {
        for own in entry.small() {
            let found = file(entry, &own, &Loss::mae(), WindowScaler::Identity);
            let found = read(&found.unwrap_or_else(|error| panic!("{} with {own:?}: {error}", entry.name)));
            let series = if entry.kind.starts_with("multivariate") { vec![-1, 2] } else { vec![-1] };
            let sizes = |sizes: &[i64]| [&series[..], sizes].concat();
            assert_eq!(found.outputs, [("forecast".to_owned(), sizes(&[6, 1]))], "{}", entry.name);
            assert_eq!(found.inputs[0].0, "insample_y");
            let names: Vec<&str> = found.inputs.iter().map(|(name, _)| name.as_str()).collect();
            let exogenous = entry.exogenous;
            let expected =
                [("hist_exog", exogenous.hist), ("futr_exog", exogenous.futr), ("stat_exog", exogenous.stat)];
            let expected = expected.iter().filter(|(_, reads)| *reads).map(|(name, _)| *name);
            let expected: Vec<&str> = ["insample_y", "insample_mask"].into_iter().chain(expected).collect();
            assert_eq!(names, expected, "{}", entry.name);
        }
    }
}

#[test]
fn what_stands_in_the_way_is_named() {
    let found = |name| {
        small(name, &Loss::mae(), WindowScaler::Identity)
            .map(|file| file.nodes)
            .expect_err("it stays")
            .to_string()
    };
    assert!(
        found("TimesNet").contains("the periods that its windows are folded by"),
        "{}",
        found("TimesNet")
    );
    let arguments = [("distribution".to_owned(), Value::from("StudentT"))].into_iter().collect();
    let student = Loss::new("DistributionLoss", &arguments).expect("a loss");
    let error = small("MLP", &student, WindowScaler::Identity).map(|file| file.nodes).expect_err("it stays");
    assert!(matches!(error, OnnxError::Loss { .. }), "{error}");
}

#[test]
fn a_linear_model_is_a_handful_of_nodes() {
    let found = small("NLinear", &Loss::mae(), WindowScaler::Identity).expect("a graph");
    let expected = ["Slice", "Sub", "MatMul", "Add", "Add"];
    let products: Vec<&str> =
        found.nodes.iter().map(String::as_str).filter(|node| expected.contains(node)).collect();
    assert_eq!(products, expected);
    assert!(found.nodes.len() < 16, "{:?}", found.nodes);
}

#[test]
fn scalers_and_quantiles_are_inside() {
    let levels = Loss::multi_quantile(&[80]);
    for scaler in WindowScaler::ALL {
        let found = small("MLP", &levels, scaler).expect("a graph");
        let names: Vec<String> = levels.suffixes().iter().map(|suffix| format!("MLP{suffix}")).collect();
        assert_eq!(found.columns, names.join("\n"));
        assert_eq!(found.outputs[0].1, [-1, 6, 3]);
        let sorts = found.nodes.iter().any(|node| node == "TopK");
        assert_eq!(sorts, matches!(scaler, WindowScaler::Robust | WindowScaler::Invariant), "{scaler}");
    }
}
