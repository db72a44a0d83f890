//! Models whose directories change while they are served.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use foretell_server::{EngineSettings, ServeSettings};
use serde_json::json;

use crate::test_server::{TestServer, columns, fitted};

#[test]
fn a_model_is_replaced_under_load_and_no_request_is_lost() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("model");
    let models = [fitted(1), fitted(2)];
    models[0].save(&dir, false).unwrap();
    let server = TestServer::with(&[("m", dir.clone())], EngineSettings::default(), ServeSettings::default());
    let body = json!({"data": columns(&[0], 20)}).to_string();
    let ask = || server.client().post("/v1/forecast", "application/json", &body).json()["columns"].clone();
    let first = ask();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let load: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let (mut client, mut seen) = (server.client(), Vec::new());
                    while !done.load(Ordering::Relaxed) {
                        let answer = client.post("/v1/forecast", "application/json", &body);
                        assert_eq!(answer.status, 200, "{}", answer.text());
                        let columns = answer.json()["columns"].clone();
                        if !seen.contains(&columns) {
                            seen.push(columns);
                        }
                    }
                    seen
                })
            })
            .collect();
        models[1].save(&dir, true).unwrap();
        let mut rounds = 0;
        while ask() == first {
            thread::sleep(Duration::from_millis(10));
            rounds += 1;
            assert!(rounds < 2000, "the model was not replaced");
        }
        let second = ask();
        done.store(true, Ordering::Relaxed);
        for load in load {
            let seen = load.join().unwrap();
            assert!(
                seen.iter().all(|columns| [&first, &second].contains(&columns)),
                "neither of the two models"
            );
        }
    });
}

#[test]
fn a_model_that_cannot_be_loaded_replaces_none() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("model");
    fitted(1).save(&dir, false).unwrap();
    let server = TestServer::with(&[("m", dir.clone())], EngineSettings::default(), ServeSettings::default());
    let body = json!({"data": columns(&[0], 20)}).to_string();
    let first = server.client().post("/v1/forecast", "application/json", &body).body;
    fs::write(dir.join("configuration.json"), "{").unwrap();
    thread::sleep(Duration::from_millis(200));
    assert_eq!(server.client().post("/v1/forecast", "application/json", &body).body, first);
    fs::remove_dir_all(&dir).unwrap();
    thread::sleep(Duration::from_millis(100));
    assert_eq!(server.client().post("/v1/forecast", "application/json", &body).body, first);
}
