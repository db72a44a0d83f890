//! What a plan of a training refuses.

/// Models and settings that cannot be trained together.
#[derive(Clone, Debug, PartialEq, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum PlanError {
    /// A forecaster without models.
    #[error("a forecaster needs at least one model")]
    NoModels,
    /// Models of different horizons.
    #[error(
        "all models of a forecaster forecast the same horizon; {first} has h = {h}, {other} has h = {found}"
    )]
    #[strum(serialize = "unequal_horizons")]
    Horizons {
        /// The first model.
        first: String,
        /// Its horizon.
        h: usize,
        /// A model of another horizon.
        other: String,
        /// Its horizon.
        found: usize,
    },
    /// A validation part that is shorter than the horizon.
    #[error("val_size must be 0 or at least h = {h}, found {found}")]
    #[strum(serialize = "val_size_too_small")]
    ValSize {
        /// The horizon.
        h: usize,
        /// The length of the validation part that was set.
        found: usize,
    },
    /// Rows to validate on in two places.
    #[error(
        "the models are validated on data of their own or on the last {val_size} rows (val_size), not on both; leave one out"
    )]
    TwoValidations {
        /// The length of the validation part that was set.
        val_size: usize,
    },
    /// Two columns of one name.
    #[error("two columns of the forecast would be called {name}; give the models other aliases (alias)")]
    #[strum(serialize = "two_columns_of_one_name")]
    Columns {
        /// The name.
        name: String,
    },
    /// One name for two kinds of models.
    #[error("models of two kinds, {first} and {second}, have the alias {alias}; give one of them another")]
    #[strum(serialize = "two_models_of_one_alias")]
    Aliases {
        /// The alias.
        alias: String,
        /// A model of that alias.
        first: &'static str,
        /// Another model of that alias.
        second: &'static str,
    },
    /// An ensemble of a single model.
    #[error("an ensemble combines the forecasts of several models; name two or more")]
    EnsembleOfOne,
    /// A model that is to continue from a trained one that there is not.
    #[error("{model} is to be trained on from where it is, but the trained models are {known}")]
    NoStart {
        /// The model's column.
        model: String,
        /// The columns of the trained models.
        known: String,
    },
    /// A column of categories that the trained model does not read.
    #[error(
        "{model} was trained without the categories of column {column}, so its training cannot continue with them; leave the \
         column out of cat_exog_list, or train anew"
    )]
    NoStartCategories {
        /// The model's column.
        model: String,
        /// The column.
        column: String,
    },
    /// Features that no model reads.
    #[error(
        "no model reads {kind}, as the features {columns} are: {models}; leave them out, or add a model that does"
    )]
    FeaturesUnread {
        /// The models.
        models: String,
        /// The kind of columns.
        kind: &'static str,
        /// The columns.
        columns: String,
    },
    /// A column that holds categories for one model and numbers for another.
    #[error(
        "{model}: column {column} is in cat_exog_list of another model; list it in this one's too, or give it another column"
    )]
    #[strum(serialize = "categories_of_another_model")]
    Categorical {
        /// The alias of the model that reads it as numbers.
        model: String,
        /// The column.
        column: String,
    },
    /// A column of categories that stands in the data and in the static table.
    #[error("column {column} holds categories in the data and in the static table; rename one of the two")]
    #[strum(serialize = "column_in_two_tables")]
    TwoColumns {
        /// The column.
        column: String,
    },
    /// A scaler of series over columns that no scaler may change.
    #[error(
        "{model} reads {columns} unchanged, of the target's scale or as marks, which a scaler of series would change; train without one"
    )]
    ScaledColumns {
        /// The name of the model's column.
        model: String,
        /// The columns.
        columns: String,
    },
}

impl PlanError {
    /// The setting that it is about.
    pub(crate) fn setting(&self) -> Option<&'static str> {
        match self {
            Self::Horizons { .. } => Some("h"),
            Self::ValSize { .. } | Self::TwoValidations { .. } => Some("val_size"),
            Self::Columns { .. } | Self::Aliases { .. } => Some("alias"),
            Self::EnsembleOfOne => Some("ensemble"),
            _ => None,
        }
    }

    /// The column that it is about.
    pub(crate) fn column(&self) -> Option<&str> {
        match self {
            Self::Categorical { column, .. }
            | Self::TwoColumns { column }
            | Self::NoStartCategories { column, .. } => Some(column),
            _ => None,
        }
    }
}
