//! Every partition of the table and who owns it. No other module makes a [`Key`].
//!
//! The partition key is `{kind}#{account}`, kind first, so that a role's policy can be limited to kinds by
//! the leading key. The only partitions without an account are [`Lookup`]s: reads made before an account is
//! known, or work that belongs to no single account.

use crate::account::AccountId;
use std::fmt;

/// An item's place in the table.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    pk: Partition,
    sk: String,
}

/// A partition of the table.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Partition(String);

impl Partition {
    /// The partition key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The key of an item in this partition.
    pub fn key(&self, sk: impl Into<String>) -> Key {
        Key { pk: self.clone(), sk: sk.into() }
    }
}

impl Key {
    /// The partition.
    pub fn partition(&self) -> &Partition {
        &self.pk
    }

    /// The partition key as text.
    pub fn pk(&self) -> &str {
        &self.pk.0
    }

    /// The sort key as text.
    pub fn sk(&self) -> &str {
        &self.sk
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.pk.0, self.sk)
    }
}

macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $name:ident = $prefix:literal, $owner:literal;)+) => {
        /// What is stored under an account's partition.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Kind { $($(#[doc = $doc])+ $name,)+ }

        impl Kind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The first part of the partition key.
            pub const fn prefix(self) -> &'static str { match self { $(Self::$name => $prefix,)+ } }

            /// The crate that alone writes these items.
            pub const fn owner(self) -> &'static str { match self { $(Self::$name => $owner,)+ } }
        }
    };
}

kinds! {
    /// The account, and what it knows of its API keys.
    Account = "acct", "apps";
    /// Sealed credentials of builtin providers and models.
    Credential = "cred", "apps";
    /// Apps: configs and versions.
    App = "app", "apps";
    /// Conversations and messages.
    Conversation = "conv", "apps";
    /// Datasets: documents and their passages.
    Dataset = "ds", "agent";
    /// WeChat settings and end users.
    Wechat = "wx", "apps";
    /// Imported API documents and their tools.
    ApiTool = "api", "source-api";
    /// MCP servers and their catalogs.
    McpServer = "mcp", "source-mcp";
    /// Workflows and their versions.
    Workflow = "wf", "source-workflow";
    /// Synthesised audio.
    Audio = "aud", "audio";
    /// What was called, by whom, with what outcome.
    Audit = "audit", "apps";
    /// Records of long work.
    Run = "run", "apps";
    /// Uploads waiting to be used.
    Upload = "upl", "apps";
    /// Flags of runs, for a short while.
    Signal = "sig", "infra-local-queue";
    /// Counters of quotas and rate limits.
    Quota = "quota", "apps";
}

impl Kind {
    /// The partition of this kind that belongs to `account`.
    pub fn of(self, account: &AccountId) -> Partition {
        Partition(format!("{}#{account}", self.prefix()))
    }
}

/// The partitions without an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup<'a> {
    /// An API key, by its hash.
    ApiKey(&'a str),
    /// A web app, by its public token.
    WebToken(&'a str),
    /// A WeChat webhook, by its app.
    Wechat(&'a str),
    /// Servers due for a refresh, by shard.
    Due(u16),
    /// A queued job, by queue or job id.
    Job(&'a str),
    /// Facts of the installation itself, such as its first account.
    Installation,
}

impl Lookup<'_> {
    /// Every look-up's prefix with the crate that alone writes it.
    pub const PREFIXES: &'static [(&'static str, &'static str)] = &[
        ("key", "apps"),
        ("webtoken", "apps"),
        ("wechat", "apps"),
        ("due", "source-mcp"),
        ("job", "infra-local-queue"),
        ("inst", "apps"),
    ];

    /// The partition of the look-up.
    pub fn partition(&self) -> Partition {
        Partition(match self {
            Self::ApiKey(hash) => format!("key#{hash}"),
            Self::WebToken(token) => format!("webtoken#{token}"),
            Self::Wechat(app) => format!("wechat#{app}"),
            Self::Due(shard) => format!("due#{shard}"),
            Self::Job(id) => format!("job#{id}"),
            Self::Installation => "inst#0".to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_kinds_or_lookups_share_a_prefix() {
        let prefixes: Vec<_> =
            Kind::ALL.iter().map(|k| k.prefix()).chain(Lookup::PREFIXES.iter().map(|(p, _)| *p)).collect();
        assert_eq!(prefixes.iter().collect::<BTreeSet<_>>().len(), prefixes.len());
        assert!(prefixes.iter().all(|p| !p.contains('#')));
    }

    #[test]
    fn every_lookup_is_listed_with_its_owner() {
        let each = [
            Lookup::ApiKey("x"),
            Lookup::WebToken("x"),
            Lookup::Wechat("x"),
            Lookup::Due(1),
            Lookup::Job("x"),
            Lookup::Installation,
        ];
        for lookup in each {
            let pk = lookup.partition();
            let prefix = pk.as_str().split('#').next().unwrap();
            assert!(Lookup::PREFIXES.iter().any(|(p, _)| *p == prefix), "{prefix}");
        }
    }
}
