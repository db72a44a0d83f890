//! Attention of several heads within spans of tokens.

use std::ops::Range;

use foretell_gemm::{Accum, MatMut, MatRef, Options, matmul};
use foretell_simd::softmax_rows;

/// What attention takes memory for.
#[derive(Debug, Default)]
pub(crate) struct AttentionScratch {
    scores: Vec<f32>,
    shares: Vec<f32>,
}

/// Queries that attend to the same keys, by the rows of both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) queries: Range<usize>,
    pub(crate) keys: Range<usize>,
}

impl Span {
    /// Tokens that attend to each other.
    pub(crate) fn of(tokens: Range<usize>) -> Self {
        Self { queries: tokens.clone(), keys: tokens }
    }
}

/// What the queries of each span attend to, by heads of equal width side by side: queries, keys and values `[rows, heads * width]`,
/// `attended` as queries, row-major. Scores are not scaled, as T5 has it. `begin` may write what is added to the scores
/// `[queries, keys]` of a head in a span, and says whether it did.
pub(crate) fn attend(
    [queries, keys, values]: [MatRef<'_, f32>; 3],
    spans: &[Span],
    heads: usize,
    attended: &mut [f32],
    scratch: &mut AttentionScratch,
    mut begin: impl FnMut(usize, &Span, &mut [f32]) -> Accum,
) {
    let AttentionScratch { scores, shares } = scratch;
    let (rows, inner) = (queries.nrows(), queries.ncols());
    let width = inner / heads;
    let mut attended = MatMut::row_major(attended, rows, inner);
    for span in spans {
        let [asked, known] = [span.queries.len(), span.keys.len()];
        scores.resize(asked * known, 0.0);
        shares.resize(asked * known, 0.0);
        for head in 0..heads {
            let columns = head * width..(head + 1) * width;
            let accum = begin(head, span, scores);
            matmul(
                MatMut::row_major(scores, asked, known),
                queries.rows(span.queries.clone()).cols(columns.clone()),
                keys.rows(span.keys.clone()).cols(columns.clone()).t(),
                Options::default().accum(accum),
            );
            softmax_rows(scores, known, shares);
            matmul(
                attended.reborrow().rows(span.queries.clone()).cols(columns.clone()),
                MatRef::row_major(shares, asked, known),
                values.rows(span.keys.clone()).cols(columns),
                Options::default(),
            );
        }
    }
}
