//! A case of the guard, and its data.

/// A slowed case repeats one of this many operations: twice the tolerance of the guard.
const ONE_MORE_OF: usize = 16;

/// A case whose instructions are counted.
pub struct Case {
    /// Its name in the record.
    pub name: String,
    prepare: Box<dyn FnOnce() -> Prepared>,
}

/// Work that is ready to be counted.
pub struct Prepared {
    /// The number of its operations.
    pub operations: usize,
    work: Box<dyn FnMut(bool)>,
}

impl Case {
    /// Creates a case whose data is made when it runs.
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
    /// Applies an operation to each of `items`.
    pub fn each<T: Clone + 'static>(
        mut items: Vec<T>,
        mut operation: impl FnMut(&mut T) + 'static,
    ) -> Self {
        let operations = items.len();
        // Copies, because a stripped item has nothing left to strip.
        let mut more = items[..operations.div_ceil(ONE_MORE_OF)].to_vec();
        let work = Box::new(move |slowed| {
            items.iter_mut().for_each(&mut operation);
            if slowed {
                more.iter_mut().for_each(&mut operation);
            }
        });
        Self { operations, work }
    }

    /// Runs the operations, and repeats some of them if `slowed`.
    pub fn run(&mut self, slowed: bool) {
        (self.work)(slowed);
    }
}
