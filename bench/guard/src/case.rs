//! A case of the guard, and its data.

/// A slowed case repeats one of this many operations. That is twice what the guard tolerates.
const REPEAT_ONE_OF: usize = 16;

/// A case whose instructions are counted.
pub struct Case {
    /// Name in the record.
    pub name: String,
    prepare: Box<dyn FnOnce() -> Prepared>,
}

/// Work that is ready to be counted.
pub struct Prepared {
    /// Number of operations.
    pub operations: usize,
    work: Box<dyn FnMut(bool)>,
}

impl Case {
    /// Creates a case whose data `prepare` makes on demand.
    pub fn new(name: impl Into<String>, prepare: impl FnOnce() -> Prepared + 'static) -> Self {
        Self { name: name.into(), prepare: Box::new(prepare) }
    }

    /// Makes the data of the case.
    #[must_use]
    pub fn prepare(self) -> Prepared {
        (self.prepare)()
    }
}

impl Prepared {
    /// Prepares one operation on each of `items`.
    pub fn each<T: Clone + 'static>(
        mut items: Vec<T>,
        mut operation: impl FnMut(&mut T) + 'static,
    ) -> Self {
        let operations = items.len();
        // Copies, since an item that was stripped has nothing left to strip.
        let mut more = items[..operations.div_ceil(REPEAT_ONE_OF)].to_vec();
        let work = Box::new(move |slowed| {
            items.iter_mut().for_each(&mut operation);
            if slowed {
                more.iter_mut().for_each(&mut operation);
            }
        });
        Self { operations, work }
    }

    /// Does the work, and repeats a part of it if `slowed`.
    pub fn run(&mut self, slowed: bool) {
        (self.work)(slowed);
    }
}
