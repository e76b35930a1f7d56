//! Paths shaped like those of real deployments: about 60 bytes, in folders, named by words and hashes.

use hedgerow_tests_random::Random;

const WORDS: &str = "about account api archive assets blog catalogue chunks components dashboard \
    documentation guides images locales navigation pages pricing products reference releases \
    settings static support tutorials";

/// Returns `count` different paths, the same for the same seed.
pub fn paths(count: usize, seed: u64) -> Vec<String> {
    let words: Vec<&str> = WORDS.split_ascii_whitespace().collect();
    Random(seed).take(count).map(|number| path(&words, number)).collect()
}

fn path(words: &[&str], number: u64) -> String {
    let folders = 2 + number % 4;
    let mut path = String::with_capacity(96);
    for folder in 0..folders {
        path.push('/');
        path.push_str(words[(number >> (8 * folder)) as usize % words.len()]);
    }
    path + &format!("/{}-{number:016x}.js", words[(number >> 56) as usize % words.len()])
}
