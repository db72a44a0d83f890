//! The options of an explanation.

use foretell_data::Future;
use foretell_estimator::Attribution;

use crate::setters::setters;

/// The options of [`Fitted::explain`](crate::Fitted::explain).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ExplainOptions<'a> {
    /// How contributions are computed; integrated gradients at 50 points by default.
    pub method: Attribution,
    /// Which of the outputs of the models' losses is explained, counted from 0, the default.
    pub output: usize,
    /// The columns of the models that are explained; all networks by default.
    pub models: &'a [String],
    /// The future values of the columns that a model knows in advance, if one has any.
    pub future: Option<&'a Future>,
    /// Steps to explain; the models' own horizon by default. More are explained horizon by horizon.
    pub h: Option<usize>,
}

impl<'a> ExplainOptions<'a> {
    /// All networks, by this method.
    pub fn new(method: Attribution) -> Self {
        Self { method, ..Self::default() }
    }

    setters! {
        /// Which of the outputs is explained.
        output(usize);
        /// The columns of the models that are explained.
        models(&'a [String]);
        /// The future values of the columns that a model knows in advance.
        future(impl Into<Option<&'a Future>>) = future.into();
        /// Steps to explain.
        h(usize) = Some(h);
    }
}

impl Default for ExplainOptions<'_> {
    fn default() -> Self {
        let method = Attribution::IntegratedGradients { points: 50 };
        Self { method, output: 0, models: &[], future: None, h: None }
    }
}
