//! The sizes on whose circle no step but 0 has a short cycle.

/// The first prime that is `from` or larger, if 32 bits hold it.
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
    fn primes_follow_each_other() {
        let mut primes = [0_u32; 12];
        let mut from = 0;
        for prime in &mut primes {
            *prime = next_prime(from).expect("there are primes below 40");
            from = *prime + 1;
        }
        assert_eq!(primes, [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37]);
    }

    #[test]
    fn the_largest_prime_is_found_and_none_after_it() {
        assert_eq!(next_prime(4_294_967_280), Some(4_294_967_291));
        assert_eq!(next_prime(4_294_967_292), None);
        // The square of the largest prime that is a divisor.
        assert_eq!(next_prime(65_521 * 65_521), Some(4_293_001_469));
    }
}
