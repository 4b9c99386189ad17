//! The objects of a run by namespace, name and label. Built once, when somebody first asks.

use super::Run;
use crate::manifest::FieldPath;
use crate::pod::Workload;
use crate::pod::rbac::{AccessRole, Binding, BoundSubject};
use crate::pod::workload::{Namespace, Object, ObjectRef, Service};
use std::collections::{BTreeMap, BTreeSet};

/// Where an object stands: its file, its document among those read, its place in that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    file: usize,
    document: usize,
    object: usize,
}

/// Places by namespace and name; more than one when a run holds variants of the same object.
type Named = BTreeMap<String, BTreeMap<String, Vec<Place>>>;

/// The places of a run's objects.
#[derive(Debug, Default)]
pub(super) struct Index {
    services: Named,
    service_namespaces: BTreeMap<String, BTreeSet<String>>,
    config_maps: Named,
    secrets: Named,
    endpoints: BTreeSet<(String, String)>,
    namespaces: BTreeMap<String, Vec<Place>>,
    roles: Named,
    /// Bindings by whom they bind, as the API server calls them.
    bindings: BTreeMap<String, Vec<Place>>,
    /// Workloads by one label of their pods: namespace, key, value.
    labels: BTreeMap<(String, String, String), Vec<usize>>,
    workloads: Vec<Place>,
    /// Services by namespace and the first label that they select by.
    selectors: Named,
    /// Patches of which only a part is known, by kind and name of what they change.
    patches: BTreeMap<(String, String), Vec<Place>>,
}

/// A key of a ConfigMap or Secret with its text and its place.
#[derive(Clone, Debug)]
pub struct ConfigValue<'r> {
    /// The key.
    pub key: &'r str,
    /// Its text.
    pub text: &'r str,
    /// Which source of the run.
    pub source: usize,
    /// Which document of the source.
    pub document: usize,
    /// The field in that document.
    pub at: FieldPath,
}

impl Index {
    fn of(run: &Run) -> Index {
        let mut index = Index::default();
        for (file, read) in run.files.iter().enumerate() {
            for (document, read) in read.documents.iter().enumerate() {
                for (object, found) in read.objects.iter().enumerate() {
                    let place = Place {
                        file,
                        document,
                        object,
                    };
                    index.add(run, place, found);
                }
            }
        }
        index
    }

    fn add(&mut self, run: &Run, place: Place, object: &Object) {
        let namespace = |object: &ObjectRef| run.namespace_of(object).to_owned();
        match object {
            Object::Workload(_) if run.files[place.file].is_beside => {}
            Object::Workload(workload) => self.add_workload(run, place, workload),
            Object::Service(service) => {
                let (namespace, name) = (namespace(&service.object), &service.object.name);
                let spaces = self.service_namespaces.entry(name.clone()).or_default();
                spaces.insert(namespace.clone());
                if let Some((key, value)) = service.selector.first_key_value() {
                    put(
                        &mut self.selectors,
                        namespace.clone(),
                        &label(key, value),
                        place,
                    );
                }
                put(&mut self.services, namespace, name, place);
            }
            Object::Namespace(found) => {
                self.namespaces
                    .entry(found.name.clone())
                    .or_default()
                    .push(place);
            }
            Object::ConfigMap(map) => {
                let namespace = namespace(&map.object);
                let named = match map.is_secret {
                    true => &mut self.secrets,
                    false => &mut self.config_maps,
                };
                put(named, namespace, &map.object.name, place);
            }
            Object::Endpoints(endpoints) => {
                let name = endpoints.object.name.clone();
                self.endpoints.insert((namespace(&endpoints.object), name));
            }
            Object::Role(role) => {
                let scope = match role.object.kind.as_str() {
                    "ClusterRole" => String::new(),
                    _ => namespace(&role.object),
                };
                put(&mut self.roles, scope, &role.object.name, place);
            }
            Object::Binding(binding) => {
                for subject in &binding.subjects {
                    let name = bound_name(subject, run.namespace_of(&binding.object));
                    self.bindings.entry(name).or_default().push(place);
                }
            }
        }
    }

    fn add_workload(&mut self, run: &Run, place: Place, workload: &Workload) {
        let object = &workload.object;
        let namespace = run.namespace_of(object);
        let number = self.workloads.len();
        self.workloads.push(place);
        if workload.template.is_partial {
            let name = (object.kind.clone(), object.name.clone());
            self.patches.entry(name).or_default().push(place);
        }
        for (key, value) in &workload.template.labels {
            let label = (namespace.to_owned(), key.clone(), value.clone());
            self.labels.entry(label).or_default().push(number);
        }
    }
}

fn put(named: &mut Named, namespace: String, name: &str, place: Place) {
    let names = named.entry(namespace).or_default();
    names.entry(name.to_owned()).or_default().push(place);
}

/// A label as selectors write it.
fn label(key: &str, value: &str) -> String {
    [key, "=", value].concat()
}

/// What the API server calls who is bound.
fn bound_name(subject: &BoundSubject, own_namespace: &str) -> String {
    match subject {
        BoundSubject::ServiceAccount { namespace, name } => {
            let namespace = namespace.as_deref().unwrap_or(own_namespace);
            format!("system:serviceaccount:{namespace}:{name}")
        }
        BoundSubject::Named(name) => name.clone(),
    }
}

impl Run {
    fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::of(self))
    }

    fn object(&self, place: Place) -> &Object {
        &self.files[place.file].documents[place.document].objects[place.object]
    }

    /// The namespace that an object lands in.
    pub fn namespace_of<'r>(&'r self, object: &'r ObjectRef) -> &'r str {
        match object.namespace.as_deref() {
            Some(written) => written,
            None if self.namespace.is_empty() => object.namespace_or_default(),
            None => &self.namespace,
        }
    }

    /// A Service by its name; among variants the one whose file is nearest to `source`.
    pub fn service(&self, namespace: &str, name: &str, source: usize) -> Option<&Service> {
        let places = self.index().services.get(namespace)?.get(name)?;
        self.object(self.nearest(places, source)?).service()
    }

    /// The Services of its namespace that select a workload's pods, in no order that matters.
    pub fn services_of(&self, workload: &Workload) -> Vec<&Service> {
        let namespace = self.namespace_of(&workload.object);
        let Some(by_label) = self.index().selectors.get(namespace) else {
            return Vec::new();
        };
        let labels = workload.template.labels.iter();
        let places = labels
            .filter_map(|(key, value)| by_label.get(&label(key, value)))
            .flatten();
        let services = places.filter_map(|place| self.object(*place).service());
        services
            .filter(|service| service.selects(workload))
            .collect()
    }

    /// The patches of the run that change an object of this kind and name.
    pub fn patches_of(&self, object: &ObjectRef) -> impl Iterator<Item = &Workload> {
        let name = (object.kind.clone(), object.name.clone());
        let places = self.index().patches.get(&name).into_iter().flatten();
        places.filter_map(|place| self.object(*place).workload())
    }

    /// The names of the Services of a namespace, sorted.
    pub fn service_names(&self, namespace: &str) -> impl ExactSizeIterator<Item = &str> {
        static NONE: BTreeMap<String, Vec<Place>> = BTreeMap::new();
        let names = self.index().services.get(namespace).unwrap_or(&NONE);
        names.keys().map(String::as_str)
    }

    /// The namespaces that have a Service of this name, sorted.
    pub fn namespaces_with_service(&self, name: &str) -> impl Iterator<Item = &str> {
        let spaces = self.index().service_namespaces.get(name);
        spaces.into_iter().flatten().map(String::as_str)
    }

    /// Whether somebody keeps the endpoints of a Service by hand.
    pub fn has_endpoints(&self, namespace: &str, service: &str) -> bool {
        let key = (namespace.to_owned(), service.to_owned());
        self.index().endpoints.contains(&key)
    }

    /// A Namespace by its name.
    pub fn namespace(&self, name: &str, source: usize) -> Option<&Namespace> {
        let places = self.index().namespaces.get(name)?;
        self.object(self.nearest(places, source)?).namespace()
    }

    /// The keys of a ConfigMap with their texts, or those of a Secret that are written as plain
    /// text, in the order of the manifest; among variants those of the nearest file.
    pub fn config_values(
        &self,
        namespace: &str,
        name: &str,
        is_secret: bool,
        source: usize,
    ) -> impl Iterator<Item = ConfigValue<'_>> {
        let index = self.index();
        let named = if is_secret {
            &index.secrets
        } else {
            &index.config_maps
        };
        let places = named.get(namespace).and_then(|names| names.get(name));
        let place = places.and_then(|places| self.nearest(places, source));
        let found = place.and_then(|place| {
            let map = self.object(place).config_map()?;
            Some((place.file, place, map.data_at()))
        });
        found.into_iter().flat_map(move |(file, place, at)| {
            let document = &self.files[file].documents[place.document].document;
            let data = document.node_at(&at);
            let entries = data.map(|data| data.entries()).unwrap_or_default();
            entries.into_iter().filter_map(move |(key, value)| {
                Some(ConfigValue {
                    key,
                    text: value.text()?,
                    source: file,
                    document: document.index,
                    at: at.key(key.to_owned()),
                })
            })
        })
    }

    /// A Role of a namespace, or a ClusterRole for the namespace `""`.
    pub fn role(&self, namespace: &str, name: &str, source: usize) -> Option<&AccessRole> {
        let places = self.index().roles.get(namespace)?.get(name)?;
        self.object(self.nearest(places, source)?).role()
    }

    /// Every ClusterRole.
    pub fn cluster_roles(&self) -> impl Iterator<Item = &AccessRole> {
        let named = self.index().roles.get("");
        let places = named.into_iter().flat_map(BTreeMap::values).flatten();
        places.filter_map(|place| self.object(*place).role())
    }

    /// The bindings that name a ServiceAccount or one of its groups.
    pub fn bindings_of(&self, namespace: &str, account: &str) -> impl Iterator<Item = &Binding> {
        let names = [
            format!("system:serviceaccount:{namespace}:{account}"),
            format!("system:serviceaccounts:{namespace}"),
            "system:serviceaccounts".to_owned(),
            "system:authenticated".to_owned(),
        ];
        let index = self.index();
        let places = names
            .into_iter()
            .filter_map(|name| index.bindings.get(&name))
            .flatten();
        places.filter_map(|place| self.object(*place).binding())
    }

    /// The workloads whose pods a Service selects, by their place in [`Run::workloads`]. None
    /// without a selector.
    pub fn behind(&self, service: &Service) -> Vec<usize> {
        let index = self.index();
        let namespace = self.namespace_of(&service.object);
        let with = |(key, value): (&String, &String)| {
            let label = (namespace.to_owned(), key.clone(), value.clone());
            index.labels.get(&label).map_or(&[][..], Vec::as_slice)
        };
        let fewest = service
            .selector
            .iter()
            .map(with)
            .min_by_key(|all| all.len());
        let mut found: Vec<usize> = fewest.unwrap_or_default().to_vec();
        found.retain(|number| {
            self.workload(*number)
                .is_some_and(|workload| service.selects(workload))
        });
        found
    }

    /// Whether a workload of the namespace other than `but` has a label of this key on its pods.
    pub fn has_label_key(&self, namespace: &str, key: &str, but: &ObjectRef) -> bool {
        let from = (namespace.to_owned(), key.to_owned(), String::new());
        let after = self.index().labels.range(from..);
        let mut same =
            after.take_while(|((space, found, _), _)| space == namespace && found == key);
        let is_other = |number: &usize| {
            self.workload(*number)
                .is_some_and(|workload| workload.object != *but)
        };
        same.any(|(_, workloads)| workloads.iter().any(is_other))
    }

    /// Whether a source has a Service of this name.
    pub fn has_service_in(&self, source: usize, namespace: &str, name: &str) -> bool {
        let spaces = self.index().services.get(namespace);
        let places = spaces.and_then(|names| names.get(name));
        places.is_some_and(|places| places.iter().any(|place| place.file == source))
    }

    /// A workload by its place in [`Run::workloads`].
    pub fn workload(&self, number: usize) -> Option<&Workload> {
        self.object(*self.index().workloads.get(number)?).workload()
    }

    /// The source of a workload by its place in [`Run::workloads`].
    pub fn source_of(&self, number: usize) -> Option<usize> {
        Some(self.index().workloads.get(number)?.file)
    }

    /// Of several places the one whose file is nearest: the same, else in the nearest folder.
    fn nearest(&self, places: &[Place], source: usize) -> Option<Place> {
        if let [only] = places {
            return Some(*only);
        }
        let own = self.files.get(source).map_or("", |file| file.source.name());
        let shared = |place: &Place| {
            if place.file == source {
                return usize::MAX;
            }
            let other = self.files[place.file].source.name();
            let same = own.split('/').zip(other.split('/'));
            same.take_while(|(one, other)| one == other).count()
        };
        let mut best: Option<(usize, Place)> = None;
        for place in places {
            let score = shared(place);
            if best.is_none_or(|(most, _)| score > most) {
                best = Some((score, *place));
            }
        }
        best.map(|(_, place)| place)
    }
}
