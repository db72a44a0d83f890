//! Whether this program has products in fewer bits than `f32`.

/// Whether products may have fewer bits than `f32`: the feature `amp`.
pub const AMP: bool = cfg!(feature = "amp");

/// A precision that was asked of a program that was built without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "foretell was built without the feature `amp` and computes in f32 only, not in {precision}; build it with that feature, or \
     leave the precision out"
)]
pub struct WithoutAmp {
    precision: &'static str,
}

/// Whether this program computes in a precision, by its name.
///
/// # Errors
/// If it is not `f32` and the program was built without the feature `amp`.
pub fn check_amp(precision: &'static str) -> Result<(), WithoutAmp> {
    if AMP || precision == "f32" { Ok(()) } else { Err(WithoutAmp { precision }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f32_needs_no_feature_and_the_error_of_others_names_it() {
        assert_eq!(check_amp("f32"), Ok(()));
        assert_eq!(check_amp("bf16").is_ok(), AMP);
        if let Err(error) = check_amp("bf16") {
            assert!(error.to_string().contains("the feature `amp`"), "{error}");
        }
    }

    #[cfg(not(feature = "amp"))]
    #[test]
    #[should_panic(expected = "need the feature `amp`")]
    fn without_the_feature_weights_are_held_in_f32() {
        crate::Table::default().initialise(1).hold(crate::WeightPrecision::Int8);
    }
}
