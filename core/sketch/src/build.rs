//! Values for which conditions hold or do not hold, as what a prefix has to make.

use std::collections::BTreeSet;

use twincell_syntax::python::{attributes_of, python_string};
use twincell_values::path::AccessPath;
use twincell_values::value::{AbstractValue, ConstructorCall, Recipe};

use super::{ConditionPart, Given, Id, Kind, Operand, Sketch, Test, Value};
use crate::environment::{Callback, Contains, Environment, Node};
use crate::json::json;
use crate::natural;
use crate::plain::{around, compare, empty, is_exception, is_true, text_of};
use crate::usual;

/// How deep values are made.
const DEPTH: usize = 12;
/// The maximum number of rows of a list, and of those that show the sides of conditions.
const ROWS: usize = 20;
/// The maximum number of attributes of what is made again within itself.
const LINKS: usize = 4;
const SIDES: usize = 4;

/// Which conditions do not hold, and what fails.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Scenario {
    pub turned: BTreeSet<usize>,
    /// Calls that reach a network raise the exception of this number among those that the snippet expects.
    pub failing: Option<usize>,
    /// The call of this number among those of missing things that the snippet expects to fail raises its exception.
    pub raising: Option<usize>,
    /// Whoever is asked for something gives one answer after the other, from this one on.
    pub answers: Option<usize>,
    /// There are the files and folders that the snippet looks for.
    pub has_files: bool,
    /// The machine, the moment and chance are as conditions ask.
    pub is_elsewhere: bool,
    /// Stand-ins call the functions that they are given, and those of libraries give what is asked of them.
    pub acts: bool,
}

impl Scenario {
    fn truth(&self, asked: &ConditionPart) -> bool {
        asked.holds != self.turned.contains(&asked.condition)
    }

    /// The same with conditions turned to their other side.
    pub fn turn(&self, conditions: impl IntoIterator<Item = usize>) -> Self {
        let mut scene = self.clone();
        for condition in conditions {
            if !scene.turned.remove(&condition) {
                scene.turned.insert(condition);
            }
        }
        scene
    }
}

impl Sketch {
    /// What the snippet does not define.
    pub fn environment(&self, scene: &Scenario) -> Environment {
        let mut free: Vec<(&String, Id)> = self.free.iter().map(|(name, id)| (name, *id)).collect();
        free.sort_by_key(|(_, id)| *id);
        let node = |(name, id): (&String, Id)| (name.clone(), self.node(id, name, scene));
        let mut names: Vec<(String, Node)> = free.into_iter().map(node).collect();
        if scene.acts {
            let is_used = |(_, id): &&(String, Id)| {
                let value = self.value(*id);
                !value.attributes.is_empty() || value.result.is_some() || value.decorates
            };
            let imported = self.imported.iter().filter(is_used);
            names.extend(imported.map(|(name, id)| (name.clone(), self.node(*id, name, scene))));
        }
        Environment { names }
    }

    /// A value that the snippet calls `name`.
    pub fn node(&self, id: Id, name: &str, scene: &Scenario) -> Node {
        self.build(id, name, name.to_owned(), scene, &[])
    }

    fn build(&self, id: Id, name: &str, path: String, scene: &Scenario, above: &[Id]) -> Node {
        let id = self.find(id);
        let value = self.value(id);
        let mut node = Node::new(path.clone());
        if let Some(known) = &value.known {
            node.value = Some(known.clone());
            return node;
        }
        // What holds others of its kind holds one, which holds none: `walk(node.children)`.
        let holds_some = (1..=LINKS).contains(&value.attributes.len()) || value.element.is_some();
        let most = usize::from(holds_some);
        if above.len() > DEPTH
            || times(above, id) > most
            || value.asked.iter().any(|asked| asked.test == Test::None && scene.truth(asked))
        {
            node.value = Some(Recipe::None);
            return node;
        }
        let above = &[above, &[id]].concat()[..];
        if let Some(parsed) = value.parsed {
            let parsed = self.build(parsed, name, path.clone(), scene, above);
            if let Some(text) = if parsed.is_unused { Some("{}".to_owned()) } else { json(&parsed) } {
                let is_bytes = value.kind == Some(Kind::Bytes);
                node.value = Some(if is_bytes { Recipe::Bytes(text.into_bytes()) } else { Recipe::Str(text) });
                return node;
            }
        }
        let instances = value.asked.iter().filter_map(|asked| match &asked.test {
            Test::Instance(class) => Some((class.clone(), scene.truth(asked))),
            _ => None,
        });
        node.instances = instances.collect();
        let is_instance = node.instances.iter().any(|(_, truth)| *truth);
        let is_empty = value.asked.iter().any(|asked| asked.test == Test::Truth && !scene.truth(asked));
        let is_object = Some(Recipe::Mock(AbstractValue::Object));
        match if is_instance { Form::Object } else { self.form(value, scene) } {
            Form::Leaf => {
                node.is_unused = value.asked.is_empty()
                    && value.kind.is_none()
                    && value.usual.is_none()
                    && value.length.is_none()
                    && value.least == 0
                    && value.awaited.is_none();
                node.value = Some(self.leaf(value, name, scene));
            }
            Form::Plain(Kind::Frame) => node.value = Some(self.frame(value, scene)),
            Form::Plain(Kind::Dict) => self.dict(value, is_empty, scene, above, &mut node),
            Form::Plain(Kind::List) => {
                if value.is_spread
                    && value.element.is_none()
                    && matches!(natural::promised(name), Some(Recipe::Tuple(_)))
                {
                    node.value = Some(Recipe::Tuple(vec![]));
                    return node;
                }
                let is_open = value.element.is_none() && value.asked.is_empty() && value.length.is_none();
                let is_empty = is_empty || is_open && value.least == 0;
                node.items = indexed(if is_empty { vec![] } else { self.rows(value, name, &path, scene, above) });
                let items = node.items.iter().map(of_item).collect();
                node.value = Some(if value.is_tuple { Recipe::Tuple(items) } else { Recipe::List(items) });
            }
            Form::Plain(Kind::Set) => {
                let contains = |asked: &ConditionPart| match &asked.test {
                    Test::Keyed(_) | Test::Holds(_) => scene.truth(asked),
                    _ => true,
                };
                let is_empty = is_empty || value.element.is_none() && !value.asked.iter().any(contains);
                let mut items = if is_empty { vec![] } else { self.contained(value, scene) };
                if items.is_empty() && !is_empty {
                    items.push(Recipe::Str(natural::text(&natural::singular(name))));
                }
                node.value = Some(Recipe::Set(items));
            }
            Form::Plain(_) => node.value = Some(self.leaf(value, name, scene)),
            Form::Tuple => {
                let part = |(index, part): (usize, &Id)| {
                    let called = self.value(*part).called.clone().filter(|called| !called.starts_with('_'));
                    let name = match called {
                        Some(called) if called.len() > 1 => called,
                        _ if value.parts.len() == 1 => name.to_owned(),
                        _ => format!("{name}_{index}"),
                    };
                    let mut part = self.build(*part, &name, format!("{path}[{index}]"), scene, above);
                    // `out, err = run()` are texts.
                    if part.value.as_ref().is_some_and(is_exception) {
                        part.value = Some(Recipe::Str(name));
                    }
                    part
                };
                node.items = indexed(value.parts.iter().enumerate().map(part).collect());
                node.value = Some(Recipe::Tuple(node.items.iter().map(of_item).collect()));
            }
            Form::Object => {
                if is_empty {
                    node.value = Some(Recipe::None);
                    return node;
                }
                if natural::is_function(value.attributes.iter().map(|(name, _)| name.as_str()), name)
                    && [value.result, value.entered, value.awaited, value.element].iter().all(Option::is_none)
                    && !is_instance
                {
                    node.value = Some(Recipe::Mock(AbstractValue::Callable));
                    return node;
                }
                node.value = is_object;
                let is_special = |name: &str| name.starts_with("__") && name.ends_with("__") && above.len() == 1;
                for (attribute, inner) in value.attributes.iter().filter(|(name, _)| !is_special(name)) {
                    let path = format!("{path}.{attribute}");
                    node.attributes.push((attribute.clone(), self.build(*inner, attribute, path, scene, above)));
                }
                node.contains = self.contains(value, scene);
                if value.entered.is_some() {
                    node.entered = Some(value.is_entered_async);
                }
                node.decorates = value.decorates;
                if scene.acts {
                    node.gives = value.given.iter().map(|given| self.callback(given, value, scene, above)).collect();
                }
                if let (Some(result), false) = (value.result, value.decorates) {
                    let called = self.value(result).called.clone();
                    let called = called.unwrap_or_else(|| natural::result(name));
                    let mut result = self.build(result, &called, format!("{path}()"), scene, above);
                    // Classes make objects.
                    if result.is_unused && natural::is_of_class(name) {
                        result.value = Some(Recipe::Mock(AbstractValue::Object));
                    }
                    let raising = scene.raising.and_then(|number| self.guarded.get(number));
                    result.raises =
                        raising.filter(|(callee, _)| self.find(*callee) == id).map(|(_, class)| class.clone());
                    node.calls.push((String::new(), result));
                }
                if value.element.is_some() && !is_instance {
                    node.items = indexed(self.rows(value, name, &path, scene, above));
                    node.length = Some(node.items.len());
                }
                for (key, item) in &value.items {
                    let key_text = python_string(key);
                    let path = format!("{path}[{key_text}]");
                    node.items.push((key_text, self.build(*item, key, path, scene, above)));
                }
            }
        }
        node.is_iterated_async = value.is_iterated_async;
        if let Some(awaited) = value.awaited {
            let is_itself = self.find(awaited) == id;
            let inner = if is_itself {
                node.clone()
            } else {
                self.build(awaited, name, AccessPath::new(&path).awaited().into_string(), scene, above)
            };
            node.awaited = Some(Box::new(inner));
        }
        node
    }

    /// A function that a stand-in calls, with what it gives it.
    fn callback(&self, given: &Given, value: &Value, scene: &Scenario, above: &[Id]) -> Callback {
        let argument = |(name, id): &(String, Id)| self.build(*id, name, name.clone(), scene, above);
        let at_place = value.given.iter().filter(|other| other.place == given.place).count();
        Callback {
            place: given.place.clone(),
            is_item: given.is_item,
            name: given.name.clone(),
            arguments: given.parameters.iter().map(argument).collect(),
            is_async: given.is_async,
            is_sometimes: !given.is_item && at_place < value.calls,
            is_once: value.given.iter().any(|other| other.is_within),
        }
    }

    /// What it is indexed by, if that is no number.
    fn key(&self, value: &Value, scene: &Scenario) -> Option<Key> {
        let key = value.key?;
        let of = self.value(key);
        if of.known == Some(Recipe::None) {
            return Some(Key::Known(Recipe::None));
        }
        match of.kind {
            Some(Kind::Number) => return None,
            None if of.is_made => return None,
            // Values that are indexed by each other have no end.
            _ if of.key.is_some() => return Some(Key::Unknown),
            _ => {}
        }
        let name = self.free.iter().find(|(_, id)| self.is_same(**id, key)).map(|(name, _)| name);
        // Classes are keys of themselves.
        if name.is_some_and(|name| natural::is_of_class(name)) {
            return Some(Key::Unknown);
        }
        let Some(name) = name else {
            let is_text = of.kind == Some(Kind::Text)
                || matches!(default(of.called.as_deref().unwrap_or("x"), None), Recipe::Str(_));
            return is_text.then_some(Key::Unknown);
        };
        match self.form(of, scene) {
            Form::Leaf | Form::Plain(Kind::Text) => match self.leaf(of, name, scene) {
                key @ (Recipe::Str(_) | Recipe::None | Recipe::Bool(_)) => Some(Key::Known(key)),
                _ => None,
            },
            _ => Some(Key::Unknown),
        }
    }

    fn form(&self, value: &Value, scene: &Scenario) -> Form {
        if value.decorates || !value.given.is_empty() {
            return Form::Object;
        }
        // Plain values have methods that give plain values.
        let is_rich = |id: Id| {
            let result = self.value(id).result.map(|result| self.value(result));
            result.is_some_and(|result| {
                !result.attributes.is_empty() || result.entered.is_some() || result.awaited.is_some()
            })
        };
        let all_of = |class: &str| {
            !value.attributes.is_empty()
                && !value.attributes.iter().any(|(_, id)| is_rich(*id))
                && value.attributes.iter().all(|(name, _)| attributes_of(class).contains(&name.as_str()))
                && value.attributes.iter().any(|(_, id)| self.value(*id).result.is_some())
        };
        let is_bare = value.attributes.is_empty() && value.result.is_none() && value.entered.is_none();
        let is_plain = is_bare && !value.is_assigned;
        // Moments and arrays have all that is asked of them.
        if let Some(Recipe::Made(usual)) = usually(value)
            && value.items.is_empty()
            && value.attributes.iter().all(|(name, _)| usual::has(&usual.class, name))
        {
            return Form::Leaf;
        }
        if value.kind == Some(Kind::Frame) {
            return Form::Plain(Kind::Frame);
        }
        if is_plain || ["str", "list", "dict", "set"].iter().any(|class| all_of(class)) {
            if !value.items.is_empty() || value.kind == Some(Kind::Dict) || all_of("dict") && value.element.is_none() {
                return Form::Plain(Kind::Dict);
            }
            let is_scalar = matches!(value.kind, Some(Kind::Text | Kind::Bytes | Kind::Code | Kind::Duration));
            if !is_scalar && value.key.is_some() && self.key(value, scene).is_some() {
                return Form::Plain(Kind::Dict);
            }
            if !value.parts.is_empty() && value.element.is_none() {
                return Form::Tuple;
            }
            if let Some(kind @ (Kind::Text | Kind::Bytes | Kind::Code | Kind::Duration | Kind::Number)) = value.kind {
                return Form::Plain(kind);
            }
            if all_of("str") {
                return Form::Plain(Kind::Text);
            }
            let is_measured = value.length.is_some_and(|length| !self.value(length).asked.is_empty());
            let is_text = value.asked.iter().any(|asked| {
                matches!(&asked.test, Test::Equal(Operand::Literal(Recipe::Str(_))) | Test::Begins(_) | Test::Ends(_))
            });
            if !is_text && (value.element.is_some() || value.kind == Some(Kind::List) || is_measured || value.is_spread)
            {
                return Form::Plain(Kind::List);
            }
            if all_of("list") {
                return Form::Plain(Kind::List);
            }
            if all_of("set") {
                return Form::Plain(Kind::Set);
            }
            if is_plain {
                return if value.awaited.is_some() && value.asked.is_empty() { Form::Object } else { Form::Leaf };
            }
        }
        Form::Object
    }

    fn dict(&self, value: &Value, is_empty: bool, scene: &Scenario, above: &[Id], node: &mut Node) {
        let mut absent: BTreeSet<&str> = BTreeSet::new();
        let mut present: Vec<&str> = Vec::new();
        for asked in &value.asked {
            if let Test::Holds(Recipe::Str(key)) = &asked.test {
                if scene.truth(asked) {
                    present.push(key);
                } else {
                    absent.insert(key);
                }
            }
        }
        let mut entries: Vec<(String, Node)> = Vec::new();
        for (key, item) in &value.items {
            if !is_empty && !absent.contains(key.as_str()) {
                let path = format!("{}[{}]", node.path, python_string(key));
                entries.push((key.clone(), self.build(*item, key, path, scene, above)));
            }
        }
        for key in present {
            if entries.iter().all(|(known, _)| known != key) {
                let mut item = Node::new(format!("{}[{}]", node.path, python_string(key)));
                item.value = Some(natural::promised(key).unwrap_or_else(|| Recipe::Str(key.to_owned())));
                entries.push((key.to_owned(), item));
            }
        }
        let key = self.key(value, scene);
        let lacks_key = value.asked.iter().any(|asked| matches!(asked.test, Test::Keyed(_)) && !scene.truth(asked));
        let mut entries: Vec<(Recipe, Node)> =
            entries.into_iter().map(|(key, item)| (Recipe::Str(key), item)).collect();
        match (value.element, key) {
            _ if is_empty || lacks_key => {}
            (Some(element), Some(Key::Known(key))) if entries.iter().all(|(known, _)| *known != key) => {
                let path = format!("{}[{}]", node.path, key.display());
                entries.push((key, self.build(element, "value", path, scene, above)));
            }
            (Some(element), Some(Key::Unknown)) => {
                let path = format!("{}[...]", node.path);
                node.default = Some(Box::new(self.build(element, "value", path, scene, above)));
            }
            (Some(_), None) if entries.is_empty() => {
                // Its keys are not known: a row for each side of what is asked of its values.
                const KEYS: [&str; SIDES] = ["first", "second", "third", "fourth"];
                let rows = self.rows(value, "value", &node.path, scene, above);
                for (key, mut row) in KEYS.into_iter().zip(rows) {
                    let place = format!("{}[{}]", node.path, python_string(key));
                    let before = row.path.clone();
                    row.move_to(&before, &place);
                    entries.push((Recipe::Str(key.to_owned()), row));
                }
            }
            _ => {}
        }
        node.value = Some(Recipe::Dict(entries.iter().map(|(key, item)| (key.clone(), of(item))).collect()));
        node.items = entries.into_iter().map(|(key, item)| (key.display(), item)).collect();
    }

    /// Items, with one for each side of the conditions on them.
    fn rows(&self, value: &Value, name: &str, path: &str, scene: &Scenario, above: &[Id]) -> Vec<Node> {
        if value.element.is_some_and(|element| times(above, self.find(element)) > 1) {
            return vec![];
        }
        let name = natural::singular(name);
        let item = |scene: &Scenario, index: usize| match value.element {
            Some(element) => self.build(element, &name, format!("{path}[{index}]"), scene, above),
            None => Node { value: Some(Recipe::Str(natural::text(&name))), ..Node::new(format!("{path}[{index}]")) },
        };
        let conditions: Vec<usize> =
            value.element.map(|element| self.conditions_of(element)).unwrap_or_default().into_iter().collect();
        let mut rows = vec![item(scene, 0)];
        for turned in 1..=conditions.len().min(SIDES - 1) {
            let row = item(&scene.turn(conditions[..turned].iter().copied()), rows.len());
            let is_known = rows.iter().any(|known| is_alike(known, &row));
            if !is_known {
                rows.push(row);
            }
        }
        let length = value.length.map(|length| self.leaf(self.value(length), "length", scene));
        let asked = match length {
            Some(Recipe::Int(length)) if value.length.is_some_and(|length| !self.value(length).asked.is_empty()) => {
                Some(usize::try_from(length).unwrap_or(0).min(ROWS))
            }
            _ => None,
        };
        let contained = self.contained(value, scene);
        // Nothing else is known of the items.
        if value.element.is_none() && !contained.is_empty() {
            rows.clear();
        }
        for member in contained {
            rows.push(Node { value: Some(member), ..Node::new(format!("{path}[{}]", rows.len())) });
        }
        let count = asked.unwrap_or(rows.len()).max(value.least.min(ROWS));
        let wanted = if asked == Some(0) { 0 } else { count };
        while rows.len() < wanted {
            let again = rows[rows.len() % rows.len().clamp(1, SIDES)].clone();
            rows.push(again);
        }
        rows.truncate(wanted);
        rows
    }

    /// What an object says of whether it contains something, if conditions ask that.
    fn contains(&self, value: &Value, scene: &Scenario) -> Option<Contains> {
        let asked = || value.asked.iter().filter(|asked| matches!(asked.test, Test::Keyed(_)));
        let first = scene.truth(asked().next()?);
        match asked().all(|asked| scene.truth(asked) == first) {
            true => Some(Contains::All(first)),
            false => Some(Contains::Only(self.contained(value, scene))),
        }
    }

    /// The members that conditions ask for.
    fn contained(&self, value: &Value, scene: &Scenario) -> Vec<Recipe> {
        let member = |asked: &ConditionPart| match &asked.test {
            Test::Holds(member) if scene.truth(asked) => Some(member.clone()),
            Test::Keyed(member) if scene.truth(asked) => self.member(*member, scene),
            _ => None,
        };
        value.asked.iter().filter_map(member).collect()
    }

    fn frame(&self, value: &Value, scene: &Scenario) -> Recipe {
        let columns = self.columns(value).into_iter().map(|(name, id)| {
            let column = self.value(id);
            let conditions: Vec<usize> = column.asked.iter().map(|asked| asked.condition).collect();
            let cell = |scene: &Scenario| match self.leaf(column, &name, scene) {
                cell @ (Recipe::Int(_) | Recipe::Float(_) | Recipe::Str(_) | Recipe::Bool(_)) => cell,
                moment if usual::of_moment(&moment).is_some() => moment,
                _ => Recipe::Str(name.clone()),
            };
            let (one, mut other) = (cell(scene), cell(&scene.turn(conditions)));
            if one == other {
                other = match &one {
                    Recipe::Int(number) => Recipe::Int(number + 1),
                    Recipe::Float(number) => Recipe::Float(number + 1.0),
                    Recipe::Str(_) => Recipe::Str("other".into()),
                    other => around(other).pop().unwrap_or_else(|| other.clone()),
                };
            }
            (Recipe::Str(name), Recipe::List(vec![one, other]))
        });
        let columns = Recipe::Dict(columns.collect());
        let made = ConstructorCall { class: "pandas.DataFrame".into(), arguments: vec![columns], keywords: vec![] };
        made.into()
    }

    fn columns(&self, value: &Value) -> Vec<(String, Id)> {
        const OF_FRAMES: &[&str] = &[
            "shape", "columns", "index", "values", "loc", "iloc", "at", "iat", "T", "dtypes", "empty", "size", "plot",
        ];
        let is_column = |(name, id): &&(String, Id)| {
            let inner = self.value(*id);
            !OF_FRAMES.contains(&name.as_str()) && inner.result.is_none() && !inner.is_made
        };
        value.items.iter().chain(value.attributes.iter().filter(is_column)).cloned().collect()
    }

    /// The plain value that meets most of what is asked of it, the most natural one first.
    fn leaf(&self, value: &Value, name: &str, scene: &Scenario) -> Recipe {
        let natural = usually(value).cloned().unwrap_or_else(|| default(name, value.kind));
        // What is only asked for its truth says yes.
        let is_answer = name == "result" && value.asked.iter().any(|asked| asked.test == Test::Truth);
        let natural = if is_answer && value.kind.is_none() { Recipe::Bool(true) } else { natural };
        let mut candidates = vec![natural.clone()];
        if matches!(name, "status_code" | "status") && matches!(natural, Recipe::Int(_)) {
            candidates.push(Recipe::Int(404));
        }
        for asked in &value.asked {
            candidates.extend(self.candidates(&asked.test, &natural, name));
        }
        for member in value.asked.iter().filter_map(|asked| self.asked_member(asked, scene)) {
            if matches!(natural, Recipe::List(_)) {
                candidates[0] = Recipe::List(vec![]);
            }
            let is_text = matches!(value.kind, Some(Kind::Text | Kind::Code))
                || matches!(natural::promised(name), Some(Recipe::Str(_)));
            candidates.push(match member {
                Recipe::Str(member) if is_text => Recipe::Str(member),
                Recipe::Str(member) if value.kind == Some(Kind::Bytes) => Recipe::Bytes(member.into_bytes()),
                member @ Recipe::Bytes(_) if value.kind == Some(Kind::Bytes) => member,
                member => Recipe::List(vec![member]),
            });
        }
        if let (Some(least @ 1..), Recipe::Str(text)) = (Some(value.least), &natural)
            && text.len() < least
        {
            candidates[0] = Recipe::Str(text.repeat(least));
        }
        let contained = self.contained(value, scene);
        if contained.len() > 1 {
            candidates.push(Recipe::List(contained));
        }
        let met = |candidate: &Recipe| {
            let is_met = |asked: &&ConditionPart| {
                let meets = match self.asked_member(asked, scene) {
                    Some(member) => self.meets(&Test::Holds(member), candidate),
                    None => self.meets(&asked.test, candidate),
                };
                meets == Some(scene.truth(asked))
            };
            value.asked.iter().filter(is_met).count()
        };
        let most = candidates.iter().map(met).max().unwrap_or(0);
        candidates.into_iter().find(|candidate| met(candidate) == most).unwrap_or(natural)
    }

    /// The member that a condition looks for, where that is a plain value.
    fn asked_member(&self, asked: &ConditionPart, scene: &Scenario) -> Option<Recipe> {
        match asked.test {
            Test::Keyed(member) => self.member(member, scene),
            _ => None,
        }
    }

    fn member(&self, id: Id, scene: &Scenario) -> Option<Recipe> {
        let value = self.value(id);
        let named = |(_, known): &&(String, Id)| self.is_same(*known, id);
        let free = self.free.iter().find(|(_, known)| self.is_same(**known, id)).map(|(name, _)| name);
        let attribute = || self.values.iter().flat_map(|value| &value.attributes).find(named).map(|(name, _)| name);
        let name = free.or_else(attribute).or(value.called.as_ref())?;
        // What is itself looked for in something has no other members.
        let is_asked = value.asked.iter().any(|asked| matches!(asked.test, Test::Keyed(_)));
        match self.form(value, scene) {
            Form::Leaf | Form::Plain(Kind::Text | Kind::Number) if !value.is_made && !is_asked => {
                Some(self.leaf(value, name, scene))
            }
            _ => None,
        }
    }

    /// What conditions ask of values from somewhere: plain values that meet them, and others beside these.
    pub fn asked_of(&self, origin: &str) -> Vec<Recipe> {
        let is_from = |value: &&Value| value.same.is_none() && value.origin.as_deref() == Some(origin);
        let natural = Recipe::Str(String::new());
        let asked = self.values.iter().filter(is_from).flat_map(|value| &value.asked);
        asked.flat_map(|asked| self.candidates(&asked.test, &natural, "")).collect()
    }

    fn candidates(&self, test: &Test, natural: &Recipe, name: &str) -> Vec<Recipe> {
        let text = |text: &str| Recipe::Str(text.to_owned());
        match test {
            Test::Truth => vec![Recipe::Bool(true), empty(natural)],
            Test::None => vec![Recipe::None],
            Test::Among(members) => members.clone(),
            Test::Holds(Recipe::Str(member)) if !member.contains(char::is_alphanumeric) => {
                vec![text(&format!("{name}{member}{name}")), Recipe::List(vec![text(member)]), text(name)]
            }
            Test::Holds(member) if matches!(natural, Recipe::List(_) | Recipe::Tuple(_)) => {
                vec![Recipe::List(vec![member.clone()])]
            }
            Test::Holds(member) => vec![member.clone(), Recipe::List(vec![member.clone()])],
            Test::Instance(_) | Test::Keyed(_) => vec![],
            Test::Begins(affix) => vec![text(&format!("{affix}{name}")), text(name)],
            Test::Ends(affix) => vec![text(&format!("{name}{affix}")), text(name)],
            Test::Is(class) => vec![match *class {
                "str" => text(name),
                "int" => Recipe::Int(1),
                "float" => Recipe::Float(1.5),
                "list" => Recipe::List(vec![text(&natural::singular(name))]),
                _ => Recipe::Dict(vec![]),
            }],
            Test::Equal(than) | Test::Less { than, .. } | Test::More { than, .. } => around(&self.operand(than)),
        }
    }

    fn operand(&self, operand: &Operand) -> Recipe {
        match operand {
            Operand::Literal(known) => known.clone(),
            Operand::Value(id) => {
                let value = self.value(*id);
                let now = || value.moment.map(usual::now);
                value.known.clone().or_else(now).unwrap_or_else(|| default("", value.kind))
            }
        }
    }

    /// What a test gives. `None` where it cannot be told.
    fn meets(&self, test: &Test, value: &Recipe) -> Option<bool> {
        let order = |than: &Operand| compare(value, &self.operand(than));
        match test {
            Test::Truth => Some(is_true(value)),
            Test::None => Some(*value == Recipe::None),
            Test::Instance(_) | Test::Keyed(_) => None,
            Test::Among(members) => Some(members.contains(value)),
            Test::Holds(Recipe::Str(member)) => match value {
                Recipe::Str(text) => Some(text.contains(member.as_str())),
                Recipe::List(items) => Some(items.contains(&Recipe::Str(member.clone()))),
                _ => None,
            },
            Test::Holds(member) => match value {
                Recipe::List(items) => Some(items.contains(member)),
                _ => None,
            },
            Test::Begins(affix) => text_of(value).map(|text| text.starts_with(affix)),
            Test::Ends(affix) => text_of(value).map(|text| text.ends_with(affix)),
            Test::Is(class) => Some(match value {
                Recipe::Str(_) => *class == "str",
                Recipe::Int(_) | Recipe::Bool(_) => *class == "int",
                Recipe::Float(_) => *class == "float",
                Recipe::List(_) => *class == "list",
                Recipe::Dict(_) => *class == "dict",
                _ => false,
            }),
            Test::Equal(than) => {
                let than = self.operand(than);
                Some(*value == than || compare(value, &than) == Some(std::cmp::Ordering::Equal))
            }
            Test::Less { than, or_equal } => order(than).map(|order| order.is_lt() || *or_equal && order.is_eq()),
            Test::More { than, or_equal } => order(than).map(|order| order.is_gt() || *or_equal && order.is_eq()),
        }
    }
}

/// What a dictionary is indexed by.
enum Key {
    Known(Recipe),
    /// Nobody knows it before the snippet runs.
    Unknown,
}

enum Form {
    Leaf,
    Plain(Kind),
    Tuple,
    Object,
}

/// What a value is if nothing else is known.
fn usually(value: &Value) -> Option<&Recipe> {
    let usual = value.usual.as_ref()?;
    // Arrays are counted with.
    let fits = value.kind.is_none() || value.kind == Some(Kind::Number) && usual::is_array(usual);
    fits.then_some(usual)
}

fn times(above: &[Id], id: Id) -> usize {
    above.iter().filter(|&&other| other == id).count()
}

fn indexed(items: Vec<Node>) -> Vec<(String, Node)> {
    items.into_iter().enumerate().map(|(index, item)| (index.to_string(), item)).collect()
}

fn of_item((_, item): &(String, Node)) -> Recipe {
    of(item)
}

fn of(item: &Node) -> Recipe {
    item.value.clone().unwrap_or(Recipe::Mock(AbstractValue::Object))
}

/// Whether two values are the same, wherever they stand.
fn is_alike(one: &Node, other: &Node) -> bool {
    let inner = |one: &[(String, Node)], other: &[(String, Node)]| {
        one.len() == other.len()
            && one.iter().zip(other).all(|(one, other)| one.0 == other.0 && is_alike(&one.1, &other.1))
    };
    of(one) == of(other)
        && one.instances == other.instances
        && inner(&one.attributes, &other.attributes)
        && inner(&one.items, &other.items)
        && inner(&one.calls, &other.calls)
}

/// A value that a person would write under a name.
fn default(name: &str, kind: Option<Kind>) -> Recipe {
    let last = name.rsplit('.').next().unwrap_or(name);
    let promised = natural::promised(last);
    match kind {
        _ if matches!(last, "status_code" | "status") && kind == Some(Kind::Number) => Recipe::Int(200),
        Some(Kind::Number) => match promised {
            Some(number @ (Recipe::Int(_) | Recipe::Float(_))) => number,
            _ => Recipe::Int(1),
        },
        Some(Kind::Bytes) => Recipe::Bytes(last.as_bytes().to_vec()),
        Some(Kind::Code) => Recipe::Str("1 + 2".into()),
        Some(Kind::Duration) => {
            let keywords = vec![("days".into(), Recipe::Int(1))];
            ConstructorCall { class: "datetime.timedelta".into(), arguments: vec![], keywords }.into()
        }
        Some(Kind::Text) => match promised {
            Some(text @ Recipe::Str(_)) => text,
            _ => Recipe::Str(if last.is_empty() { "text".into() } else { natural::text(last) }),
        },
        _ if matches!(last, "status_code" | "status") => Recipe::Int(200),
        _ if last == "ok" => Recipe::Bool(true),
        None if last == "content" => Recipe::Bytes(b"content".to_vec()),
        _ => promised.unwrap_or_else(|| match last {
            "" => Recipe::Int(1),
            last if natural::is_object(last) => Recipe::Mock(AbstractValue::Object),
            last if natural::is_plural(last) => {
                Recipe::List(vec![Recipe::Str(natural::text(&natural::singular(last)))])
            }
            last => Recipe::Str(natural::text(last)),
        }),
    }
}
