//! Mistakes in requests for smaller networks: distillation and pruning.

/// A smaller network that cannot be had as it was asked for.
#[derive(Clone, Debug, PartialEq, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum SmallerError {
    /// A model that is to learn from a teacher and cannot.
    #[error("{model} cannot learn the forecasts of other models: {reason}")]
    NoStudent {
        /// The model's column.
        model: String,
        /// Why, and what to do.
        reason: &'static str,
    },
    /// A student of another horizon than its teacher.
    #[error("the teacher forecasts {h} steps, and the student is to forecast {found}; give it h = {h}")]
    OtherHorizon {
        /// The teacher's horizon.
        h: usize,
        /// The student's.
        found: usize,
    },
    /// A share of weights that nothing is left of, or that is none.
    #[error(
        "the sparsity is a share of weights or units, at least 0 and below 1, found {found}; a half is 0.5"
    )]
    SparsityOutOfRange {
        /// The share asked for.
        found: f64,
    },
    /// Models to be pruned, none of which is a network.
    #[error(
        "networks are pruned, and none of the models is one: {models}; train a network, such as NHITS or MLP"
    )]
    NothingToPrune {
        /// The models.
        models: String,
    },
}
