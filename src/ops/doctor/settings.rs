//! Settings that do nothing, and settings of others that would do harm.

use gix::bstr::ByteSlice;

use super::{ProblemCode, Report};
use crate::git::{Repo, unknown_settings};
use crate::ops::hooks;

pub(super) fn examine(repo: &Repo, report: &mut Report) {
    for key in unknown_settings(repo) {
        let message = format!("the setting `{key}` means nothing to this program");
        report.by_hand(ProblemCode::UnknownSetting, message, format!("remove it: git config --unset-all {key}"));
    }
    for found in hooks::incomplete(repo) {
        let (agent, path) = (found.place.agent, found.place.path.display());
        let message = format!("the hooks of {} in `{path}` are not those of this version", agent.title());
        let hint = format!("put them in anew: git checkpoint hooks install {agent} --{}", found.place.level.as_str());
        report.by_hand(ProblemCode::HooksOutdated, message, hint);
    }
    let gix = repo.gix();
    let config = gix.config_snapshot();
    if config.string("alias.checkpoint").is_some() {
        let message = "there is an alias `checkpoint`, which runs instead where git does not find this program".to_owned();
        report.by_hand(ProblemCode::AliasInTheWay, message, "remove it: git config --unset-all alias.checkpoint");
    }
    for name in gix.remote_names() {
        let name = name.to_str_lossy();
        let values = |key: &str| {
            let values = config.plumbing().strings(&format!("remote.{name}.{key}")).unwrap_or_default();
            values.into_iter().map(|value| value.to_str_lossy().into_owned()).collect::<Vec<_>>()
        };
        let takes_all = |spec: &String| spec.trim_start_matches('+').split(':').next_back() == Some("refs/*");
        let mirrors = config.boolean(&format!("remote.{name}.mirror")) == Some(true);
        if mirrors || values("push").iter().any(takes_all) {
            let message = format!("`git push {name}` publishes every checkpoint, because it pushes all refs");
            let hint = format!(
                "name what is to go there: git config remote.{name}.push 'refs/heads/*:refs/heads/*'; git config --unset remote.{name}.mirror"
            );
            report.by_hand(ProblemCode::MirrorRemote, message, hint);
        }
        if values("fetch").iter().any(takes_all) {
            let message = format!("`git fetch --prune {name}` deletes every checkpoint, because it takes over all refs");
            let hint =
                format!("name what is to come from there: git config remote.{name}.fetch '+refs/heads/*:refs/remotes/{name}/*'");
            report.by_hand(ProblemCode::MirrorRemote, message, hint);
        }
    }
}
