//! The characters of standard Base64 (RFC 4648 §4), and the bits that they stand for.

use core::hint::black_box;

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
    let alphabet = Alphabet::new();
    let worst = bytes.iter().fold(0, |worst, &byte| alphabet.distance(byte).max(worst));
    if worst == 0 {
        return None;
    }
    bytes.iter().position(|&byte| alphabet.distance(byte) > 0)
}

/// The three runs of characters, which are not constants to the compiler: engines of WebAssembly make
/// vectors of constants anew each time that one is used, but keep others where they are.
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

    /// How far a byte is from the alphabet; 0 for its characters.
    ///
    /// Without branches and tables, and in operations that the compiler does for 16 bytes at a time.
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
            let place = CHARACTERS.iter().position(|&character| character == byte);
            assert_eq!(Alphabet::new().distance(byte) > 0, place.is_none(), "{byte:#04x}");
            assert_eq!(usize::from(bits_of(byte)), place.unwrap_or(0), "{byte:#04x}");
        }
    }

    #[test]
    fn the_first_illegal_byte_is_found_wherever_it_lies() {
        for length in [0, 1, 15, 16, 17, 100, 1000] {
            let mut text = std::vec![b'A'; length];
            assert_eq!(first_illegal(&text), None);
            for place in (0..length).rev() {
                text[place] = b'=';
                assert_eq!(first_illegal(&text), Some(place));
            }
        }
    }
}
