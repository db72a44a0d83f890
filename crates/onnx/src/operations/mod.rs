//! The table of operations: how each that is recorded is written in ONNX.

mod activation;
mod arithmetic;
mod attention;
mod kan;
mod lines;
mod modes;
mod norms;
mod products;
mod recurrent;
mod views;

use crate::emitter::{Row, Write};

const TABLES: [&[Row]; 10] = [
    activation::TABLE,
    arithmetic::TABLE,
    attention::TABLE,
    kan::TABLE,
    lines::TABLE,
    modes::TABLE,
    norms::TABLE,
    products::TABLE,
    recurrent::TABLE,
    views::TABLE,
];

/// How the operation of this name is written, if ONNX has it.
pub(crate) fn find(name: &str) -> Option<Write> {
    TABLES.iter().copied().flatten().find(|(of, _)| *of == name).map(|(_, write)| *write)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_is_written_in_one_way() {
        let mut names: Vec<&str> = TABLES.iter().copied().flatten().map(|(name, _)| *name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(find("linear").is_some() && find("rrelu").is_none());
    }
}
