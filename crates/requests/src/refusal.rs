//! Why a request is refused.

use std::error::Error as StdError;

use foretell::report::ReportError;
use foretell::{DataError, Error, ErrorFacts, SpecError, TableError, columns_meant};
use foretell_auto::{AutoError, listed};
use serde_json::{Value, json};

/// Why a request is refused: what programs read of an error.
#[derive(Debug)]
pub(crate) struct Refusal {
    facts: Box<ErrorFacts>,
    /// The columns that may be meant, where it is not clear which.
    columns: Vec<String>,
}

impl From<ErrorFacts> for Refusal {
    fn from(facts: ErrorFacts) -> Self {
        Self { facts: Box::new(facts), columns: Vec::new() }
    }
}

impl Refusal {
    /// A request that is not what it should be; `setting` is the field.
    pub(crate) fn request(setting: &str, message: impl Into<String>) -> Self {
        ErrorFacts { setting: Some(setting.to_owned()), ..ErrorFacts::told("request", message) }.into()
    }

    /// A model that there is not: freed, or of a module that had to be started again.
    pub(crate) fn no_model() -> Self {
        ErrorFacts::told(
            "no_model",
            "there is no such model: it was freed, or the module was started again after a failure; fit or load it again",
        )
        .into()
    }

    /// Bytes that are no archive of a model.
    pub(crate) fn archive(message: impl Into<String>) -> Self {
        ErrorFacts::told("archive", message).into()
    }

    fn of(error: &(dyn StdError + 'static)) -> Self {
        ErrorFacts::of(error).into()
    }

    pub(crate) fn to_json(&self) -> Value {
        let mut error = json!(self.facts);
        if let (Some(fields), false) = (error.as_object_mut(), self.columns.is_empty()) {
            fields.insert("columns".to_owned(), json!(self.columns));
        }
        json!({ "error": error })
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        match error {
            Error::Data(error) => error.into(),
            error => Self::of(&error),
        }
    }
}

impl From<DataError> for Refusal {
    fn from(error: DataError) -> Self {
        Self { columns: listed(columns_meant(&error)), ..Self::of(&error) }
    }
}

impl From<TableError> for Refusal {
    fn from(error: TableError) -> Self {
        DataError::from(error).into()
    }
}

impl From<SpecError> for Refusal {
    fn from(error: SpecError) -> Self {
        if let SpecError::WithoutFeature { model, feature: "networks" } = error {
            let facts = ErrorFacts::of(&error);
            let advice = "import it from foretell, or choose another model";
            let message =
                format!("{model} is a network that is trained, and foretell/slim has none; {advice}");
            return ErrorFacts { message, advice: Some(advice.to_owned()), ..facts }.into();
        }
        Self::of(&error)
    }
}

impl From<AutoError> for Refusal {
    fn from(error: AutoError) -> Self {
        let setting = match &error {
            AutoError::HyperParameter(error) => return Self::of(error),
            AutoError::Member { .. } => "models",
            AutoError::Budget { .. } => "budget",
            _ => return Self::of(&error),
        };
        Self::request(setting, error.to_string())
    }
}

impl From<ReportError> for Refusal {
    fn from(error: ReportError) -> Self {
        Self::request("report", error.to_string())
    }
}

impl From<foretell::evaluate::EvaluationError> for Refusal {
    fn from(error: foretell::evaluate::EvaluationError) -> Self {
        Self::of(&error)
    }
}
