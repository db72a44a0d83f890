//! `foretell reconcile` of sums that were forecast with series which have no forecasts of their own.

use crate::test_directory::{TestDirectory, stderr};

const MATRIX: &str = "unique_id,N1,N2,S1\nTotal,1,1,1\nN,1,1,0\nS,0,0,1\nN1,1,0,0\nN2,0,1,0\nS1,0,0,1\n";

#[test]
fn what_is_of_series_without_forecasts_is_not_spread_over_the_others_without_a_word() {
    let dir = TestDirectory::new();
    dir.put("S.csv", MATRIX);
    let forecasts = |total: f32, north: f32| {
        let rows = [("Total", total), ("N", north), ("S", 10.0), ("N1", 15.0), ("S1", 10.0)];
        rows.iter().fold("unique_id,ds,M\n".to_owned(), |text, (id, value)| {
            text + &format!("{id},2024-03-02,{value}\n")
        })
    };
    let line = "reconcile --forecast f.csv --hierarchy S.csv";
    dir.put("f.csv", &forecasts(50.0, 40.0));
    let output = dir.run(line);
    let told = stderr(&output);
    assert!(output.status.success(), "{told}");
    let part =
        "the forecasts of N are 2.7 times those of its series that are forecast: they seem to hold N2, too";
    assert!(told.contains(part) && told.contains("(--method BottomUp)"), "{told}");
    // The advice: what is forecast of the series stays.
    let output = dir.run(&format!("{line} --method BottomUp"));
    let (found, told) = (String::from_utf8(output.stdout.clone()).unwrap(), stderr(&output));
    assert!(!told.contains("seem to hold"), "{told}");
    for row in ["Total,2024-03-02,25", "N,2024-03-02,15", "N1,2024-03-02,15", "S1,2024-03-02,10"] {
        assert!(found.contains(row), "{row}: {found}");
    }
    // Sums of data that lack the series, too.
    dir.put("f.csv", &forecasts(26.0, 16.0));
    let told = stderr(&dir.run(line));
    assert!(told.contains("left out of their sums: N2") && !told.contains("seem to hold"), "{told}");
}
