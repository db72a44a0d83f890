//! Load for a server: this many clients, each sending the same request over its connection as soon as it has the answer.
//!
//! ```sh
//! cargo run --release -p foretell-server --example load -- 127.0.0.1:8080 /v1/forecast request.json 64 10
//! ```
//!
//! `CLIENT` in the request becomes the number of the client, for series of different ids. It prints a line of JSON: requests, requests per second, the latency of the very
//! first one and percentiles of those that count in milliseconds, and answers other than 200.

use std::error::Error;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use std::{env, fs};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::sleep;

/// The latencies of the good answers, in microseconds, and how many others there were.
type Seen = (Vec<u32>, u64);

fn main() -> Result<(), Box<dyn Error>> {
    let [address, path, file, clients, seconds]: [String; 5] = env::args()
        .skip(1)
        .collect::<Vec<_>>()
        .try_into()
        .map_err(|_| "ADDRESS PATH FILE CLIENTS SECONDS")?;
    let body = fs::read_to_string(file)?;
    let request = |client: usize| {
        let body = body.replace("CLIENT", &client.to_string());
        let head = format!("POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n");
        format!("{head}content-length: {}\r\n\r\n{body}", body.len())
    };
    let (address, seconds): (SocketAddr, f64) = (address.parse()?, seconds.parse()?);
    let clients: usize = clients.parse()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (first, (mut latencies, others)) = runtime.block_on(async {
        // What the server does for the first time takes longer.
        let until = Instant::now() + Duration::from_millis(500);
        let (warm, _) = client(address, request(0), until).await?;
        let until = Instant::now() + Duration::from_secs_f64(seconds);
        let tasks: Vec<_> =
            (0..clients).map(|number| tokio::spawn(client(address, request(number), until))).collect();
        let mut all: Seen = (Vec::new(), 0);
        for task in tasks {
            let (latencies, others) = task.await.map_err(std::io::Error::other)??;
            all.0.extend(latencies);
            all.1 += others;
        }
        Ok::<_, std::io::Error>((warm.first().copied(), all))
    })?;
    latencies.sort_unstable();
    let ms = |micros: Option<&u32>| micros.map_or(f64::NAN, |micros| f64::from(*micros) / 1e3);
    let percentile = |share: f64| ms(latencies.get((latencies.len() as f64 * share) as usize));
    println!(
        r#"{{"clients":{clients},"requests":{},"per_second":{:.0},"first_ms":{:.3},"p50_ms":{:.3},"p99_ms":{:.3},"p999_ms":{:.3},"others":{others}}}"#,
        latencies.len(),
        latencies.len() as f64 / seconds,
        ms(first.as_ref()),
        percentile(0.5),
        percentile(0.99),
        percentile(0.999)
    );
    Ok(())
}

/// Sends requests until then.
async fn client(address: SocketAddr, request: String, until: Instant) -> std::io::Result<Seen> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (mut seen, mut read) = ((Vec::new(), 0), Vec::new());
    while Instant::now() < until {
        let start = Instant::now();
        stream.write_all(request.as_bytes()).await?;
        read.clear();
        let status = loop {
            stream.read_buf(&mut read).await?;
            if let Some(status) = answered(&read) {
                break status;
            }
        };
        match status {
            200 => seen.0.push(start.elapsed().as_micros() as u32),
            _ => {
                seen.1 += 1;
                sleep(Duration::from_millis(10)).await;
            }
        }
    }
    Ok(seen)
}

/// The status of an answer that is there as a whole.
fn answered(bytes: &[u8]) -> Option<u16> {
    let end = bytes.windows(4).position(|bytes| bytes == b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(&bytes[..end]).ok()?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    })?;
    if bytes.len() < end + length {
        return None;
    }
    head.get(9..12)?.parse().ok()
}
