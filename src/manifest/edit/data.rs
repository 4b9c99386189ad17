//! The data side of an operation: what the text must mean once it is changed.

use super::{Operation, Refused};
use crate::manifest::FieldPath;
use crate::manifest::path::Segment;
use serde_json::{Map, Value};

impl Operation {
    /// Makes the same change to the document's data.
    ///
    /// Fails when the field is not there, a new key is there already, or a value has the wrong shape.
    pub fn apply_to(&self, data: &mut Value) -> Result<(), Refused> {
        match self {
            Operation::Insert {
                at,
                key,
                value,
                after,
            } => insert(data, at, key, value, after.as_deref()),
            Operation::InsertItem { at, value } => insert_item(data, at, value),
            Operation::Remove { at } => take(data, at).map(drop),
            Operation::Replace { at, value } => {
                *value_at(data, at)? = value.clone();
                Ok(())
            }
            Operation::Rename { at, key } => rename(data, at, key),
            Operation::Move { from, to } => relocate(data, from, to),
        }
    }
}

fn missing(at: &FieldPath) -> Refused {
    Refused::because(format!("there is no `{at}`"))
}

fn wrong_shape(at: &FieldPath, want: &str) -> Refused {
    Refused::because(format!("`{at}` is not a {want}"))
}

fn parent(at: &FieldPath) -> Result<FieldPath, Refused> {
    at.parent()
        .ok_or_else(|| Refused::because("the whole document cannot be taken away or renamed"))
}

fn value_at<'v>(data: &'v mut Value, at: &FieldPath) -> Result<&'v mut Value, Refused> {
    let mut value = data;
    for segment in at.segments() {
        let below = match segment {
            Segment::Key(key) => value.get_mut(&**key),
            Segment::Index(index) => value.get_mut(index),
        };
        value = below.ok_or_else(|| missing(at))?;
    }
    Ok(value)
}

fn mapping_at<'v>(
    data: &'v mut Value,
    at: &FieldPath,
) -> Result<&'v mut Map<String, Value>, Refused> {
    value_at(data, at)?
        .as_object_mut()
        .ok_or_else(|| wrong_shape(at, "mapping"))
}

fn insert(
    data: &mut Value,
    at: &FieldPath,
    key: &str,
    value: &Value,
    after: Option<&str>,
) -> Result<(), Refused> {
    let target = value_at(data, at)?;
    if target.is_null() {
        *target = Value::Object(Map::new());
    }
    let mapping = mapping_at(data, at)?;
    if mapping.contains_key(key) {
        return Err(already_there(&at.key(key.to_owned())));
    }
    let place = after.and_then(|after| mapping.keys().position(|known| known == after));
    let index = place.map_or(mapping.len(), |place| place + 1);
    mapping.shift_insert(index, key.to_owned(), value.clone());
    Ok(())
}

fn insert_item(data: &mut Value, at: &FieldPath, value: &Value) -> Result<(), Refused> {
    let list_at = parent(at)?;
    let Some(Segment::Index(index)) = at.last() else {
        return Err(wrong_shape(&list_at, "list"));
    };
    let list = value_at(data, &list_at)?.as_array_mut();
    let list = list.ok_or_else(|| wrong_shape(&list_at, "list"))?;
    list.insert((*index).min(list.len()), value.clone());
    Ok(())
}

fn already_there(at: &FieldPath) -> Refused {
    Refused::because(format!("`{at}` is there already"))
}

fn take(data: &mut Value, at: &FieldPath) -> Result<Value, Refused> {
    let holder = value_at(data, &parent(at)?)?;
    let taken = match (at.last(), holder) {
        (Some(Segment::Key(key)), Value::Object(mapping)) => mapping.shift_remove(&**key),
        (Some(Segment::Index(index)), Value::Array(items)) if *index < items.len() => {
            Some(items.remove(*index))
        }
        _ => None,
    };
    taken.ok_or_else(|| missing(at))
}

fn rename(data: &mut Value, at: &FieldPath, key: &str) -> Result<(), Refused> {
    let Some(Segment::Key(old)) = at.last() else {
        return Err(Refused::because("only an entry of a mapping has a key"));
    };
    let above = parent(at)?;
    let mapping = mapping_at(data, &above)?;
    if mapping.contains_key(key) {
        return Err(already_there(&above.key(key.to_owned())));
    }
    let index = mapping.keys().position(|known| known == &**old);
    let index = index.ok_or_else(|| missing(at))?;
    let value = mapping.shift_remove(&**old).ok_or_else(|| missing(at))?;
    mapping.shift_insert(index, key.to_owned(), value);
    Ok(())
}

/// A move, taken apart.
pub(super) struct Route<'o> {
    /// The mapping that holds both lists.
    pub mapping: FieldPath,
    /// The key of the list that the item comes from.
    pub source: &'o str,
    /// Its place there.
    pub from: usize,
    /// The key of the list that it goes to.
    pub target: &'o str,
    /// Its place there, counted without it.
    pub to: usize,
}

impl Route<'_> {
    /// Takes the two paths of a move apart.
    pub fn of<'o>(from: &'o FieldPath, to: &'o FieldPath) -> Result<Route<'o>, Refused> {
        let (mapping, source, from) = item(from)?;
        let (other, target, to) = item(to)?;
        if mapping != other {
            return Err(Refused::because(
                "an item moves only between lists of one mapping",
            ));
        }
        Ok(Route {
            mapping,
            source,
            from,
            target,
            to,
        })
    }

    /// Whether the item stays in its list.
    pub fn stays(&self) -> bool {
        self.source == self.target
    }
}

fn item(at: &FieldPath) -> Result<(FieldPath, &str, usize), Refused> {
    match at.segments() {
        [above @ .., Segment::Key(key), Segment::Index(index)] => {
            let mapping = FieldPath::root().below(above.iter().cloned());
            Ok((mapping, key, *index))
        }
        _ => Err(Refused::because(format!("`{at}` is not an item of a list"))),
    }
}

fn relocate(data: &mut Value, from: &FieldPath, to: &FieldPath) -> Result<(), Refused> {
    let route = Route::of(from, to)?;
    let taken = take(data, from)?;
    let mapping = mapping_at(data, &route.mapping)?;
    let place = mapping.keys().position(|key| key == route.source);
    if !mapping.contains_key(route.target) {
        let list = Value::Array(Vec::new());
        mapping.shift_insert(place.unwrap_or(0), route.target.to_owned(), list);
    }
    let list = mapping.get_mut(route.target).ok_or_else(|| missing(to))?;
    if list.is_null() {
        *list = Value::Array(Vec::new());
    }
    let list = list
        .as_array_mut()
        .ok_or_else(|| wrong_shape(&route.mapping.key(route.target.to_owned()), "list"))?;
    if route.to > list.len() {
        return Err(Refused::because(format!("`{to}` is beyond the list's end")));
    }
    list.insert(route.to, taken);
    let emptied = mapping
        .get(route.source)
        .and_then(Value::as_array)
        .is_some_and(Vec::is_empty);
    if emptied {
        mapping.shift_remove(route.source);
    }
    Ok(())
}
