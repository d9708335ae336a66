//! Whole modules in which every value site reports, with the function to which each number belongs. They serve to
//! record the values of real programs. The sites of a function are those that the engine finds in the same text.

use super::{InstrumentError, Instrumented, instrument, whole_module};
use crate::parse::normalize_newlines;
use crate::site::{Site, SiteKind, SiteTable};
use crate::{Function, functions};

/// A module in which all sites report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    pub code: String,
    /// The meaning of the numbers in the code. Ranges are those in the module.
    pub sites: SiteTable,
    pub functions: Vec<RecordedFunction>,
}

/// A function of such a module that is not nested in another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedFunction {
    pub qualname: String,
    /// The text, dedented and without decorators, as a predictor reads it.
    pub text: String,
    /// The number of the function's first site in the module's table; the others follow.
    pub first: usize,
    /// The function's sites, with ranges in its own text.
    pub sites: Vec<Site>,
}

impl RecordedFunction {
    /// If a site of this function is an attribute, the site of the value that has this attribute.
    pub fn receiver(&self, attribute: usize) -> Option<usize> {
        let site = self.sites.get(attribute).filter(|site| site.kind == SiteKind::Attribute)?;
        // Sites are numbered from the outside in.
        let next = self.sites.get(attribute + 1)?;
        (next.start == site.start && next.end < site.end).then_some(attribute + 1)
    }
}

/// Instruments every function of a module so that all of its value sites report.
pub fn recorded(text: &str) -> Result<Recorded, InstrumentError> {
    let text = normalize_newlines(text);
    let Instrumented { code, sites } = whole_module(&text, true)?;
    let (found, _) = functions(&text);
    let functions = found
        .iter()
        .filter(|function| function.parent.is_none())
        .filter_map(|function| own(function, &sites))
        .collect();
    Ok(Recorded { code, sites, functions })
}

/// A function with its part of the module's table. `None` for functions that the module leaves alone, such as lambdas
/// made at import.
fn own(function: &Function, module: &SiteTable) -> Option<RecordedFunction> {
    let sites = instrument(function).ok()?.sites.sites;
    let lines = function.first_line..function.first_line + function.text.lines().count() as u32;
    let first = module.sites.iter().position(|site| lines.contains(&site.line))?;
    let there = module.sites.get(first..first + sites.len())?;
    let is_all = module.sites.get(first + sites.len()).is_none_or(|next| !lines.contains(&next.line));
    let alike = |(here, there): (&Site, &Site)| here.kind == there.kind && here.path == there.path;
    (is_all && sites.iter().zip(there).all(alike)).then(|| RecordedFunction {
        qualname: function.qualname.clone(),
        text: function.text.clone(),
        first,
        sites,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "\
import os

@os.path.wraps(lambda: os)
class Outer:
    size = os.sep

    @property
    @decorated(os)
    def name(self, default=os.name):
        def inner(y: int) -> int:
            return self.__x + y
        return [inner(z) for z in f'{default!r:>{self.width}}']

async def later(é): return await é.read(é['ü'][0])
";

    fn texts(function: &RecordedFunction) -> Vec<(SiteKind, &str)> {
        let text = |site: &Site| &function.text[site.start as usize..site.end as usize];
        function.sites.iter().map(|site| (site.kind, text(site))).collect()
    }

    #[test]
    fn every_function_gets_the_sites_of_its_own_text() {
        let recorded = recorded(MODULE).unwrap();
        let [name, later] = &recorded.functions[..] else { panic!("{:?}", recorded.functions) };
        assert_eq!(
            (name.qualname.as_str(), name.text.lines().next()),
            ("Outer.name", Some("def name(self, default=os.name):"))
        );
        let found = texts(name);
        assert_eq!(
            found[..4],
            [
                (SiteKind::Attribute, "os.name"),
                (SiteKind::Name, "os"),
                (SiteKind::Attribute, "self.__x"),
                (SiteKind::Name, "self")
            ]
        );
        assert!(found.contains(&(SiteKind::Attribute, "self.width")), "{found:?}");
        assert!(texts(later).contains(&(SiteKind::Subscript, "é['ü'][0]")));
        for function in [name, later] {
            for (index, site) in function.sites.iter().enumerate() {
                let in_module = &recorded.sites.sites[function.first + index];
                assert_eq!(
                    MODULE[in_module.start as usize..in_module.end as usize],
                    *texts(function)[index].1,
                    "{site:?}"
                );
            }
        }
    }

    #[test]
    fn names_report_and_keep_what_the_compiler_reads_off_them() {
        let recorded =
            recorded("class C(B):\n    def f(self, x):\n        x += 1\n        super().f(x)\n        del x\n")
                .unwrap();
        assert_eq!(
            recorded.code,
            "class C(B):\n    def f(self, x):\n        _tc_l(3);x += 1\n        \
             _tc_l(4);_tc_c(0, _tc_a(1, _tc_c(2, _tc_v(3, super))), _tc_v(4, x))\n        _tc_l(5);del x\n"
        );
    }

    #[test]
    fn an_attribute_is_looked_up_in_the_site_before_its_dot() {
        let recorded = recorded("def f(a, b):\n    return a.b(b).c[0].d + [a].e + (a).g\n").unwrap();
        let [function] = &recorded.functions[..] else { panic!("{:?}", recorded.functions) };
        let found = texts(function);
        let pairs: Vec<_> =
            (0..found.len()).filter_map(|index| Some((found[index].1, found[function.receiver(index)?].1))).collect();
        assert_eq!(pairs, [("a.b(b).c[0].d", "a.b(b).c[0]"), ("a.b(b).c", "a.b(b)"), ("a.b", "a")]);
    }
}
