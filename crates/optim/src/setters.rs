//! Methods that set one field each, for structs that may get more of them.

/// For each of these fields a method of its name that returns the struct with another value in it.
macro_rules! setters {
    ($of:ident { $($field:ident: $value:ty),* $(,)? }) => {
        impl $of {
            $(
                #[doc = concat!("The same with another `", stringify!($field), "`.")]
                #[must_use]
                pub fn $field(self, $field: $value) -> Self {
                    Self { $field, ..self }
                }
            )*
        }
    };
}

pub(crate) use setters;
