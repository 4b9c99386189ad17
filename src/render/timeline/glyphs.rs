//! The characters of the picture.

/// One set of characters for bars and marks.
#[derive(Debug)]
pub(super) struct Bars {
    /// It waits.
    pub(super) waits: char,
    /// Pull, create, start.
    pub(super) works: char,
    /// Somebody waits for this: its beginning, its length, its end.
    pub(super) gate_open: char,
    pub(super) gate: char,
    pub(super) gate_close: char,
    /// It runs, and nobody waits for it.
    pub(super) runs: char,
    /// It goes on.
    pub(super) goes_on: char,
    /// The instant lies somewhere here.
    pub(super) unknown: char,
    /// Back-off before the next try.
    pub(super) back_off: char,
    /// Exit 0, ready, held.
    pub(super) good: char,
    /// Failed, violated.
    pub(super) bad: char,
    /// Deleted.
    pub(super) gone: char,
    /// Deletion was asked for.
    pub(super) deleting: char,
    /// Before the verdict that nothing held it.
    pub(super) open: char,
}

static UNICODE: Bars = Bars {
    waits: '┄',
    works: '█',
    gate_open: '├',
    gate: '─',
    gate_close: '┤',
    runs: '━',
    goes_on: '▸',
    unknown: '░',
    back_off: '╌',
    good: '✓',
    bad: '✗',
    gone: '●',
    deleting: '▾',
    open: '○',
};

static ASCII: Bars = Bars {
    waits: '.',
    works: '#',
    gate_open: '[',
    gate: '-',
    gate_close: ']',
    runs: '=',
    goes_on: '>',
    unknown: '?',
    back_off: '~',
    good: '+',
    bad: 'x',
    gone: 'o',
    deleting: 'v',
    open: '-',
};

/// The characters that may be used.
pub(super) fn bars(is_ascii: bool) -> &'static Bars {
    if is_ascii { &ASCII } else { &UNICODE }
}
