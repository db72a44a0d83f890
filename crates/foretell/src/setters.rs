//! Methods of options that set one field each.

/// For each `field(type);` a public method of its name that returns the options with another value in it; for `field(type) = value;`
/// with what is made of the argument.
macro_rules! setters {
    ($($(#[$doc:meta])* $field:ident($type:ty) $(= $value:expr)?;)*) => {
        $(
            $(#[$doc])*
            pub fn $field(self, $field: $type) -> Self {
                Self { $field $(: $value)?, ..self }
            }
        )*
    };
}

pub(crate) use setters;
