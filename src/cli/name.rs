//! `git checkpoint name`.

use super::complete;
use super::exit::Exit;
use super::failure::Failure;
use super::output::Ui;
use super::render::json;
use crate::ops;

/// Options of `name`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which checkpoint
    #[arg(value_name = "CHECKPOINT", add = complete::selectors(), required_unless_present = "delete")]
    pub selector: Option<String>,
    /// Its new name; taken from another checkpoint if that had it
    #[arg(value_name = "NAME", required_unless_present = "delete")]
    pub name: Option<String>,
    /// Delete a name; the checkpoint stays
    #[arg(long, value_name = "NAME", add = complete::names(), conflicts_with_all = ["selector", "name"])]
    pub delete: Option<String>,
}

/// Runs `name`.
pub fn run(args: &Args, ui: &mut Ui) -> Result<Exit, Failure> {
    let mut context = super::open(ui)?;
    if let Some(name) = &args.delete {
        let checkpoint = ops::delete_name(&mut context, name)?;
        if ui.wants_json() {
            ui.json(&json::name("deleted", name, &checkpoint, None))?;
        } else {
            ui.say(format_args!("checkpoint {} is no longer called `{name}`", checkpoint.number));
        }
        return Ok(Exit::Done);
    }
    let (Some(selector), Some(name)) = (&args.selector, &args.name) else {
        return Err(Failure::Usage("a checkpoint and a name are needed".to_owned()));
    };
    let named = ops::name(&mut context, selector, name)?;
    if ui.wants_json() {
        ui.json(&json::name("named", name, &named.checkpoint, named.moved_from.as_ref().map(|before| &before.id)))?;
        return Ok(Exit::Done);
    }
    let number = named.checkpoint.number;
    match &named.moved_from {
        None => ui.say(format_args!("checkpoint {number} is now called `{name}`")),
        Some(before) => {
            ui.say(format_args!("checkpoint {number} is now called `{name}`, no longer checkpoint {}", before.number))
        }
    }
    Ok(Exit::Done)
}
