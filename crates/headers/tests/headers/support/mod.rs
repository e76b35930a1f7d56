//! Shared test support. The fuzz targets use `forge` and `oracle` too.

pub mod forge;
pub mod generate;
pub mod oracle;

use hedgerow_headers::{HeaderSet, HeaderSetBuilder, Mode};

/// Builds the set of these rules.
pub fn set_of<R: AsRef<str>>(rules: impl IntoIterator<Item = R>) -> HeaderSet<'static> {
    set_with_mode(Mode::Strip, rules)
}

/// Builds the set of these rules with a mode.
pub fn set_with_mode<R: AsRef<str>>(
    mode: Mode,
    rules: impl IntoIterator<Item = R>,
) -> HeaderSet<'static> {
    HeaderSetBuilder::with_mode(mode).rules(rules).expect("valid rules").build()
}

/// Runs `check` on the set of these rules, and on a set that borrows its image.
pub fn for_owned_and_borrowed<R: AsRef<str>>(
    rules: impl IntoIterator<Item = R>,
    check: impl Fn(&HeaderSet<'_>),
) {
    for_sets_with_mode(Mode::Strip, rules, check);
}

/// Runs `check` on the set of these rules with a mode, and on a set that borrows its image.
pub fn for_sets_with_mode<R: AsRef<str>>(
    mode: Mode,
    rules: impl IntoIterator<Item = R>,
    check: impl Fn(&HeaderSet<'_>),
) {
    let owned = set_with_mode(mode, rules);
    let borrowed = HeaderSet::from_image(owned.image()).expect("an image of a builder");
    check(&owned);
    check(&borrowed);
}
