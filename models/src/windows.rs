//! Functions longer than the network's window: where the windows are, and from which window a token is read.

/// The starts of the windows over `tokens` tokens, ascending: half a window apart, with the last one flush with the
/// end.
pub(crate) fn starts(tokens: usize, window: usize) -> Vec<usize> {
    if tokens <= window {
        return vec![0];
    }
    let last = tokens - window;
    (0..last).step_by((window / 2).max(1)).chain([last]).collect()
}

/// The number of the window in which `token` has the most tokens on its shorter side; the earlier one of equals.
pub(crate) fn best(starts: &[usize], window: usize, token: usize) -> usize {
    let context = |start: usize| {
        let before = token.checked_sub(start)?;
        let after = (window - 1).checked_sub(before)?;
        Some(before.min(after))
    };
    (0..starts.len()).rev().max_by_key(|&number| context(starts[number])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_cover_every_token_and_never_pass_the_end() {
        for tokens in [1, 511, 512, 513, 768, 769, 2000, 5003] {
            let starts = starts(tokens, 512);
            assert_eq!(starts[0], 0);
            assert!(
                starts.windows(2).all(|pair| pair[0] < pair[1] && pair[1] - pair[0] <= 256),
                "{tokens}: {starts:?}"
            );
            assert_eq!(starts.last().unwrap() + tokens.min(512), tokens);
            for token in 0..tokens {
                let start = starts[best(&starts, 512, token)];
                assert!(start <= token && token < start + 512, "{tokens}, {token}");
            }
        }
    }

    #[test]
    fn a_token_far_from_both_ends_has_at_least_a_quarter_window_on_either_side() {
        let starts = starts(2000, 512);
        for token in 128..2000 - 128 {
            let start = starts[best(&starts, 512, token)];
            assert!(token - start >= 127 && start + 511 - token >= 127, "{token} in {start}");
        }
    }

    #[test]
    fn of_equally_good_windows_the_earlier_is_taken() {
        // Token 3 has one token before it in the window at 2 and one after it in the window at 0.
        assert_eq!(best(&[0, 2, 4], 5, 3), 0);
    }
}
