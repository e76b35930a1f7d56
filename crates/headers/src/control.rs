//! Finding the bytes that may end a field value or must not be in one.

/// The position of the first CR, LF or NUL.
///
/// Eight bytes are looked at together: none of the three is there unless one byte is below 14.
pub(crate) fn find_control(bytes: &[u8]) -> Option<usize> {
    let (words, tail) = bytes.as_chunks::<8>();
    for (number, word) in words.iter().enumerate() {
        if has_byte_below_14(u64::from_le_bytes(*word))
            && let Some(place) = word.iter().position(is_control)
        {
            return Some(number * 8 + place);
        }
    }
    let place = tail.iter().position(is_control)?;
    Some(words.len() * 8 + place)
}

fn is_control(byte: &u8) -> bool {
    matches!(byte, b'\r' | b'\n' | 0)
}

/// Whether one of eight bytes is below 14 (Anderson, *Bit Twiddling Hacks*, "hasless").
fn has_byte_below_14(word: u64) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    word.wrapping_sub(14 * ONES) & !word & (0x80 * ONES) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_found_or_passed_at_every_place() {
        for byte in 0..=u8::MAX {
            for length in 1..20 {
                for place in 0..length {
                    let mut bytes = [0xff_u8; 20];
                    bytes[place] = byte;
                    let expected = is_control(&byte).then_some(place);
                    assert_eq!(find_control(&bytes[..length]), expected, "{byte} at {place}");
                }
            }
        }
    }
}
