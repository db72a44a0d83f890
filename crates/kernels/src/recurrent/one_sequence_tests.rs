//! Layers over one sequence, with weights held for forecasts, alone and on top of each other.

use foretell_gemm::WeightFormat;
use foretell_simd::Activation;
use foretell_threads::{Workers, share};

use super::*;

/// Layers over one sequence, of sizes around those of groups of units.
fn single_sequences() -> impl Iterator<Item = Case> {
    let cells = [Cell::Rnn(Activation::Tanh), Cell::Lstm, Cell::Gru];
    cells.into_iter().flat_map(|cell| [1, 7, 16, 63, 64, 100, 128, 200].map(|hidden| (cell, hidden))).map(
        |(cell, hidden)| {
            let layer = Layer {
                cell,
                steps: 5,
                batch: 1,
                inputs: 24,
                hidden,
                projection: None,
                rounding: Rounding::None,
                keeping: Rounding::None,
            };
            Case::new(layer, 1, hidden != 63)
        },
    )
}

#[test]
fn a_single_sequence_by_groups_of_units_is_that_of_the_definition() {
    for level in Level::available() {
        with_level(level, || {
            for case in single_sequences().filter(|case| case.layer.hidden <= 128) {
                let expected = case.naive(None);
                let held = HeldWeights::new(None);
                let [states, cells, _] =
                    case.run_with(Some(&held), case.layer, 0, &case.start, RunMode::Inference);
                for (i, (found, expected)) in states[case.layer.hidden..].iter().zip(expected).enumerate() {
                    assert_close(*found, expected, &format!("{level}, {:?}, state {i}", case.layer));
                }
                let rows = case.layer.cell.gates() * case.layer.hidden;
                let u = 4 * rows.next_multiple_of(16) * case.layer.hidden;
                let wide = RecurrentBytes { input: 10, state: 1, projection: 100 };
                assert_eq!((wide.sum(), held.bytes(wide)), (111, 110 + u), "the copy of U stands for it");
                // A run continues from the states that another one left.
                let (first, rest) = (Layer { steps: 2, ..case.layer }, Layer { steps: 3, ..case.layer });
                let run =
                    |layer, from, start| case.run_with(Some(&held), layer, from, start, RunMode::Inference);
                let [part, part_cells, _] = run(first, 0, &case.start);
                let c = if cells.is_empty() {
                    vec![]
                } else {
                    part_cells[first.last_cell(RunMode::Inference)].to_vec()
                };
                let [part, ..] = run(rest, 2, &[part[2 * case.layer.hidden..].to_vec(), c]);
                for (found, expected) in part.iter().zip(&states[2 * case.layer.hidden..]) {
                    assert_close(*found, f64::from(*expected), &format!("{level}, {:?}", case.layer));
                }
            }
        });
    }
}

/// In int8 to the last bit; in bfloat16 a step of one sequence adds its inputs to the product, which that of several begins
/// with.
#[test]
fn a_single_sequence_in_fewer_bits_is_that_of_a_batch() {
    for format in [WeightFormat::Bf16, WeightFormat::Int8] {
        for case in single_sequences() {
            let held = HeldWeights::new(Some(format));
            let run = |case: &Case| {
                let [states, cells, _] =
                    case.run_with(Some(&held), case.layer, 0, &case.start, RunMode::Inference);
                (states, cells)
            };
            let twice = |values: &[f32], size: usize| {
                values.chunks(size).flat_map(|row| [row, row].concat()).collect()
            };
            let Layer { hidden, inputs, .. } = case.layer;
            let both = Case {
                layer: Layer { batch: 2, ..case.layer },
                x: twice(&case.x, inputs),
                start: case.start.each_ref().map(|start| twice(start, hidden)),
                weights: case.weights.clone(),
                grad: vec![],
                biased: case.biased,
            };
            let (alone, batch) = (run(&case), run(&both));
            let far = if format == WeightFormat::Int8 { 0.0 } else { 1e-5 };
            let check = |found: &[f32], expected: &[f32]| {
                assert_eq!(found.len(), expected.len());
                for (found, expected) in found.iter().zip(expected) {
                    assert!(
                        (found - expected).abs() <= far,
                        "{format:?}, {:?}: {found}, not {expected}",
                        case.layer
                    );
                }
            };
            check(&sequences(&batch.0, 2, hidden, &(1..2)), &alone.0);
            if !alone.1.is_empty() {
                let last = case.layer.last_cell(RunMode::Inference);
                let c = &batch.1[both.layer.last_cell(RunMode::Inference)];
                check(&c[hidden..], &alone.1[last]);
            }
        }
    }
}

#[test]
fn threads_change_no_bit_of_a_single_sequence() {
    for format in [None, Some(WeightFormat::Bf16), Some(WeightFormat::Int8)] {
        for cell in [Cell::Lstm, Cell::Gru] {
            // More steps than those whose inputs are multiplied at once.
            let layer = Layer {
                cell,
                steps: ROWS + 40,
                batch: 1,
                inputs: 3,
                hidden: 200,
                projection: None,
                rounding: Rounding::None,
                keeping: Rounding::None,
            };
            let case = Case::new(layer, 1, true);
            let held = HeldWeights::new(format);
            let run = |threads: usize| {
                let run = || case.run_with(Some(&held), layer, 0, &case.start, RunMode::Inference);
                let [states, cells, _] = Workers::new(threads).unwrap().enter(|| share(threads, run));
                let c = if cells.is_empty() {
                    vec![]
                } else {
                    cells[layer.last_cell(RunMode::Inference)].to_vec()
                };
                (states, c)
            };
            let alone = run(1);
            assert!([2, 3].into_iter().all(|threads| run(threads) == alone), "{format:?}, {cell:?}");
        }
    }
}

/// The second layer reads the states of the first. Steps that are no whole chunks, and fewer than a stack takes.
#[test]
fn a_stack_is_one_layer_after_the_other_at_any_number_of_threads() {
    for format in [None, Some(WeightFormat::Bf16), Some(WeightFormat::Int8)] {
        for (cell, steps) in
            [(Cell::Rnn(Activation::Tanh), 70), (Cell::Lstm, 32), (Cell::Gru, 33), (Cell::Lstm, 31)]
        {
            let layer = |inputs| {
                let (hidden, rounding) = (64, Rounding::None);
                Layer {
                    cell,
                    steps,
                    batch: 1,
                    inputs,
                    hidden,
                    projection: None,
                    rounding,
                    keeping: Rounding::None,
                }
            };
            let cases = [3, 64, 64].map(|inputs| Case::new(layer(inputs), 1, true));
            let held = [(); 3].map(|()| HeldWeights::new(format));
            // States, and c after the last step, of each layer.
            let mut input = cases[0].x.clone();
            let one_by_one = [0, 1, 2].map(|k| {
                let case = Case {
                    x: input.clone(),
                    weights: cases[k].weights.clone(),
                    start: cases[k].start.clone(),
                    grad: vec![],
                    ..cases[k]
                };
                let [states, cells, _] =
                    case.run_with(Some(&held[k]), case.layer, 0, &case.start, RunMode::Inference);
                input = states[64..].to_vec();
                (states, cells.get(case.layer.last_cell(RunMode::Inference)).unwrap_or_default().to_vec())
            });
            let stack = |threads: usize| {
                let mut memory = cases.each_ref().map(|case| {
                    let lens = [case.layer.states_len(), case.layer.cells_len(RunMode::Inference)];
                    let mut memory = lens.map(|len| vec![f32::NAN; len]);
                    for (values, start) in memory.iter_mut().zip(&case.start) {
                        values.iter_mut().zip(start).for_each(|(to, from)| *to = *from);
                    }
                    memory
                });
                let layers = memory.iter_mut().zip(cases.iter().zip(&held));
                let mut layers: Vec<_> = layers
                    .map(|([states, cells], (case, held))| StackedLayer {
                        layer: case.layer,
                        weights: Weights { held: Some(held), ..case.weights() },
                        states,
                        cells,
                    })
                    .collect();
                let run = || forward_stack(&mut layers, &cases[0].x);
                let ran = Workers::new(threads).unwrap().enter(|| share(threads, run));
                ran.then_some(memory.map(|[states, cells]| {
                    (
                        states,
                        cells.get(cases[0].layer.last_cell(RunMode::Inference)).unwrap_or_default().to_vec(),
                    )
                }))
            };
            let alone = stack(1);
            assert_eq!(alone.is_some(), steps >= 32);
            assert!([2, 3, 4].into_iter().all(|threads| stack(threads) == alone), "{format:?}, {cell:?}");
            for (k, (found, expected)) in alone.iter().flatten().zip(&one_by_one).enumerate() {
                // Sums of whole numbers are exact in any order; in scalar code they are sums of products in f32.
                let is_exact = format == Some(WeightFormat::Int8) && foretell_simd::level() != Level::Scalar;
                let far = if is_exact { 0.0 } else { 1e-4 };
                let close = |found: &[f32], expected: &[f32]| {
                    found.len() == expected.len()
                        && found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= far)
                };
                assert!(close(&found.0, &expected.0), "{format:?}, {cell:?}, states of layer {k}");
                assert!(close(&found.1, &expected.1), "{format:?}, {cell:?}, c of layer {k}");
            }
        }
    }
}
