//! A tiny API server for tests: it answers each request as its script says.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A server on a port of its own. It lives as long as the test process.
pub(super) struct Fake {
    pub url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

/// What it answers.
pub(super) enum Reply {
    /// A status code and a whole body.
    Whole(u16, String),
    /// The lines of a watch, which then stays open.
    Open(Vec<String>),
    /// The lines of a watch, which then ends.
    Ended(Vec<String>),
    /// It hangs up without a word.
    HangUp,
}

impl Fake {
    /// Answers with what `script` makes of a request's path and query, and of how many requests
    /// for the same path and query came before.
    pub fn start(script: impl Fn(&str, usize) -> Reply + Send + Sync + 'static) -> Fake {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (script, seen) = (Arc::new(script), Arc::clone(&requests));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (script, seen) = (Arc::clone(&script), Arc::clone(&seen));
                std::thread::spawn(move || serve(stream.unwrap(), &*script, &seen));
            }
        });
        Fake { url, requests }
    }

    /// The paths and queries of the requests so far.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn serve(stream: TcpStream, script: &dyn Fn(&str, usize) -> Reply, seen: &Mutex<Vec<String>>) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let head = lines.next().unwrap().unwrap_or_default();
    while lines
        .next()
        .is_some_and(|line| line.is_ok_and(|line| !line.is_empty()))
    {}
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let before = {
        let mut seen = seen.lock().unwrap();
        seen.push(path.clone());
        seen.iter().filter(|seen| **seen == path).count() - 1
    };
    match script(&path, before) {
        Reply::Whole(status, body) => {
            let length = body.len();
            let head =
                format!("HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: {length}");
            write(
                &stream,
                &format!("{head}\r\nContent-Type: application/json\r\n\r\n{body}"),
            );
        }
        Reply::Open(changes) => {
            send(&stream, &changes);
            // Until the client hangs up.
            let _ = lines.next();
        }
        Reply::Ended(changes) => send(&stream, &changes),
        Reply::HangUp => {}
    }
}

fn send(stream: &TcpStream, changes: &[String]) {
    write(
        stream,
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json\r\n\r\n",
    );
    changes
        .iter()
        .for_each(|change| write(stream, &format!("{change}\n")));
}

fn write(mut stream: &TcpStream, text: &str) {
    // A client that has enough may be gone.
    let _ = stream.write_all(text.as_bytes());
}
