//! Which items of a graph of values are congruent: partition refinement over operators and operands.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

pub(super) type ItemId = u32;

/// An operator upon other items.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub head: u64,
    pub operands: Vec<ItemId>,
    /// Neither the order nor the number of operands matters.
    pub is_set: bool,
}

/// The coarsest congruence: the class of each item. It is refined from the partition by operators alone. Of a class that splits, the
/// largest part keeps the number, so an item gets a new one as often as its class halves (Hopcroft 1971).
pub(super) fn classes(items: &[Item]) -> Vec<u32> {
    let mut users: Vec<Vec<ItemId>> = vec![Vec::new(); items.len()];
    for (at, item) in items.iter().enumerate() {
        item.operands.iter().for_each(|operand| users[*operand as usize].push(at as ItemId));
    }
    let mut numbers: FxHashMap<(u64, Option<usize>), u32> = FxHashMap::default();
    let mut members: Vec<Vec<ItemId>> = Vec::new();
    let mut classes: Vec<u32> = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        let key = (item.head, (!item.is_set).then_some(item.operands.len()));
        let class = *numbers.entry(key).or_insert(members.len() as u32);
        if class as usize == members.len() {
            members.push(Vec::new());
        }
        members[class as usize].push(at as ItemId);
        classes.push(class);
    }
    // A list of members may name some that have left since.
    let mut sizes: Vec<usize> = members.iter().map(Vec::len).collect();
    // The items of which an operand has got a new number.
    let mut open: Vec<ItemId> = (0..items.len() as ItemId).collect();
    let mut is_open = vec![false; items.len()];
    while !open.is_empty() {
        open.sort_unstable_by_key(|item| (classes[*item as usize], *item));
        open.iter().for_each(|item| is_open[*item as usize] = true);
        let parts: Vec<&[ItemId]> =
            open.chunk_by(|one, other| classes[*one as usize] == classes[*other as usize]).collect();
        let mut moved: Vec<ItemId> = Vec::new();
        for part in parts {
            moved.extend(split(items, part, &is_open, &mut members, &mut sizes, &mut classes));
        }
        open.iter().for_each(|item| is_open[*item as usize] = false);
        open = moved.into_iter().flat_map(|item| users[item as usize].iter().copied()).collect();
        open.sort_unstable();
        open.dedup();
    }
    classes
}

/// Splits a class by the operands of those of its items of which an operand has got a new number. Gives the items with new numbers.
fn split(
    items: &[Item],
    part: &[ItemId],
    is_open: &[bool],
    members: &mut Vec<Vec<ItemId>>,
    sizes: &mut Vec<usize>,
    classes: &mut [u32],
) -> Vec<ItemId> {
    let class = classes[part[0] as usize];
    let mut groups: BTreeMap<Vec<u32>, Vec<ItemId>> = BTreeMap::new();
    for item in part {
        let Item { operands, is_set, .. } = &items[*item as usize];
        let mut operands: Vec<u32> = operands.iter().map(|one| classes[*one as usize]).collect();
        if *is_set {
            operands.sort_unstable();
            operands.dedup();
        }
        groups.entry(operands).or_default().push(*item);
    }
    let mut groups: Vec<Vec<ItemId>> = groups.into_values().collect();
    let rest = sizes[class as usize] - part.len();
    if groups.len() == 1 && rest == 0 {
        return Vec::new();
    }
    let sized = groups.iter().map(Vec::len).enumerate();
    let (largest, size) = sized.max_by_key(|(at, size)| (*size, Reverse(*at))).unwrap_or_default();
    if rest < size {
        let is_other = |item: &ItemId| classes[*item as usize] == class && !is_open[*item as usize];
        let others: Vec<ItemId> = std::mem::take(&mut members[class as usize]).into_iter().filter(is_other).collect();
        members[class as usize] = groups.swap_remove(largest);
        groups.extend((!others.is_empty()).then_some(others));
    }
    sizes[class as usize] = rest.max(size);
    let mut moved = Vec::new();
    for group in groups {
        let number = members.len() as u32;
        group.iter().for_each(|item| classes[*item as usize] = number);
        moved.extend_from_slice(&group);
        sizes.push(group.len());
        members.push(group);
    }
    moved
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same by rounds over all items.
    fn by_rounds(items: &[Item]) -> Vec<u32> {
        let mut classes = vec![0; items.len()];
        for _ in 0..=items.len() {
            let mut known: FxHashMap<(u32, u64, Option<usize>, Vec<u32>), u32> = FxHashMap::default();
            let number = |at: usize, item: &Item, known: &mut FxHashMap<_, u32>| {
                let mut operands: Vec<u32> = item.operands.iter().map(|one| classes[*one as usize]).collect();
                if item.is_set {
                    operands.sort_unstable();
                    operands.dedup();
                }
                let next = known.len() as u32;
                let length = (!item.is_set).then_some(item.operands.len());
                *known.entry((classes[at], item.head, length, operands)).or_insert(next)
            };
            classes = items.iter().enumerate().map(|(at, item)| number(at, item, &mut known)).collect();
        }
        classes
    }

    /// Graphs with loops, of few operators.
    fn graphs() -> impl Strategy<Value = Vec<Item>> {
        (1_usize..60).prop_flat_map(|count| {
            let item = (0_u64..3, proptest::collection::vec(0..count as ItemId, 0..4));
            let items = proptest::collection::vec(item, count);
            items.prop_map(|items| {
                // An operator says whether its operands are a set.
                let item = |(head, operands)| Item { head, operands, is_set: head == 2 };
                items.into_iter().map(item).collect()
            })
        })
    }

    proptest! {
        #[test]
        fn classes_are_those_of_refinement_by_rounds(items in graphs()) {
            let (ours, others) = (classes(&items), by_rounds(&items));
            for one in 0..items.len() {
                for other in 0..one {
                    prop_assert_eq!(ours[one] == ours[other], others[one] == others[other], "{} {}", one, other);
                }
            }
        }
    }
}
