//! Paths in the shape of those of real deployments: about 60 bytes, in folders, with names that are
//! words and hashes.

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

/// Numbers that look random, the same ones for the same seed (SplitMix64).
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Iterator for Random {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Some(mixed ^ (mixed >> 31))
    }
}

/// `count` different paths, the same ones for the same seed.
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
