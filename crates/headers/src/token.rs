//! The characters of a field name (RFC 9110 §5.6.2 `token`), folded to lower case and numbered.

/// The characters of a folded token: 10 digits, 26 letters and 15 marks, in byte order.
const SYMBOLS: &[u8; 51] = b"!#$%&'*+-.0123456789^_`abcdefghijklmnopqrstuvwxyz|~";

/// Sentinel in [`SYMBOL`] for a byte that no token may contain.
const NOT_A_TOKEN: u8 = 0xff;

/// The index in [`SYMBOLS`] of each byte, folded.
const SYMBOL: [u8; 256] = {
    let mut table = [NOT_A_TOKEN; 256];
    let mut number = 0;
    while number < SYMBOLS.len() {
        let byte = SYMBOLS[number];
        table[byte as usize] = number as u8;
        table[byte.to_ascii_uppercase() as usize] = number as u8;
        number += 1;
    }
    table
};

/// Returns the index of `byte`, folded, among the 51 token characters, or `None` if no token may
/// contain it.
#[inline]
pub(crate) fn symbol(byte: u8) -> Option<u32> {
    let number = SYMBOL[byte as usize];
    (number != NOT_A_TOKEN).then_some(u32::from(number))
}

/// Returns whether a field name may contain `byte`.
#[inline]
pub(crate) fn is_token(byte: u8) -> bool {
    SYMBOL[byte as usize] != NOT_A_TOKEN
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The grammar of RFC 9110, as an oracle for the table.
    fn is_tchar(byte: u8) -> bool {
        byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
    }

    #[test]
    fn token_characters_are_those_of_rfc_9110() {
        for byte in 0..=u8::MAX {
            assert_eq!(is_token(byte), is_tchar(byte), "byte {byte:#04x}");
        }
    }

    #[test]
    fn only_upper_and_lower_case_of_a_letter_share_a_symbol() {
        for a in (0..=u8::MAX).filter(|&byte| is_tchar(byte)) {
            for b in (0..=u8::MAX).filter(|&byte| is_tchar(byte)) {
                assert_eq!(symbol(a) == symbol(b), a.eq_ignore_ascii_case(&b));
            }
        }
    }
}
