//! Prime sizes, modulo which every step but 0 has the longest possible cycle.

/// Returns the smallest prime that is at least `from`, or `None` if it exceeds 32 bits.
pub(crate) fn next_prime(from: u32) -> Option<u32> {
    (from..=u32::MAX).find(|&number| is_prime(number))
}

fn is_prime(number: u32) -> bool {
    let divides = |divisor: u32| number.is_multiple_of(divisor);
    let mut odd = (3..=u32::from(u16::MAX)).step_by(2).take_while(|odd| odd * odd <= number);
    number == 2 || (number > 2 && !divides(2) && !odd.any(divides))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_prime_finds_the_first_primes_in_order() {
        let mut primes = [0_u32; 12];
        let mut from = 0;
        for prime in &mut primes {
            *prime = next_prime(from).expect("there are primes below 40");
            from = *prime + 1;
        }
        assert_eq!(primes, [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37]);
    }

    #[test]
    fn next_prime_finds_the_largest_prime_and_none_after_it() {
        assert_eq!(next_prime(4_294_967_280), Some(4_294_967_291));
        assert_eq!(next_prime(4_294_967_292), None);
        // The square of the largest prime that `is_prime` divides by.
        assert_eq!(next_prime(65_521 * 65_521), Some(4_293_001_469));
    }
}
