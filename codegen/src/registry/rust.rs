//! `<tool>.rs`: that the factory and the arguments are there and have the shape of the contract.
//!
//! The generated file names both, so the compiler would find most of this too; this says it in the terms of
//! the contract, before a screen of trait errors. Knows nothing of the tool's own code.

use std::sync::Arc;

use proc_macro2::Span;
use syn::spanned::Spanned as _;
use syn::{
    Attribute, Fields, FnArg, GenericArgument, Item, ItemFn, ItemStruct, PathArguments, ReturnType, Type,
};
use syn::{TypeParamBound, Visibility};

use crate::diagnostic::Problems;
use crate::names;
use crate::source::{Place, SourceFile};

/// Checks the file of the tool called `tool`.
pub(super) fn check(tool: &str, source: &Arc<SourceFile>, problems: &mut Problems) {
    let file = match syn::parse_file(&source.text) {
        Ok(file) => file,
        Err(error) => {
            problems.at(&place(source, error.span()), format!("this is not valid Rust: {error}"));
            return;
        }
    };
    let checker = Checker { tool, type_name: names::type_name(tool), source };
    checker.factory(&file.items, problems);
    checker.args(&file.items, problems);
}

struct Checker<'a> {
    tool: &'a str,
    type_name: String,
    source: &'a Arc<SourceFile>,
}

impl Checker<'_> {
    fn signature(&self) -> String {
        format!(
            "pub fn {}(params: {name}Params, deps: &ToolDeps) -> Result<impl CallTool<Args = {name}Args>, BuildError>",
            self.tool,
            name = self.type_name
        )
    }

    fn factory(&self, items: &[Item], problems: &mut Problems) {
        let functions =
            || items.iter().filter_map(|item| if let Item::Fn(f) = item { Some(f) } else { None });
        let Some(factory) = functions().find(|f| f.sig.ident == self.tool) else {
            let names: Vec<_> = functions().map(|f| f.sig.ident.to_string()).collect();
            problems
                .at(&Place::whole(self.source), format!("the factory function `{}` is missing", self.tool))
                .help_if(names::suggestion(self.tool, names.iter().map(String::as_str)))
                .help(format!("write `{}`", self.signature()));
            return;
        };
        if let Err((span, wrong)) = self.check_signature(factory) {
            problems
                .at(&place(self.source, span), format!("the factory function `{}` {wrong}", self.tool))
                .help(format!("the contract is `{}`", self.signature()));
        }
    }

    fn check_signature(&self, factory: &ItemFn) -> Result<(), (Span, String)> {
        let signature = &factory.sig;
        let wrong = |span: Span, text: &str| Err((span, text.to_owned()));
        if !matches!(factory.vis, Visibility::Public(_)) {
            return wrong(signature.ident.span(), "is not public");
        }
        if signature.asyncness.is_some() {
            return wrong(signature.ident.span(), "is async: building a tool does nothing that waits");
        }
        if !signature.generics.params.is_empty() {
            return wrong(signature.generics.span(), "has type parameters");
        }
        let inputs: Vec<_> = signature.inputs.iter().collect();
        let [FnArg::Typed(params), FnArg::Typed(deps)] = inputs[..] else {
            let place = if inputs.is_empty() { signature.ident.span() } else { signature.inputs.span() };
            return wrong(place, "does not take exactly two arguments");
        };
        let expected = format!("{}Params", self.type_name);
        if last_segment(&params.ty).is_none_or(|segment| segment.ident != expected) {
            return Err((params.ty.span(), format!("does not take `{expected}` as its first argument")));
        }
        let is_deps = matches!(&*deps.ty, Type::Reference(reference)
            if reference.mutability.is_none() && last_segment(&reference.elem).is_some_and(|s| s.ident == "ToolDeps"));
        if !is_deps {
            return wrong(deps.ty.span(), "does not take `&ToolDeps` as its second argument");
        }
        self.check_return(&signature.output, signature.ident.span())
    }

    fn check_return(&self, output: &ReturnType, ident: Span) -> Result<(), (Span, String)> {
        let args = format!("{}Args", self.type_name);
        let message = format!("does not return `Result<impl CallTool<Args = {args}>, BuildError>`");
        let ReturnType::Type(_, returned) = output else {
            return Err((ident, message));
        };
        let types =
            last_segment(returned).filter(|s| s.ident == "Result").map(|s| type_arguments(&s.arguments));
        let is_contract = match types.as_deref() {
            Some([Type::ImplTrait(made), failure]) => {
                last_segment(failure).is_some_and(|s| s.ident == "BuildError")
                    && made.bounds.iter().any(|bound| is_call_tool(bound, &args))
            }
            _ => false,
        };
        if is_contract { Ok(()) } else { Err((returned.span(), message)) }
    }

    fn args(&self, items: &[Item], problems: &mut Problems) {
        let name = format!("{}Args", self.type_name);
        let structs =
            || items.iter().filter_map(|item| if let Item::Struct(s) = item { Some(s) } else { None });
        let Some(args) = structs().find(|s| s.ident == name) else {
            let names: Vec<_> = structs().map(|s| s.ident.to_string()).collect();
            problems
                .at(&Place::whole(self.source), format!("the struct `{name}` with the tool's arguments is missing"))
                .help_if(names::suggestion(&name, names.iter().map(String::as_str)))
                .help(format!(
                    "write `#[derive(Debug, Deserialize, JsonSchema)] #[serde(deny_unknown_fields)] pub struct {name} {{ … }}`"
                ));
            return;
        };
        self.check_args(args, problems);
    }

    fn check_args(&self, args: &ItemStruct, problems: &mut Problems) {
        let here = place(self.source, args.ident.span());
        let name = &args.ident;
        if !matches!(args.vis, Visibility::Public(_)) {
            problems.at(&here, format!("the struct `{name}` is not public"));
        }
        for derive in ["Deserialize", "JsonSchema"] {
            if !lists(&args.attrs, "derive", derive) {
                problems
                    .at(&here, format!("the struct `{name}` does not derive `{derive}`"))
                    .help("write `#[derive(Debug, Deserialize, JsonSchema)]` above it");
            }
        }
        if !lists(&args.attrs, "serde", "deny_unknown_fields") {
            problems.at(&here, format!("the struct `{name}` lets unknown arguments pass")).help(
                "write `#[serde(deny_unknown_fields)]` above it, so that a model learns of its mistake",
            );
        }
        let Fields::Named(fields) = &args.fields else {
            problems
                .at(&here, format!("the struct `{name}` has no named fields"))
                .help(format!("arguments have names; a tool without any has `pub struct {name} {{}}`"));
            return;
        };
        for field in &fields.named {
            let described =
                field.attrs.iter().any(|a| a.path().is_ident("doc")) || schemars_description(&field.attrs);
            if let (false, Some(ident)) = (described, &field.ident) {
                problems
                    .at(
                        &place(self.source, ident.span()),
                        format!("the argument `{ident}` has no description"),
                    )
                    .help("write a `///` comment above it: it is what tells a model how to fill it in");
            }
        }
    }
}

fn place(source: &Arc<SourceFile>, span: Span) -> Place {
    let bytes = span.byte_range();
    let end = bytes.end.min(source.text.len());
    Place { file: Arc::clone(source), span: bytes.start.min(end)..end }
}

fn last_segment(ty: &Type) -> Option<&syn::PathSegment> {
    match ty {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    }
}

fn type_arguments(arguments: &PathArguments) -> Vec<&Type> {
    let PathArguments::AngleBracketed(arguments) = arguments else {
        return Vec::new();
    };
    let types = arguments.args.iter();
    types
        .filter_map(|argument| if let GenericArgument::Type(ty) = argument { Some(ty) } else { None })
        .collect()
}

fn is_call_tool(bound: &TypeParamBound, args: &str) -> bool {
    let TypeParamBound::Trait(bound) = bound else {
        return false;
    };
    let Some(segment) = bound.path.segments.last().filter(|segment| segment.ident == "CallTool") else {
        return false;
    };
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
        return false;
    };
    arguments.args.iter().any(|argument| {
        matches!(argument, GenericArgument::AssocType(assoc)
            if assoc.ident == "Args" && last_segment(&assoc.ty).is_some_and(|s| s.ident == args))
    })
}

/// Whether `#[attribute(…, word, …)]` is there; a path counts by its last segment.
fn lists(attributes: &[Attribute], attribute: &str, word: &str) -> bool {
    attributes.iter().filter(|a| a.path().is_ident(attribute)).any(|a| {
        let mut found = false;
        let parsed = a.parse_nested_meta(|meta| {
            found |= meta.path.segments.last().is_some_and(|segment| segment.ident == word);
            if meta.input.peek(syn::Token![=]) {
                meta.value()?.parse::<syn::Expr>()?;
            }
            Ok(())
        });
        parsed.is_ok() && found
    })
}

fn schemars_description(attributes: &[Attribute]) -> bool {
    lists(attributes, "schemars", "description")
}
