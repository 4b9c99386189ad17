//! Image names, and patterns for their last segments.

/// An image reference, taken apart.
pub(super) struct Image<'a> {
    path: &'a str,
    tag: Option<&'a str>,
}

impl<'a> Image<'a> {
    /// Splits off tag and digest; the colon of a registry's port is none of a tag.
    pub(super) fn parse(image: &'a str) -> Image<'a> {
        let undigested = image.split_once('@').map_or(image, |(image, _)| image);
        match undigested.rsplit_once(':') {
            Some((path, tag)) if !tag.contains('/') => Image {
                path,
                tag: Some(tag),
            },
            _ => Image {
                path: undigested,
                tag: None,
            },
        }
    }

    /// Whether the last path segments are those of the pattern; `*` stands for anything within a
    /// segment or tag, and a pattern without a tag takes every tag.
    pub(super) fn matches(&self, pattern: &str) -> bool {
        let pattern = Image::parse(pattern);
        if let Some(tag) = pattern.tag
            && !self.tag.is_some_and(|own| wildcard(tag, own))
        {
            return false;
        }
        let mut own = self.path.rsplit('/');
        pattern
            .path
            .rsplit('/')
            .all(|segment| own.next().is_some_and(|own| wildcard(segment, own)))
    }

    /// Whether it is this one path without a registry.
    pub(super) fn is(&self, path: &str) -> bool {
        self.path == path
    }

    /// The last segment of its path, which names the program.
    pub(super) fn name(&self) -> &'a str {
        self.path.rsplit('/').next().unwrap_or(self.path)
    }

    /// The tag, if it has one.
    pub(super) fn tag(&self) -> Option<&'a str> {
        self.tag
    }

    /// Whether it has a tag of this form.
    pub(super) fn has_tag(&self, pattern: &str) -> bool {
        self.tag.is_some_and(|tag| wildcard(pattern, tag))
    }
}

/// Whether `text` has the form of `pattern`, in which `*` stands for any characters.
fn wildcard(pattern: &str, text: &str) -> bool {
    let Some((head, mut rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(mut text) = text.strip_prefix(head) else {
        return false;
    };
    while let Some((part, after)) = rest.split_once('*') {
        let Some(at) = text.find(part) else {
            return false;
        };
        text = &text[at + part.len()..];
        rest = after;
    }
    text.ends_with(rest)
}
