//! Variables that keep libhipfile off the fast path, or that it does not understand.

use super::report::Row;
use super::system::System;
use crate::info::environment::{Effective, Variable, read};

const FORCE: &str = "HIPFILE_FORCE_COMPAT_MODE";
const ANY: &str = "HIPFILE_UNSUPPORTED_FILE_SYSTEMS";

/// What the environment says of paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// No fast path.
    pub force_compat: bool,
    /// The fast path is taken on every file system.
    pub any_file_system: bool,
}

fn variables(system: &System) -> Vec<Variable> {
    read(|name| system.variable(name).cloned())
}

/// The settings in force.
pub fn settings(system: &System) -> Settings {
    let variables = variables(system);
    let is_true = |name| {
        let found = variables.iter().find(|variable| variable.name == name);
        found.is_some_and(|variable| variable.effective == Effective::Boolean(true))
    };
    Settings { force_compat: is_true(FORCE), any_file_system: is_true(ANY) }
}

/// A warning for each variable that is worth one.
pub fn rows(system: &System) -> Vec<Row> {
    const ID: &str = "environment";
    let row = |Variable { name, value, effective, ignored }: Variable| {
        let value = value?;
        if ignored {
            let detail = format!("`{value}` is not understood and counts as not set");
            let advice = match effective {
                Effective::Boolean(_) => "write true or false",
                Effective::Number(_) | Effective::Default => "write digits",
            };
            return Some(Row::warn(ID, name, detail, advice));
        }
        match (name, effective) {
            (FORCE, Effective::Boolean(true)) => {
                Some(Row::warn(ID, name, "true: no transfer takes the fast path", "unset it"))
            }
            (ANY, Effective::Boolean(true)) => Some(Row::warn(
                ID,
                name,
                "true: the fast path is tried on every file system",
                "unset it unless the file system is known to support it: data may be damaged",
            )),
            _ => None,
        }
    };
    variables(system).into_iter().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::super::system::made_up::with_variables;
    use super::*;

    #[test]
    fn what_keeps_off_the_fast_path_or_is_misspelt_is_warned_about() {
        let details = |variables: &[(&str, &str)]| {
            let made = with_variables(&[], variables);
            rows(&made.system)
                .into_iter()
                .map(|row| format!("{}: {}", row.name, row.detail))
                .collect::<Vec<_>>()
        };
        assert_eq!(details(&[("HIPFILE_ALLOW_COMPAT_MODE", "false"), (FORCE, "false")]), [""; 0]);
        assert_eq!(
            details(&[(FORCE, "1"), ("HIPFILE_STATS_LEVEL", "x"), (ANY, "TRUE")]),
            [
                "HIPFILE_FORCE_COMPAT_MODE: `1` is not understood and counts as not set",
                "HIPFILE_UNSUPPORTED_FILE_SYSTEMS: true: the fast path is tried on every file system",
                "HIPFILE_STATS_LEVEL: `x` is not understood and counts as not set",
            ]
        );
        let made = with_variables(&[], &[(FORCE, "True")]);
        assert_eq!(settings(&made.system), Settings { force_compat: true, any_file_system: false });
    }
}
