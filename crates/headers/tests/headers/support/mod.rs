//! Shared test support. The fuzz targets use `forge` and `oracle` too.

pub mod forge;
pub mod generate;
pub mod oracle;

use hedgerow_headers::{HeaderSet, HeaderSetBuilder};

/// Builds the set of these rules.
pub fn set_of<R: AsRef<str>>(rules: impl IntoIterator<Item = R>) -> HeaderSet<'static> {
    HeaderSetBuilder::new().rules(rules).expect("valid rules").build()
}

/// Runs `check` on the set of these rules, and on a set that borrows its image.
pub fn for_owned_and_borrowed<R: AsRef<str>>(
    rules: impl IntoIterator<Item = R>,
    check: impl Fn(&HeaderSet<'_>),
) {
    let owned = set_of(rules);
    let borrowed = HeaderSet::from_image(owned.image()).expect("an image of a builder");
    check(&owned);
    check(&borrowed);
}
