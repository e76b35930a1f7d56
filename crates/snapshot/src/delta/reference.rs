//! References to base objects.

use crate::limits::MAX_REFERENCE_LENGTH;

/// Returns whether a reference is valid: empty, or a path of segments that are neither empty, nor `.`, nor
/// `..`, without control characters, `\` and `:`. So it can name neither another host nor a file outside of
/// the folder that it is relative to.
pub(super) fn is_reference(reference: &str) -> bool {
    let is_valid = |character: char| !character.is_control() && !matches!(character, '\\' | ':');
    reference.is_empty()
        || reference.len() <= MAX_REFERENCE_LENGTH as usize
            && reference.chars().all(is_valid)
            && reference.split('/').all(|segment| !matches!(segment, "" | "." | ".."))
}
