//! scratch
use foretell_data::*;
use foretell_simd::*;
use std::time::Instant;
fn rss() -> String {
    std::fs::read_to_string("/proc/self/status")
        .unwrap()
        .lines()
        .filter(|l| l.starts_with("VmHWM") || l.starts_with("VmRSS"))
        .map(|l| l.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect::<Vec<_>>()
        .join(" ")
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    println!("start {}", rss());
    let t = Instant::now();
    let panel =
        Panel::from_csv(&args[1], &CsvOptions { wide: args[2] == "wide", ..CsvOptions::default() }).unwrap();
    println!(
        "read {} series {} rows freq {} in {:?} {}",
        panel.n_series(),
        panel.n_rows(),
        panel.freq(),
        t.elapsed(),
        rss()
    );
    for scaler in WindowScaler::ALL {
        let spec = WindowSpec { scaler, ..WindowSpec::new(96, 24) };
        let t = Instant::now();
        let cutter = Cutter::new(&panel, &spec, Span::Train { val_size: 24, test_size: 0 }).unwrap();
        let build = t.elapsed();
        let mut sampler = SeriesSampler::new(cutter.series_with_windows(), 32, false, Key::new(1));
        let (mut y, mut o, mut m, mut om) =
            (vec![0.0; 1024 * 96], vec![0.0; 1024 * 24], vec![0.0; 1024 * 96], vec![0.0; 1024 * 24]);
        let mut batch = Vec::new();
        let (mut draw, mut cut) = (0.0, 0.0);
        for step in 0..200 {
            let t = Instant::now();
            cutter.draw(
                sampler.batch(step),
                Some(1024),
                &mut Stream::new(Key::new(1).fold(step)),
                &mut batch,
            );
            draw += t.elapsed().as_secs_f64();
            let t = Instant::now();
            cutter.cut(
                &batch,
                &mut WindowSlices {
                    insample_y: &mut y,
                    outsample_y: &mut o,
                    insample_mask: &mut m,
                    outsample_mask: &mut om,
                    ..Default::default()
                },
            );
            cut += t.elapsed().as_secs_f64();
        }
        println!(
            "{scaler}: new {build:?} draw {:.1} us cut {:.1} us per 1024 windows {}",
            draw * 5e3,
            cut * 5e3,
            rss()
        );
    }
}
