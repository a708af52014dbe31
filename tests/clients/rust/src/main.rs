//! Holds sessions, locks and elections for tests/clients/recipes.sh, with the crate etcd-client, whose locks and
//! elections are calls of the services Lock and Election. holders.py has the questions and answers.
//!
//! usage: holder HOST:PORT
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use etcd_client::{Client, Compare, CompareOp, Error, LeaderKey, LockOptions, PutOptions, ResignOptions, Txn, TxnOp};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::time::sleep;

const AGAIN: Duration = Duration::from_millis(100); // after an error
const UNAVAILABLE: i32 = 14; // gRPC's codes
const UNIMPLEMENTED: i32 = 12;

struct Session {
    lease: i64,
    ended: bool,
}

#[derive(Default)]
struct State {
    sessions: HashMap<String, Session>,
    locks: HashMap<String, Vec<u8>>,
    elections: HashMap<String, LeaderKey>,
}

#[derive(Clone)]
struct Holder {
    client: Client,
    state: Rc<RefCell<State>>,
}

enum Failure {
    Skipped,
    Unimplemented,
    Error(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        if code(&error) == Some(UNIMPLEMENTED) {
            return Failure::Unimplemented;
        }
        Failure::Error(error.to_string())
    }
}

fn code(error: &Error) -> Option<i32> {
    match error {
        Error::GRpcStatus(status) => Some(status.code() as i32),
        _ => None,
    }
}

/// The server is away, or has left while it worked. A connection that breaks during a call has no code of its own.
fn away(error: &Error) -> bool {
    match error {
        Error::GRpcStatus(status) => status.code() as i32 == UNAVAILABLE || status.message() == "transport error",
        _ => matches!(error, Error::TransportError(_)),
    }
}

type Answer = Result<String, Failure>;

impl Holder {
    fn lease(&self, name: &str) -> i64 {
        self.state.borrow().sessions[name].lease
    }

    async fn session(&mut self, name: &str, ttl_s: &str) -> Answer {
        let ttl_s: i64 = ttl_s.parse().map_err(|_| Failure::Error("no number".into()))?;
        let lease = self.client.lease_grant(ttl_s, None).await?.id();
        self.state.borrow_mut().sessions.insert(name.into(), Session { lease, ended: false });
        let (holder, name) = (self.clone(), name.to_string());
        tokio::task::spawn_local(async move { holder.keep_alive(name, lease, ttl_s).await });
        Ok(lease.to_string())
    }

    /// Until the lease has ended; with a new stream after each error.
    async fn keep_alive(mut self, name: String, lease: i64, ttl_s: i64) {
        while !self.state.borrow().sessions[&name].ended {
            if self.keep_alive_by_one_stream(&name, lease, ttl_s).await.is_err() {
                sleep(AGAIN).await;
            }
        }
    }

    async fn keep_alive_by_one_stream(&mut self, name: &str, lease: i64, ttl_s: i64) -> Result<(), Error> {
        let (mut keeper, mut answers) = self.client.lease_keep_alive(lease).await?;
        loop {
            keeper.keep_alive().await?;
            match answers.message().await? {
                None => return Err(Error::LeaseKeepAliveError("the stream has ended".into())),
                Some(answer) if answer.ttl() <= 0 => {
                    self.state.borrow_mut().sessions.get_mut(name).unwrap().ended = true;
                    return Ok(());
                }
                Some(_) => sleep(Duration::from_millis(ttl_s as u64 * 1000 / 3)).await,
            }
        }
    }

    /// A call that the server's end interrupts is made again: one lease gets one place in the queue.
    async fn lock(&mut self, name: &str, prefix: &str) -> Answer {
        let options = LockOptions::new().with_lease(self.lease(name));
        let key = loop {
            match self.client.lock(prefix, Some(options.clone())).await {
                Ok(held) => break held.key().to_vec(),
                Err(error) if away(&error) => sleep(AGAIN).await,
                Err(error) => return Err(error.into()),
            }
        };
        self.state.borrow_mut().locks.insert(format!("{name}{prefix}"), key.clone());
        Ok(String::from_utf8_lossy(&key).into())
    }

    async fn unlock(&mut self, name: &str, prefix: &str) -> Answer {
        let key = self.state.borrow_mut().locks.remove(&format!("{name}{prefix}")).unwrap();
        self.client.unlock(key).await?;
        Ok(String::new())
    }

    async fn campaign(&mut self, name: &str, prefix: &str, value: &str) -> Answer {
        let lease = self.lease(name);
        let leader = loop {
            match self.client.campaign(prefix, value, lease).await {
                Ok(won) => break won.leader().cloned().ok_or(Failure::Error("it has no leader".into()))?,
                Err(error) if away(&error) => sleep(AGAIN).await,
                Err(error) => return Err(error.into()),
            }
        };
        let key = String::from_utf8_lossy(leader.key()).into();
        self.state.borrow_mut().elections.insert(format!("{name}{prefix}"), leader);
        Ok(key)
    }

    async fn resign(&mut self, name: &str, prefix: &str) -> Answer {
        let leader = self.state.borrow_mut().elections.remove(&format!("{name}{prefix}")).unwrap();
        self.client.resign(Some(ResignOptions::new().with_leader(leader))).await?;
        Ok(String::new())
    }

    /// Compares and swaps.
    async fn increment(&mut self, key: &str, count: &str) -> Answer {
        let count: u32 = count.parse().map_err(|_| Failure::Error("no number".into()))?;
        let (mut done, mut uncertain) = (0, 0);
        for _ in 0..count {
            loop {
                match self.increment_once(key).await {
                    Ok(true) => done += 1,
                    Ok(false) => continue,
                    Err(error) if away(&error) => uncertain += 1,
                    Err(error) => return Err(error.into()),
                }
                break;
            }
        }
        Ok(format!("{done} {uncertain}"))
    }

    async fn increment_once(&mut self, key: &str) -> Result<bool, Error> {
        let got = self.client.get(key, None).await?;
        let (number, revision) = match got.kvs().first() {
            Some(found) => (found.value_str()?.parse::<u32>().unwrap_or(0), found.mod_revision()),
            None => (0, 0),
        };
        let unchanged = Compare::mod_revision(key, CompareOp::Equal, revision);
        let put = TxnOp::put(key, (number + 1).to_string(), None);
        Ok(self.client.txn(Txn::new().when([unchanged]).and_then([put])).await?.succeeded())
    }

    async fn carry_out(&mut self, words: &[&str]) -> Answer {
        match words {
            ["session", name, ttl_s] => self.session(name, ttl_s).await,
            ["put", name, key, value] => {
                let lease = self.lease(name);
                self.client.put(*key, *value, Some(PutOptions::new().with_lease(lease))).await?;
                Ok(String::new())
            }
            ["ended", name] => Ok(if self.state.borrow().sessions[*name].ended { "yes" } else { "no" }.into()),
            ["lock", name, prefix] => self.lock(name, prefix).await,
            ["unlock", name, prefix] => self.unlock(name, prefix).await,
            ["campaign", name, prefix, value] => self.campaign(name, prefix, value).await,
            ["resign", name, prefix] => self.resign(name, prefix).await,
            ["increment", key, count] => self.increment(key, count).await,
            ["close", name] => {
                let lease = self.lease(name);
                self.client.lease_revoke(lease).await?;
                Ok(String::new())
            }
            _ => Err(Failure::Skipped),
        }
    }
}

async fn answer_questions(endpoint: String) -> Result<(), Box<dyn std::error::Error>> {
    let holder = Holder { client: Client::connect([endpoint], None).await?, state: Rc::default() };
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        let mut holder = holder.clone();
        tokio::task::spawn_local(async move {
            let words: Vec<&str> = line.split(' ').collect();
            let answer = match holder.carry_out(&words[1..]).await {
                Ok(text) => format!("OK {text}"),
                Err(Failure::Skipped) => "SKIPPED".into(),
                Err(Failure::Unimplemented) => "UNIMPLEMENTED".into(),
                Err(Failure::Error(text)) => format!("ERROR {}", text.replace('\n', " ")),
            };
            println!("{}: {answer}", words[0]);
        });
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let Some(endpoint) = std::env::args().nth(1) else {
        eprintln!("usage: holder HOST:PORT; tests/clients/recipes.sh calls it");
        std::process::exit(2);
    };
    if let Err(error) = tokio::task::LocalSet::new().run_until(answer_questions(endpoint)).await {
        eprintln!("{error}");
        std::process::exit(1);
    }
    std::process::exit(0); // calls that wait go with it
}
