//! Wildcard keys, which stand for every path below them.

use crate::limits::MAX_WILDCARD_DEPTH;

/// Returns the depth of a key that ends in `/*`: the number of its slashes, at most
/// [`MAX_WILDCARD_DEPTH`]. Returns 0 for other keys.
pub(crate) fn depth(key: &[u8]) -> u32 {
    if !key.ends_with(b"/*") {
        return 0;
    }
    let slashes = key.iter().filter(|&&byte| byte == b'/');
    slashes.take(MAX_WILDCARD_DEPTH as usize).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_keys_that_end_in_a_star_segment_have_a_depth() {
        for (key, expected) in [("/*", 1), ("/blog/*", 2), ("/blog*", 0), ("*", 0), ("/*/a", 0)] {
            assert_eq!(depth(key.as_bytes()), expected, "{key}");
        }
        for (segments, expected) in [(62, 63), (63, 64), (64, 64), (1_000, 64)] {
            assert_eq!(depth(("/a".repeat(segments) + "/*").as_bytes()), expected);
        }
    }
}
