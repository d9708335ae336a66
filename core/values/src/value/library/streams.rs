//! What gives its items once: iterators, generators and asynchronous ones, and queues of tasks. And context managers, which give one value.

use super::{Provider, made, text};
use crate::value::{AbstractValue, ConstructorCall, Recipe};

/// What stands for calls that make a generator, an asynchronous one, and a filled queue: no function does.
pub const GENERATOR: &str = "types.GeneratorType";
pub const ASYNC_GENERATOR: &str = "types.AsyncGeneratorType";
pub const QUEUE: &str = "asyncio.queues.Queue";
const ITERATOR: &str = "builtins.iter";
const CONTEXT: &str = "contextlib.nullcontext";

pub(super) const PROVIDERS: &[Provider] = &[
    Provider::new("collections.abc.Iterator", || streams(ITERATOR)).made_by(&[ITERATOR]).changeable(),
    Provider::new("collections.abc.Generator", || streams(GENERATOR)).made_by(&[GENERATOR]).changeable(),
    Provider::new("collections.abc.AsyncIterator", || streams(ASYNC_GENERATOR))
        .made_by(&[ASYNC_GENERATOR])
        .changeable(),
    Provider::new("collections.abc.AsyncGenerator", || streams(ASYNC_GENERATOR))
        .made_by(&[ASYNC_GENERATOR])
        .changeable(),
    Provider::new("collections.abc.AsyncIterable", || streams(ASYNC_GENERATOR))
        .made_by(&[ASYNC_GENERATOR])
        .changeable(),
    Provider::new("asyncio.Queue", queues).made_by(&[QUEUE]).changeable(),
    Provider::new("contextlib.AbstractContextManager", contexts).also(&["ContextManager"]).made_by(&[CONTEXT]),
    Provider::new("contextlib.AbstractAsyncContextManager", contexts)
        .also(&["AsyncContextManager"])
        .made_by(&[CONTEXT]),
];

fn streams(maker: &str) -> Vec<Recipe> {
    let items: [&[i64]; 4] = [&[1, 2, 3], &[], &[5], &[2, 1, 2]];
    let items = items.map(|items| Recipe::List(items.iter().map(|item| Recipe::Int(*item)).collect()));
    items.map(|items| made(maker, [items])).to_vec()
}

/// `None` often says that nothing more comes.
fn queues() -> Vec<Recipe> {
    let (number, end) = (Recipe::Int, Recipe::None);
    let items = [vec![number(1), number(2), end.clone()], vec![], vec![number(0), number(3), end], vec![number(2)]];
    items.map(|items| made(QUEUE, [Recipe::List(items)])).to_vec()
}

fn contexts() -> Vec<Recipe> {
    [Recipe::Int(1), Recipe::None, text("a")].map(|value| made(CONTEXT, [value])).to_vec()
}

/// What makes the values of a class that gives its items once.
fn maker(class: &str) -> Option<&'static str> {
    let own = PROVIDERS.iter().find(|provider| provider.class == class)?;
    own.makers.first().copied().filter(|maker| *maker != CONTEXT)
}

/// What holds the items of a class that gives them once.
pub(super) fn content(class: &str) -> Option<AbstractValue> {
    maker(class).map(|_| AbstractValue::List)
}

/// A value that gives these items.
pub(super) fn holding(class: &str, items: Recipe) -> Recipe {
    made(maker(class).unwrap_or(ITERATOR), [items])
}

/// Whether the values of a class are context managers, and the type in brackets is that of what they give.
pub fn is_context(class: &str) -> bool {
    PROVIDERS.iter().any(|provider| provider.class == class && provider.makers == [CONTEXT])
}

/// Whether the type in brackets, or the first of several, is that of what values of a class give.
pub fn gives_items(class: &str) -> bool {
    PROVIDERS.iter().any(|provider| provider.class == class)
}

/// A context manager that gives this value.
pub fn context(value: Recipe) -> Recipe {
    made(CONTEXT, [value])
}

/// Whether a call makes what gives its items once.
pub(super) fn is_maker(maker: &str) -> bool {
    matches!(maker, ITERATOR | GENERATOR | ASYNC_GENERATOR | QUEUE)
}

/// The same with other items.
pub(super) fn others(value: &Recipe) -> Vec<Recipe> {
    let Recipe::Made(call) = value else { return vec![] };
    let [Recipe::List(items)] = call.arguments.as_slice() else { return streams(&call.class) };
    let backwards = replaced(call, items.iter().rev().cloned().collect());
    std::iter::once(backwards).chain(simpler(value)).chain(streams(&call.class)).collect()
}

/// The same with fewer items.
pub(super) fn simpler(value: &Recipe) -> Vec<Recipe> {
    let Recipe::Made(call) = value else { return vec![] };
    let [Recipe::List(items)] = call.arguments.as_slice() else { return vec![] };
    let parts = [vec![], items[..items.len().min(1)].to_vec(), items[..items.len() / 2].to_vec()];
    let without_one = (0..items.len().min(6)).map(|out| {
        let kept = items.iter().enumerate().filter(|(at, _)| *at != out);
        kept.map(|(_, item)| item.clone()).collect()
    });
    let fewer = parts.into_iter().chain(without_one).filter(|part: &Vec<Recipe>| part.len() < items.len());
    fewer.map(|part| replaced(call, part)).collect()
}

fn replaced(call: &ConstructorCall, items: Vec<Recipe>) -> Recipe {
    ConstructorCall { arguments: vec![Recipe::List(items)], ..call.clone() }.into()
}

/// How a call is written that no function makes: what stands before its items, and what behind them.
pub fn written(maker: &str) -> Option<(&'static str, &'static str)> {
    match maker {
        GENERATOR => Some(("(item for item in ", ")")),
        ASYNC_GENERATOR => Some(("(await __import__('asyncio').sleep(0, item) for item in ", ")")),
        QUEUE => Some((
            "(lambda queue, items: ([*map(queue.put_nowait, items)], queue)[1])(__import__('asyncio').Queue(), ",
            ")",
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_gives_items_once_is_written_as_python_and_shrinks_to_nothing() {
        let value = holding("collections.abc.Generator", Recipe::List(vec![Recipe::Int(1), Recipe::Int(2)]));
        assert_eq!(value.display(), "(item for item in [1, 2])");
        let value = holding("collections.abc.Iterator", Recipe::List(vec![Recipe::Int(1), Recipe::Int(2)]));
        assert_eq!(value.display(), "iter([1, 2])");
        let shown: Vec<String> = simpler(&value).iter().map(Recipe::display).collect();
        assert_eq!(shown, ["iter([])", "iter([1])", "iter([1])", "iter([2])", "iter([1])"]);
        assert!(simpler(&holding("collections.abc.Iterator", Recipe::List(vec![]))).is_empty());
    }
}
