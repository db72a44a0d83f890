//! Sampled stacks: functions, and the parts of a training loop that they work for.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::figures::{digits, table};

/// Stacks from the root to the leaf, and how often each was seen.
pub(super) struct Stacks(BTreeMap<Vec<String>, usize>);

/// A part of a training loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    Data,
    Forward,
    Backward,
    Optimiser,
    Other,
}

pub(super) const PARTS: [(Part, &str); 5] = [
    (Part::Data, "data"),
    (Part::Forward, "forward and loss"),
    (Part::Backward, "backward"),
    (Part::Optimiser, "optimiser"),
    (Part::Other, "other"),
];

/// The parts that functions belong to, by a piece of their names; the outermost function that has one counts: a backward pass
/// that runs a block forwards once more is a backward pass.
const SIGNS: [(&str, Part); 12] = [
    ("foretell_optim", Part::Optimiser),
    ("backward", Part::Backward),
    ("gradient", Part::Backward),
    ("Model>::forward", Part::Forward),
    ("Model$GT$::forward", Part::Forward),
    ("foretell_models", Part::Forward),
    ("foretell_nn::loss", Part::Forward),
    ("foretell_nn::layers", Part::Forward),
    ("foretell_autograd::ops", Part::Forward),
    ("foretell_data::windows", Part::Data),
    ("foretell_train::fit::cut", Part::Data),
    ("foretell_batch", Part::Data),
];

/// Functions into which the code of a kernel is inlined so that it has its vector instructions. Their time is the caller's, whose
/// name says which kernel it is.
const DISPATCHERS: [&str; 2] = ["pulp::", "foretell_gemm::vector::run"];

impl Stacks {
    /// Reads the output of `perf script -F ip,sym`: a line for each frame, the leaf first, an empty one after each stack.
    pub(super) fn parse(text: &str) -> Self {
        let mut stacks: BTreeMap<Vec<String>, usize> = BTreeMap::new();
        let mut stack: Vec<String> = Vec::new();
        for line in text.lines().chain([""]) {
            match line.trim().split_once(' ') {
                Some((_, symbol)) => stack.push(name(symbol.trim())),
                None if line.trim().is_empty() && !stack.is_empty() => {
                    stack.reverse();
                    if !stack.iter().all(|frame| is_dispatcher(frame)) {
                        stack.retain(|frame| !is_dispatcher(frame));
                    }
                    *stacks.entry(std::mem::take(&mut stack)).or_default() += 1;
                }
                None => {}
            }
        }
        Self(stacks)
    }

    pub(super) fn samples(&self) -> usize {
        self.0.values().sum()
    }

    /// Lines as flame graphs take them: `root;caller;leaf count`.
    pub(super) fn folded(&self) -> Vec<String> {
        self.0.iter().map(|(stack, count)| format!("{} {count}", stack.join(";"))).collect()
    }

    /// The share of the samples in each part of the loop, in the order of [`PARTS`].
    pub(super) fn parts(&self) -> [f64; 5] {
        let samples = self.samples() as f64;
        PARTS.map(|(part, _)| {
            let seen = self.0.iter().filter(|(stack, _)| part_of(stack) == part).map(|(_, count)| count);
            seen.sum::<usize>() as f64 / samples
        })
    }

    /// The functions seen most, with their shares as leaves and anywhere in a stack: ordered by the first, or by the second.
    fn functions(&self, by_inclusive: bool) -> Vec<(&str, [f64; 2])> {
        let mut counts: HashMap<&str, [usize; 2]> = HashMap::new();
        for (stack, count) in &self.0 {
            let seen: HashSet<&str> = stack.iter().map(String::as_str).collect();
            seen.into_iter().for_each(|name| counts.entry(name).or_default()[1] += count);
            let leaf = stack.last().expect("a stack has a frame");
            counts.entry(leaf).or_default()[0] += count;
        }
        let samples = self.samples() as f64;
        let shares =
            counts.into_iter().map(|(name, counts)| (name, counts.map(|count| count as f64 / samples)));
        let mut shares: Vec<_> = shares.collect();
        let key = usize::from(by_inclusive);
        shares.sort_by(|a, b| b.1[key].total_cmp(&a.1[key]).then(a.0.cmp(b.0)));
        shares
    }
}

fn part_of(stack: &[String]) -> Part {
    let sign = |frame: &String| {
        // The loop's own frames name the model as their type.
        if frame.contains("foretell_train::shards") || frame.contains("foretell_threads") {
            return None;
        }
        SIGNS.iter().find(|(sign, _)| frame.contains(sign)).map(|(_, part)| *part)
    };
    stack.iter().find_map(sign).unwrap_or(Part::Other)
}

fn is_dispatcher(frame: &str) -> bool {
    DISPATCHERS.iter().any(|name| frame.contains(name))
}

/// A symbol without the hash of its instance.
fn name(symbol: &str) -> String {
    let symbol = symbol.split("::h").next().filter(|_| has_hash(symbol)).unwrap_or(symbol);
    symbol.replace(';', ",")
}

/// Whether a symbol ends in `::h` and sixteen hexadecimal digits.
fn has_hash(symbol: &str) -> bool {
    let hash = symbol.rsplit("::h").next().unwrap_or_default();
    symbol.matches("::h").count() == 1
        && hash.len() == 16
        && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Parts and functions as tables.
pub(super) fn report(stacks: &Stacks, step_ms: f64, top: usize) -> String {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let parts: Vec<Vec<String>> = PARTS
        .iter()
        .zip(stacks.parts())
        .map(|((_, name), share)| vec![(*name).to_owned(), percent(share), digits(share * step_ms)])
        .collect();
    let functions = |by_inclusive: bool| -> Vec<Vec<String>> {
        let row = |(name, [exclusive, inclusive]): &(&str, [f64; 2])| {
            vec![format!("`{}`", shortened(name)), percent(*exclusive), percent(*inclusive)]
        };
        stacks.functions(by_inclusive).iter().take(top).map(row).collect()
    };
    let head = ["function", "exclusive", "inclusive"];
    format!(
        "\n## Where the time goes\n\nOf {} samples of a whole training by `foretell fit` on one thread, by the clock, from reading \
         the panel to the written directory. Shares of a step's time in milliseconds; other is the loop itself, the system, and \
         what comes before and after the steps. The flame graph is flame.svg in the model's folder below \
         target/profile.\n\n{}\nThe hottest functions by themselves:\n\n{}\n\
         With what they call:\n\n{}",
        stacks.samples(),
        table(&["part", "share", "ms of a step"], &parts),
        table(&head, &functions(false)),
        table(&head, &functions(true)),
    )
}

/// A name that fits a table.
fn shortened(name: &str) -> String {
    const MOST: usize = 110;
    let name = name.replace('|', "/");
    match name.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &name[..end]),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
\t  1a foretell_gemm::panels::kernel
\t  2b <foretell_models::mlp::Network as foretell_nn::model::Model>::forward
\t  3c foretell_train::shards::Engine::step::h0123456789abcdef

\t  1a foretell_gemm::panels::kernel
\t  4d foretell_autograd::tape::Var::backward_overwriting
\t  3c foretell_train::shards::Engine::step::h0123456789abcdef

\t  5e pulp::x86::v4::V4::vectorize::imp_fastcall
\t  5f foretell_simd::kernels::adam::adam
\t  6f foretell_optim::optimizer::Optimizer::step
\t  3c foretell_train::shards::Engine::step::h0123456789abcdef

\t  7a foretell_data::windows::cut::Cut::cut
\t  3c foretell_train::shards::Engine::step::h0123456789abcdef

\t  8b __memset_avx512_unaligned
";

    #[test]
    fn every_sample_belongs_to_a_part() {
        let stacks = Stacks::parse(TEXT);
        assert_eq!(stacks.samples(), 5);
        assert_eq!(stacks.parts(), [0.2; 5]);
    }

    #[test]
    fn functions_count_once_a_stack_and_by_themselves_as_leaves() {
        let stacks = Stacks::parse(TEXT);
        assert_eq!(stacks.functions(false)[0], ("foretell_gemm::panels::kernel", [0.4, 0.4]));
        assert!(stacks.functions(false).contains(&("foretell_simd::kernels::adam::adam", [0.2, 0.2])));
        assert_eq!(stacks.functions(true)[0], ("foretell_train::shards::Engine::step", [0.0, 0.8]));
        let folded = stacks.folded();
        assert!(folded.contains(&"__memset_avx512_unaligned 1".to_owned()), "{folded:?}");
        let text = report(&stacks, 10.0, 20);
        assert!(text.contains("| optimiser | 20.0 % | 2.00 |"), "{text}");
        assert!(text.contains("| `foretell_gemm::panels::kernel` | 40.0 % | 40.0 % |"), "{text}");
    }
}
