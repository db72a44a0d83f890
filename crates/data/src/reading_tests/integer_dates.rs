//! Integers that look like dates.

use crate::{Panel, ReadOptions};
use foretell_calendar::{TimeFormat, TimeKind};

#[test]
fn hours_that_end_at_24_are_read_by_the_advice() {
    let rows: String = (2_019_102_501..=2_019_102_524).map(|hour| format!("{hour},1\n")).collect();
    let text = format!("ds,y\n{rows}");
    let read = |options: &ReadOptions| Panel::read_csv(text.as_bytes(), "t.csv", options);
    let error = read(&ReadOptions::new()).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("= %Y%m%d%H`") && !error.contains("seconds"), "{error}");
    let time_format = TimeFormat::parse("%Y%m%d%H").ok();
    let panel = read(&ReadOptions { time_format, ..ReadOptions::new() }).unwrap();
    assert_eq!((panel.freq().to_string().as_str(), panel.len(0)), ("h", 24));
    assert_eq!(TimeKind::Timestamp.display(panel.time(0, 23)), "2019-10-26");
}

#[test]
fn days_that_stand_first_are_asked_for_and_read_without_their_zero() {
    let read = |rows: &[&str], format: Option<&str>| {
        let rows: String = rows.iter().map(|row| format!("{row},1\n")).collect();
        let time_format = format.map(|word| TimeFormat::parse(word).unwrap());
        let options = ReadOptions { time_format, ..ReadOptions::new() };
        Panel::read_csv(format!("ds,y\n{rows}").as_bytes(), "t.csv", &options)
            .map_err(|error| error.to_string())
    };
    let days = ["30012024", "31012024", "1022024"];
    let error = read(&days, None).map(|_| ()).unwrap_err();
    assert!(error.contains("the form %d%m%Y (2024-01-30 to 2024-02-01)"), "{error}");
    assert!(error.contains("= %d%m%Y`, or"), "{error}");
    let panel = read(&days, Some("%d%m%Y")).unwrap();
    let times: Vec<String> = panel.times(0).map(|time| TimeKind::Timestamp.display(time)).collect();
    assert_eq!(times, ["2024-01-30", "2024-01-31", "2024-02-01"]);
    let error = read(&["01012024", "01022024", "01032024"], None).map(|_| ()).unwrap_err();
    assert!(error.contains("= %m%d%Y`, if months stand first)"), "{error}");
}
