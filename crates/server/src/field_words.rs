//! The words of requests for what messages of the libraries tell users to change.

use std::borrow::Cow;

use foretell::{Setting, SettingWords, request_field, request_value};

/// The names of settings in requests, in which the server words its answers, for [`foretell::in_words_of`]. What no request sets is a
/// setting of the model or of the server: a client does not know the names that the process has for them.
pub const FIELD_WORDS: SettingWords = SettingWords { name: field, with_value: given };

/// The field of a request, else whose setting it is.
fn field(setting: Setting) -> Option<Cow<'static, str>> {
    let named: Cow<'static, str> = match setting {
        Setting::Horizon => "h".into(),
        Setting::SearchWindows => "n_windows".into(),
        // Rows and series that are left out are not sent.
        Setting::Since | Setting::Until => "data".into(),
        Setting::DropShort => "data without them".into(),
        Setting::MaxMemory => "the server's max_memory".into(),
        Setting::Categories => "the model's cat_exog_list".into(),
        Setting::Holidays => "the model's holidays".into(),
        setting => request_field(setting).unwrap_or_else(|| format!("the model's {}", setting.key()).into()),
    };
    Some(named)
}

/// A field with its value.
fn given(setting: Setting, name: &str, value: String) -> String {
    match setting {
        Setting::Since => format!("data from {value} on"),
        Setting::Until => format!("data up to {value}"),
        _ => format!("{name} = {}", request_value(setting, value)),
    }
}

#[cfg(test)]
mod tests {
    use foretell::in_words_of;

    use super::*;

    #[test]
    fn no_answer_names_a_flag_or_a_name_of_the_process() {
        for &setting in Setting::ALL {
            // What has no name here would have that of the command line that runs the server.
            assert!((FIELD_WORDS.name)(setting).is_some(), "{setting:?}");
            let told =
                in_words_of(FIELD_WORDS, || [setting.to_string(), setting.to("value").to_string()].concat());
            assert!(!told.contains("--") && !told.contains("::"), "{setting:?}: {told}");
        }
    }

    #[test]
    fn settings_are_fields_or_those_of_the_model() {
        let told = |words: fn() -> String| in_words_of(FIELD_WORDS, words);
        assert_eq!(told(|| Setting::Fill.to("zero").to_string()), "`reading.fill = zero`");
        assert_eq!(told(|| Setting::Categories.to_string()), "`the model's cat_exog_list`");
        assert_eq!(told(|| Setting::Intervals.to(10).to_string()), "`the model's intervals = 10`");
        assert_eq!(told(|| Setting::Until.to("2024-01-01").to_string()), "`data up to 2024-01-01`");
    }
}
