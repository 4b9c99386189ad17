//! Who can never start because it waits, over others, for itself.

use super::Graph;
use std::collections::BTreeSet;

impl Graph<'_> {
    /// The nodes that can never start: each waits for a Service behind which only such nodes stand.
    ///
    /// The largest set that fits its own definition: all who wait, less whoever has a way out.
    pub fn stuck(&self) -> BTreeSet<usize> {
        let waits = self.certain_waits();
        let mut stuck: BTreeSet<usize> = waits.iter().map(|(from, _)| *from).collect();
        // By the nodes that a wait hangs on, to look again only at what changed.
        let mut hanging: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for (number, (_, behind)) in waits.iter().enumerate() {
            behind.iter().for_each(|node| hanging[*node].push(number));
        }
        let mut closed: Vec<usize> = vec![0; self.nodes.len()];
        waits.iter().for_each(|(from, _)| closed[*from] += 1);
        let mut is_open = vec![false; waits.len()];
        let mut free: Vec<usize> = (0..self.nodes.len())
            .filter(|node| !stuck.contains(node))
            .collect();
        while let Some(node) = free.pop() {
            for number in &hanging[node] {
                let from = waits[*number].0;
                if std::mem::replace(&mut is_open[*number], true) || !stuck.contains(&from) {
                    continue;
                }
                closed[from] -= 1;
                if closed[from] == 0 {
                    stuck.remove(&from);
                    free.push(from);
                }
            }
        }
        stuck
    }

    /// Waits that end only when somebody behind a Service is ready.
    fn certain_waits(&self) -> Vec<(usize, &[usize])> {
        let certain = self.edges.iter().filter(|edge| self.is_certain(edge));
        certain
            .filter_map(|edge| Some((edge.from, edge.needs_one_of()?)))
            .collect()
    }

    /// The circles among the nodes that can never start: groups in which each waits for another,
    /// sorted, each from its first node on along the waits.
    pub fn cycles(&self) -> Vec<Vec<usize>> {
        let stuck = self.stuck();
        let mut next: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for (from, behind) in self.certain_waits() {
            if stuck.contains(&from) && behind.iter().all(|node| stuck.contains(node)) {
                next[from].extend(behind);
            }
        }
        let groups = groups(&next);
        let mut cycles: Vec<Vec<usize>> =
            groups.into_iter().filter(|group| group.len() > 1).collect();
        cycles
            .iter_mut()
            .for_each(|group| *group = walk(group, &next));
        cycles.sort();
        cycles
    }
}

/// The members of a group in the order of the waits, as far as one walk leads.
fn walk(group: &[usize], next: &[Vec<usize>]) -> Vec<usize> {
    let members: BTreeSet<usize> = group.iter().copied().collect();
    let mut seen = BTreeSet::new();
    let mut order = Vec::new();
    let mut at = members.first().copied();
    while let Some(node) = at {
        if !seen.insert(node) {
            break;
        }
        order.push(node);
        let ahead = next[node].iter().copied();
        at = ahead
            .filter(|node| members.contains(node) && !seen.contains(node))
            .min();
    }
    order.extend(members.iter().filter(|node| !seen.contains(node)));
    order
}

/// The groups of nodes that reach each other: two depth-first walks, the second against the edges
/// in the order in which the first one ended.
fn groups(next: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); next.len()];
    for (from, ahead) in next.iter().enumerate() {
        ahead.iter().for_each(|to| before[*to].push(from));
    }
    let mut order = Vec::new();
    let mut seen = vec![false; next.len()];
    for start in 0..next.len() {
        visit(start, next, &mut seen, &mut order);
    }
    let mut seen = vec![false; next.len()];
    let mut groups = Vec::new();
    for start in order.into_iter().rev() {
        let mut group = Vec::new();
        visit(start, &before, &mut seen, &mut group);
        if !group.is_empty() {
            groups.push(group);
        }
    }
    groups
}

/// Adds the nodes that `start` reaches, each after those that it reaches itself.
fn visit(start: usize, next: &[Vec<usize>], seen: &mut [bool], order: &mut Vec<usize>) {
    if std::mem::replace(&mut seen[start], true) {
        return;
    }
    let mut path = vec![(start, 0)];
    while let Some((node, at)) = path.last_mut() {
        match next[*node].get(*at) {
            Some(ahead) => {
                *at += 1;
                if !std::mem::replace(&mut seen[*ahead], true) {
                    path.push((*ahead, 0));
                }
            }
            None => {
                order.push(*node);
                path.pop();
            }
        }
    }
}
