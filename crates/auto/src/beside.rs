//! Members of few series, several at a time.

use std::sync::atomic::AtomicBool;

use foretell::{Workers, in_words_of, words_here};

use crate::member::Context;

/// Runs `work` for each of `count` members, several at a time where one alone would leave threads idle, since there are fewer `series`
/// than threads. Their results, in order, are the same however many run at a time.
pub(crate) fn each_member<R: Send + Sync>(
    (count, series): (usize, usize),
    context: &Context<'_>,
    work: impl Fn(usize, &Context<'_>) -> R + Sync,
) -> Vec<R> {
    let threads = context.workers.threads();
    let at_a_time = Workers::at_a_time(count, series, threads)[0];
    if at_a_time == 1 {
        return (0..count).map(|member| work(member, context)).collect();
    }
    // Errors that are told of on other threads are in the words of the one who asked.
    let words = words_here();
    Workers::side_by_side(count, at_a_time, &AtomicBool::new(false), |member| {
        let workers = &Workers::apart(threads / at_a_time);
        let done = || work(member, &Context { workers, ..*context });
        words.map_or_else(done, |words| in_words_of(words, done))
    })
}
