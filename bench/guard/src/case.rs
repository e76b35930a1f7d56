//! A thing that is counted, and the data that it is done with.

/// The share of its operations that a slowed case does once more: one of so many. It is twice what
/// the guard tolerates.
const ONE_MORE_OF: usize = 16;

/// What is counted.
pub struct Case {
    /// What it is called in the record.
    pub name: String,
    prepare: Box<dyn FnOnce() -> Prepared>,
}

/// Work that is ready to be counted.
pub struct Prepared {
    /// How many operations it consists of.
    pub operations: usize,
    work: Box<dyn FnMut(bool)>,
}

impl Case {
    /// A case whose data is made when it is wanted, so that others do not wait for it.
    pub fn new(name: impl Into<String>, prepare: impl FnOnce() -> Prepared + 'static) -> Self {
        Self { name: name.into(), prepare: Box::new(prepare) }
    }

    /// Makes what the case works with.
    #[must_use]
    pub fn prepare(self) -> Prepared {
        (self.prepare)()
    }
}

impl Prepared {
    /// One operation on each of `items`.
    pub fn each<T: Clone + 'static>(
        mut items: Vec<T>,
        mut operation: impl FnMut(&mut T) + 'static,
    ) -> Self {
        let operations = items.len();
        // Copies: what is stripped once has nothing to strip.
        let mut more = items[..operations.div_ceil(ONE_MORE_OF)].to_vec();
        let work = Box::new(move |slowed| {
            items.iter_mut().for_each(&mut operation);
            if slowed {
                more.iter_mut().for_each(&mut operation);
            }
        });
        Self { operations, work }
    }

    /// Does the work; `slowed`, more of it than it says.
    pub fn run(&mut self, slowed: bool) {
        (self.work)(slowed);
    }
}
