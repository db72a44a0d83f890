//! Damaged requests and archives: an error, never a panic.

use foretell_requests::join;
use serde_json::json;

use crate::{ask, session, values};

/// A stream of numbers that is the same at every run.
fn draws(mut state: u64) -> impl FnMut(usize) -> usize {
    move |below| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    }
}

#[test]
fn no_damage_of_an_archive_is_more_than_an_error() {
    let mut session = session();
    let fit = json!({ "op": "fit", "tables": { "values": values(30) }, "models": ["SeasonalNaive", { "model": "NLinear", "max_steps": 1 }], "h": 2 });
    let (fitted, _) = ask(&mut session, &fit, &[]);
    let (_, archive) = ask(&mut session, &json!({ "op": "save", "model": fitted["model"] }), &[]);
    let mut draw = draws(1);
    for round in 0..300 {
        let mut damaged = archive.clone();
        match round % 3 {
            0 => damaged.truncate(draw(archive.len())),
            1 => (0..1 + draw(4)).for_each(|_| damaged[draw(archive.len())] ^= 1 << draw(8)),
            _ => drop(damaged.drain(draw(archive.len() / 2)..archive.len() / 2 + draw(archive.len() / 2))),
        }
        let (answer, _) = ask(&mut session, &json!({ "op": "load" }), &damaged);
        // Damage that changes nothing that is read, as a time in the archive, may pass.
        if answer["error"].is_null() {
            ask(&mut session, &json!({ "op": "free", "model": answer["model"] }), &[]);
        } else {
            assert!(answer["error"]["code"].is_string(), "{answer}");
        }
    }
}

#[test]
fn no_damage_of_a_request_is_more_than_an_error() {
    let mut session = session();
    let asked = json!({ "tables": { "values": values(12) }, "h": 2, "levels": [80.0], "season": 4, "models": ["Naive"] });
    let request = json!({ "op": "forecast", "asked": asked });
    let (message, mut draw) = (join(request.to_string().as_bytes(), &[]), draws(2));
    for _ in 0..300 {
        let mut damaged = message.clone();
        for _ in 0..1 + draw(3) {
            // Digits stay digits: a horizon of a million steps is no damage, and takes its time.
            let at = draw(message.len());
            if !damaged[at].is_ascii_digit() {
                damaged[at] = b"{}[],:\"x\0"[draw(9)];
            }
        }
        let answer = session.answer(&damaged);
        assert!(answer.len() > 4);
    }
    for message in [&[][..], &[1], &[255; 4], &[0; 4], &[2, 0, 0, 0, b'{', b'}']] {
        let answer = session.answer(message);
        assert!(String::from_utf8_lossy(&answer).contains("\"error\""));
    }
}
