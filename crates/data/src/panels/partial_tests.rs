//! Periods at the ends of the data: left out where rows are surely missing, told and kept where that is only possible.

use crate::{Aggregate, Fill, Panel, ReadOptions};
use foretell_calendar::{Freq, TimeKind, days::DAY};

fn sums(text: &str, freq: &str, fill: Option<Fill>) -> Panel {
    let options = ReadOptions::new().aggregate(Aggregate::Sum).resample(Freq::parse(freq).unwrap());
    let options = ReadOptions { fill, ..options };
    Panel::read_csv(text.as_bytes(), "t.csv", &options).unwrap()
}

fn notes(panel: &Panel) -> Vec<String> {
    panel.notes().iter().map(ToString::to_string).collect()
}

/// Rows of a series, with 1 in each, on some of the days from 1 January 2024 on.
fn rows(id: &str, days: impl IntoIterator<Item = i64>) -> String {
    let row = |day| format!("{id},{},1\n", TimeKind::Timestamp.display((19_723 + day) * DAY));
    days.into_iter().map(row).collect()
}

#[test]
fn quarters_without_a_month_are_left_out_from_any_month_to_any_other() {
    // The first or the last day of a month.
    let stamp = |month: i64, is_end: bool| {
        let of = |month: i64| format!("{}-{:02}-01", 2020 + month.div_euclid(12), month.rem_euclid(12) + 1);
        match is_end {
            false => of(month),
            true => {
                let next = TimeKind::Timestamp.parse(&of(month + 1)).unwrap();
                TimeKind::Timestamp.display(next - DAY)
            }
        }
    };
    for (is_end, freq) in [(false, "QS"), (false, "QE"), (true, "QS"), (true, "QE")] {
        for from in 0..12 {
            for to in from + 5..from + 28 {
                let text: String = (from..=to).map(|month| format!("{},1\n", stamp(month, is_end))).collect();
                let panel = sums(&format!("ds,y\n{text}"), freq, None);
                let whole = (to + 1).div_euclid(3) - (from + 2).div_euclid(3);
                let read = panel.y(0);
                assert_eq!(
                    read,
                    vec![3.0; whole as usize],
                    "{freq}: {} to {}",
                    stamp(from, is_end),
                    stamp(to, is_end)
                );
                let is_partial = from % 3 != 0 || (to + 1) % 3 != 0;
                assert_eq!(panel.notes().len(), usize::from(is_partial), "{:?}", notes(&panel));
            }
        }
    }
}

#[test]
fn events_say_nothing_of_the_ends_of_their_periods() {
    let days = ["01-09", "01-15", "02-02", "02-20", "03-03", "03-25", "04-02", "04-28"];
    let text = days.iter().fold("ds,y\n".to_owned(), |text, day| format!("{text}2024-{day},1\n"));
    let panel = sums(&text, "MS", None);
    assert_eq!(panel.y(0), [2.0; 4]);
    let told = notes(&panel);
    assert!(
        told.len() == 1 && told[0].contains("are kept: the first of 1 series, the last of 0"),
        "{told:?}"
    );
}

#[test]
fn an_absent_row_costs_no_series_its_period() {
    // Daily from January to 30 April, to 29 April, and to 10 April.
    let text = [rows("a", 0..121), rows("b", 0..120), rows("c", 0..101)].concat();
    let panel = sums(&format!("unique_id,ds,y\n{text}"), "MS", None);
    let months = [31.0_f32, 29.0, 31.0, 30.0];
    assert_eq!(
        [panel.y(0), panel.y(1), panel.y(2)],
        [&months[..], &[31.0, 29.0, 31.0, 29.0][..], &months[..3]]
    );
    let told = notes(&panel);
    assert!(
        told.len() == 2 && told[0].contains("are left out: the first of 0 series, the last of 1;"),
        "{told:?}"
    );
    assert!(told[1].contains("are kept: the first of 0 series, the last of 1;"), "{told:?}");
    // Where the data end on the 29th, no series has the whole of April.
    let panel = sums(&format!("unique_id,ds,y\n{}{}", rows("a", 0..120), rows("b", 0..120)), "MS", None);
    assert_eq!([panel.y(0), panel.y(1)], [&months[..3], &months[..3]]);
}

#[test]
fn rows_that_are_0_where_they_are_absent_are_missing_at_the_ends_of_the_data_alone() {
    let until = |day: i64| format!("unique_id,ds,y\n{}{}", rows("a", 0..day), rows("b", 0..101));
    let whole = sums(&until(121), "MS", Some(Fill::Zero));
    assert_eq!(whole.y(1), [31.0, 29.0, 31.0, 10.0]);
    assert!(whole.notes().is_empty(), "{:?}", notes(&whole));
    let partial = sums(&until(115), "MS", Some(Fill::Zero));
    assert_eq!([partial.len(0), partial.len(1)], [3, 3]);
}

#[test]
fn periods_of_business_days_end_with_them_or_are_left_out() {
    // 4 March 2024 is a Monday; until a Friday, and until the Thursday before it.
    for (last, weeks) in [(96, 5), (94, 4)] {
        let days = (63..=last).filter(|day| day % 7 < 5);
        let panel = sums(&format!("unique_id,ds,y\n{}", rows("a", days)), "W-SUN", None);
        assert_eq!(panel.y(0), vec![5.0; weeks]);
    }
}

#[test]
fn weeks_beside_a_change_of_clocks_are_whole() {
    // Two weeks each: until 31 March 2024, which has no 02:00, and from 28 October on, the day after one of 25 hours.
    for days in [77..91_i64, 301..315] {
        let hours = days.flat_map(|day| (0..24).map(move |hour| (day, hour))).filter(|at| *at != (90, 2));
        let day = |day: i64| TimeKind::Timestamp.display((19_723 + day) * DAY);
        let rows: String = hours.map(|(at, hour)| format!("{}T{hour:02}:00,1\n", day(at))).collect();
        let zone = foretell_calendar::Zone::parse("Europe/Berlin").unwrap();
        let options = ReadOptions::new().aggregate(Aggregate::Sum).resample(Freq::parse("W-SUN").unwrap());
        let text = format!("ds,y\n{rows}");
        let panel = Panel::read_csv(text.as_bytes(), "t.csv", &options.zone(zone)).unwrap();
        assert!(panel.len(0) == 2 && panel.notes().is_empty(), "{:?}", notes(&panel));
    }
}

#[test]
fn whether_partial_periods_are_kept_is_called_alike_everywhere() {
    let kept: ReadOptions = serde_json::from_str(r#"{"keep_partial": true}"#).unwrap();
    assert_eq!(kept, ReadOptions::new().with_partial_periods());
    assert_eq!(serde_json::to_value(&kept).unwrap()["keep_partial"], true);
    assert!(!serde_json::from_str::<ReadOptions>("{}").unwrap().keep_partial);
}

/// Days from 3 January 2024, a Wednesday, with 1 in each.
fn days(count: i64, business: bool) -> String {
    let days = (0..count).filter(|day| !business || (day + 2) % 7 < 5);
    let day = |day| TimeKind::Timestamp.display((19_725 + day) * 86_400_000_000);
    days.map(|i| format!("{},1\n", day(i))).fold("ds,y\n".to_owned(), |text, row| text + &row)
}

fn read(text: &str, freq: &str, keep_partial: bool) -> Panel {
    let options = ReadOptions::new().aggregate(Aggregate::Sum).resample(Freq::parse(freq).unwrap());
    let options = ReadOptions { keep_partial, ..options };
    Panel::read_csv(text.as_bytes(), "t.csv", &options).unwrap()
}

#[test]
fn periods_without_all_rows_are_told_or_left_out() {
    for (text, freq, all, whole) in [
        (days(34, false), "W-SUN", &[5.0, 7.0, 7.0, 7.0, 7.0, 1.0][..], 1..5),
        (days(33, false), "W-SUN", &[5.0, 7.0, 7.0, 7.0, 7.0], 1..5),
        (days(33, true), "W-SUN", &[3.0, 5.0, 5.0, 5.0, 5.0], 1..5),
        (days(100, false), "MS", &[29.0, 29.0, 31.0, 11.0], 1..3),
        (days(100, false), "ME", &[29.0, 29.0, 31.0, 11.0], 1..3),
    ] {
        let (kept, dropped) = (read(&text, freq, true), read(&text, freq, false));
        assert_eq!((kept.y(0), dropped.y(0)), (all, &all[whole]), "{freq}");
        let [told, left_out] = [kept, dropped].map(|panel| panel.notes()[0].to_string());
        assert!(told.contains("are kept") && left_out.contains("are left out"), "{told}; {left_out}");
    }
    let days = days(33, false);
    let from_monday: Vec<&str> = days.lines().filter(|line| *line >= "2024-01-15").collect();
    assert!(read(&from_monday.join("\n"), "W-SUN", false).notes().is_empty(), "nothing is missing");
}

#[test]
fn few_periods_are_told_by_the_steps_of_their_rows() {
    // Two days of January, the whole of February, 20 days of March: the first and the last of two periods have none between.
    let days = days(79, false);
    let rows = |from: &str, to: &str| {
        let rows = days.lines().skip(1).filter(|line| *line >= from && *line < to);
        rows.fold("ds,y\n".to_owned(), |text, row| text + row + "\n")
    };
    for (from, to, kept) in [
        ("2024-02-01", "2024-03-21", &[29.0][..]),
        ("2024-01-30", "2024-03-01", &[29.0]),
        ("2024-02-01", "2024-03-01", &[29.0]),
    ] {
        assert_eq!(read(&rows(from, to), "MS", false).y(0), kept, "{from} to {to}");
    }
    let options = ReadOptions::new().aggregate(Aggregate::Sum).resample(Freq::parse("MS").unwrap());
    let none = Panel::read_csv(rows("2024-02-02", "2024-02-20").as_bytes(), "t.csv", &options);
    let none = none.unwrap_err().to_string();
    assert!(none.starts_with("t.csv: no period is complete"), "{none}");
    // The Sunday on which clocks are put back has 25 hours.
    let hours = (14 * 24..28 * 24).map(|hour| format!("2024-10-{:02}T{:02}:00,1\n", hour / 24, hour % 24));
    let zone = foretell_calendar::Zone::parse("Europe/Berlin").unwrap();
    let weeks = ReadOptions::new().aggregate(Aggregate::Sum).resample(Freq::parse("W-SUN").unwrap());
    let hours = hours.fold("ds,y\n".to_owned(), |text, row| text + &row);
    let weeks = Panel::read_csv(hours.as_bytes(), "t.csv", &weeks.zone(zone)).unwrap();
    assert!(weeks.notes().is_empty() && weeks.len(0) == 2, "{:?}", weeks.notes());
    // A row a month is one whose rows no one can count.
    assert_eq!(read("ds,y\n2024-01-31,1\n2024-02-29,1\n", "MS", false).y(0), [1.0, 1.0]);
}

#[test]
fn series_without_rows_on_most_days_end_with_the_data() {
    // Of what is sold on some days alone, a month is over when it is so for the others.
    let often: Vec<String> = days(100, false).lines().skip(1).map(|line| format!("a,{line}\n")).collect();
    let seldom: Vec<String> =
        (0..100).filter(|day| (day * day) % 13 < 2).map(|day| often[day].replacen('a', "b", 1)).collect();
    let panel = read(&format!("unique_id,ds,y\n{}{}", often.concat(), seldom.concat()), "MS", false);
    assert_eq!((panel.y(0), panel.len(1)), (&[29.0, 31.0][..], 2));
}

#[test]
fn few_sales_at_the_end_of_a_whole_month_are_all_that_there_are() {
    // The others have rows until the end of April; of `b` the last sale of April is on the 3rd.
    let often: Vec<String> = days(119, false).lines().skip(1).map(|line| format!("a,{line}\n")).collect();
    let seldom = [5, 11, 12, 24, 33, 37, 50, 51, 58, 63, 70, 84, 89, 90, 91];
    let seldom: String = seldom.iter().map(|day| often[*day].replacen('a', "b", 1)).collect();
    let panel = read(&format!("unique_id,ds,y\n{}{seldom}", often.concat()), "MS", false);
    assert_eq!(panel.y(0), [29.0, 31.0, 30.0]);
    assert_eq!(panel.y(1)[panel.len(1) - 3..], [4.0, 4.0, 3.0]);
    // Where each day has had a row until then, rows are missing.
    let dense: String = often[..95].iter().map(|row| row.replacen('a', "b", 1)).collect();
    let new: String = often[100..105].iter().map(|row| row.replacen('a', "c", 1)).collect();
    let panel = read(&format!("unique_id,ds,y\n{}{dense}{new}", often.concat()), "MS", false);
    assert_eq!((panel.y(0), panel.y(1)), (&[29.0, 31.0, 30.0][..], &[29.0, 31.0][..]));
    let note = panel.notes()[0].to_string();
    assert!(note.contains("series without any other: `c`") && panel.n_series() == 2, "{note}");
}

#[test]
fn whole_periods_of_several_lengths_are_none_that_miss_rows() {
    let rows = |times: &[String]| times.iter().fold("ds,y\n".to_owned(), |all, time| all + time + ",1\n");
    // Months in quarters, whose last one has 28 to 31 days.
    let months = |count: usize| -> Vec<String> {
        (0..count).map(|at| format!("{}-{:02}-01", 2022 + at / 12, at % 12 + 1)).collect()
    };
    for count in [9, 12, 15, 24] {
        let panel = read(&rows(&months(count)), "QS", false);
        assert_eq!((panel.len(0), panel.notes().len()), (count / 3, 0), "{count} months");
    }
    assert_eq!(read(&rows(&months(14)), "QS", false).y(0), [3.0; 4]);
    // Weeks in months, which begin up to six days before the next month does.
    let weeks: Vec<String> =
        (0..13).map(|week| TimeKind::Timestamp.display((19_723 + 7 * week) * 86_400_000_000)).collect();
    assert_eq!(read(&rows(&weeks), "MS", false).y(0), [5.0, 4.0, 4.0]);
    // A day of each quarter.
    let quarters = ["2023-02-15", "2023-05-15", "2023-08-16", "2023-11-02"].map(str::to_owned);
    assert_eq!(read(&rows(&quarters), "QS", false).y(0), [1.0; 4]);
}

#[test]
fn values_that_are_missing_at_the_end_are_rows_that_are() {
    // A column of a wide table whose last days of March are empty.
    let wide = days(89, false).lines().fold(String::new(), |text, line| {
        text + &match line.split_once(',') {
            Some((ds, "y")) => format!("{ds},a,b\n"),
            Some((ds, _)) if ds > "2024-03-12" => format!("{ds},1,\n"),
            _ => format!("{line},1\n"),
        }
    });
    let options = ReadOptions::new().aggregate(Aggregate::Sum).resample(Freq::parse("MS").unwrap());
    let panel = Panel::read_csv(wide.as_bytes(), "t.csv", &options.clone().wide()).unwrap();
    assert_eq!((panel.y(0), panel.y(1)), (&[29.0, 31.0][..], &[29.0][..]));
    let kept = Panel::read_csv(wide.as_bytes(), "t.csv", &options.with_partial_periods().wide()).unwrap();
    assert_eq!((kept.y(0), kept.y(1)), (&[29.0, 29.0, 31.0][..], &[29.0, 29.0, 12.0][..]));
}
