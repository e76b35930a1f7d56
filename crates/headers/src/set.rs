//! The compiled set of rules.

use alloc::{borrow::Cow, vec::Vec};

#[cfg(feature = "http")]
use crate::known_names::KnownNames;
use crate::{
    ImageError, Probe, Rule,
    layout::{Numbers, Sections},
    rule_table::RuleTable,
    trie::Trie,
};
#[cfg(feature = "front")]
use crate::{compare::is_name, front::Front, gate::Gate, hash::NameHasher};

/// A compiled set of rules.
///
/// Built by a [`HeaderSetBuilder`](crate::HeaderSetBuilder), or read from an image that another
/// process, machine or language made of one. Lookups allocate nothing.
///
/// # Representation
///
/// One contiguous image without pointers, so that it can be mapped, embedded in a binary or shared
/// between a WebAssembly module and its host. In it lie a perfect hash table that finds the one
/// rule that a name may be, a gate that turns most names away from prefix rules, a table of bits for
/// hosts that hold names as strings ([`probe`](Self::probe)), a trie for the longest match, and the
/// rules themselves. `src/layout.rs` documents every field.
#[derive(Clone, Debug)]
pub struct HeaderSet<'a> {
    image: Cow<'a, [u8]>,
    numbers: Numbers,
    sections: Sections,
    strips_connection: bool,
    #[cfg(feature = "front")]
    hasher: NameHasher,
    #[cfg(feature = "front")]
    has_twins: bool,
    #[cfg(feature = "http")]
    known: Option<KnownNames>,
}

impl<'a> HeaderSet<'a> {
    /// Reads an image in place: it is validated once, and nothing is copied or allocated.
    ///
    /// # Errors
    ///
    /// An image that is truncated, too long, damaged, or not one at all. An image that passes may
    /// still have been made with ill intent: no lookup in it panics or reads outside it, but what
    /// it matches is its maker's choice.
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

    /// Takes an image over. Otherwise like [`from_image`](Self::from_image).
    ///
    /// # Errors
    ///
    /// As for [`from_image`](Self::from_image).
    pub fn from_image_vec(image: Vec<u8>) -> Result<HeaderSet<'static>, ImageError> {
        HeaderSet::read(Cow::Owned(image))
    }

    /// The set of an image that a builder has just written with this header.
    pub(crate) fn from_parts(image: Vec<u8>, numbers: Numbers) -> HeaderSet<'static> {
        let sections = numbers.sections();
        HeaderSet::unchecked(Cow::Owned(image), numbers, sections).completed()
    }

    fn read(image: Cow<'a, [u8]>) -> Result<Self, ImageError> {
        let (numbers, sections) = Numbers::read(&image)?;
        let set = Self::unchecked(image, numbers, sections);
        set.validate()?;
        Ok(set.completed())
    }

    fn unchecked(image: Cow<'a, [u8]>, numbers: Numbers, sections: Sections) -> Self {
        Self {
            #[cfg(feature = "front")]
            hasher: NameHasher::new(numbers.seed),
            image,
            numbers,
            sections,
            strips_connection: false,
            #[cfg(feature = "front")]
            has_twins: false,
            #[cfg(feature = "http")]
            known: None,
        }
    }

    /// Fills in what follows from the rules.
    fn completed(mut self) -> Self {
        #[cfg(feature = "front")]
        if self.has_front() {
            let table = self.rule_table();
            let exact = (0..table.len()).filter(|&rule| !table.is_prefix(rule)).count();
            self.has_twins = self.front().rules().count() < exact;
        }
        self.strips_connection = self.is_in_trie(b"connection");
        #[cfg(feature = "http")]
        if matches!(self.image, Cow::Owned(_)) && self.has_front() {
            self.known = KnownNames::of(&self);
        }
        self
    }

    fn validate(&self) -> Result<(), ImageError> {
        let rules = self.rule_table();
        rules.validate(self.sections.rules.start)?;
        self.trie().validate(self.sections.nodes.start)?;
        #[cfg(feature = "front")]
        if self.has_front() && self.front().rules().any(|rule| usize::from(rule) >= rules.len()) {
            return Err(ImageError::Field { field: "slot", offset: self.sections.slots.start });
        }
        Ok(())
    }

    /// The image, to be stored or sent.
    #[must_use]
    pub fn image(&self) -> &[u8] {
        &self.image
    }

    /// The number of rules.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rule_table().len()
    }

    /// Whether there is no rule.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rules in the order of their text, a name before the prefix of the same text.
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

    /// Whether a rule matches `name`, in whatever case.
    ///
    /// # Complexity
    ///
    /// A miss is decided by a few words of the name and of the image, whatever the number of rules;
    /// a hit compares the name once more.
    #[cfg_attr(feature = "front", inline)]
    #[cfg_attr(not(feature = "front"), inline(never))]
    #[must_use]
    pub fn matches(&self, name: &[u8]) -> bool {
        #[cfg(feature = "front")]
        if self.has_front() {
            return self.matches_exact(name) || self.matches_prefix(name);
        }
        self.probe().admits(name) && self.is_in_trie(name)
    }

    /// The longest rule that matches `name`: the name itself if it is one, else the longest prefix.
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

    /// What a host needs to decide misses on its own strings, without copying them here.
    #[must_use]
    pub fn probe(&self) -> Probe<'_> {
        Probe {
            table: &self.image[self.sections.probe.clone()],
            shortest_prefix: usize::from(self.numbers.shortest_prefix),
        }
    }

    /// Whether the set strips `Connection`, and with it the fields that a `Connection` nominates.
    #[must_use]
    pub fn strips_connection(&self) -> bool {
        self.strips_connection
    }

    /// Whether a rule matches `name`. A standard name is decided without reading its text, so this
    /// is the faster way where names are held as [`http::HeaderName`].
    #[cfg(feature = "http")]
    #[inline]
    #[must_use]
    pub fn matches_name(&self, name: &http::HeaderName) -> bool {
        match &self.known {
            Some(known) => known.matches(self, name),
            None => self.matches_text(name),
        }
    }

    /// Kept out of the way of sets that know the names of their rules.
    #[cfg(feature = "http")]
    #[cold]
    fn matches_text(&self, name: &http::HeaderName) -> bool {
        self.matches(name.as_str().as_bytes())
    }

    /// Whether the image has the tables that make native lookups fast.
    #[cfg(feature = "front")]
    #[inline]
    fn has_front(&self) -> bool {
        !self.numbers.slot_bits.is_none()
    }

    #[cfg(feature = "front")]
    #[inline]
    fn matches_exact(&self, name: &[u8]) -> bool {
        let candidate = self.front().candidate(self.hasher.hash(name));
        candidate.is_likely && self.is_exact_rule(usize::from(candidate.rule), name)
    }

    /// Whether the candidate `rule`, or another of the same hash, is `name`.
    #[cfg(feature = "front")]
    #[inline]
    fn is_exact_rule(&self, rule: usize, name: &[u8]) -> bool {
        let table = self.rule_table();
        rule < table.len()
            && (is_name(name, table.text(rule)) || self.has_twins && self.is_in_trie(name))
    }

    #[cfg(feature = "front")]
    #[inline]
    pub(crate) fn matches_prefix(&self, name: &[u8]) -> bool {
        self.has_prefixes() && self.gate().admits(name) && self.is_in_trie(name)
    }

    /// Whether the trie has a rule that matches `name`. Not inlined: it is rare, and what comes
    /// before it is short.
    #[inline(never)]
    fn is_in_trie(&self, name: &[u8]) -> bool {
        self.trie().find(name).is_some()
    }

    #[cfg(feature = "front")]
    #[inline]
    pub(crate) fn has_prefixes(&self) -> bool {
        self.numbers.shortest_prefix != 0
    }

    /// The names of the exact rules, if the set owns its image and no two share a hash.
    #[cfg(feature = "http")]
    #[inline]
    pub(crate) fn known_names(&self) -> Option<&KnownNames> {
        self.known.as_ref()
    }

    #[cfg(feature = "front")]
    #[inline]
    fn front(&self) -> Front<'_> {
        let Sections { displacements, slots, .. } = &self.sections;
        Front::new(
            &self.image[displacements.clone()],
            &self.image[slots.clone()],
            self.numbers.slot_bits,
        )
    }

    #[inline]
    pub(crate) fn rule_table(&self) -> RuleTable<'_> {
        RuleTable::new(&self.image, &self.sections)
    }

    #[cfg(feature = "front")]
    #[inline]
    pub(crate) fn gate(&self) -> Gate<'_> {
        Gate::new(&self.image[self.sections.gate.clone()], self.numbers.shortest_prefix)
    }

    #[inline]
    fn trie(&self) -> Trie<'_> {
        Trie::new(&self.image[self.sections.nodes.clone()], self.rule_table())
    }
}
