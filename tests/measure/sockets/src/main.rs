//! Tries the reasons for sockets of our own against the crate `zeromq`.
//!
//!     cargo run --manifest-path tests/measure/sockets/Cargo.toml -- REASON
//!
//! Each reason runs alone and prints one line: `FELL` where the crate does what made us leave it, `HELD` where it does not any
//! more. `announced` ends its process where it fell, so that the caller reads the status as well. `all` runs each in a process
//! of its own, and is what `docs/decisions/sockets.md` quotes.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::{Command, ExitCode};
use std::time::Duration;

use zeromq::{RouterSocket, Socket, SocketRecv, SocketSend, XPubSocket, ZmqMessage};

const REASONS: [&str; 8] =
    ["announced", "unsigned", "frames", "identity", "slow", "subscriptions", "connections", "malformed"];

/// Long enough on a busy machine for what ought to happen, and short enough to wait for what must not.
const PATIENCE: Duration = Duration::from_secs(5);

/// A connection of a stranger, after the handshake.
struct Stranger(TcpStream);

impl Stranger {
    fn connect(address: &str, kind: &str, identity: &str) -> Self {
        let mut stream = TcpStream::connect(address.trim_start_matches("tcp://")).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(&greeting()).unwrap();
        let mut theirs = [0; 64];
        stream.read_exact(&mut theirs).unwrap();
        let mut ready = b"\x05READY".to_vec();
        for (name, value) in [("Socket-Type", kind), ("Identity", identity)] {
            ready.push(name.len() as u8);
            ready.extend(name.as_bytes());
            ready.extend((value.len() as u32).to_be_bytes());
            ready.extend(value.as_bytes());
        }
        stream.write_all(&[&[4, ready.len() as u8], &ready[..]].concat()).unwrap();
        let mut header = [0; 2];
        stream.read_exact(&mut header).unwrap();
        let mut theirs = vec![0; header[1].into()];
        stream.read_exact(&mut theirs).unwrap();
        Self(stream)
    }

    /// Sends a frame. Returns whether the other side still takes it.
    fn send(&mut self, flags: u8, frame: &[u8]) -> bool {
        let header = [&[flags | 2][..], &(frame.len() as u64).to_be_bytes()].concat();
        self.0.write_all(&header).is_ok() && self.0.write_all(frame).is_ok()
    }

    /// What arrives within the patience.
    fn hears(&mut self) -> Vec<u8> {
        let mut bytes = vec![0; 1 << 16];
        let read = self.0.read(&mut bytes).unwrap_or(0);
        bytes.truncate(read);
        bytes
    }
}

fn greeting() -> Vec<u8> {
    [&[0xff][..], &[0; 8], &[0x7f, 3, 0], b"NULL", &[0; 48]].concat()
}

/// The memory that this process uses, in MiB.
fn memory() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4 / 1024
}

async fn router() -> (RouterSocket, String) {
    let mut socket = RouterSocket::new();
    let address = socket.bind("tcp://127.0.0.1:0").await.unwrap().to_string();
    (socket, address)
}

async fn publisher() -> (XPubSocket, String) {
    let mut socket = XPubSocket::new();
    let address = socket.bind("tcp://127.0.0.1:0").await.unwrap().to_string();
    (socket, address)
}

/// Whether the crate still does what the reason says, and the figure that shows it.
async fn tried(reason: &str) -> (bool, String) {
    match reason {
        // A greeting and nine bytes: a frame of 2^62 bytes begins. Memory is reserved for what is announced.
        "announced" => {
            let (mut socket, address) = router().await;
            std::thread::spawn(move || {
                let mut stranger = Stranger::connect(&address, "DEALER", "a");
                let _ = stranger.0.write_all(&[&[2][..], &(1u64 << 62).to_be_bytes()].concat());
                std::thread::sleep(PATIENCE);
            });
            let _ = tokio::time::timeout(2 * PATIENCE, socket.recv()).await;
            (false, "the process goes on".to_owned())
        }
        // One message of 512 MiB from somebody who has shown nothing.
        "unsigned" => {
            let (mut socket, address) = router().await;
            let sender = std::thread::spawn(move || {
                let mut stranger = Stranger::connect(&address, "DEALER", "a");
                stranger.send(0, &vec![7; 512 << 20])
            });
            let received = tokio::time::timeout(6 * PATIENCE, socket.recv()).await;
            let bytes = received.ok().and_then(Result::ok).and_then(|message| Some(message.get(1)?.len())).unwrap_or(0);
            let _ = sender.join();
            (bytes > 16 << 20, format!("a message of {} MiB arrived", bytes >> 20))
        }
        // A message of empty frames that never ends: two bytes each on the wire.
        "frames" => {
            let (mut socket, address) = router().await;
            let before = memory();
            std::thread::spawn(move || {
                let mut stranger = Stranger::connect(&address, "DEALER", "a");
                let empty = [1, 0].repeat(1 << 20);
                for _ in 0..16 {
                    if stranger.0.write_all(&empty).is_err() {
                        return;
                    }
                }
                std::thread::sleep(PATIENCE);
            });
            let _ = tokio::time::timeout(2 * PATIENCE, socket.recv()).await;
            let grown = memory().saturating_sub(before);
            (grown > 128, format!("32 MiB on the wire took {grown} MiB of memory"))
        }
        // A stranger takes the name of a client. Where do replies go?
        "identity" => {
            let (mut socket, address) = router().await;
            let mut client = Stranger::connect(&address, "DEALER", "client");
            assert!(client.send(0, b"hello"));
            socket.recv().await.unwrap();
            let mut stranger = Stranger::connect(&address, "DEALER", "client");
            tokio::time::sleep(Duration::from_millis(500)).await;
            let mut reply = ZmqMessage::from("client");
            reply.push_back("for the client".into());
            let _ = socket.send(reply).await;
            let (stranger, client) = (stranger.hears(), client.hears());
            let is_taken = stranger.ends_with(b"for the client");
            (is_taken, format!("the stranger hears {} bytes, the client {}", stranger.len(), client.len()))
        }
        // Two subscribers, of which one does not read.
        "slow" => {
            let (mut socket, address) = publisher().await;
            let (mut lazy, mut live) =
                (Stranger::connect(&address, "SUB", "l"), Stranger::connect(&address, "SUB", "m"));
            for subscriber in [&mut lazy, &mut live] {
                assert!(subscriber.send(0, b"\x01"));
                socket.recv().await.unwrap();
            }
            std::thread::spawn(move || {
                let mut bytes = vec![0; 1 << 20];
                while live.0.read(&mut bytes).is_ok_and(|read| read > 0) {}
            });
            let mut sent = 0;
            while sent < 256 {
                let message = ZmqMessage::from(vec![7; 1 << 20]);
                match tokio::time::timeout(PATIENCE, socket.send(message)).await {
                    Ok(Ok(())) => sent += 1,
                    _ => break,
                }
            }
            drop(lazy);
            (sent < 256, format!("{sent} of 256 MiB were sent before it waited for the one that does not read"))
        }
        // Subscriptions have no bound in length or number.
        "subscriptions" => {
            let (mut socket, address) = publisher().await;
            let before = memory();
            std::thread::spawn(move || {
                let mut stranger = Stranger::connect(&address, "SUB", "a");
                let topic = [&[1][..], &vec![7; 1 << 20]].concat();
                while stranger.send(0, &topic) {}
            });
            let mut number = 0;
            while number < 256 && matches!(tokio::time::timeout(PATIENCE, socket.recv()).await, Ok(Ok(_))) {
                number += 1;
            }
            let grown = memory().saturating_sub(before);
            (grown > 64, format!("{number} subscriptions of 1 MiB are kept, {grown} MiB of memory"))
        }
        // How many strangers are let in, and whether a client still is.
        "connections" => {
            let (_socket, address) = router().await;
            let number = std::thread::spawn(move || {
                let mut all = Vec::new();
                for number in 0..400 {
                    all.push(Stranger::connect(&address, "DEALER", &format!("{number}")));
                }
                std::thread::sleep(Duration::from_millis(500));
                let open = |stranger: &mut Stranger| {
                    stranger.0.set_nonblocking(true).unwrap();
                    matches!(stranger.0.read(&mut [0; 1]), Err(error) if error.kind() == ErrorKind::WouldBlock)
                };
                all.iter_mut()
                    .filter(|stranger| !stranger.0.peer_addr().is_err())
                    .map(open)
                    .filter(|open| *open)
                    .count()
            });
            let number = number.join().unwrap();
            (number > 128, format!("{number} of 400 strangers without a message stay connected"))
        }
        // Random and nearly right bytes. A panic of a task, or the end of the process, is a defect.
        "malformed" => {
            let panics = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
            let counted = panics.clone();
            std::panic::set_hook(Box::new(move |_| {
                counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }));
            let (mut socket, address) = router().await;
            let address = address.trim_start_matches("tcp://").to_owned();
            let attack = std::thread::spawn(move || {
                let mut state = 0x9e37_79b9_7f4a_7c15_u64;
                let mut next = move || {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    state
                };
                for number in 0..20_000u64 {
                    let Ok(mut stream) = TcpStream::connect(&address) else { continue };
                    let ready = b"\x04\x26\x05READY\x0bSocket-Type\0\0\0\x06DEALER\x08Identity\0\0\0\x01a";
                    let mut bytes = greeting();
                    if number % 3 > 0 {
                        bytes.extend(ready);
                    }
                    bytes.extend((0..next() % 64).map(|_| next() as u8));
                    for _ in 0..next() % 4 {
                        let at = (next() % bytes.len() as u64) as usize;
                        bytes[at] = next() as u8;
                    }
                    // No long frames, of which `announced` shows what they do.
                    let is_short = |byte: &mut u8| *byte &= !2;
                    bytes.iter_mut().skip(if number % 3 > 0 { 64 + 40 } else { 64 }).for_each(is_short);
                    let _ = stream.write_all(&bytes);
                }
            });
            while !attack.is_finished() {
                let _ = tokio::time::timeout(Duration::from_millis(5), socket.recv()).await;
            }
            let panics = panics.load(std::sync::atomic::Ordering::Relaxed);
            (panics > 0, format!("{panics} panics in 20,000 connections"))
        }
        other => panic!("there is no reason {other}: {REASONS:?}"),
    }
}

fn main() -> ExitCode {
    let reason = std::env::args().nth(1).unwrap_or_else(|| "all".to_owned());
    if reason == "all" {
        for reason in REASONS {
            let done = Command::new(std::env::current_exe().unwrap()).arg(reason).output().unwrap();
            let said = String::from_utf8_lossy(&done.stdout);
            let last = String::from_utf8_lossy(&done.stderr);
            match said.lines().next() {
                Some(line) => println!("{line}"),
                None => {
                    println!("FELL {reason}: the process ended, {}: {}", done.status, last.lines().last().unwrap_or(""))
                }
            }
        }
        return ExitCode::SUCCESS;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (fell, shown) = runtime.block_on(tried(&reason));
    println!("{} {reason}: {shown}", if fell { "FELL" } else { "HELD" });
    // Threads of strangers are not waited for.
    std::process::exit(0);
}
