//! Flags behind numbers that say how these came about, as statistical offices write them: `101.9 p`, `12.3*`, `88.1(R)`, `: c`.

use crate::{Fill, Panel, ReadOptions};
use foretell_tables::NumberFormat;

#[test]
fn numbers_are_read_without_the_flags_that_are_listed() {
    let csv =
        "ds,y,x\n2024-01,100.5,1\n2024-02,\"1,101.5 p\",2 e\n2024-03,102 ep,3\n2024-04,: c,4\n2024-05,99,5\n";
    let numbers = NumberFormat::new('.', Some(',')).unwrap();
    let read = |flags: &[&str], threads: usize| {
        let options = ReadOptions::new().number_flags(flags.to_vec()).numbers(numbers).threads(threads);
        Panel::read_csv(csv.as_bytes(), "t.csv", &options.fill(Fill::Forward))
    };
    for threads in [1, 2] {
        let panel = read(&["p", "e", "c"], threads).unwrap();
        assert_eq!(panel.y(0), [100.5, 1101.5, 102.0, 102.0, 99.0]);
        assert_eq!(panel.column("x", 0).unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0]);
        let notes: Vec<String> = panel.notes().iter().map(ToString::to_string).collect();
        assert_eq!(notes, ["t.csv: cells that were read without the flag behind their number: 4"]);
    }
    // Each error lists those that were said before, too, so that who follows it comes to an end.
    for (said, advised) in [(&[][..], "p"), (&["p"][..], "p,e"), (&["p", "e"][..], "p,e,c")] {
        let error = read(said, 1).unwrap_err().to_string();
        assert!(error.contains(&format!("`ReadOptions::number_flags = {advised}`")), "{error}");
    }
}

/// `1.2k` is not 1.2 where `950` is 950.
#[test]
fn numbers_before_a_factor_beside_numbers_without_are_refused() {
    let read = |rows: &str, flag: &str, threads: usize| {
        let options = ReadOptions::new().number_flags([flag]).threads(threads);
        Panel::read_csv(format!("ds,y\n{rows}").as_bytes(), "t.csv", &options)
    };
    for threads in [1, 2] {
        let error = read("2024-01,950\n2024-02,1.2k\n2024-03,980\n", "k", threads).unwrap_err().to_string();
        assert!(error.contains("column `y` has `950` in line 2 and `1.2k` in line 3"), "{error}");
        let of_all = read("2024-01,0.95k\n2024-02,1.2k\n2024-03,0\n", "k", threads).unwrap();
        assert_eq!(of_all.y(0), [0.95, 1.2, 0.0]);
        let revised = read("2024-01,950\n2024-02,1.2p\n2024-03,970\n", "p", threads).unwrap();
        assert_eq!(revised.y(0), [950.0, 1.2, 970.0]);
    }
}
