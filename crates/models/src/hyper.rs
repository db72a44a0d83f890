//! How a model states its hyper-parameters.

use foretell_nn::HyperParameterError;
use serde_json::{Map, Value};

use crate::rules::ValueRule;

/// The hyper-parameters that only one model has, each with a default, a name and a meaning.
/// [`hyper_parameters!`](crate::hyper_parameters) makes such a struct.
pub trait HyperParameters: Default {
    /// The name and the meaning of each.
    fn meanings() -> Vec<(&'static str, &'static str)>;

    /// All hyper-parameters by name, as JSON.
    fn to_map(&self) -> Map<String, Value>;

    /// Sets the hyper-parameter of this name; `None` if there is no such hyper-parameter.
    ///
    /// # Errors
    /// If the value is not of its type, or not one that its rule allows.
    fn set(&mut self, name: &str, value: &Value) -> Option<Result<(), HyperParameterError>>;
}

/// Checks that a hyper-parameter of this name fits the others and the sizes.
pub(crate) fn require(
    name: &str,
    holds: bool,
    expected: impl Into<String>,
    found: Value,
) -> Result<(), HyperParameterError> {
    if holds { Ok(()) } else { Err(HyperParameterError::new(name, expected, found)) }
}

/// Makes the struct of a model's hyper-parameters from each one's meaning, name, type, default and, behind `=>`, the rule
/// that its values keep: a function such as those of [`rules`](crate::rules).
///
/// Their types are those that serde reads and writes. Hyper-parameters that several models share are a struct of their
/// own, at the end: `..shared: Shared = Shared::default(),`.
///
/// ```
/// use foretell_models::{HyperParameters, hyper_parameters, rules};
///
/// hyper_parameters! {
///     /// Two numbers and a name.
///     pub struct Drift {
///         /// Steps that the drift is taken over.
///         steps: usize = 12 => rules::units,
///         /// How much of it is kept.
///         damping: f32 = 0.9 => |&damping| rules::require(damping > 0.0, "above 0"),
///     }
/// }
///
/// let mut drift = Drift::default();
/// assert!(drift.set("steps", &24.into()).is_some_and(|set| set.is_ok()));
/// assert!(drift.set("steps", &"a year".into()).is_some_and(|set| set.is_err()));
/// assert!(drift.set("slope", &1.into()).is_none());
/// let error = drift.set("damping", &0.into()).unwrap().unwrap_err();
/// assert_eq!(error.to_string(), "hyper-parameter damping must be above 0, found 0");
/// assert_eq!((drift.steps, drift.damping), (24, 0.9));
/// assert_eq!(Drift::meanings()[0], ("steps", "Steps that the drift is taken over."));
/// ```
#[macro_export]
macro_rules! hyper_parameters {
    ($(#[$attribute:meta])* $visibility:vis struct $config:ident {
        $($(#[doc = $meaning:literal])+ $name:ident: $type:ty = $default:expr $(=> $rule:expr)?,)*
        $(..$shared:ident: $more:ty = $base:expr,)?
    }) => {
        $(#[$attribute])*
        #[derive(Debug)]
        $visibility struct $config {
            $($(#[doc = $meaning])+ $visibility $name: $type,)*
            $($visibility $shared: $more,)?
        }

        impl Default for $config {
            fn default() -> Self {
                Self { $($name: $default,)* $($shared: $base,)? }
            }
        }

        impl $crate::HyperParameters for $config {
            fn meanings() -> Vec<(&'static str, &'static str)> {
                let own = [$((stringify!($name), concat!($($meaning),+).trim()),)*];
                own.into_iter()$(.chain(<$more as $crate::HyperParameters>::meanings()))?.collect()
            }

            fn to_map(&self) -> $crate::Map<String, $crate::Value> {
                let own = [$((stringify!($name).to_owned(), $crate::json!(self.$name)),)*];
                own.into_iter()$(.chain($crate::HyperParameters::to_map(&self.$shared)))?.collect()
            }

            fn set(
                &mut self,
                name: &str,
                value: &$crate::Value,
            ) -> Option<Result<(), $crate::HyperParameterError>> {
                let _ = value;
                match name {
                    $(stringify!($name) => {
                        let rules: &[$crate::rules::ValueRule<$type>] = &[$($rule)?];
                        let default = || $crate::json!(Self::default().$name);
                        Some($crate::read(name, value, default, rules).map(|value| self.$name = value))
                    })*
                    $(_ => $crate::HyperParameters::set(&mut self.$shared, name, value),
                    #[allow(unreachable_patterns)])?
                    _ => None,
                }
            }
        }
    };
    // Without a visibility, as the zoo's models write it, the struct is `pub(crate)`.
    ($(#[$attribute:meta])* $config:ident $fields:tt) => {
        $crate::hyper_parameters! { $(#[$attribute])* pub(crate) struct $config $fields }
    };
}

pub(crate) use hyper_parameters;

/// The JSON value as the type of the hyper-parameter of this name, if it keeps the rules.
#[doc(hidden)]
pub fn read<T: serde::de::DeserializeOwned>(
    name: &str,
    value: &Value,
    default: impl Fn() -> Value,
    rules: &[ValueRule<T>],
) -> Result<T, HyperParameterError> {
    let read = T::deserialize(value).map_err(|error| in_words(&error.to_string(), &default()));
    read.and_then(|read| rules.iter().try_for_each(|rule| rule(&read)).map(|()| read))
        .map_err(|expected| HyperParameterError::new(name, expected, value))
}

/// The values of a hyper-parameter in words, where one is of another type: serde names types as Rust does.
fn in_words(error: &str, default: &Value) -> String {
    let kind = match error.rsplit_once("expected ").map_or(error, |(_, kind)| kind) {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number of at least 0",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a string" => "a text",
        "a sequence" => "a list",
        kind => return format!("like its default, {default} ({kind})"),
    };
    format!("{kind}, like its default {default}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_told_in_words() {
        let refused = |name: &str, value: Value| {
            let error = HyperParameters::set(&mut Config::default(), name, &value).unwrap().unwrap_err();
            error.expected
        };
        assert_eq!(
            refused("left", serde_json::json!("x")),
            "a whole number of at least 0, like its default 1"
        );
        assert_eq!(
            refused("left", serde_json::json!(1.5)),
            "a whole number of at least 0, like its default 1"
        );
        assert_eq!(refused("story", serde_json::json!(3)), "a text, like its default \"once\"");
    }

    hyper_parameters! {
        Common {
            /// Half of it.
            left: usize = 1 => |left| crate::rules::within(left, 1..=7),
        }
    }

    hyper_parameters! {
        /// Hyper-parameters of a test's model.
        Config {
            /// A long
            /// story.
            story: String = "once".to_owned(),
            ..shared: Common = Common { left: 7 },
        }
    }

    #[test]
    fn shared_ones_come_last_in_defaults_and_meanings() {
        let mut config = Config::default();
        assert_eq!(Value::from(config.to_map()).to_string(), r#"{"story":"once","left":7}"#);
        assert_eq!(Config::meanings(), [("story", "A long story."), ("left", "Half of it.")]);
        assert_eq!(Common::default().left, 1);
        assert!(config.set("left", &2.into()).unwrap().is_ok());
        assert!(config.set("story", &2.into()).unwrap().is_err());
        assert!(config.set("right", &2.into()).is_none());
        let error = config.set("left", &8.into()).unwrap().unwrap_err().of("Half");
        assert_eq!(error.to_string(), "Half: hyper-parameter left must be between 1 and 7, found 8");
        assert_eq!((config.story.as_str(), config.shared.left), ("once", 2));
    }
}
