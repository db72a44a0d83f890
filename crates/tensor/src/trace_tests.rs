//! Records of operations on tensors.

use crate::Tensor;
use crate::trace::{Argument, Record, Trace, choose, is_on, record, traced};

fn names(trace: &Trace) -> Vec<&str> {
    trace.operations.iter().map(|operation| operation.name).collect()
}

#[test]
fn operations_name_what_they_read_and_made() {
    let (x, w) = (Tensor::full([2, 3], 2.0), Tensor::full([3], 5.0));
    let (y, trace) = traced(vec![(&x).into()], || x.mul(&w).transpose(0, 1).contiguous().sum(1));
    assert_eq!(names(&trace), ["expand", "mul", "permute", "copy", "sum"]);
    let mul = &trace.operations[1];
    assert_eq!((&mul.inputs[..], &mul.outputs[..]), (&[Some(0), Some(1)][..], &[3][..]));
    assert_eq!(trace.operations[4].arguments, [("axis", Argument::Size(1))]);
    assert_eq!(trace.place(&y), Some(6));
    assert_eq!(y.to_vec(), [20.0; 3]);
    assert!(!is_on());
}

#[test]
fn a_view_that_is_known_is_no_operation() {
    let x = Tensor::zeros([2, 3]);
    let (y, trace) = traced(vec![(&x).into()], || x.reshape([6]).reshape([2, 3]).broadcast_to([2, 3]));
    assert_eq!(names(&trace), ["reshape"]);
    assert_eq!(trace.place(&y), Some(0));
}

#[test]
fn the_last_operation_that_made_a_tensor_counts() {
    let x = Tensor::zeros([2]);
    let (y, trace) = traced(vec![(&x).into()], || {
        let y = x.scale(2.0);
        record(|| Record::new("twice").input(&x).output(&y));
        choose("nothing");
        y
    });
    assert_eq!(names(&trace), ["scale", "twice"]);
    assert_eq!(trace.place(&y), Some(trace.operations[1].outputs[0]));
    assert_eq!(trace.choices, ["nothing"]);
}

#[test]
fn nothing_is_kept_outside_of_a_record() {
    record(|| unreachable!("no record is on"));
    let (_, trace) = traced(Vec::new(), || ());
    assert!(trace.operands.is_empty() && trace.operations.is_empty());
}
