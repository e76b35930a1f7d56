//! The alphabet of standard Base64 (RFC 4648 §4).

use core::hint::black_box;

const CHARACTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The six bits of each character, and 0 for other bytes.
static BITS: [u8; 256] = {
    let mut bits = [0; 256];
    let mut index = 0;
    while index < CHARACTERS.len() {
        bits[CHARACTERS[index] as usize] = index as u8;
        index += 1;
    }
    bits
};

/// Returns the six bits that `character` encodes, or 0 if it is not in the alphabet.
#[inline]
pub(crate) fn bits_of(character: u8) -> u8 {
    BITS[usize::from(character)]
}

/// Returns the position of the first byte that is not in the alphabet of standard Base64. The second
/// line of a file, without its quotes and its padding, has none.
///
/// # Complexity
///
/// About 16 bytes per nanosecond.
pub fn first_illegal(bytes: &[u8]) -> Option<usize> {
    let alphabet = Alphabet::new();
    let worst = bytes.iter().fold(0, |worst, &byte| alphabet.distance(byte).max(worst));
    if worst == 0 {
        return None;
    }
    bytes.iter().position(|&byte| alphabet.distance(byte) > 0)
}

/// The bounds of the character ranges, hidden from the optimizer: WebAssembly engines rebuild a
/// vector constant at every use, but keep other vectors in registers.
struct Alphabet {
    case: u8,
    letters: u8,
    last_letter: u8,
    slash: u8,
    last_digit: u8,
    plus: u8,
}

impl Alphabet {
    fn new() -> Self {
        let [case, letters, last_letter, slash, last_digit, plus] =
            black_box([0x20, b'a', 25, b'/', 10, b'+']);
        Self { case, letters, last_letter, slash, last_digit, plus }
    }

    /// Returns 0 for characters of the alphabet, and a positive number for other bytes.
    ///
    /// Uses no branches or tables, so that the compiler vectorizes it to 16 bytes at a time.
    #[inline]
    fn distance(&self, byte: u8) -> u8 {
        let letter = (byte | self.case).wrapping_sub(self.letters);
        let digit = byte.wrapping_sub(self.slash);
        letter
            .saturating_sub(self.last_letter)
            .min(digit.saturating_sub(self.last_digit))
            .min(byte ^ self.plus)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_characters_of_the_alphabet_are_legal() {
        for byte in 0..=u8::MAX {
            let position = CHARACTERS.iter().position(|&character| character == byte);
            assert_eq!(Alphabet::new().distance(byte) > 0, position.is_none(), "{byte:#04x}");
            assert_eq!(usize::from(bits_of(byte)), position.unwrap_or(0), "{byte:#04x}");
        }
    }

    #[test]
    fn the_first_illegal_byte_is_found_at_every_position() {
        for length in [0, 1, 15, 16, 17, 100, 1000] {
            let mut text = std::vec![b'A'; length];
            assert_eq!(first_illegal(&text), None);
            for position in (0..length).rev() {
                text[position] = b'=';
                assert_eq!(first_illegal(&text), Some(position));
            }
        }
    }
}
