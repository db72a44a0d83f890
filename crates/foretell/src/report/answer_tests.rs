//! Answers in words.

use super::*;
use foretell_calendar::Freq;
use foretell_data::ReadOptions;

fn panel(days: usize) -> Panel {
    let mut text = "unique_id,ds,y\n".to_owned();
    for id in ["a", "b"] {
        for day in 0..days {
            let date =
                foretell_calendar::jiff::civil::date(2023, 1, 1).saturating_add(Span::new().days(day as i64));
            text += &format!("{id},{date},{}\n", 1 + day % 7);
        }
    }
    Panel::read_csv(text.as_bytes(), "a.csv", &ReadOptions::new()).unwrap()
}

fn frame(panel: &Panel, h: usize) -> Frame {
    let mut frame = Frame::new(Freq::parse("D").unwrap());
    for series in 0..panel.n_series() {
        frame.ids.extend(std::iter::repeat_n(panel.id(series), h).cloned());
        frame.times.extend(panel.future_times(series, h).unwrap());
    }
    let columns = [("M", 5.0), ("M-lo-80", 4.0), ("M-hi-80", 7.0)];
    frame.columns = columns.map(|(name, value)| (name.to_owned(), vec![value; panel.n_series() * h])).into();
    frame
}

/// What is told without scores.
fn asked<'a>(panel: &'a Panel, frame: &'a Frame) -> AnswerInputs<'a> {
    AnswerInputs { panel, frame, target: "y", unit: None, scores: &[], baseline: None, hierarchy: None }
}

#[test]
fn the_answer_is_a_total_beside_the_year_before() {
    let panel = panel(400);
    let frame = frame(&panel, 7);
    let scores = [ScoreSheet::of_rows(
        ScoredBy::All,
        vec!["M".to_owned(), "Naive".to_owned()],
        [("", "mae", vec![1.5, 3.0]), ("", "coverage_level80", vec![0.75, f64::NAN])],
    )
    .unwrap()];
    let asked = AnswerInputs {
        panel: &panel,
        frame: &frame,
        target: "y",
        unit: Some("boxes"),
        scores: &scores,
        baseline: Some("Naive"),
        hierarchy: None,
    };
    let answer = answer(&asked).unwrap();
    let text = answer.sentences.join("\n");
    // 7 days of 5 of each of two series; any 7 days of the past have 28.
    for part in [
        "From 2024-02-05 to 2024-02-11 (7 days), M forecasts a total of 70.00 boxes for y over all 2 series",
        "5.000 boxes a step and series in the mean",
        "25.0 % more than the 56.00 boxes in the same period a year before (2023-02-05 to 2023-02-11)",
        "80 % intervals of the single values add up to 56.00 boxes to 98.00 boxes",
        "off by 1.500 boxes a step and series in the mean, 50.0 % less than those of Naive; 75.0 % of the true values",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let total = answer.total.unwrap();
    assert_eq!((total.models[0].1.len(), total.models[0].1[0].1), (7, 10.0));
    assert_eq!(total.known.last().unwrap().1, 2.0);
}

#[test]
fn without_a_year_it_stands_beside_the_steps_before() {
    let panel = panel(30);
    let frame = frame(&panel, 7);
    let asked = asked(&panel, &frame);
    let text = answer(&asked).unwrap().sentences.join("\n");
    assert!(text.contains("25.0 % more than the 56.00 in the 7 days right before"), "{text}");
    assert!(!text.contains("In the past"), "{text}");
    // A sum is not added to the series that it sums up: `a` alone is at the bottom here.
    let hierarchy = Hierarchy::from_summing_matrix(&["b", "a"], &["a"], &[1.0, 1.0]).unwrap();
    let answer = super::answer(&AnswerInputs { hierarchy: Some(&hierarchy), ..asked }).unwrap();
    let text = answer.sentences.join("\n");
    assert!(text.contains("a total of 35.00 for y of a"), "{text}");
}

#[test]
fn a_forecast_beside_nothing_has_no_share_of_it() {
    let panel = Panel::from_series(Freq::parse("D").unwrap(), [("a", 0, vec![0.0_f32; 30])]).unwrap();
    let mut frame = frame(&panel, 7);
    let told = |frame: &Frame| answer(&asked(&panel, frame)).unwrap().sentences.join("\n");
    let text = told(&frame);
    assert!(text.contains("It was 0.000 in the 7 days right before."), "{text}");
    frame.columns.iter_mut().for_each(|(_, values)| values.fill(0.0));
    let text = told(&frame);
    assert!(text.contains("That is the same as the 0.000 in the 7 days right before."), "{text}");
    // Nor is there a total of forecasts that are all missing.
    frame.columns.iter_mut().for_each(|(_, values)| values.fill(f32::NAN));
    assert!(answer(&asked(&panel, &frame)).is_none());
}

#[test]
fn a_single_value_is_no_total() {
    let panel = Panel::from_series(Freq::parse("D").unwrap(), [("a", 0, vec![2.0_f32; 30])]).unwrap();
    let text = answer(&asked(&panel, &frame(&panel, 1))).unwrap().sentences.join("\n");
    assert!(text.starts_with("For 1970-01-31 (1 day), M forecasts 5.000 for y of a.\n"), "{text}");
    assert!(text.contains("150.0 % more than the 2.000 in the day right before."), "{text}");
}

#[test]
fn rows_that_are_missing_are_not_passed_over() {
    let panel = panel(30);
    let mut frame = frame(&panel, 7);
    frame.columns[0].1[3] = f32::NAN;
    let text = answer(&asked(&panel, &frame)).unwrap().sentences.join("\n");
    assert!(text.contains("a total of 65.00 for y over all 2 series: 5.000 a step"), "{text}");
    assert!(text.contains("1 of 14 rows have no forecast of M and are not in it."), "{text}");
    // Of `a` the third day is missing: its days are compared with no seven others, and each that came true with its own.
    let cut = panel.between(None, Some("2023-01-28")).unwrap();
    let of_past = super::tests::frame(&cut, 2);
    let text = answer(&asked(&panel, &of_past)).unwrap().sentences.join("\n");
    // The 29th and the 30th are a Sunday and a Monday: 1 and 2 of each series, of which 5 and 5 are forecast.
    assert!(text.contains("It has come true: 6.000, from which the forecast is off by 14.00."), "{text}");
    let cut = panel.between(None, Some("2023-01-26")).unwrap();
    let mut gap = super::tests::frame(&cut, 4);
    let keep: Vec<usize> = (0..gap.n_rows()).filter(|row| row % 4 != 1).collect();
    gap.ids = keep.iter().map(|&row| gap.ids[row].clone()).collect();
    gap.times = keep.iter().map(|&row| gap.times[row]).collect();
    gap.columns.iter_mut().for_each(|(_, values)| values.truncate(keep.len()));
    let text = answer(&asked(&panel, &gap)).unwrap().sentences.join("\n");
    // The 27th, the 29th and the 30th: 6, 1 and 2.
    assert!(text.contains("It has come true: 18.00, from which the forecast is off by 12.00."), "{text}");
    assert!(!text.contains("right before"), "{text}");
}

#[test]
fn series_that_end_at_different_times_have_each_their_own_days() {
    let text = |days: [usize; 2], h: [usize; 2]| {
        let whole = panel(days[0].max(days[1]));
        // One series ends earlier.
        let values = |series: usize| {
            (format!("s{series}"), whole.time(0, 0), whole.y(series)[..days[series]].to_vec())
        };
        let panel = Panel::from_series(whole.freq(), [values(0), values(1)]).unwrap();
        let [mut told, other] = [0, 1].map(|series| {
            let id = panel.id(series).clone();
            frame(&panel, h[series]).of_series(|of_row| *of_row == *id)
        });
        told.append(other);
        answer(&asked(&panel, &told)).unwrap().sentences.join("\n")
    };
    let of_month = text([60, 50], [28, 28]);
    // 2023-01-01 and 59 or 49 days are 2023-03-01 and 2023-02-19.
    for part in [
        "Over each series' own 28 days (from 2023-02-20 to 2023-03-29 in all), M forecasts a total of 280.0",
        "in the 28 days right before those of each.",
    ] {
        assert!(of_month.contains(part), "{part} is not in {of_month}");
    }
    assert!(text([60, 60], [28, 28]).starts_with("From 2023-03-02 to 2023-03-29 (28 days), M"));
    let mixed = text([60, 60], [28, 14]);
    assert!(mixed.contains("own time, 28 days at most (from 2023-03-02 to 2023-03-29 in all)"), "{mixed}");
    assert!(mixed.contains("in as many steps right before those of each."), "{mixed}");
    let year = text([430, 420], [28, 28]);
    let before = "in the same period of each a year before (from 2023-02-25 to 2023-04-02 in all)";
    assert!(year.contains(before), "{year}");
}

#[test]
fn a_series_without_an_interval_is_told_beside_the_range() {
    let panel = panel(60);
    let mut frame = frame(&panel, 7);
    let text = |frame: &Frame| answer(&asked(&panel, frame)).unwrap().sentences.join(" ");
    assert!(text(&frame).contains("add up to 56.00 to 98.00") && !text(&frame).contains("no interval"));
    for end in [1, 2] {
        frame.columns[end].1[..7].fill(f32::NAN);
    }
    let told = text(&frame);
    assert!(told.contains("add up to 63.00 to 84.00"), "{told}");
    assert!(told.contains("1 series has no interval, and is in both by its forecast alone."), "{told}");
}

#[test]
fn a_total_among_its_parts_is_not_added_to_them() {
    let values = |series: usize| (0..30).map(move |t| (t % (3 + series)) as f32 + 1.0).collect::<Vec<_>>();
    let sum = values(0).iter().zip(values(1)).map(|(a, b)| a + b).collect::<Vec<_>>();
    let of = |sum: Vec<f32>| {
        let series = [("a", 0, values(0)), ("all", 0, sum), ("b", 0, values(1))];
        Panel::from_series(Freq::parse("D").unwrap(), series).unwrap()
    };
    let told = |panel: Panel| {
        let frame = frame(&panel, 7);
        let asked = asked(&panel, &frame);
        answer(&asked).unwrap().sentences.join("\n")
    };
    let text = told(of(sum.clone()));
    assert!(
        text.contains("a total of 35.00 for y of all") && text.contains("all is the sum of the other"),
        "{text}"
    );
    let mut other = sum;
    other[29] += 1.0;
    assert!(told(of(other)).contains("over all 3 series"));
}

#[test]
fn a_run_begins_at_the_step_that_is_nearest() {
    let weeks: Vec<(i64, f64)> = (0..10).map(|week| (7 * week, week as f64)).collect();
    let first = |time: i64, count: usize| nearest_run(&weeks, time, count).map(|run| run[0].1);
    assert_eq!(first(15, 2), Some(2.0));
    assert_eq!(first(20, 2), Some(3.0));
    assert_eq!((first(-3, 1), first(-4, 1)), (Some(0.0), None));
    assert_eq!((first(56, 3), first(80, 1)), (None, None));
    assert_eq!(nearest_run(&[], 0, 1), None);
}
