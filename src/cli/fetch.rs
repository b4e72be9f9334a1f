//! `git checkpoint fetch`.

use serde_json::json;

use super::complete;
use super::exit::Exit;
use super::failure::Failure;
use super::output::{Ui, plural, sanitize};
use super::render::handoff as render;
use super::render::json::{SCHEMA, checkpoint};
use crate::model::SessionKey;
use crate::ops::remote::fetch;

/// Options of `fetch`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where from [default: checkpoint.remote, else the only remote]
    #[arg(value_name = "REMOTE")]
    pub remote: Option<String>,
    /// Take those of one session
    #[arg(long, value_name = "KEY", add = complete::sessions())]
    pub session: Option<String>,
}

/// Runs `fetch`.
pub fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    let mut context = super::open(ui)?;
    let session = args.session.as_deref().map(SessionKey::parse).transpose()?;
    let (remote, fetched) = fetch(&mut context, args.remote.as_deref(), session.as_ref())?;
    if ui.wants_json() {
        ui.json(&json!({
            "schema": SCHEMA,
            "status": "fetched",
            "remote": remote,
            "new": fetched.new.iter().map(checkpoint).collect::<Vec<_>>(),
            "known": fetched.known.len(),
            "refused": fetched.refused,
            "names_taken": fetched.taken,
            "memory": render::taken_in(&fetched.memory),
        }))?;
    }
    let (new, known) = (plural(fetched.new.len() as u64, "checkpoint"), fetched.known.len());
    ui.done(format!("fetched {new} from {}, {known} known already", sanitize(&remote)))?;
    if let Some(line) = render::taken_in_line(&fetched.memory, "fetched") {
        ui.done(line)?;
    }
    for name in &fetched.taken {
        ui.warn(format!("the name `{}` belongs to another checkpoint here and was left there", sanitize(name)));
    }
    for why in &fetched.refused {
        ui.warn(format!("left out: {}", sanitize(why)));
    }
    Ok(Exit::Done)
}
