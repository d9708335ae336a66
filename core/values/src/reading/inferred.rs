//! What a function tells of its parameters beyond their annotations: classes of libraries, columns of tables, names of
//! columns, keys of dictionaries.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::StmtFunctionDef;

use super::annotations::kind;
use super::facts::ModuleFacts;
use super::hint::{Hint, HintBasis};
use super::moments::{Moments, moments};
use super::tables::{self, Found, Kind, Tables, TokenizedText};
use super::{named_classes, tested, types};
use crate::value::{AbstractValue, Declared, Recipe, library};

/// Adds what the code tells of parameters beyond their annotations: classes of libraries, columns of tables, names of
/// columns. Returns the access paths of other values that may be tables. `handed` is what callers in the module hand over.
pub(super) fn from_uses(
    definition: &StmtFunctionDef,
    written: TokenizedText<'_>,
    known: &ModuleFacts,
    handed: &[Option<Kind>],
    found: &mut BTreeMap<String, Hint>,
) -> BTreeSet<String> {
    let kinds = found.iter().filter_map(|(name, hint)| Some((name.clone(), kind(hint.declared.as_ref()?)))).collect();
    let Tables { parameters: read, others } = tables::read(definition, Some(written), &kinds, known, handed);
    let mut has_table = others.values().any(|(kind, _)| *kind != Kind::Unknown);
    for (name, table) in &read {
        let declared = found.get_mut(name).and_then(|hint| hint.declared.as_mut());
        if let Some(declared) = declared {
            has_table |= kind(declared) != Kind::Unknown;
            give_shape(declared, table);
            continue;
        }
        let is_open = found.get(name).is_none_or(|hint| hint.classes.iter().all(|class| *class == AbstractValue::None));
        let Some((kind, is_certain)) = table.kind(known.has_arrays).filter(|_| is_open) else { continue };
        has_table = true;
        let declared = of_kind(kind, table);
        let basis = if is_certain { HintBasis::UniqueUse } else { HintBasis::Use };
        infer(found.entry(name.clone()).or_default(), declared, basis);
    }
    for (name, table) in read.iter().filter(|(_, table)| has_table && !table.columns.is_empty()) {
        name_columns(found.entry(name.clone()).or_default(), &table.columns, tables::is_plural(name));
    }
    for (name, table) in read.iter().filter(|_| has_table) {
        let hint = found.entry(name.clone()).or_default();
        if hint.declared.is_none() {
            hint.declared = by_default(hint);
        }
        if hint.declared.is_none() && hint.classes.is_empty() {
            hint.declared = match () {
                () if table.is_file => Some(Declared::of(&[AbstractValue::Str])),
                () if table.is_label => Some(Declared::of(&[AbstractValue::Str, AbstractValue::Int])),
                () if table.is_operand => Some(Declared::of(&[AbstractValue::Float, AbstractValue::Int])),
                () => None,
            };
        }
        if table.is_compared || table.is_label {
            let texts = library::KEYS.map(|key| Recipe::Str(key.to_owned()));
            let keys = texts.into_iter().chain((1..4).map(Recipe::Int));
            let admitted = |key: &Recipe| match &hint.declared {
                Some(declared) => declared.admits(key),
                None => matches!(key, Recipe::Str(_)),
            };
            hint.candidates.extend(keys.filter(admitted).collect::<Vec<_>>());
        }
    }
    for (name, payload) in named_classes::payloads(definition, known) {
        let parameter = definition.parameters.iter_non_variadic_params().any(|one| *one.parameter.name == name);
        let hint = found.entry(name).or_default();
        let is_open =
            hint.declared.as_ref().is_none_or(|own| own.items.is_none() && own.classes == [AbstractValue::Dict]);
        if parameter && is_open {
            hint.declared = Some(payload);
        }
    }
    let fields = named_classes::fields_named(definition, known);
    for hint in found.values_mut().filter(|_| !fields.is_empty()) {
        if hint.declared.as_ref().is_some_and(|own| own.classes.contains(&AbstractValue::Dict) && own.models.is_empty())
        {
            hint.keys.extend(fields.iter().cloned().map(Recipe::Str));
        }
    }
    for (path, (kind, table)) in &others {
        let kind = match kind {
            Kind::Unknown => table.kind(known.has_arrays).map(|(kind, _)| kind),
            kind => Some(*kind),
        };
        let Some(kind) = kind.filter(|kind| *kind != Kind::Other) else { continue };
        infer(found.entry(path.clone()).or_default(), of_kind(kind, table), HintBasis::Use);
    }
    let written = types::written(definition);
    for (name, (declared, is_certain)) in tested::types(definition, known) {
        let hint = found.entry(name).or_default();
        if hint.declared.is_none() && hint.classes.iter().all(|class| *class == AbstractValue::None) {
            infer(hint, declared, if is_certain { HintBasis::UniqueUse } else { HintBasis::Use });
        }
    }
    from_moments(definition, found);
    let zones = types::zone_names(definition);
    let parameters = definition.parameters.iter_non_variadic_params().map(|one| one.parameter.name.to_string());
    for name in parameters.filter(|name| zones.contains(name)) {
        let hint = found.entry(name).or_default();
        let declared = hint.declared.take().unwrap_or_else(|| Declared::of(&[AbstractValue::Str]));
        let is_text = declared.classes.contains(&AbstractValue::Str) && declared.literals.is_empty();
        let literals = library::zone_names().map(|name| Recipe::Str(name.to_owned()));
        hint.declared = Some(if is_text { Declared { literals: literals.collect(), ..declared } } else { declared });
    }
    for hint in found.values_mut() {
        let Some(declared) = &hint.declared else { continue };
        let of_class = written.iter().filter(|value| declared.literals.is_empty() && declared.admits(value));
        hint.candidates.extend(of_class.filter(|value| !hint.candidates.contains(value)).cloned().collect::<Vec<_>>());
    }
    others.into_keys().collect()
}

/// Adds the parameters that are dates or moments, and those in which such are looked up.
fn from_moments(definition: &StmtFunctionDef, found: &mut BTreeMap<String, Hint>) {
    use AbstractValue as A;
    let class_of = |hint: &Hint| Some(hint.declared.as_ref()?.library.first()?.clone());
    let declared = found.iter().filter_map(|(name, hint)| Some((name.clone(), class_of(hint)?))).collect();
    let Moments { values, members } = moments(definition, &declared);
    let of_class = |class: &str| Declared { library: vec![class.to_owned()], ..Declared::of(&[A::Object]) };
    for (name, (class, is_certain)) in values {
        let hint = found.entry(name).or_default();
        if hint.declared.is_none() && hint.classes.iter().all(|class| *class == A::None) {
            infer(hint, of_class(class), if is_certain { HintBasis::UniqueUse } else { HintBasis::Use });
        }
    }
    for (name, class) in members {
        let hint = found.entry(name).or_default();
        let is_container = |class: &A| matches!(class, A::List | A::Tuple | A::Set);
        let classes: Vec<A> = hint.classes.iter().copied().filter(|class| *class != A::None).collect();
        if hint.declared.is_none() && classes.iter().all(is_container) {
            let classes = if classes.is_empty() { vec![A::List, A::Tuple, A::Set] } else { classes };
            infer(hint, Declared { items: Some(Box::new(of_class(class))), ..Declared::of(&classes) }, HintBasis::Use);
        }
    }
}

/// The type of a table of this kind, with what the code says of it.
fn of_kind(kind: Kind, table: &Found) -> Declared {
    let class = match kind {
        Kind::Frame | Kind::Frames | Kind::Unknown | Kind::Other => library::FRAME,
        Kind::Series => library::SERIES,
        Kind::Array => library::ARRAY,
        Kind::PolarsFrame => library::POLARS_FRAME,
        Kind::PolarsLazy => library::POLARS_LAZY,
        Kind::PolarsSeries => library::POLARS_SERIES,
    };
    let mut declared = Declared { library: vec![class.to_owned()], ..Declared::of(&[AbstractValue::Object]) };
    give_shape(&mut declared, table);
    match kind {
        Kind::Frames => Declared { items: Some(Box::new(declared)), ..Declared::of(&[AbstractValue::List]) },
        _ => declared,
    }
}

/// The type of a parameter beside tables whose default is a number, a text or a truth value: callers pass others of its
/// kind.
fn by_default(hint: &Hint) -> Option<Declared> {
    use AbstractValue as A;
    Some(match hint.classes.as_slice() {
        [A::Float] => Declared::of(&[A::Float, A::Int]),
        [class @ (A::Int | A::Bool | A::Str)] if !hint.candidates.is_empty() => Declared::of(&[*class]),
        _ => return None,
    })
}

/// Takes a type for that of a parameter. A default of `None` stays possible.
pub(super) fn infer(hint: &mut Hint, declared: Declared, basis: HintBasis) {
    let declared = match hint.candidates.contains(&Recipe::None) {
        true => declared.or(&Declared::of(&[AbstractValue::None])),
        false => declared,
    };
    hint.declared = Some(declared);
    hint.basis = basis;
}

fn give_shape(declared: &mut Declared, table: &Found) {
    let is_table = declared.library.iter().any(|own| library::has_shape(own));
    if is_table {
        declared.shape = Some(Box::new(table.shape.clone()));
    }
    let parts = declared.items.as_deref_mut().into_iter().chain(&mut declared.parts);
    parts.for_each(|part| give_shape(part, table));
}

/// The parameter stands for the names of columns: no other texts are there.
fn name_columns(hint: &mut Hint, columns: &[String], is_plural: bool) {
    let texts: Vec<Recipe> = columns.iter().cloned().map(Recipe::Str).collect();
    let is_list = match &hint.declared {
        Some(declared) => declared.classes.contains(&AbstractValue::List),
        None => is_plural,
    };
    let is_other = hint.declared.as_ref().is_some_and(|own| !is_list && !own.classes.contains(&AbstractValue::Str));
    if is_other || hint.declared.as_ref().is_some_and(|own| !own.literals.is_empty()) {
        return;
    }
    let literal = if is_list || texts.len() > 1 { Recipe::List(texts) } else { texts[0].clone() };
    let class = literal.abstract_value();
    let mut declared = Declared { literals: vec![literal], is_closed: true, ..Declared::of(&[class]) };
    if hint.declared.as_ref().is_some_and(|own| own.classes.contains(&AbstractValue::None)) {
        declared.classes.push(AbstractValue::None);
    }
    hint.classes = declared.classes.clone();
    hint.declared = Some(declared);
}
