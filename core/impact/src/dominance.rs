//! Dominators of a graph and their frontiers (Cooper, Harvey and Kennedy: A Simple, Fast Dominance Algorithm, 2001).
//! Upon the reversed graph, the frontiers are control dependence (Cytron et al. 1991).

/// A graph over `0..len`.
pub(crate) struct Dominance {
    /// The immediate dominator of each node. That of the root is itself, and nodes that cannot be reached have none.
    pub parent: Vec<Option<u32>>,
    pub frontier: Vec<Vec<u32>>,
    /// The nodes that can be reached, in reverse postorder.
    pub order: Vec<u32>,
}

pub(crate) fn dominance(root: u32, successors: &[Vec<u32>]) -> Dominance {
    let order = reverse_postorder(root, successors);
    let mut position = vec![u32::MAX; successors.len()];
    for (at, node) in order.iter().enumerate() {
        position[*node as usize] = at as u32;
    }
    let mut predecessors = vec![Vec::new(); successors.len()];
    for node in &order {
        for next in &successors[*node as usize] {
            predecessors[*next as usize].push(*node);
        }
    }
    let mut parent: Vec<Option<u32>> = vec![None; successors.len()];
    if let Some(own) = parent.get_mut(root as usize) {
        *own = Some(root);
    }
    let mut is_changed = true;
    while is_changed {
        is_changed = false;
        for node in order.iter().skip(1) {
            let known = predecessors[*node as usize].iter().copied().filter(|one| parent[*one as usize].is_some());
            let found = known.reduce(|one, other| common(&parent, &position, one, other));
            if found != parent[*node as usize] {
                parent[*node as usize] = found;
                is_changed = true;
            }
        }
    }
    let mut frontier: Vec<Vec<u32>> = vec![Vec::new(); successors.len()];
    for node in &order {
        if predecessors[*node as usize].len() < 2 {
            continue;
        }
        let Some(stop) = parent[*node as usize] else { continue };
        for from in &predecessors[*node as usize] {
            let mut runner = *from;
            while runner != stop {
                let reached = &mut frontier[runner as usize];
                if reached.last() != Some(node) {
                    reached.push(*node);
                }
                match parent[runner as usize] {
                    Some(above) if above != runner => runner = above,
                    _ => break,
                }
            }
        }
    }
    Dominance { parent, frontier, order }
}

fn common(parent: &[Option<u32>], position: &[u32], mut one: u32, mut other: u32) -> u32 {
    while one != other {
        let deeper = if position[one as usize] > position[other as usize] { &mut one } else { &mut other };
        match parent[*deeper as usize] {
            Some(above) if above != *deeper => *deeper = above,
            _ => return one.min(other),
        }
    }
    one
}

fn reverse_postorder(root: u32, successors: &[Vec<u32>]) -> Vec<u32> {
    let mut seen = vec![false; successors.len()];
    let mut order = Vec::new();
    if seen.is_empty() {
        return order;
    }
    seen[root as usize] = true;
    let mut open: Vec<(u32, usize)> = vec![(root, 0)];
    while let Some((node, next)) = open.last_mut() {
        match successors[*node as usize].get(*next) {
            Some(to) => {
                *next += 1;
                let to = *to;
                if !std::mem::replace(&mut seen[to as usize], true) {
                    open.push((to, 0));
                }
            }
            None => {
                order.push(*node);
                open.pop();
            }
        }
    }
    order.reverse();
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_join_is_in_the_frontier_of_both_sides_and_a_loop_in_its_own() {
        // 0 -> 1 -> {2, 3} -> 4 -> 1, 4 -> 5
        let found = dominance(0, &[vec![1], vec![2, 3], vec![4], vec![4], vec![1, 5], vec![]]);
        assert_eq!(found.parent, [Some(0), Some(0), Some(1), Some(1), Some(1), Some(4)]);
        assert_eq!(found.frontier[2], [4]);
        assert_eq!(found.frontier[3], [4]);
        assert_eq!(found.frontier[4], [1]);
        assert_eq!(found.frontier[1], [1]);
    }
}
