//! What became of an agent's memory, and the command that goes on with it.

use serde_json::{Value, json};

use super::json::put_path;
use crate::agents::Agent;
use crate::cli::output::{plural, sanitize};
use crate::model::Thread;
use crate::ops::memory::{FromCopy, MemoryOutcome, MemoryStatus};

/// The value of `memory` in the documents of `restore`, `undo` and `redo`.
pub fn document(memory: &MemoryOutcome) -> Value {
    let error = memory.failure.as_ref().map(|(code, message)| json!({"code": code, "message": message}));
    json!({
        "status": memory.status.as_str(),
        "agent": memory.agent,
        "from": memory.from.as_ref().map(thread),
        "to": memory.to.as_ref().map(thread),
        "copy": memory.copy.map(|copy| json!({"redacted": copy.redacted, "left_out": copy.left_out})),
        "error": error,
    })
}

fn thread(thread: &Thread) -> Value {
    let mut object = serde_json::Map::new();
    let conversation = Some(&thread.conversation).filter(|id| !id.is_empty());
    object.insert("conversation".to_owned(), json!(conversation));
    object.insert("resume".to_owned(), json!(thread.resume));
    match &thread.file {
        Some(file) => put_path(&mut object, file),
        None => drop(object.insert("path".to_owned(), Value::Null)),
    }
    object.into()
}

/// What a person is told, line by line. A failure is told apart.
pub fn lines(memory: &MemoryOutcome) -> Vec<String> {
    let agent = memory.agent.as_deref();
    let agent = agent.and_then(Agent::parse).map_or_else(|| agent.unwrap_or("the agent").to_owned(), |a| a.title().to_owned());
    let agent = sanitize(&agent);
    let mut lines = Vec::new();
    match memory.status {
        MemoryStatus::Forked => {
            lines.push(format!("{agent} remembers no more than that in a new conversation; the old one is as it was"))
        }
        MemoryStatus::Named => {
            lines.push(format!("{agent} remembers what belongs to these files in the conversation it had then"))
        }
        MemoryStatus::Empty => lines.push(format!("nothing had been said to {agent} by then: begin a new conversation")),
        MemoryStatus::Planned => lines.push(format!("{agent} would go on in a new conversation that ends there")),
        MemoryStatus::Failed => {}
    }
    lines.extend(memory.copy.map(from_copy));
    let command = memory.to.as_ref().map(|to| command_line(&to.resume)).filter(|command| !command.is_empty());
    lines.extend(command.map(|command| format!("to go on with it: {command}")));
    lines
}

/// Where it comes from if the agent's own file is not what it was, and what is not in it.
fn from_copy(copy: FromCopy) -> String {
    let secrets = (copy.redacted > 0).then(|| format!("{} taken out", plural(copy.redacted, "secret")));
    let parts = (copy.left_out > 0).then(|| format!("{} of another account left out", plural(copy.left_out, "part")));
    let lacks: Vec<String> = secrets.into_iter().chain(parts).collect();
    let lacks = if lacks.is_empty() { String::new() } else { format!(", with {}", lacks.join(" and ")) };
    format!("it comes from the copy that is kept with the checkpoint{lacks}")
}

/// The words of a command as one types them into a shell. They come from what an agent said, so nothing in them may mean anything
/// to the shell or the terminal.
pub fn command_line(words: &[String]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    let quoted = words.iter().map(|word| match !word.is_empty() && word.chars().all(is_plain) {
        true => word.clone(),
        false => format!("'{}'", sanitize(word).replace('\'', "'\\''")),
    });
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_means_its_words_and_nothing_else() {
        let words = ["claude", "--resume", "1f6d-2", "--model", "x; rm -rf '~'", ""].map(str::to_owned);
        assert_eq!(command_line(&words), r"claude --resume 1f6d-2 --model 'x; rm -rf '\''~'\''' ''");
    }
}
