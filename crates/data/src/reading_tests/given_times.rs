//! Times as code states them.

use foretell_calendar::{jiff::Timestamp, jiff::civil::date};

use crate::Panel;
use foretell_calendar::{Freq, Time, TimeKind, Zone};

#[test]
fn bad_times_are_errors_with_their_row() {
    let [day, hour] = ["D", "h"].map(|word| Freq::parse(word).unwrap());
    let first = |freq: Freq, time: Time<'_>| {
        let series = [("a", Time::from("2024-01-01"), [0.0]), ("b", time, [0.0])];
        Panel::from_series(freq, series).map(|_| ()).map_err(|error| error.to_string())
    };
    let instant = Timestamp::from_second(0).unwrap();
    let fine = date(2024, 1, 1).at(0, 0, 0, 1);
    for (time, expected) in [
        (
            instant.into(),
            "row 1, column `ds`: \"1970-01-01T00:00:00Z\" is an instant, and the panel has no zone",
        ),
        ("2024-01-01T00:00Z".into(), "is an instant, and the panel has no zone"),
        (fine.into(), "is finer than a microsecond"),
        ("yesterday".into(), "row 1, column `ds`: \"yesterday\" is not a time"),
        ("17".into(), "is not a date or time"),
    ] {
        let message = first(hour, time).unwrap_err();
        assert!(message.contains(expected), "{message}");
    }
    assert_eq!(first(day, date(2024, 1, 1).into()), Ok(()));
    let integers = Panel::from_series(Freq::parse("1").unwrap(), [("a", date(2024, 1, 1), [0.0])]);
    let message = integers.unwrap_err().to_string();
    assert!(message.contains("is a date, and the panel's times are integers"), "{message}");

    let civil = Panel::builder(TimeKind::Timestamp).series("a", &["2024-01-01", "2024-01-02"], &[0.0; 2]);
    let message = civil.zone(Zone::parse("UTC").unwrap()).build().unwrap_err().to_string();
    assert!(message.contains("name the zone before the times"), "{message}");
}
