//! The characters of a field name (RFC 9110 §5.6.2 `token`), folded to lower case and numbered.

/// How many different characters a folded token can hold: 10 digits, 26 letters, 15 marks.
const SYMBOLS: &[u8; 51] = b"!#$%&'*+-.0123456789^_`abcdefghijklmnopqrstuvwxyz|~";

/// What [`SYMBOL`] holds for a byte that no token may contain.
const NOT_A_TOKEN: u8 = 0xff;

/// The number of each byte among the folded token characters, in byte order.
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

/// The number of `byte` among the 51 folded token characters; `None` if no token may contain it.
#[inline]
pub(crate) fn symbol(byte: u8) -> Option<u32> {
    let number = SYMBOL[byte as usize];
    (number != NOT_A_TOKEN).then_some(u32::from(number))
}

/// Whether a field name may contain `byte`.
#[inline]
pub(crate) fn is_token(byte: u8) -> bool {
    SYMBOL[byte as usize] != NOT_A_TOKEN
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The grammar as RFC 9110 words it, to hold the table against.
    fn is_tchar(byte: u8) -> bool {
        byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
    }

    #[test]
    fn the_table_holds_the_characters_of_rfc_9110_and_no_others() {
        for byte in 0..=u8::MAX {
            assert_eq!(is_token(byte), is_tchar(byte), "byte {byte:#04x}");
        }
    }

    #[test]
    fn upper_and_lower_case_are_one_symbol_and_all_others_differ() {
        for a in (0..=u8::MAX).filter(|&byte| is_tchar(byte)) {
            for b in (0..=u8::MAX).filter(|&byte| is_tchar(byte)) {
                assert_eq!(symbol(a) == symbol(b), a.eq_ignore_ascii_case(&b));
            }
        }
    }
}
