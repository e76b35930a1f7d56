//! The compiled set of rules.

use alloc::{borrow::Cow, vec::Vec};

#[cfg(feature = "http")]
use crate::known_names::KnownNames;
use crate::{
    ImageError, Mode, Rule, Spelling,
    layout::{ImageHeader, Sections},
    rule_table::RuleTable,
    trie::Trie,
};
#[cfg(feature = "front")]
use crate::{
    compare::{is_equivalent, is_name},
    exact_table::ExactTable,
    hash::NameHasher,
    prefix_filter::PrefixFilter,
};

/// A compiled set of rules.
///
/// A set is built by a [`HeaderSetBuilder`](crate::HeaderSetBuilder), or read from an image that
/// another process, machine or language built. Lookups do not allocate.
///
/// # Representation
///
/// One contiguous image without pointers, so it can be mapped, embedded in a binary, or sent to
/// another machine. It holds a perfect hash table of the exact rules, a filter for the prefix
/// rules, a trie for the longest match, and the rules themselves. `src/layout.rs` documents every
/// field.
#[derive(Clone, Debug)]
pub struct HeaderSet<'a> {
    image: Cow<'a, [u8]>,
    header: ImageHeader,
    sections: Sections,
    strips_connection: bool,
    #[cfg(feature = "front")]
    hasher: NameHasher,
    #[cfg(feature = "front")]
    has_shared_hashes: bool,
    #[cfg(feature = "http")]
    known: Option<KnownNames>,
}

impl<'a> HeaderSet<'a> {
    /// Reads an image in place. It is validated once, and nothing is copied or allocated.
    ///
    /// An image that passes validation may still be forged: a lookup in it never panics or reads
    /// out of bounds, but it may match any names.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes are not an image, or an image that is truncated, too long or
    /// damaged.
    ///
    /// # Complexity
    ///
    /// Linear in the length of the image.
    ///
    /// # Example
    ///
    /// ```
    /// use hedgerow_headers::{HeaderSet, HeaderSetBuilder};
    ///
    /// let built = HeaderSetBuilder::new().rule("x-internal-*")?.build();
    /// let bytes: &[u8] = built.image();
    /// let borrowed = HeaderSet::from_image(bytes)?;
    /// assert!(borrowed.matches(b"x-internal-debug"));
    /// assert!(HeaderSet::from_image(&bytes[1..]).is_err());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn from_image(image: &'a [u8]) -> Result<Self, ImageError> {
        Self::read(Cow::Borrowed(image))
    }

    /// Reads an image and keeps it. Otherwise the same as [`from_image`](Self::from_image). With the
    /// feature `http`, also builds a table of the exact rules, which makes `strip` faster.
    ///
    /// # Errors
    ///
    /// The same as [`from_image`](Self::from_image).
    pub fn from_image_vec(image: Vec<u8>) -> Result<HeaderSet<'static>, ImageError> {
        HeaderSet::read(Cow::Owned(image))
    }

    /// Returns the set for an image that a builder wrote with this header.
    pub(crate) fn from_parts(image: Vec<u8>, header: ImageHeader) -> HeaderSet<'static> {
        let sections = header.sections();
        HeaderSet::unchecked(Cow::Owned(image), header, sections).completed()
    }

    fn read(image: Cow<'a, [u8]>) -> Result<Self, ImageError> {
        let (header, sections) = ImageHeader::read(&image)?;
        let set = Self::unchecked(image, header, sections);
        set.validate()?;
        Ok(set.completed())
    }

    fn unchecked(image: Cow<'a, [u8]>, header: ImageHeader, sections: Sections) -> Self {
        Self {
            #[cfg(feature = "front")]
            hasher: NameHasher::new(header.seed),
            image,
            header,
            sections,
            strips_connection: false,
            #[cfg(feature = "front")]
            has_shared_hashes: false,
            #[cfg(feature = "http")]
            known: None,
        }
    }

    /// Computes the fields that are derived from the rules.
    fn completed(mut self) -> Self {
        #[cfg(feature = "front")]
        if self.has_native_tables() {
            let table = self.rule_table();
            let exact = (0..table.len()).filter(|&rule| !table.is_prefix(rule)).count();
            self.has_shared_hashes = self.exact_table().rules().count() < exact;
        }
        self.strips_connection = self.is_in_trie(b"connection") != (self.mode() == Mode::Keep);
        #[cfg(feature = "http")]
        if matches!(self.image, Cow::Owned(_)) && self.has_native_tables() {
            self.known = KnownNames::of(&self);
        }
        self
    }

    fn validate(&self) -> Result<(), ImageError> {
        let rules = self.rule_table();
        rules.validate(self.sections.rules.start, self.spelling())?;
        self.trie().validate(self.sections.nodes.start)?;
        #[cfg(feature = "front")]
        if self.has_native_tables()
            && self.exact_table().rules().any(|rule| usize::from(rule) >= rules.len())
        {
            return Err(ImageError::Field { field: "slot", offset: self.sections.slots.start });
        }
        Ok(())
    }

    /// Returns the image, to be stored or sent.
    #[must_use]
    pub fn image(&self) -> &[u8] {
        &self.image
    }

    /// Returns whether the set strips the fields that its rules match, or all others.
    #[inline]
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.header.mode
    }

    /// Returns which spellings of a name the rules match.
    #[inline]
    #[must_use]
    pub fn spelling(&self) -> Spelling {
        self.header.spelling
    }

    /// Returns the number of rules.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rule_table().len()
    }

    /// Returns whether the set has no rules.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Iterates over the rules in the order of their text. A name comes before the prefix with the
    /// same text.
    ///
    /// # Example
    ///
    /// ```
    /// use hedgerow_headers::{HeaderSetBuilder, Rule};
    ///
    /// let set = HeaderSetBuilder::new().rules(["X-B", "x-a*", "x-b"])?.build();
    /// assert!(set.rules().eq([Rule::Prefix("x-a"), Rule::Exact("x-b")]));
    /// # Ok::<(), hedgerow_headers::RuleError>(())
    /// ```
    pub fn rules(&self) -> impl ExactSizeIterator<Item = Rule<'_>> + DoubleEndedIterator {
        let table = self.rule_table();
        (0..table.len()).map(move |rule| table.get(rule))
    }

    /// Returns whether a rule matches `name`, ignoring case, and with [`Spelling::Equivalent`] also
    /// whether it has `-`, `_` or `.`. What that means for a field depends on
    /// the [`mode`](Self::mode): see [`strips`](Self::strips).
    ///
    /// # Complexity
    ///
    /// Most misses read a few words of the name and of the image, whatever the number of rules. A
    /// hit also compares the name with the rule. Without the feature `front`, a lookup reads the name
    /// as far as it agrees with a rule.
    #[inline]
    #[must_use]
    pub fn matches(&self, name: &[u8]) -> bool {
        #[cfg(feature = "front")]
        if self.has_native_tables() {
            return self.matches_exact(name) || self.matches_prefix(name);
        }
        self.is_in_trie(name)
    }

    /// Returns whether the set strips a field with this name, not counting the fields that
    /// `Connection` nominates.
    ///
    /// With [`Mode::Strip`] this is whether a rule matches the name; with [`Mode::Keep`] it is
    /// whether none does, and the name is not that of a pseudo-field, which begins with a colon.
    #[inline]
    #[must_use]
    pub fn strips(&self, name: &[u8]) -> bool {
        match self.mode() {
            Mode::Strip => self.matches(name),
            Mode::Keep => !self.matches(name) && name.first() != Some(&b':'),
        }
    }

    /// Returns the longest rule that matches `name`: the name itself if it is a rule, else the
    /// longest prefix.
    ///
    /// # Example
    ///
    /// ```
    /// use hedgerow_headers::{HeaderSetBuilder, Rule};
    ///
    /// let set = HeaderSetBuilder::new().rules(["x-*", "x-edge-*", "x-edge-key"])?.build();
    /// assert_eq!(set.find(b"X-Edge-Key"), Some(Rule::Exact("x-edge-key")));
    /// assert_eq!(set.find(b"X-Edge-Keys"), Some(Rule::Prefix("x-edge-")));
    /// assert_eq!(set.find(b"X-Powered-By"), Some(Rule::Prefix("x-")));
    /// assert_eq!(set.find(b"Accept"), None);
    /// # Ok::<(), hedgerow_headers::RuleError>(())
    /// ```
    #[must_use]
    pub fn find(&self, name: &[u8]) -> Option<Rule<'_>> {
        self.trie().find(name).map(|rule| self.rule_table().get(rule))
    }

    /// Returns whether the set strips `Connection`, and with it the fields that it nominates. A set
    /// with [`Mode::Keep`] never does.
    #[must_use]
    pub fn strips_connection(&self) -> bool {
        self.strips_connection
    }

    /// Returns whether a rule matches `name`. For an [`http::HeaderName`] this is faster than
    /// [`matches`](Self::matches), because standard names are decided without reading their text.
    #[cfg(feature = "http")]
    #[inline]
    #[must_use]
    pub fn matches_name(&self, name: &http::HeaderName) -> bool {
        match &self.known {
            Some(known) => known.matches(self, name),
            None => self.matches_text(name),
        }
    }

    /// Returns whether the set strips a field with this name, as [`strips`](Self::strips) does.
    #[cfg(feature = "http")]
    #[inline]
    #[must_use]
    pub fn strips_name(&self, name: &http::HeaderName) -> bool {
        self.matches_name(name) != (self.mode() == Mode::Keep)
    }

    /// Returns whether a rule matches `name`, without the names of the exact rules. Not inlined, to
    /// keep its callers small.
    #[cfg(feature = "http")]
    #[cold]
    pub(crate) fn matches_text(&self, name: &http::HeaderName) -> bool {
        self.matches(name.as_str().as_bytes())
    }

    /// Returns whether the image has the tables for native lookups.
    #[cfg(feature = "front")]
    #[inline]
    fn has_native_tables(&self) -> bool {
        !self.header.slot_bits.is_none()
    }

    #[cfg(feature = "front")]
    #[inline]
    fn matches_exact(&self, name: &[u8]) -> bool {
        let candidate = self.exact_table().candidate(self.hasher.hash(name));
        candidate.is_likely && self.is_exact_rule(usize::from(candidate.rule), name)
    }

    /// Returns whether the candidate `rule`, or another rule with the same hash, matches `name`.
    #[cfg(feature = "front")]
    #[inline]
    fn is_exact_rule(&self, rule: usize, name: &[u8]) -> bool {
        let table = self.rule_table();
        rule < table.len()
            && (is_name(name, table.text(rule))
                || self.is_other(name, table.text(rule), self.has_shared_hashes))
    }

    /// Returns whether `name`, which has the hash of a rule with this text, is another spelling of
    /// it or, if rules share hashes, matches another rule. Not inlined, to keep its callers small.
    #[cfg(feature = "front")]
    #[cold]
    pub(crate) fn is_other(&self, name: &[u8], text: &[u8], has_shared_hashes: bool) -> bool {
        is_equivalent(name, text, self.spelling()) || has_shared_hashes && self.is_in_trie(name)
    }

    #[cfg(feature = "front")]
    #[inline]
    pub(crate) fn matches_prefix(&self, name: &[u8]) -> bool {
        self.has_prefixes() && self.prefix_filter().admits(name) && self.is_in_trie(name)
    }

    /// Returns whether the trie has a rule that matches `name`. Not inlined, to keep its callers
    /// small.
    #[inline(never)]
    fn is_in_trie(&self, name: &[u8]) -> bool {
        self.trie().find(name).is_some()
    }

    #[cfg(feature = "front")]
    #[inline]
    pub(crate) fn has_prefixes(&self) -> bool {
        self.header.shortest_prefix != 0
    }

    /// Returns the names of the exact rules, if the set owns its image.
    #[cfg(feature = "http")]
    #[inline]
    pub(crate) fn known_names(&self) -> Option<&KnownNames> {
        self.known.as_ref()
    }

    #[cfg(feature = "front")]
    #[inline]
    fn exact_table(&self) -> ExactTable<'_> {
        let Sections { displacements, slots, .. } = &self.sections;
        ExactTable::new(
            &self.image[displacements.clone()],
            &self.image[slots.clone()],
            self.header.slot_bits,
        )
    }

    #[inline]
    pub(crate) fn rule_table(&self) -> RuleTable<'_> {
        RuleTable::new(&self.image, &self.sections)
    }

    #[cfg(feature = "front")]
    #[inline]
    pub(crate) fn prefix_filter(&self) -> PrefixFilter<'_> {
        PrefixFilter::new(
            &self.image[self.sections.prefix_filter.clone()],
            self.header.shortest_prefix,
        )
    }

    #[inline]
    fn trie(&self) -> Trie<'_> {
        Trie::new(&self.image[self.sections.nodes.clone()], self.rule_table(), self.spelling())
    }
}
