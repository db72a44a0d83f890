//! What a kind draws.

/// A series before it is rounded to `f32`, and the periods that it was made with, in steps.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    pub(crate) values: Vec<f64>,
    pub(crate) seasons: Vec<f64>,
}
