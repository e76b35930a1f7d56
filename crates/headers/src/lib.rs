#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod builder;
mod bytes;
#[cfg(feature = "front")]
mod compare;
mod connection;
mod control;
#[cfg(feature = "front")]
mod exact_table;
mod fault;
mod field_block;
#[cfg(feature = "front")]
mod hash;
mod image_error;
mod layout;
mod mix;
mod mode;
#[cfg(feature = "front")]
mod prefix_filter;
pub mod presets;
mod rule;
mod rule_list;
mod rule_table;
mod set;
mod spelling;
mod token;
mod trie;

#[cfg(feature = "http")]
mod header_map;
#[cfg(feature = "http")]
mod known_names;
#[cfg(feature = "http")]
mod name_key;
#[cfg(feature = "http")]
mod standard_names;

pub use builder::HeaderSetBuilder;
pub use connection::{END_TO_END, Nomination, nomination, options as connection_options};
pub use fault::Fault;
pub use field_block::{FieldBlockError, MAX_NOMINATED};
#[cfg(feature = "http")]
pub use header_map::ConnectionOptionError;
pub use image_error::ImageError;
pub use mode::{ESSENTIAL, Mode};
pub use rule::{MAX_RULE_LENGTH, MAX_RULES, Rule, RuleError};
pub use set::HeaderSet;
pub use spelling::Spelling;
