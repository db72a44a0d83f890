//! How a model states its hyper-parameters.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The hyper-parameters of a model that are its own.
pub(crate) trait Hyper: Default + Serialize + DeserializeOwned {
    /// Each one's name and what it means.
    const MEANINGS: &'static [(&'static str, &'static str)];
}

/// Makes the struct of a model's hyper-parameters from each one's meaning, name, type and default.
macro_rules! hyper_parameters {
    ($(#[$attribute:meta])* $config:ident {
        $($(#[doc = $meaning:literal])+ $name:ident: $type:ty = $default:expr,)*
    }) => {
        $(#[$attribute])*
        #[derive(Debug, serde::Serialize, serde::Deserialize)]
        pub(crate) struct $config {
            $($(#[doc = $meaning])+ $name: $type,)*
        }

        impl Default for $config {
            fn default() -> Self {
                Self { $($name: $default,)* }
            }
        }

        impl $crate::hyper::Hyper for $config {
            const MEANINGS: &'static [(&'static str, &'static str)] =
                &[$((stringify!($name), concat!($($meaning),+))),*];
        }
    };
}

pub(crate) use hyper_parameters;
