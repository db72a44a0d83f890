//! A program without memory ends with an error, and where it asks for a buffer it hears of it.

use std::panic::catch_unwind;
use std::process::Command;
use std::{env, hint};

use super::alone;
use crate::{Buffer, OutOfMemory};

/// More bytes than any machine has addresses for.
const TOO_MUCH: usize = 1 << 60;

/// Asks for too much memory. Another process of this suite starts it.
#[test]
#[ignore = "no check but a process: the test below starts it, and it ends the process"]
fn asks_for_too_much() {
    hint::black_box(Vec::<u8>::with_capacity(TOO_MUCH));
}

#[test]
fn refused_memory_is_an_error_and_no_abort() {
    let mut command = Command::new(env::current_exe().unwrap());
    let output = command
        .args(["--exact", "tests::program_memory::asks_for_too_much", "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("error: out of memory: the system refused 1152921504606846976 bytes"), "{told}");
    assert!(!told.contains("memory allocation of"), "{told}");
}

#[test]
fn a_refused_buffer_is_a_panic_that_can_be_caught() {
    alone(|| {
        let panic = catch_unwind(|| Buffer::<u8>::zeroed(TOO_MUCH)).unwrap_err();
        assert!(panic.downcast_ref::<OutOfMemory>().is_some_and(|refused| refused.bytes >= TOO_MUCH));
        assert_eq!(vec![1, 2, 3].len(), 3, "the process continues");
    });
}
