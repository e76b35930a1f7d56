use hedgerow_example_wasmtime_host::{BlockStripper, EdgeModule, HeaderError};
use hedgerow_headers::{HeaderSet, HeaderSetBuilder, MAX_NOMINATED, Mode};
use hedgerow_tests_random::Random;

use crate::support::{
    edge::block as module,
    texts::{damage, name, token},
};

/// Compiles the same rules in the modules and natively.
fn both<'m>(edge: &'m EdgeModule, rules: &[Vec<u8>]) -> (BlockStripper<'m>, HeaderSet<'static>) {
    both_with_mode(Mode::Strip, edge, rules)
}

fn both_with_mode<'m>(
    mode: Mode,
    edge: &'m EdgeModule,
    rules: &[Vec<u8>],
) -> (BlockStripper<'m>, HeaderSet<'static>) {
    let mut native = HeaderSetBuilder::with_mode(mode);
    for rule in rules {
        native.rule_bytes(rule).unwrap();
    }
    (BlockStripper::new(edge, rules, mode == Mode::Keep).unwrap(), native.build())
}

/// Asserts that both strip `block` to the same bytes, or refuse it with the same error, which is
/// returned.
fn refusal(rules: &BlockStripper<'_>, native: &HeaderSet<'_>, block: &[u8]) -> Option<String> {
    let (mut stripped, mut expected) = (block.to_vec(), block.to_vec());
    let refusal = rules.strip(&mut stripped).err();
    let refusal = refusal.map(|error| error.downcast::<HeaderError>().expect("a refusal"));
    let message = match native.strip_block(&mut expected) {
        Ok(length) => {
            expected.truncate(length);
            None
        }
        Err(error) => {
            let (fault, refusal) = (error.fault(), refusal.clone().expect("a refusal"));
            assert_eq!(refusal.message, fault.message);
            assert_eq!(refusal.byte, fault.byte);
            assert_eq!(refusal.offset.map(|offset| offset as usize), fault.offset);
            Some(error.to_string())
        }
    };
    let shown = block.escape_ascii();
    assert_eq!(refusal.map(|refusal| refusal.to_string()), message, "{shown}");
    assert_eq!(stripped.escape_ascii().to_string(), expected.escape_ascii().to_string(), "{shown}");
    message
}

/// Returns a block whose names match `rules` or nearly do, with values that nominate others, and with
/// folded lines.
fn block(random: &mut Random, rules: &[Vec<u8>]) -> Vec<u8> {
    let mut block = Vec::new();
    for _ in 0..random.within(0..12) {
        let (field, value) = (name(random, rules), name(random, rules));
        let others = name(random, rules);
        match random.within(0..6) {
            0 => block.extend([b"Connection: ", &*value, b" ,", &others].concat()),
            1 => block.extend([&*field, b": a\r\n\tb \xff"].concat()),
            2 => block.extend([&*value, b": \r\n", &others, b":"].concat()),
            _ => block.extend([&*field, b": ", &value].concat()),
        }
        block.extend(b"\r\n");
    }
    if random.once_in(2) {
        block.extend(b"\r\n");
    }
    if random.once_in(3) {
        damage(random, &mut block);
    }
    block
}

#[test]
fn blocks_are_stripped_or_refused_as_natively() {
    let edge = module();
    let mut random = Random(4);
    let mut refused = 0;
    for mode in [Mode::Strip, Mode::Keep].repeat(100) {
        let mut all: Vec<_> = (0..random.within(0..30)).map(|_| token(&mut random)).collect();
        if random.once_in(2) {
            all.extend([b"connection".to_vec(), b"x-int*".to_vec()]);
        }
        let (rules, native) = both_with_mode(mode, &edge, &all);
        for _ in 0..50 {
            let block = block(&mut random, &all);
            refused += u32::from(refusal(&rules, &native, &block).is_some());
        }
    }
    assert!((1_000..9_000).contains(&refused), "{refused} were refused");
}

#[test]
fn controls_are_found_at_every_position() {
    let edge = module();
    let (rules, native) = both(&edge, &[b"a".to_vec()]);
    let ends: [&[u8]; 7] = [b"", b"\0", b"\n", b"\r", b"\r\n", b"\r\n\r\n", b"\r\n\tc\r\n"];
    for before in 0..40 {
        for (end, after) in ends.into_iter().flat_map(|end| [(end, 0), (end, 1), (end, 9)]) {
            let parts = [b"a:", &*b"\x0b".repeat(before), end, &*b"b".repeat(after)];
            refusal(&rules, &native, &parts.concat());
        }
    }
}

#[test]
fn a_block_of_any_size_is_stripped_as_natively() {
    let edge = module();
    let (rules, native) = both(&edge, &[b"x-a".to_vec()]);
    for count in [0, 1, 4_000, 100_000, 3] {
        let block = b"x-a: 1\r\nb: 2\r\n".repeat(count);
        assert_eq!(refusal(&rules, &native, &block), None);
        let mut stripped = block;
        rules.strip(&mut stripped).unwrap();
        assert!(stripped == b"b: 2\r\n".repeat(count), "{count}");
    }
}

#[test]
fn too_many_nominated_fields_are_refused_as_natively() {
    let edge = module();
    let (rules, native) = both(&edge, &[b"connection".to_vec()]);
    for (count, is_refused) in [(MAX_NOMINATED, false), (MAX_NOMINATED + 1, true)] {
        let names: Vec<_> = (0..count).map(|number| format!("x-{number}")).collect();
        let block = format!("a: 1\r\nConnection: {}\r\nX-7: 1\r\n", names.join(", "));
        assert_eq!(refusal(&rules, &native, block.as_bytes()).is_some(), is_refused);
    }
}
