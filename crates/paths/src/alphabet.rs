//! The characters of standard Base64 (RFC 4648 §4), and the bits that they stand for.

const CHARACTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The six bits of each character; 0 for what is none.
static BITS: [u8; 256] = {
    let mut bits = [0; 256];
    let mut index = 0;
    while index < CHARACTERS.len() {
        bits[CHARACTERS[index] as usize] = index as u8;
        index += 1;
    }
    bits
};

/// The six bits that `character` stands for, the first of them highest.
#[inline]
pub(crate) fn bits_of(character: u8) -> u8 {
    BITS[usize::from(character)]
}

/// Where the first byte lies that is no character of Base64.
pub(crate) fn first_illegal(bytes: &[u8]) -> Option<usize> {
    /// As many as one pass of the loop below takes in vectors.
    const BLOCK: usize = 64;
    let block = bytes
        .chunks(BLOCK)
        .position(|block| block.iter().fold(false, |any, &byte| any | is_illegal(byte)))?;
    let start = block * BLOCK;
    let place = bytes[start..].iter().position(|&byte| is_illegal(byte))?;
    Some(start + place)
}

/// Without branches and tables, so that many bytes are looked at together.
#[inline]
fn is_illegal(byte: u8) -> bool {
    let is_letter = (byte | 0x20).wrapping_sub(b'a') < 26;
    let is_digit_or_slash = byte.wrapping_sub(b'/') < 11;
    !(is_letter | is_digit_or_slash | (byte == b'+'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_characters_of_the_alphabet_are_legal() {
        for byte in 0..=u8::MAX {
            let place = CHARACTERS.iter().position(|&character| character == byte);
            assert_eq!(is_illegal(byte), place.is_none(), "{byte:#04x}");
            assert_eq!(usize::from(bits_of(byte)), place.unwrap_or(0), "{byte:#04x}");
        }
    }

    #[test]
    fn the_first_illegal_byte_is_found_wherever_it_lies() {
        for length in [0, 1, 63, 64, 65, 300] {
            let mut text = std::vec![b'A'; length];
            assert_eq!(first_illegal(&text), None);
            for place in (0..length).rev() {
                text[place] = b'=';
                assert_eq!(first_illegal(&text), Some(place));
            }
        }
    }
}
