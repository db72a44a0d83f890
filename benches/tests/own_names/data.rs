//! All that the public signatures use is named by this crate.

use foretell_calendar::{Freq, jiff::civil::date};
use foretell_data::{Cutter, Key, Panel, Span, Stream, WindowSpec};

#[test]
fn windows_are_drawn_from_a_panel_that_begins_on_a_date() {
    let freq = Freq::parse("D").expect("a frequency");
    let panel = Panel::from_series(freq, [("a", date(2024, 2, 28), [0.0; 30])]).expect("a panel");
    let spec = WindowSpec::new(7, 2);
    let cutter = Cutter::new(&panel, &spec, Span::Train { val_size: 0, test_size: 0 }).expect("windows");
    let mut windows = Vec::new();
    cutter.draw(&[0], Some(5), &mut Stream::new(Key::new(1)), &mut windows);
    assert_eq!(windows.len(), 5);
}
