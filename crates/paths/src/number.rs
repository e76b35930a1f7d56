//! Numbers formatted as JavaScript does, so that every builder writes the same file.

use alloc::{format, string::String};

/// Appends `number` as `JSON.stringify` formats it: the shortest digits that round-trip, with an
/// exponent below 1e-6.
///
/// `number` must be above 0 and below 1.
pub(crate) fn write_into(line: &mut String, number: f64) {
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once("e-").unwrap_or((&scientific, "0"));
    let zeros = exponent.parse::<usize>().unwrap_or_default();
    if zeros > 6 {
        line.push_str(&scientific);
        return;
    }
    line.push_str("0.");
    line.extend(core::iter::repeat_n('0', zeros.saturating_sub(1)));
    line.extend(digits.chars().filter(|&digit| digit != '.'));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted_as_in_javascript() {
        let cases = [
            (0.5, "0.5"),
            (0.25, "0.25"),
            (0.01, "0.01"),
            (1e-6, "0.000001"),
            (1.5e-6, "0.0000015"),
            (1e-7, "1e-7"),
            (1.5e-7, "1.5e-7"),
            (1e-18, "1e-18"),
            (0.1 + 0.2, "0.30000000000000004"),
        ];
        for (number, expected) in cases {
            let mut written = String::new();
            write_into(&mut written, number);
            assert_eq!(written, expected);
        }
    }
}
