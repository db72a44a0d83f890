//! The options of taking forecasts apart.

use foretell_data::Future;

use crate::setters::setters;

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

    setters! {
        /// The future values of the columns that a model knows in advance.
        future(impl Into<Option<&'a Future>>) = future.into();
        /// Steps to take apart.
        h(usize) = Some(h);
    }
}
