//! Settings as fields of requests in JSON, which a server and the package for JavaScript share.

use std::borrow::Cow;

use crate::setting::Setting;

/// The field of a request that sets it: `reading` has the options of reading by their names in Rust, and tables and ends are beside it.
/// Nothing of a setting that requests have not.
pub fn request_field(setting: Setting) -> Option<Cow<'static, str>> {
    Some(match setting {
        Setting::End => "end".into(),
        Setting::FutureRows => "future".into(),
        Setting::StaticTable => "static".into(),
        Setting::Calibrate => "intervals".into(),
        // No request asks for it.
        Setting::Models => "docs/models.md".into(),
        // Columns of categories are those of the models.
        Setting::Categories => return None,
        setting => match setting.in_rust().split_once("::")? {
            ("ReadOptions", option) => format!("reading.{}", option.split('.').next()?).into(),
            ("FileOptions", _) => "reading.file".into(),
            _ => return None,
        },
    })
}

/// A value as the field of a request takes it: the marks of numbers are a pair of that before decimals and that between thousands.
pub fn request_value(setting: Setting, value: String) -> String {
    match setting {
        Setting::Decimal => format!("[\"{value}\",null]"),
        Setting::Thousands if value == "." => "[\",\",\".\"]".to_owned(),
        Setting::Thousands => format!("[\".\",\"{value}\"]"),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_numbers_are_given_as_pairs() {
        for (setting, mark, expected) in [
            (Setting::Decimal, ",", "[\",\",null]"),
            (Setting::Thousands, ".", "[\",\",\".\"]"),
            (Setting::Thousands, " ", "[\".\",\" \"]"),
            (Setting::TimeColumn, "ds", "ds"),
        ] {
            assert_eq!(request_value(setting, mark.to_owned()), expected);
        }
    }

    #[test]
    fn options_of_reading_are_in_one_object() {
        let field = |setting| request_field(setting).map(Cow::into_owned);
        for (setting, expected) in [
            (Setting::TimeColumn, Some("reading.time_col")),
            (Setting::Decimal, Some("reading.numbers")),
            (Setting::Sheet, Some("reading.file")),
            (Setting::MonthsAcross, Some("reading.across")),
            (Setting::End, Some("end")),
            (Setting::Categories, None),
            (Setting::Log, None),
            (Setting::MaxMemory, None),
        ] {
            assert_eq!(field(setting).as_deref(), expected);
        }
    }
}
