use super::*;

/// Decisions that were read and found right: a line of each is the product, the level, and the plan.
const GOLDEN: &str = include_str!("plan/golden.txt");

const SHAPES: [[usize; 3]; 22] = [
    [0, 3, 4],
    [3, 3, 3],
    [16, 16, 16],
    [1, 512, 512],
    [1, 1500, 3000],
    [4, 512, 512],
    [7, 512, 2048],
    [12, 40, 64],
    [32, 64, 64],
    [32, 512, 512],
    [48, 32, 48],
    [64, 64, 64],
    [64, 1024, 64],
    [64, 4096, 64],
    [128, 1024, 1024],
    [224, 512, 2048],
    [256, 256, 256],
    [300, 50_000, 9],
    [1024, 128, 128],
    [1030, 128, 131],
    [4096, 64, 256],
    [12_288, 128, 128],
];

fn plans() -> String {
    let right = [
        ("row-major", RightLayout::RowMajor, Rounding::None),
        ("column-major", RightLayout::ColumnMajor, Rounding::None),
        ("rounded to bf16", RightLayout::ColumnMajor, Rounding::Bf16),
        ("packed f32", RightLayout::PackedF32, Rounding::None),
        ("packed bf16", RightLayout::PackedBf16, Rounding::None),
        ("packed int8", RightLayout::PackedInt8, Rounding::None),
    ];
    let levels = [
        ("scalar", Level::Scalar, false),
        ("avx2", Level::Avx2, false),
        ("avx512", Level::Avx512, false),
        ("avx512 of AMD", Level::Avx512, true),
        ("amx", Level::Amx, false),
        ("neon", Level::Neon, false),
    ];
    let mut text = String::new();
    for shape in SHAPES {
        let [m, k, n] = shape;
        for (name, rhs, rounding) in right {
            // Levels of the same plan share a line.
            let mut lines: Vec<(Vec<&str>, String)> = Vec::new();
            for (level_name, level, fast_pairs) in levels {
                let product = ProductShape { shape, rhs, rounding, threads: 2 };
                let plan = explain(product, level, fast_pairs).to_string();
                match lines.iter_mut().find(|(_, other)| *other == plan) {
                    Some((levels, _)) => levels.push(level_name),
                    None => lines.push((vec![level_name], plan)),
                }
            }
            for (levels, plan) in lines {
                text += &format!("{m}x{k}x{n} {name} | {} | {plan}\n", levels.join(", "));
            }
        }
    }
    text
}

/// `FORETELL_WRITE_PLANS=1 cargo test -p foretell-gemm --lib plan` writes the table anew.
#[test]
fn decisions_are_those_of_the_table() {
    let plans = plans();
    if std::env::var_os("FORETELL_WRITE_PLANS").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/plan/golden.txt"), &plans).unwrap();
        return;
    }
    if cfg!(feature = "faer") {
        for (found, expected) in plans.lines().zip(GOLDEN.lines()) {
            assert_eq!(found, expected);
        }
        assert_eq!(plans.lines().count(), GOLDEN.lines().count());
    }
}

#[test]
fn one_thread_with_tiles_goes_through_a_packed_product_alone() {
    let shape = [1024, 512, 512];
    let plan = |threads| {
        let product = ProductShape { shape, rhs: RightLayout::PackedBf16, rounding: Rounding::None, threads };
        explain(product, Level::Amx, false).to_string()
    };
    assert_eq!(plan(1), "bf16 by tiles of AMX, one task");
    assert_ne!(plan(2), plan(1));
}
