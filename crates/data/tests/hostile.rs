//! Whatever the bytes of a data file are, reading gives a panel or an error, never a panic.
//!
//! `PROPTEST_CASES=1000000 cargo test -p foretell-data --test hostile` looks longer.

use std::fs;
use std::path::{Path, PathBuf};

use foretell_data::{DataError, Fill, Future, Panel, ReadOptions, Zone};
use proptest::prelude::*;
use proptest::sample::{Index, select};

fn fixture(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)).unwrap()
}

const LONG: &str = "shop,time,sales,available_mask,visits\n\
    a,2024-01-01 00:00:00,1.5,1,2\na,2024-01-01 01:00:00,2.5,1,3\na,2024-01-01 02:00:00,,0,\n\
    b,2024-01-01 00:00:00,1e3,1,2\nb,2024-01-01 01:00:00,-2,1,3\n\"b\",2024-01-01 02:00:00,0,1,4\n";

const ZONED: &str = "time\tshop\tsales\n\
    2024-03-30T00:00+01:00[Europe/Berlin]\ta\t1\n2024-03-31T00:00+01:00[Europe/Berlin]\ta\t2\n\
    2024-04-01T00:00+02:00[Europe/Berlin]\ta\t3\n2024-04-02T00:00+02:00\ta\t4\n";

const WIDE: &str = "time;a;b\n2024-01-31;1;2\n2024-02-29;3;\n2024-04-30;5;6\n";

const TIMES: [&str; 8] = [
    "-9999-01-01",
    "9999-12-31 23:59:59.999999",
    "2024-03-31T02:30[Europe/Berlin]",
    "9223372036854775807",
    "2024-01-01T00:00+25:59",
    "NaT",
    "1e400",
    "\u{feff}",
];

/// How a file is damaged.
#[derive(Clone, Debug)]
enum Damage {
    Flip(Index, u8),
    Set(Index, u8),
    /// A little-endian word.
    Word(Index, u64),
    Cut(Index),
    Insert(Index, Vec<u8>),
    Repeat(Index, usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<Index>;
    let bytes = select(b"\",;\n\r\t0-9.:eE\xff\x00Znaif +[]".to_vec());
    let words = prop_oneof![Just(u64::MAX), Just(1 << 31), Just((1 << 31) - 1), Just(0), any::<u64>()];
    prop_oneof![
        (at(), 0..8_u8).prop_map(|(at, bit)| Damage::Flip(at, bit)),
        (at(), prop_oneof![bytes, any::<u8>()]).prop_map(|(at, byte)| Damage::Set(at, byte)),
        (at(), words).prop_map(|(at, word)| Damage::Word(at, word)),
        at().prop_map(Damage::Cut),
        (at(), select(TIMES.to_vec())).prop_map(|(at, text)| Damage::Insert(at, text.into())),
        (at(), 1..200_usize).prop_map(|(at, len)| Damage::Repeat(at, len)),
    ]
}

fn damaged(mut bytes: Vec<u8>, damages: &[Damage]) -> Vec<u8> {
    for damage in damages {
        if bytes.is_empty() {
            return bytes;
        }
        let len = bytes.len();
        match damage {
            Damage::Flip(at, bit) => bytes[at.index(len)] ^= 1 << bit,
            Damage::Set(at, byte) => bytes[at.index(len)] = *byte,
            Damage::Word(at, word) => {
                let at = at.index(len);
                let end = len.min(at + 8);
                bytes[at..end].copy_from_slice(&word.to_le_bytes()[..end - at]);
            }
            Damage::Cut(at) => bytes.truncate(at.index(len)),
            Damage::Insert(at, new) => {
                let at = at.index(len);
                bytes.splice(at..at, new.iter().copied());
            }
            Damage::Repeat(at, size) => {
                let at = at.index(len);
                let piece = bytes[at..len.min(at + size)].to_vec();
                bytes.splice(at..at, piece);
            }
        }
    }
    bytes
}

fn options(wide: bool, fill: Option<Fill>, zone: bool) -> ReadOptions {
    ReadOptions {
        wide,
        id_col: "shop".into(),
        time_col: Some("time".into()),
        target_col: "sales".into(),
        fill,
        zone: zone.then(|| Zone::parse("America/St_Johns").unwrap()),
        ..ReadOptions::default()
    }
}

/// Asks a panel for everything that it can say.
fn use_all(panel: Result<Panel, DataError>) {
    let Ok(panel) = panel else { return };
    for series in 0..panel.n_series() {
        assert!(panel.y(series).iter().all(|y| y.is_finite()));
        assert_eq!(panel.times(series).count(), panel.len(series));
        let _ = panel.future_times(series, 3);
        for name in panel.column_names() {
            let _ = panel.column(name, series);
        }
    }
}

fn file(name: &str, bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join(name);
    fs::write(&path, bytes).unwrap();
    (home, path)
}

fn fills() -> impl Strategy<Value = Option<Fill>> {
    prop::option::of(select(Fill::ALL.to_vec()))
}

#[test]
fn what_is_damaged_is_sound_before() {
    for text in [LONG, ZONED] {
        Panel::read_csv(text.as_bytes(), "long.csv", &options(false, None, false)).unwrap();
    }
    Panel::read_csv(WIDE.as_bytes(), "wide.csv", &options(true, Some(Fill::Zero), false)).unwrap();
}

proptest! {
    #[test]
    fn long_text(
        text in select(vec![LONG, ZONED]),
        damages in prop::collection::vec(damage(), 0..6),
        fill in fills(),
        zone in any::<bool>(),
    ) {
        let bytes = damaged(text.into(), &damages);
        use_all(Panel::read_csv(&bytes[..], "long.csv", &options(false, fill, zone)));
    }

    #[test]
    fn wide_text(damages in prop::collection::vec(damage(), 0..6), fill in fills(), zone in any::<bool>()) {
        let bytes = damaged(WIDE.into(), &damages);
        use_all(Panel::read_csv(&bytes[..], "wide.csv", &options(true, fill, zone)));
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300), wide in any::<bool>()) {
        use_all(Panel::read_csv(&bytes[..], "any.csv", &options(wide, None, false)));
        let (_home, path) = file("any.parquet", &bytes);
        use_all(Panel::from_file(path, &options(wide, None, false)));
    }

    #[test]
    fn parquet(
        name in select(vec!["pandas.parquet", "arrow.parquet", "dates.parquet"]),
        damages in prop::collection::vec(damage(), 0..4),
        fill in fills(),
        wide in any::<bool>(),
    ) {
        let (_home, path) = file("hostile.parquet", &damaged(fixture(name), &damages));
        use_all(Panel::from_file(path, &options(wide, fill, false)));
    }

    #[test]
    fn tables_beside_the_panel(damages in prop::collection::vec(damage(), 0..6)) {
        let panel = Panel::read_csv(LONG.as_bytes(), "long.csv", &options(false, None, false));
        let panel = panel.unwrap();
        let future = "shop,time,visits\na,2024-01-01 03:00:00,1\nb,2024-01-01 03:00:00,2\n";
        let (_home, path) = file("future.csv", &damaged(future.into(), &damages));
        if let Ok(future) = Future::from_file(path, &options(false, None, false), &panel, 1) {
            let _ = future.column("visits");
        }
        let (_home, path) = file("static.csv", &damaged("shop,size\na,1\nb,2\n".into(), &damages));
        if let Ok(panel) = panel.with_static_file(path, &options(false, None, false)) {
            let _ = panel.static_value("size", 1);
        }
    }
}
