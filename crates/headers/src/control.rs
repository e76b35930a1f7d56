//! The search for bytes that end a field value or must not occur in one.

/// Returns the position of the first CR, LF or NUL.
///
/// Tests eight bytes at a time: all three are below 14, and few other bytes are.
pub(crate) fn find_control(bytes: &[u8]) -> Option<usize> {
    let (words, tail) = bytes.as_chunks::<8>();
    for (number, word) in words.iter().enumerate() {
        if has_byte_below_14(u64::from_le_bytes(*word))
            && let Some(position) = word.iter().position(is_control)
        {
            return Some(number * 8 + position);
        }
    }
    let position = tail.iter().position(is_control)?;
    Some(words.len() * 8 + position)
}

fn is_control(byte: &u8) -> bool {
    matches!(byte, b'\r' | b'\n' | 0)
}

/// Returns whether any of eight bytes is below 14 (Anderson, *Bit Twiddling Hacks*, "hasless").
fn has_byte_below_14(word: u64) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    word.wrapping_sub(14 * ONES) & !word & (0x80 * ONES) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_controls_and_no_other_byte_at_every_position() {
        for byte in 0..=u8::MAX {
            for length in 1..20 {
                for position in 0..length {
                    let mut bytes = [0xff_u8; 20];
                    bytes[position] = byte;
                    let expected = is_control(&byte).then_some(position);
                    assert_eq!(find_control(&bytes[..length]), expected, "{byte} at {position}");
                }
            }
        }
    }
}
