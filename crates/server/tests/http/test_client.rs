//! A client that sends what it is told, and nothing else.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("text")
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (known, value) = line.split_once(": ")?;
            known.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    /// The detail of an error, which must be one of this status.
    pub(crate) fn detail(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{}", self.text());
        assert_eq!(self.header("content-type"), Some("application/problem+json"));
        let problem = self.json();
        assert_eq!(problem["status"], status);
        assert!(problem["type"].as_str().unwrap().starts_with("urn:foretell:problem:"));
        // The keys that all hosts have.
        assert_eq!(problem["message"], problem["detail"]);
        for key in ["code", "setting", "file", "row", "column", "series", "advice"] {
            assert!(problem.get(key).is_some(), "{key}: {problem}");
        }
        assert!(problem["code"].as_str().is_some_and(|code| !code.is_empty()), "{problem}");
        problem["detail"].as_str().unwrap().to_owned()
    }
}

/// A connection.
pub(crate) struct Client(pub(crate) TcpStream);

impl Client {
    pub(crate) fn new(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.set_nodelay(true).unwrap();
        Self(stream)
    }

    pub(crate) fn get(&mut self, path: &str) -> Answer {
        self.ask("GET", path, &[], b"")
    }

    pub(crate) fn post(&mut self, path: &str, content: &str, body: impl AsRef<[u8]>) -> Answer {
        self.ask("POST", path, &[("content-type", content)], body.as_ref())
    }

    pub(crate) fn ask(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = body.len();
        let head =
            format!("{method} {path} HTTP/1.1\r\nhost: test\r\n{headers}content-length: {length}\r\n\r\n");
        self.0.write_all(&[head.as_bytes(), body].concat()).unwrap();
        self.answer().expect("an answer")
    }

    /// The next answer; nothing where the server ends the connection.
    pub(crate) fn answer(&mut self) -> Option<Answer> {
        let mut read = Vec::new();
        let end = loop {
            if let Some(end) = read.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break end + 4;
            }
            self.more(&mut read)?;
        };
        let head = String::from_utf8(read[..end].to_vec()).unwrap();
        let mut answer = Answer { status: head[9..12].parse().unwrap(), head, body: Vec::new() };
        if answer.header("transfer-encoding") == Some("chunked") {
            answer.body = self.chunks(read.split_off(end))?;
            return Some(answer);
        }
        let length: usize = answer.header("content-length").map_or(0, |length| length.parse().unwrap());
        while read.len() < end + length {
            self.more(&mut read)?;
        }
        // What follows is the answer to bytes that were sent after the request.
        read.truncate(end + length);
        answer.body = read.split_off(end);
        Some(answer)
    }

    /// The body of an answer that comes in chunks, the first bytes of which were read.
    fn chunks(&mut self, mut read: Vec<u8>) -> Option<Vec<u8>> {
        let (mut body, mut start) = (Vec::new(), 0);
        loop {
            while !read[start..].windows(2).any(|end| end == b"\r\n") {
                self.more(&mut read)?;
            }
            let line = read[start..].windows(2).position(|end| end == b"\r\n").unwrap();
            let size = std::str::from_utf8(&read[start..start + line]).unwrap();
            let size = usize::from_str_radix(size, 16).unwrap();
            start += line + 2;
            while read.len() < start + size + 2 {
                self.more(&mut read)?;
            }
            body.extend_from_slice(&read[start..start + size]);
            start += size + 2;
            if size == 0 {
                return Some(body);
            }
        }
    }

    fn more(&mut self, read: &mut Vec<u8>) -> Option<()> {
        let mut bytes = [0; 1 << 16];
        let count = self.0.read(&mut bytes).ok().filter(|count| *count > 0)?;
        read.extend_from_slice(&bytes[..count]);
        Some(())
    }
}
