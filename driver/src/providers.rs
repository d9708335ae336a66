//! What makes values of classes beside the policy: what a program registered, and what installed libraries bring.
//!
//! Both hold for all comparisons of this process.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use twincell_values::value::Provider;

/// In the order in which they were registered, each class once.
static REGISTERED: Mutex<Vec<Arc<Provider>>> = Mutex::new(Vec::new());
static OF_LIBRARIES: Mutex<Vec<Arc<Provider>>> = Mutex::new(Vec::new());

/// The values of a class from now on, in place of those that were registered before.
pub fn register(provider: Provider) {
    let mut registered = lock(&REGISTERED);
    registered.retain(|known| known.class != provider.class);
    registered.push(Arc::new(provider));
}

/// Forgets what was registered for a class. Says whether there was something.
pub fn unregister(class: &str) -> bool {
    let mut registered = lock(&REGISTERED);
    let before = registered.len();
    registered.retain(|known| known.class != class);
    registered.len() < before
}

/// What a program registered.
pub fn registered() -> Vec<Arc<Provider>> {
    lock(&REGISTERED).clone()
}

/// What installed libraries bring.
pub fn set_of_libraries(providers: Vec<Provider>) {
    *lock(&OF_LIBRARIES) = providers.into_iter().map(Arc::new).collect();
}

/// All that are in force beside those of a policy. What a program registers beats the policy, and the policy beats what
/// libraries bring.
pub fn in_force(of_policy: Vec<Arc<Provider>>) -> Vec<Arc<Provider>> {
    let of_libraries = lock(&OF_LIBRARIES).clone();
    let mut found: Vec<Arc<Provider>> = Vec::new();
    for provider in registered().into_iter().chain(of_policy).chain(of_libraries) {
        if found.iter().all(|known| known.class != provider.class) {
            found.push(provider);
        }
    }
    found
}

fn lock(providers: &Mutex<Vec<Arc<Provider>>>) -> MutexGuard<'_, Vec<Arc<Provider>>> {
    providers.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use twincell_values::value::Makes;

    #[test]
    fn what_is_registered_beats_the_policy_and_the_policy_beats_libraries() {
        let one = |class: &str, value: &str| Provider::new(class, Makes::Expressions(vec![value.into()])).unwrap();
        set_of_libraries(vec![one("a.A", "1"), one("a.B", "1"), one("a.C", "1")]);
        register(one("a.A", "2"));
        register(one("a.A", "3"));
        let found = in_force(vec![Arc::new(one("a.A", "4")), Arc::new(one("a.B", "4"))]);
        let found: Vec<String> = found.iter().map(|provider| provider.display()).collect();
        assert_eq!(found, ["a.A = [3]", "a.B = [4]", "a.C = [1]"]);
        assert!(unregister("a.A") && !unregister("a.A"));
        set_of_libraries(vec![]);
    }
}
