//! The typed parameters of a tool: a struct, an enum per select, and the way from checked values to it.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::doc;
use crate::names;
use crate::registry::model::{Choice, Param, ParamKind, Provider, Tool};

/// The struct's name: `CurrentTimeParams`.
pub(super) fn struct_name(tool: &Tool) -> Ident {
    format_ident!("{}Params", names::type_name(&tool.name))
}

pub(super) fn items(provider: &Provider, tool: &Tool) -> TokenStream {
    let name = struct_name(tool);
    let path = format!("{}/{}", provider.name.value, tool.name);
    let about = doc(&format!("Parameters of `{path}`, as declared in `{path}.yaml`."));
    let enums = tool.params.iter().filter_map(|param| match &param.kind {
        ParamKind::Select { options, .. } => Some(select(&enum_name(tool, param), param, options)),
        _ => None,
    });
    let fields = tool.params.iter().map(|param| field(tool, param));
    let reads = tool.params.iter().map(|param| read(tool, param));
    let values = if tool.params.is_empty() { format_ident!("_values") } else { format_ident!("values") };
    quote! {
        #(#enums)*
        #about
        #[derive(Debug, Clone)]
        pub struct #name { #(#fields,)* }
        impl TryFrom<crate::runtime::Checked> for #name {
            type Error = crate::runtime::BuildError;
            fn try_from(#values: crate::runtime::Checked) -> Result<Self, Self::Error> {
                Ok(Self { #(#reads,)* })
            }
        }
    }
}

fn enum_name(tool: &Tool, param: &Param) -> Ident {
    format_ident!("{}{}", names::type_name(&tool.name), names::type_name(&param.name.value))
}

fn field(tool: &Tool, param: &Param) -> TokenStream {
    let name = format_ident!("{}", param.name.value);
    let about = doc(&param.help.as_ref().unwrap_or(&param.label).en_us);
    let ty = match &param.kind {
        ParamKind::String { .. } => quote!(String),
        ParamKind::Number { .. } => quote!(f64),
        ParamKind::Integer { .. } => quote!(i64),
        ParamKind::Boolean { .. } => quote!(bool),
        ParamKind::Select { .. } => {
            let name = enum_name(tool, param);
            quote!(#name)
        }
        ParamKind::Password => quote!(crate::runtime::SecretString),
    };
    let ty = if always(param) { ty } else { quote!(Option<#ty>) };
    quote! {
        #about
        pub #name: #ty
    }
}

fn read(tool: &Tool, param: &Param) -> TokenStream {
    let key = &param.name.value;
    let name = format_ident!("{key}");
    let value = match &param.kind {
        ParamKind::String { .. } => quote!(values.string(#key)?),
        ParamKind::Number { .. } => quote!(values.number(#key)?),
        ParamKind::Integer { .. } => quote!(values.integer(#key)?),
        ParamKind::Boolean { .. } => quote!(values.boolean(#key)?),
        ParamKind::Select { .. } => {
            let name = enum_name(tool, param);
            quote!(values.select(#key, #name::from_value)?)
        }
        ParamKind::Password => quote!(values.secret(#key)?),
    };
    let value = if always(param) { quote!(crate::runtime::present(#key, #value)?) } else { value };
    quote!(#name: #value)
}

/// Whether there always is a value: given, or by default.
fn always(param: &Param) -> bool {
    param.required || param.kind.has_default()
}

fn select(name: &Ident, param: &Param, options: &[Choice]) -> TokenStream {
    let about = doc(&format!("The options of `{}`: {}", param.name.value, param.label.en_us));
    let variants: Vec<_> = options.iter().map(|option| format_ident!("{}", option.variant)).collect();
    let values: Vec<_> = options.iter().map(|option| &option.value).collect();
    let labels = options.iter().map(|option| doc(&option.label.en_us));
    quote! {
        #about
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum #name {
            #(#labels #variants,)*
        }
        impl #name {
            /// The value as it is written in a reference.
            pub const fn as_str(self) -> &'static str {
                match self { #(Self::#variants => #values,)* }
            }
            /// The option of this value, if there is one.
            pub fn from_value(value: &str) -> Option<Self> {
                match value { #(#values => Some(Self::#variants),)* _ => None }
            }
        }
    }
}
