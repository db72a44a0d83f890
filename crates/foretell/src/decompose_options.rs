//! The options of taking forecasts apart.

use foretell_data::Future;

/// The options of [`Fitted::decompose`](crate::Fitted::decompose).
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct DecomposeOptions<'a> {
    /// The future values of the columns that a model knows in advance, if one has any.
    pub future: Option<&'a Future>,
    /// Steps to take apart; the models' own horizon by default. More are taken apart as they are forecast, horizon by horizon.
    pub h: Option<usize>,
}

impl<'a> DecomposeOptions<'a> {
    /// The models' own horizon.
    pub fn new() -> Self {
        Self::default()
    }

    /// The future values of the columns that a model knows in advance.
    pub fn future(self, future: impl Into<Option<&'a Future>>) -> Self {
        Self { future: future.into(), ..self }
    }

    /// Steps to take apart.
    pub fn h(self, h: usize) -> Self {
        Self { h: Some(h), ..self }
    }
}
