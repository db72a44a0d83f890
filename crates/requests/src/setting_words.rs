//! The options under which the package offers what messages of the libraries tell users to change.

use std::borrow::Cow;

use foretell::{Setting, SettingWords, request_field, request_value};

pub(crate) const OPTIONS: SettingWords = SettingWords {
    name: option,
    with_value: |setting, name, value| format!("{name}: {}", request_value(setting, value)),
};

/// A field of a request, or of a training, which a server has not.
fn option(setting: Setting) -> Option<Cow<'static, str>> {
    match setting {
        Setting::Intervals => Some("intervals".into()),
        Setting::Precision => Some("precision".into()),
        Setting::LowMemory => Some("lowMemory".into()),
        Setting::Categories => Some("categories".into()),
        Setting::NonNegative => Some("nonNegative".into()),
        Setting::Horizon => Some("h".into()),
        Setting::Models => Some("about()".into()),
        setting => request_field(setting),
    }
}

#[cfg(test)]
mod tests {
    use foretell::in_words_of;

    use super::*;

    #[test]
    fn no_answer_names_a_flag() {
        for &setting in Setting::ALL {
            let told =
                in_words_of(OPTIONS, || [setting.to_string(), setting.to("value").to_string()].concat());
            assert!(!told.contains("--"), "{setting:?}: {told}");
        }
        assert_eq!(
            in_words_of(OPTIONS, || Setting::Categories.to("promo").to_string()),
            "`categories: promo`"
        );
    }
}
