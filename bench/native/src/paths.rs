//! Paths shaped like those of real deployments: about 60 bytes, in folders, named by words and hashes.

use hedgerow_tests_random::Random;

const WORDS: [&str; 24] = [
    "about",
    "account",
    "api",
    "archive",
    "assets",
    "blog",
    "catalogue",
    "chunks",
    "components",
    "dashboard",
    "documentation",
    "guides",
    "images",
    "locales",
    "navigation",
    "pages",
    "pricing",
    "products",
    "reference",
    "releases",
    "settings",
    "static",
    "support",
    "tutorials",
];

/// Returns `count` different paths, the same for the same seed.
pub fn paths(count: usize, seed: u64) -> Vec<String> {
    Random(seed).take(count).map(path).collect()
}

fn path(number: u64) -> String {
    let folders = 2 + number % 4;
    let mut path = String::with_capacity(96);
    for folder in 0..folders {
        path.push('/');
        path.push_str(WORDS[(number >> (8 * folder)) as usize % WORDS.len()]);
    }
    path + &format!("/{}-{number:016x}.js", WORDS[(number >> 56) as usize % WORDS.len()])
}
