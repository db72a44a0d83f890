//! `foretell serve` as its users meet it: answers are those of `foretell predict`, and SIGTERM and kills end it cleanly.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Command, Stdio};

use crate::test_directory::{LONG, SMALL, TestDirectory, stderr};

/// A server at work, ended when it is dropped.
struct Server {
    child: Child,
    address: String,
    log: BufReader<ChildStderr>,
}

impl Server {
    fn new(dir: &TestDirectory, flags: &str, token: Option<&str>) -> Self {
        let mut command = dir.command(&format!("serve --listen 127.0.0.1:0 {flags}"));
        if let Some(token) = token {
            command.env("FORETELL_TOKEN", token);
        }
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        log.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("serving at http://");
        let address = address.unwrap_or_else(|| panic!("no address in {line:?}")).to_owned();
        Self { child, address, log }
    }

    /// Sends a request with these lines in its head; the status and the body of the answer.
    fn ask(&self, method_and_path: &str, lines: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        let head = format!(
            "{method_and_path} HTTP/1.1\r\nhost: t\r\nconnection: close\r\n{lines}content-length: {length}\r\n\r\n"
        );
        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head[9..12].parse().unwrap(), body.to_owned())
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// All files below a directory.
fn files(dir: &std::path::Path) -> BTreeSet<std::path::PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { BTreeSet::from([path]) }).collect()
}

fn with_models() -> TestDirectory {
    let dir = TestDirectory::new();
    dir.ok(&format!("fit {LONG} {SMALL} --model NHITS,LSTM --intervals 3 --out model"));
    dir
}

#[test]
fn an_answer_is_byte_for_byte_what_predict_writes() {
    let dir = with_models();
    let expected = dir.ok(&format!("predict --model model {LONG} --level 50"));
    let mut server = Server::new(&dir, "--model model --threads 2", None);
    let (status, answer) =
        server.ask("POST /v1/forecast?level=50", "content-type: text/csv\r\n", &dir.read("long.csv"));
    assert_eq!((status, &answer), (200, &expected));
    let (status, problem) =
        server.ask("POST /v1/forecast", "content-type: text/csv\r\n", "shop,day,sales\na,2024-01-01,x\n");
    assert_eq!(status, 422);
    assert!(problem.contains("data, line 2, column `sales`"), "{problem}");
    let (_, page) = server.ask("GET /", "", "");
    assert!(page.starts_with("<!doctype html>"), "{page}");
    assert!(!page.contains("src=") && !page.contains("@import"), "the page has outside resources");

    server.signal("TERM");
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    let mut log = String::new();
    server.log.read_to_string(&mut log).unwrap();
    assert_eq!(log.lines().filter(|line| line.contains(r#""route":"/v1/forecast""#)).count(), 2, "{log}");
    assert!(!log.contains("north") && !log.contains("2024-01-01"), "{log}");
}

#[test]
fn remedies_are_fields_of_requests() {
    let dir = with_models();
    let server = Server::new(&dir, "--model shops=model", None);
    let gap = "shop,day,sales\na,2024-01-01,1\na,2024-01-02,2\na,2024-01-04,3\n";
    let (status, problem) = server.ask("POST /v1/forecast", "content-type: text/csv\r\n", gap);
    assert_eq!(status, 422);
    assert!(problem.contains("reading.fill") && !problem.contains("--fill"), "{problem}");
    // What no request sets is a setting of the model: a client has no command line.
    dir.ok(&format!("fit {LONG} {SMALL} --model NLinear --out plain --log none"));
    let server = Server::new(&dir, "--model plain", None);
    let level = server.ask("POST /v1/forecast?level=80", "content-type: text/csv\r\n", &dir.read("long.csv"));
    let remedies =
        "with the training (`the model's intervals = 10`) or on the end of the data (`intervals = 10`)";
    assert!(level.0 == 400 && level.1.contains(remedies), "{level:?}");
}

#[test]
fn a_token_of_the_environment_guards_forecasts() {
    let dir = with_models();
    let server = Server::new(&dir, "--model model", Some("a-token-of-20-letters"));
    assert_eq!(server.ask("GET /v1/models", "", "").0, 401);
    let shown = "authorization: Bearer a-token-of-20-letters\r\n";
    assert_eq!(server.ask("GET /v1/models", shown, "").0, 200);
    drop(server);
    let mut command = dir.command("serve --model model --listen 127.0.0.1:0");
    let output = command.env("FORETELL_TOKEN", "short").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("16 characters") && !stderr(&output).contains("short"));
}

#[test]
fn a_kill_under_load_leaves_no_file_behind() {
    let dir = with_models();
    let home = dir.path("");
    let before = files(&home);
    let data = dir.read("long.csv");
    for _ in 0..3 {
        let mut server = Server::new(&dir, "--model model", None);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                let (address, data) = (server.address.clone(), &data);
                scope.spawn(move || {
                    let head = format!("POST /v1/forecast HTTP/1.1\r\nhost: t\r\ncontent-type: text/csv\r\ncontent-length: {}\r\n\r\n", data.len());
                    // Until it is killed.
                    while let Ok(mut stream) = TcpStream::connect(&address) {
                        let _ = stream.write_all(format!("{head}{data}").as_bytes());
                        let _ = stream.read(&mut [0; 1000]);
                    }
                });
            }
            let data = &data;
            assert_eq!(server.ask("POST /v1/forecast", "content-type: text/csv\r\n", data).0, 200);
            server.child.kill().unwrap();
            server.child.wait().unwrap();
        });
        assert_eq!(files(&home), before);
    }
}

#[test]
fn mistakes_of_the_command_line_are_told_before_anything_is_served() {
    let dir = with_models();
    assert!(dir.fails(1, "serve --model nowhere --listen 127.0.0.1:0").contains("model nowhere, nowhere: "));
    assert!(dir.fails(1, "serve --model a=model --model a=model").contains("two models are called a"));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    assert!(dir.fails(1, &format!("serve --model model --listen {address}")).contains("--listen"));
}
