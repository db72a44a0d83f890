//! `foretell bench`: what it tells of a training step.

use serde_json::Value;

use crate::test_directory::TestDirectory;

#[test]
fn the_bench_explains_its_products() {
    let dir = TestDirectory::new();
    let bench = "bench --model NLinear --h 4 --input-size 8 --batch 8 --threads 1";
    let json: Value = serde_json::from_str(&dir.ok(&format!("{bench} --explain --json"))).unwrap();
    let products = json["products"].as_array().unwrap();
    // One layer of 8 x 4 weights, forwards and the gradient of the weights; the input takes none.
    let found = |part: &str| -> Vec<_> {
        let all = products.iter().filter(|product| product["part"] == part);
        all.map(|product| (product["shape"].to_string(), product["count"].as_u64().unwrap())).collect()
    };
    let of_shape = |shape: &str| (shape.to_owned(), 1);
    assert_eq!(found("step"), [of_shape("[4,8,8]"), of_shape("[8,8,4]")]);
    assert_eq!(found("forward_batch"), [of_shape("[8,8,4]")]);
    assert_eq!(found("forward_one"), [of_shape("[1,8,4]")]);
    let plans = || products.iter().map(|product| product["plan"].as_str().unwrap());
    assert!(plans().all(|plan| plan.starts_with("f32 by ") && plan.ends_with(", one task")), "{json}");

    let text = dir.ok(&format!("{bench} --explain"));
    assert!(text.contains("Products of NLinear") && text.contains("forward, one"), "{text}");
    assert!(plans().all(|plan| text.contains(plan)), "{text}");
}

#[test]
fn the_bench_has_all_its_keys_and_misses_nothing_in_the_pool() {
    let dir = TestDirectory::new();
    let json = dir.ok("bench --model NLinear --h 4 --input-size 8 --batch 8 --threads 1 --json");
    let bench: Value = serde_json::from_str(&json).unwrap();
    assert!(bench["products"].is_null(), "not asked for: {bench}");
    for key in
        ["step_ms", "forward_batch_ms", "forward_one_us", "parameters", "held_bytes", "gemm_gflop_per_s"]
    {
        assert!(bench[key].as_f64().unwrap() > 0.0, "{key}");
    }
    // One layer of 8 x 4 weights, forwards and the gradient of the weights, for 8 windows; the input takes none.
    let flops = 2.0 * 2.0 * 8.0 * 8.0 * 4.0;
    assert!((bench["gflop_per_step"].as_f64().unwrap() * 1e9 - flops).abs() < 0.5, "{bench}");
    let number = |key: &str| bench[key].as_f64().unwrap();
    let rate = number("gflop_per_step") / (number("step_ms") / 1e3);
    assert!(
        (number("share_of_gemm_rate") / (rate / number("gemm_gflop_per_s")) - 1.0).abs() < 1e-6,
        "{bench}"
    );
    assert_eq!(bench["step_peak_mb"].is_null(), !cfg!(target_os = "linux"));
    assert!(bench.as_object().unwrap().contains_key("peak_rss_mb"));
    let acceleration = bench["acceleration"].as_str().unwrap();
    for (feature, on) in [
        ("faer", cfg!(feature = "faer")),
        ("flash", cfg!(feature = "flash")),
        ("parallel", cfg!(feature = "parallel")),
        ("pool", cfg!(feature = "pool")),
    ] {
        assert_eq!(acceleration.contains(feature), on, "{acceleration}");
    }
    // Without the pool every buffer is an allocation.
    assert_eq!(bench["pool_misses_per_step"] == 0.0, cfg!(feature = "pool"));
}

#[test]
fn a_window_of_the_bench_holds_as_many_series_as_asked() {
    let dir = TestDirectory::new();
    let work = |series: usize| -> f64 {
        let json = dir.ok(&format!(
            "bench --model iTransformer --h 4 --input-size 8 --batch 2 --n-series {series} --threads 1 \
             --set hidden_size=8 --set d_ff=8 --json --log none"
        ));
        serde_json::from_str::<Value>(&json).unwrap()["gflop_per_step"].as_f64().unwrap()
    };
    let [two, six] = [2, 6].map(work);
    assert!(six > 2.5 * two, "{two} of two series, {six} of six");
}

#[test]
fn a_bench_tells_how_its_steps_are_computed() {
    let dir = TestDirectory::new();
    let bench = "bench --model NLinear --h 4 --input-size 8 --batch 8 --low-memory";
    // One bench takes seconds.
    let text = dir.ok(&format!("{bench} --threads 1"));
    assert!(text.contains("in f32, in low memory, with ") && !text.contains("Products of"), "{text}");
    let json: Value = serde_json::from_str(&dir.ok(&format!("{bench} --threads 1,2 --json"))).unwrap();
    assert_eq!((&json["precision"], &json["low_memory"]), (&"f32".into(), &true.into()), "{json}");
}

#[test]
fn the_curve_has_every_batch_and_is_drawn() {
    let dir = TestDirectory::new();
    let bench = "bench --model NLinear,DLinear --h 4 --input-size 8 --threads 1 --curve 5";
    let text = dir.ok(&format!("{bench} --out curve.svg"));
    let header = text.lines().nth(1).unwrap();
    assert_eq!(header.split_whitespace().collect::<Vec<_>>(), ["model", "choose", "1", "2", "4"], "{text}");
    let svg = dir.read("curve.svg");
    assert!(
        svg.contains("NLinear") && svg.contains("DLinear") && svg.matches("<circle").count() == 2,
        "{svg}"
    );
    let json = dir.ok(&format!("{bench} --json --out curve.json"));
    let lines: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let file = dir.bytes("curve.json");
    assert_eq!(serde_json::from_slice::<Vec<Value>>(&file).unwrap(), lines);
    for (curve, model) in lines.iter().zip(["NLinear", "DLinear"]) {
        assert_eq!(
            (&curve["model"], &curve["precision"], &curve["threads"]),
            (&model.into(), &"f32".into(), &1.into())
        );
        let points = curve["points"].as_array().unwrap();
        let batches: Vec<u64> = points.iter().map(|point| point["batch"].as_u64().unwrap()).collect();
        assert_eq!(batches, [1, 2, 4]);
        assert!(points.iter().all(|point| point["per_second"].as_f64().unwrap() > 0.0), "{curve}");
        assert!(batches.contains(&curve["choice"].as_u64().unwrap()));
    }
    let refused = dir.fails(2, &format!("{bench} --out curve.txt"));
    assert!(refused.contains(".svg"), "{refused}");
}
