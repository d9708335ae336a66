//! The label of a node in a normalised tree: everything that distinguishes it, apart from its children.

use ruff_python_ast::{AnyNodeRef, ConversionFlag, Number, Stmt};

/// The label of a node.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Label {
    /// A construct, with the facts that distinguish its forms.
    Kind(String),
    /// A literal, an attribute, a global name, and so on.
    Text(String),
    /// A local: its scope, its number within the scope in order of appearance, and its name.
    Local { scope: usize, number: usize, name: String },
    /// An attribute of the method's own object.
    Attribute(String),
}

/// How a parameter list binds arguments.
pub(super) fn shape(parameters: &ruff_python_ast::Parameters) -> String {
    format!(
        "{}/{}{}{}{}",
        parameters.posonlyargs.len(),
        parameters.args.len(),
        if parameters.vararg.is_some() { "*" } else { "" },
        parameters.kwonlyargs.len(),
        if parameters.kwarg.is_some() { "**" } else { "" },
    )
}

/// Statements without behavior.
pub(super) fn is_idle(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Pass(_) | Stmt::Global(_) | Stmt::Nonlocal(_) => true,
        Stmt::Expr(statement) => statement.value.is_literal_expr(),
        _ => false,
    }
}

/// The kind of a node and its facts that are not children.
pub(super) fn label(node: AnyNodeRef<'_>) -> Label {
    let detail = match node {
        AnyNodeRef::StmtFor(stmt) => format!("async={}", stmt.is_async),
        AnyNodeRef::StmtWith(stmt) => format!("async={}", stmt.is_async),
        AnyNodeRef::StmtTry(stmt) => format!("star={}", stmt.is_star),
        AnyNodeRef::StmtImportFrom(stmt) => format!("level={}", stmt.level),
        AnyNodeRef::StmtRaise(stmt) => format!("cause={}", stmt.cause.is_some()),
        AnyNodeRef::ExprSlice(slice) => {
            format!("{}{}{}", slice.lower.is_some(), slice.upper.is_some(), slice.step.is_some())
        }
        AnyNodeRef::ExprDict(dict) => {
            dict.items.iter().map(|item| if item.key.is_some() { ':' } else { '*' }).collect()
        }
        AnyNodeRef::ExprDictComp(comp) => format!("key={}", comp.key.is_some()),
        AnyNodeRef::ExprBooleanLiteral(literal) => literal.value.to_string(),
        AnyNodeRef::ExprNumberLiteral(literal) => match &literal.value {
            Number::Int(int) => format!("int {int}"),
            Number::Float(float) => format!("float {float:?}"),
            Number::Complex { real, imag } => format!("complex {real:?} {imag:?}"),
        },
        AnyNodeRef::ExprStringLiteral(literal) => return Label::Text(format!("str {}", literal.value.to_str())),
        AnyNodeRef::ExprBytesLiteral(literal) => {
            return Label::Text(format!("bytes {:?}", literal.value.bytes().collect::<Vec<u8>>()));
        }
        AnyNodeRef::InterpolatedElement(element) => format!(
            "{} {:?} {}",
            match element.conversion {
                ConversionFlag::None => ' ',
                ConversionFlag::Str => 's',
                ConversionFlag::Ascii => 'a',
                ConversionFlag::Repr => 'r',
            },
            element.debug_text.as_ref().map(|text| text.as_str()),
            element.format_spec.is_some(),
        ),
        AnyNodeRef::InterpolatedStringLiteralElement(literal) => return Label::Text(literal.value.to_string()),
        AnyNodeRef::PatternMatchAs(pattern) => format!("{}{}", pattern.pattern.is_some(), pattern.name.is_some()),
        AnyNodeRef::PatternMatchStar(pattern) => pattern.name.is_some().to_string(),
        AnyNodeRef::PatternMatchMapping(pattern) => pattern.rest.is_some().to_string(),
        AnyNodeRef::StmtAnnAssign(_) => return Label::Kind("StmtAssign ".into()),
        _ => String::new(),
    };
    Label::Kind(format!("{:?} {detail}", node.kind()))
}
