//! Many threads that allocate, hand over and free.

use std::sync::mpsc::sync_channel;
use std::thread;

use super::alone;
use crate::{Buffer, metrics, trim};

const THREADS: usize = 8;
const ROUNDS: u64 = if cfg!(miri) { 60 } else { 4000 };
/// Lengths are below `2^(3 + LENGTHS)`.
const LENGTHS: u64 = if cfg!(miri) { 3 } else { 11 };

/// A step of the 64-bit mixing generator of Steele, Lea and Flood.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// A buffer marked with its owner's number: two owners of one block would see each other's marks.
fn marked(len: usize, mark: u64) -> Buffer<u64> {
    let mut buffer = match mark % 3 {
        0 => Buffer::filled(len, mark),
        1 => {
            let zeros = Buffer::<u64>::zeroed(len);
            assert!(zeros.iter().all(|x| *x == 0));
            zeros
        }
        _ => Buffer::stale(len),
    };
    buffer.fill(mark);
    buffer
}

#[test]
fn threads_that_allocate_hand_over_and_free_never_share_memory() {
    alone(hand_over_and_free);
}

fn hand_over_and_free() {
    let before = metrics();
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..THREADS).map(|_| sync_channel(64)).unzip();
    let workers: Vec<_> = receivers
        .into_iter()
        .enumerate()
        .map(|(me, mail)| {
            let senders = senders.clone();
            thread::spawn(move || {
                let mut state = me as u64;
                let mut held: Vec<(u64, Buffer<u64>)> = Vec::new();
                for round in 0..ROUNDS {
                    let mark = (me as u64) << 32 | round;
                    let len = 1 + (random(&mut state) % (1 << (4 + random(&mut state) % LENGTHS))) as usize;
                    held.push((mark, marked(len, mark)));
                    if random(&mut state).is_multiple_of(2) {
                        let whose = random(&mut state) as usize % held.len();
                        let letter = held.swap_remove(whose);
                        let _full = senders[random(&mut state) as usize % THREADS].try_send(letter);
                    }
                    held.extend(mail.try_iter());
                    while held.len() > 40 {
                        let whose = random(&mut state) as usize % held.len();
                        let (mark, buffer) = held.swap_remove(whose);
                        assert!(buffer.iter().all(|x| *x == mark));
                    }
                    if random(&mut state).is_multiple_of(997) {
                        trim();
                    }
                }
                assert!(held.iter().all(|(mark, buffer)| buffer.iter().all(|x| x == mark)));
            })
        })
        .collect();
    drop(senders);
    for worker in workers {
        worker.join().unwrap();
    }
    trim();
    let sum = metrics();
    assert_eq!((sum.live_bytes, sum.idle_bytes), (0, 0), "{sum:?}");
    let asked = sum.hits + sum.misses - before.hits - before.misses;
    assert_eq!(asked, THREADS as u64 * ROUNDS, "{sum:?}");
    assert_eq!(sum.misses, sum.dropped, "{sum:?}");
}
