//! Facts of errors: their codes, where they are, and what to do.

use std::collections::BTreeSet;

use foretell_data::{
    FilesError, FutureError, MisreadTable, Panel, ReadOptions, SeriesError, StepError, WindowError,
};
use foretell_tables::{CellError, ColumnError, SettingError, TooLarge, UnreadableTable};
use strum::VariantNames;

use super::*;
use crate::explanation_error::ExplanationError;
use crate::interval_error::IntervalError;
use crate::model_spec::ModelSpec;
use crate::plan_error::PlanError;

/// The codes of all types, without those of variants that stand for an error of another type.
fn codes() -> BTreeSet<&'static str> {
    const WRAPPERS: &str = "calendar cell checkpoint column data estimator evaluation explanation failed features file files future \
                            hierarchy hierarchy_file hyper_parameter interval memory misread network other plan reconciliation scores series \
                            settings simulation smaller spec state steps table threads too_large train unreadable usage windows";
    let all = [
        Error::VARIANTS,
        UsageError::VARIANTS,
        PlanError::VARIANTS,
        IntervalError::VARIANTS,
        ExplanationError::VARIANTS,
        SmallerError::VARIANTS,
        ReconciliationError::VARIANTS,
        ScoresError::VARIANTS,
        DataError::VARIANTS,
        TableError::VARIANTS,
        CellError::VARIANTS,
        ColumnError::VARIANTS,
        FutureError::VARIANTS,
        SeriesError::VARIANTS,
        SettingError::VARIANTS,
        StepError::VARIANTS,
        WindowError::VARIANTS,
        UnreadableTable::VARIANTS,
        MisreadTable::VARIANTS,
        FilesError::VARIANTS,
        TooLarge::VARIANTS,
        CalendarError::VARIANTS,
        EstimatorError::VARIANTS,
        NetworkError::VARIANTS,
        SpecError::VARIANTS,
        StateError::VARIANTS,
        TrainError::VARIANTS,
        CheckpointError::VARIANTS,
        FileError::VARIANTS,
        HierarchyError::VARIANTS,
        EvaluationError::VARIANTS,
        SimulationError::VARIANTS,
        FeatureError::VARIANTS,
        ProphetError::VARIANTS,
        RefusedHyperParameter::VARIANTS,
        PretrainedError::VARIANTS,
        ClassicalError::VARIANTS,
    ];
    let own =
        ["hyper_parameter_value", "too_many_threads", "too_much_memory", "estimator", ErrorFacts::OTHER];
    let of_types = all.into_iter().flatten().copied();
    of_types.filter(|code| !WRAPPERS.split(' ').any(|wrapper| wrapper == *code)).chain(own).collect()
}

/// A code is a promise: one that is renamed must be renamed in the documentation, too.
#[test]
fn the_documentation_lists_all_codes() {
    let text = include_str!("../../../docs/errors.md");
    let listed: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(code, _)| code)
        .collect();
    let missing: Vec<_> = codes().into_iter().filter(|code| !listed.contains(code)).collect();
    assert_eq!(missing, [""; 0], "docs/errors.md lacks codes");
    for code in codes() {
        let is_word = code.chars().all(|c| c.is_ascii_lowercase() || c == '_' || c.is_ascii_digit());
        assert!(is_word, "{code}");
    }
}

#[test]
fn facts_of_data_say_where_and_what_to_do() {
    let read = |text: &str| {
        let error = Panel::read_csv(text.as_bytes(), "a.csv", &ReadOptions::new()).unwrap_err();
        ErrorFacts::of(&Error::from(error))
    };
    let facts = read("unique_id,ds,y\na,2024-01-01,1\na,2024-01-02,2\na,2024-01-03,2\na,2024-01-07,2\n");
    assert_eq!((&*facts.code, facts.row, facts.series.as_deref()), ("gap", Some(5), Some("a")));
    assert_eq!((facts.file.as_deref(), facts.setting.as_deref()), (Some("a.csv"), Some("ReadOptions::fill")));
    assert!(facts.advice.unwrap().starts_with("add the rows in between"), "{}", facts.message);
    let facts = read("unique_id,ds,sales\na,2024-01-01,1\n");
    assert_eq!((&*facts.code, facts.column.as_deref()), ("missing_column", Some("y")));
}

#[test]
fn facts_of_settings_name_them() {
    let spec = || ModelSpec::new("NLinear", 7, 14).unwrap();
    for (error, code, setting) in [
        (spec().set("max_steps", "x").unwrap_err(), "hyper_parameter_value", "max_steps"),
        (spec().set("max_step", 1).unwrap_err(), "unknown_hyper_parameter", "max_step"),
    ] {
        let facts = ErrorFacts::of(&Error::from(error));
        assert_eq!((&*facts.code, facts.setting.as_deref()), (code, Some(setting)));
    }
    let error = ModelSpec::new("Naive", 7, 14).unwrap().set("max_steps", 1).unwrap_err();
    assert_eq!(ErrorFacts::of(&Error::from(error)).code, "unknown_hyper_parameter");
}

#[test]
fn advice_stands_behind_what_is_not_quoted() {
    assert_eq!(advice("it is so; do this; or that"), Some("do this; or that"));
    assert_eq!(advice("series `a; b` is short; leave it out"), Some("leave it out"));
    assert_eq!(advice("series a\" is short; leave it out"), Some("leave it out"));
    assert_eq!(advice("none (of a; of b) has come true; check both"), Some("check both"));
    assert_eq!(advice("it is so (and not closed; do this"), Some("do this"));
    assert_eq!(advice("it is so"), None);
}
