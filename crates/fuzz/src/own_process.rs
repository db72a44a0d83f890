//! Tests that count what a whole process does, among others in one program.

use std::{env, process::Command};

/// Set in the process that a test started for itself.
const MARK: &str = "FORETELL_OWN_PROCESS";

/// Whether a test runs in a process of its own. Elsewhere it starts its program again, with this test alone, and has nothing more to
/// do; `test` is its name in the program, such as `warm::a_step_asks_for_no_buffer`.
///
/// # Panics
/// If the test failed in that process, or there is no test of this name.
pub fn in_own_process(test: &str) -> bool {
    if env::var_os(MARK).is_some() {
        return true;
    }
    let program = env::current_exe().expect("a program has a path");
    let mut command = Command::new(program);
    command.args(["--exact", test, "--test-threads=1", "--nocapture"]).env(MARK, "1");
    let output = command.output().expect("a program that runs can be started");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("1 passed"), "no test is called {test}:\n{text}");
    false
}
