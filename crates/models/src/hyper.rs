//! How a model states its hyper-parameters.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The hyper-parameters of a model that are its own.
pub(crate) trait Hyper: Default + Serialize + DeserializeOwned {
    /// Each one's name and what it means.
    fn meanings() -> Vec<(&'static str, &'static str)>;
}

/// Makes the struct of a model's hyper-parameters from each one's meaning, name, type and default. Those that
/// several models share are a struct of their own, at the end: `..shared: Config = Config::default(),`.
macro_rules! hyper_parameters {
    ($(#[$attribute:meta])* $config:ident {
        $($(#[doc = $meaning:literal])+ $name:ident: $type:ty = $default:expr,)*
        $(..$shared:ident: $more:ty = $base:expr,)?
    }) => {
        $(#[$attribute])*
        #[derive(Debug, serde::Serialize, serde::Deserialize)]
        pub(crate) struct $config {
            $($(#[doc = $meaning])+ $name: $type,)*
            $(#[serde(flatten)] $shared: $more,)?
        }

        impl Default for $config {
            fn default() -> Self {
                Self { $($name: $default,)* $($shared: $base,)? }
            }
        }

        impl $crate::hyper::Hyper for $config {
            fn meanings() -> Vec<(&'static str, &'static str)> {
                let own = [$((stringify!($name), concat!($($meaning),+).trim()),)*];
                own.into_iter()$(.chain(<$more as $crate::hyper::Hyper>::meanings()))?.collect()
            }
        }
    };
}

pub(crate) use hyper_parameters;

#[cfg(test)]
mod tests {
    use super::*;

    hyper_parameters! {
        Common {
            /// Half of it.
            left: usize = 1,
        }
    }

    hyper_parameters! {
        /// What a model has.
        Config {
            /// A long
            /// story.
            story: String = "once".to_owned(),
            ..shared: Common = Common { left: 7 },
        }
    }

    #[test]
    fn shared_ones_come_last_in_defaults_and_meanings() {
        assert_eq!(serde_json::to_string(&Config::default()).unwrap(), r#"{"story":"once","left":7}"#);
        assert_eq!(Config::meanings(), [("story", "A long story."), ("left", "Half of it.")]);
        assert_eq!(Common::default().left, 1);
    }
}
