//! `HAFT_STDIO`: whether servers may be started as commands, and which.

use domain::Role;
use std::{collections::BTreeSet, fmt, str::FromStr};

/// The setting's name, as errors tell it.
const SETTING: &str = "HAFT_STDIO";

/// Which commands may be run. Registering one takes the role admin in any case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum StdioPolicy {
    /// None.
    #[default]
    Off,
    /// Whatever an admin registers.
    Admin,
    /// What an admin registers, if the command is in the list, letter by letter.
    Allow(BTreeSet<String>),
}

/// A value of the setting that is not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{SETTING}: `{0}` is not one of `off`, `admin` and `allow:COMMAND,…`")]
pub struct StdioPolicyError(String);

impl StdioPolicy {
    /// Whether `command` may be run at all; otherwise why not.
    pub fn check_command(&self, command: &str) -> Result<(), String> {
        match self {
            Self::Admin => Ok(()),
            Self::Allow(commands) if commands.contains(command) => Ok(()),
            _ => Err(self.why_not()),
        }
    }

    /// Whether someone of `role` may register `command`; otherwise why not.
    pub fn check_registration(&self, role: Role, command: &str) -> Result<(), String> {
        self.check_command(command)?;
        if role < Role::Admin {
            return Err("registering a command to run takes a key of role admin".to_owned());
        }
        Ok(())
    }

    /// Why a command that was refused was refused.
    pub(super) fn why_not(&self) -> String {
        match self {
            Self::Off | Self::Admin => {
                format!("servers that run as commands are switched off ({SETTING}=admin would allow them)")
            }
            Self::Allow(commands) => {
                let known: Vec<_> = commands.iter().map(String::as_str).collect();
                format!("{SETTING} allows only: {}", known.join(", "))
            }
        }
    }
}

impl FromStr for StdioPolicy {
    type Err = StdioPolicyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.trim() {
            "off" => Ok(Self::Off),
            "admin" => Ok(Self::Admin),
            other => {
                let list = other.strip_prefix("allow:").ok_or_else(|| StdioPolicyError(text.to_owned()))?;
                let commands: BTreeSet<_> =
                    list.split(',').map(str::trim).filter(|c| !c.is_empty()).map(str::to_owned).collect();
                if commands.is_empty() {
                    return Err(StdioPolicyError(text.to_owned()));
                }
                Ok(Self::Allow(commands))
            }
        }
    }
}

impl fmt::Display for StdioPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::Admin => f.write_str("admin"),
            Self::Allow(commands) => {
                let known: Vec<_> = commands.iter().map(String::as_str).collect();
                write!(f, "allow:{}", known.join(","))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_is_read_and_written() {
        for text in ["off", "admin", "allow:npx,/usr/bin/uvx"] {
            let policy: StdioPolicy = text.parse().unwrap();
            assert_eq!(policy.to_string().len(), text.len());
            assert_eq!(policy.to_string().parse::<StdioPolicy>().unwrap(), policy);
        }
        for text in ["", "on", "allow:", "allow:,", "Admin"] {
            assert!(text.parse::<StdioPolicy>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_key_that_merely_may_write_never_registers_a_command() {
        let allow: StdioPolicy = "allow:npx".parse().unwrap();
        for policy in [StdioPolicy::Off, StdioPolicy::Admin, allow.clone()] {
            for role in [Role::Viewer, Role::Operator] {
                assert!(policy.check_registration(role, "npx").is_err(), "{policy} {role:?}");
            }
        }
        assert!(StdioPolicy::Admin.check_registration(Role::Admin, "sh").is_ok());
        assert!(allow.check_registration(Role::Admin, "npx").is_ok());
        assert!(allow.check_registration(Role::Admin, "/tmp/npx").is_err());
        assert!(StdioPolicy::Off.check_registration(Role::Admin, "npx").is_err());
    }
}
