//! Shared test support. The fuzz targets use `forge` and `oracle` too.

pub mod forge;
pub mod generate;
pub mod oracle;

use hedgerow_headers::{HeaderSet, HeaderSetBuilder, Mode, Spelling};

/// The kinds of sets: the default, one of exact spelling, and an allow-list.
pub const KINDS: [Kind; 3] = [
    Kind(Mode::Strip, Spelling::Equivalent),
    Kind(Mode::Strip, Spelling::Exact),
    Kind(Mode::Keep, Spelling::Exact),
];

/// The mode and the spelling of a set.
#[derive(Clone, Copy, Debug)]
pub struct Kind(pub Mode, pub Spelling);

impl Kind {
    pub fn builder(self) -> HeaderSetBuilder {
        match self {
            Self(Mode::Strip, spelling) => HeaderSetBuilder::with_spelling(spelling),
            Self(mode, _) => HeaderSetBuilder::with_mode(mode),
        }
    }
}

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
    for_built(HeaderSetBuilder::with_mode(mode), rules, check);
}

/// Runs `check` on the set of these rules of a kind, and on a set that borrows its image.
pub fn for_sets_of<R: AsRef<str>>(
    kind: Kind,
    rules: impl IntoIterator<Item = R>,
    check: impl Fn(&HeaderSet<'_>),
) {
    for_built(kind.builder(), rules, check);
}

fn for_built<R: AsRef<str>>(
    mut builder: HeaderSetBuilder,
    rules: impl IntoIterator<Item = R>,
    check: impl Fn(&HeaderSet<'_>),
) {
    let owned = builder.rules(rules).expect("valid rules").build();
    let borrowed = HeaderSet::from_image(owned.image()).expect("an image of a builder");
    check(&owned);
    check(&borrowed);
}
