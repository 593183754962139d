//! The contract of [`Signal`].

use crate::Subject;
use domain::{AccountId, ports::Signal};
use std::time::Duration;

/// Makes one test of each case of the signal's contract.
#[macro_export]
macro_rules! signal_contract {
    ($subject:expr) => {
        $crate::each_case!($crate::signal, $subject, [
            a_flag_goes_after_an_hour
            a_waiter_is_woken_by_any_instance
            flags_are_seen_by_every_instance
            waiting_ends_in_time
        ]);
    };
}

/// A flag belongs to one account, run and name.
pub async fn flags_are_seen_by_every_instance(s: Subject<dyn Signal>) {
    let (one, two) = (AccountId::generate(), AccountId::generate());
    assert!(!s.it.is_set(&one, "run", "stop").await.unwrap());
    s.it.set(&one, "run", "stop").await.unwrap();
    s.other.set(&one, "run", "stop").await.unwrap();
    for signal in [&s.it, &s.other] {
        assert!(signal.is_set(&one, "run", "stop").await.unwrap());
        assert!(signal.wait(&one, "run", "stop", Duration::ZERO).await.unwrap());
        assert!(!signal.is_set(&two, "run", "stop").await.unwrap());
        assert!(!signal.is_set(&one, "run2", "stop").await.unwrap());
        assert!(!signal.is_set(&one, "run", "done").await.unwrap());
        assert!(!signal.is_set(&one, "ru", "n#stop").await.unwrap());
    }
}

/// A waiter sees the flag long before its time is over.
pub async fn a_waiter_is_woken_by_any_instance(s: Subject<dyn Signal>) {
    for (run, setter) in [("a", s.it.clone()), ("b", s.other.clone())] {
        let account = AccountId::generate();
        let (waiter, whose) = (s.it.clone(), account.clone());
        let waiting =
            tokio::spawn(async move { waiter.wait(&whose, run, "done", Duration::from_mins(5)).await });
        tokio::task::yield_now().await;
        setter.set(&account, run, "done").await.unwrap();
        let set = tokio::time::timeout(Duration::from_secs(20), waiting).await.unwrap();
        assert!(set.unwrap().unwrap());
    }
}

/// Without the flag, waiting says no.
pub async fn waiting_ends_in_time(s: Subject<dyn Signal>) {
    let account = AccountId::generate();
    let set = s.it.wait(&account, "run", "stop", Duration::from_millis(50)).await;
    assert!(!set.unwrap());
}

/// Flags do not pile up.
pub async fn a_flag_goes_after_an_hour(s: Subject<dyn Signal>) {
    let account = AccountId::generate();
    s.it.set(&account, "run", "stop").await.unwrap();
    s.clock.advance(Duration::from_mins(59));
    assert!(s.it.is_set(&account, "run", "stop").await.unwrap());
    s.clock.advance(Duration::from_mins(1));
    assert!(!s.it.is_set(&account, "run", "stop").await.unwrap());
}
